//! Time of the host's calls: runtime and driver API, libraries, the operating system.

use crate::context::Need;
use crate::models::calls::{CallRow, Calls};
use crate::tables::spread::SPREAD;
use crate::view::{Sheet, Topic, View, columns};
use ridge_table::Subject;

/// The view.
pub(crate) static VIEW: View = View {
    id: "call",
    about: "call of the host: runtime and driver API, libraries",
    aliases: &["cuda_api_sum", "osrt_sum", "cudaapisum"],
    needs: &[Need::of::<Calls>()],
    make: |analysis, _| {
        let Calls(rows) = analysis.get();
        Sheet::over(analysis, rows)
            .about(|_, row| Some(Subject::Named(row.name)))
            .show(COLUMNS)
            .part(SPREAD, |row| &row.durations)
            .table("Host calls")
    },
    ..View::of(Topic::Time)
};

columns! {
    COLUMNS: CallRow {
        call: text Key "Call", "name of the call", |at, row| at.text(row.name);
        total_ns: nanos Key Measured "Total",
            "sum of durations on all threads; calls inside other calls count in both", |_, row| row.durations.total_ns;
        total_share: share Key Measured "Share", "total as a part of the totals of all calls listed", |_, row| row.share;
        count: count Counted "Count", "how often it was called", |_, row| row.durations.count;
        launches: flag Detail "Launches", "whether it causes device work", |_, row| row.launches;
    }
}
