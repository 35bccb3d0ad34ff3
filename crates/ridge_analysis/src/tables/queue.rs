//! How much launched work waits on each stream.

use crate::context::Need;
use crate::context::partition::part;
use crate::models::over_time::{StreamQueue, StreamQueues};
use crate::view::{Sheet, Topic, View, columns};
use ridge_table::Subject;

/// Waiting kernels from which on a launch may have to wait: CUDA's queue has room for 1,024.
const FULL: f64 = 1000.0;

/// The view.
pub(crate) static VIEW: View = View {
    id: "queue",
    about: "stream and how many kernels wait on it, launched and not begun",
    aliases: &["queue-length", "queue_length_summary"],
    needs: &[Need::of::<StreamQueues>()],
    make: |analysis, ask| {
        let StreamQueues(rows) = analysis.get();
        let rows = rows.iter().filter(|row| ask.devices.is_none_or(|devices| devices.contains(&row.device)));
        let mut table = Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Track(row.track)))
            .show(COLUMNS)
            .table("Queue length by stream");
        if table.rows_total == 0 {
            table.footnotes.push("the capture has no device work with its launch".to_owned());
        }
        table
    },
    ..View::of(Topic::Idle)
};

columns! {
    COLUMNS: StreamQueue {
        stream: text Key "Stream", "the stream", |at, row| at.text(at.trace.tracks[row.track.index()].name);
        device: text Key "Device", "its device", |at, row| at.device_label(row.device.0);
        launched: count Counted "Launched", "kernels, copies and memory sets whose launch is in the capture",
            |_, row| row.launched;
        mean_length: real(Number) Key Measured "Mean length",
            "mean number of those that were launched and had not begun, from the first launch to the last start; \
             counted from the start of the launching call", |_, row| row.length.mean();
        max_length: real(Number) Key Measured "Max length", "most at any time", |_, row| row.length.most();
        waiting_ns: nanos Measured "Waiting", "time in which at least one waits", |_, row| row.length.ns_from(1.0);
        waiting_share: share Measured "Share", "that time as a part of the time from the first launch to the last start",
            |_, row| part(row.length.ns_from(1.0), row.length.ns());
        full_ns: nanos Detail Measured "Full", "time in which at least 1,000 wait; CUDA's queue has room for 1,024",
            |_, row| row.length.ns_from(FULL);
    }
}
