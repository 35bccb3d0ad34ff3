//! How fast copies went while they ran.

use crate::context::Need;
use crate::models::over_time::{CopyRate, CopyRates};
use crate::view::{Sheet, Topic, View, columns};
use ridge_table::Subject;
use ridge_trace::EventKind;

/// The view.
pub(crate) static VIEW: View = View {
    id: "rate",
    about: "device and direction, with the bandwidth while copies ran",
    aliases: &["bandwidth", "memory_bw_summary"],
    needs: &[Need::of::<CopyRates>()],
    make: |analysis, ask| {
        let CopyRates(rows) = analysis.get();
        let rows = rows.iter().filter(|row| ask.devices.is_none_or(|devices| devices.contains(&row.device)));
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Copies(row.kind)))
            .show(COLUMNS)
            .table("Bandwidth of copies");
        if table.rows_total == 0 {
            table.footnotes.push("the capture has no copies whose bytes it says".to_owned());
        }
        table
    },
    ..View::of(Topic::Transfers)
};

fn direction(kind: EventKind) -> &'static str {
    kind.name().strip_prefix("copy ").unwrap_or(kind.name())
}

columns! {
    COLUMNS: CopyRate {
        direction: text Key "Direction", "from where to where, or memory sets", |_, row| direction(row.kind);
        device: text Key "Device", "the device that did it", |at, row| at.device_label(row.device.0);
        copies: count Counted "Copies", "those whose bytes the capture says", |_, row| row.copies;
        bytes: bytes Counted "Bytes", "bytes that they moved or set", |_, row| row.bytes;
        copying_ns: nanos Measured "Copying", "time in which at least one ran", |_, row| row.rate.ns_from(f64::MIN_POSITIVE);
        mean_bytes_per_sec: real(BytesPerSec) Key Measured "Mean rate", "bytes over that time; copies that run together add up",
            |_, row| row.mean_while_copying();
        max_bytes_per_sec: real(BytesPerSec) Key Measured "Max rate", "highest sum of the rates of copies that ran together",
            |_, row| row.rate.most();
    }
}
