//! The columns that every table of device time has, over any partition of the groups.

use crate::Analysis;
use crate::context::partition::{DeviceTime, WorkRow};
use crate::context::quantiles::quantile;
use crate::models::work::{Rows, WorkSums, sums};
use crate::tables::work::work_columns;
use crate::view::{Sheet, columns};

impl<K> Sheet<'_, WorkRow<K>> {
    /// Self, total, share, events and their spread.
    pub(crate) fn time(self) -> Self {
        self.part(SELF, |row| &row.time).part(TOTAL, |row| &row.time)
    }

    /// The same with the columns of work behind the share, where the work is known.
    pub(crate) fn time_and_work(self, analysis: &Analysis<'_>, rows: &[WorkRow<K>], kind: Rows) -> Self {
        let work = |row: &WorkRow<K>| sums(analysis, &row.time.groups(analysis), kind);
        let work: Vec<WorkSums> = rows.iter().map(work).collect();
        self.part(SELF, |row| &row.time).columns(work_columns(analysis, &work)).part(TOTAL, |row| &row.time)
    }
}

/// The duration that `share` of the events do not exceed.
fn at(analysis: &Analysis<'_>, time: &DeviceTime, share: f64) -> Option<i64> {
    let groups = time.groups(analysis);
    let durations: Vec<&[i64]> = groups.into_iter().map(|group| analysis.durations().of(group)).collect();
    quantile(&durations, share)
}

columns! {
    SELF: DeviceTime {
        self_ns: nanos Key Measured "Self",
            "sum of durations less the time of operations nested inside, measured", |_, time| time.self_ns;
        self_share: share Key Measured "Share", "self time as a part of all device work of the capture",
            |analysis, time| analysis.share_of_work(time.self_ns);
    }
    TOTAL: DeviceTime {
        total_ns: nanos Minor Measured "Total",
            "sum of durations; nested work of the same row counts once, measured", |_, time| time.total_ns;
        events: count Counted "Events", "kernels, copies and device operations", |_, time| time.events;
        min_ns: nanos Detail Measured "Min", "shortest event", |analysis, time| at(analysis, time, 0.0);
        median_ns: nanos Measured "Median",
            "duration that half of the events do not exceed", |analysis, time| at(analysis, time, 0.5);
        p95_ns: nanos Detail Measured "p95",
            "duration that 95% of the events do not exceed", |analysis, time| at(analysis, time, 0.95);
        max_ns: nanos Detail Measured "Max", "longest event", |analysis, time| at(analysis, time, 1.0);
    }
}
