//! Device time by the ranges that the program named (`TraceAnnotation`), with all device work they caused.

use super::step::time_note;
use super::work::work_columns;
use crate::context::Need;
use crate::context::quantiles::quantile;
use crate::models::ranges::RangeRow;
use crate::models::ranges::Ranges;
use crate::view::{Shown, Topic, View};
use crate::{Analysis, WorkSums};
use ridge_table::{Basis, Columns, Subject, Table};

/// The view.
pub(crate) static VIEW: View = View {
    id: "range",
    documented: Some("operation"),
    about: "range that the program named (TraceAnnotation), with all work it caused",
    aliases: &["operation", "nvtx_sum", "nvtx_pushpop_sum", "nvtx_startend_sum", "nvtx_gpu_proj_sum", "nvtxsum"],
    shown: Shown::InReport,
    needs: &[Need::of::<Ranges>()],
    make: |analysis, _| table(analysis),
    ..View::of(Topic::Time)
};

/// Ranges by name, most device time first; ranges inside ranges count in both.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let rows = &analysis.ranges().rows;
    let work: Vec<WorkSums> = rows.iter().map(|row| WorkSums::all(&row.work)).collect();
    let wall = |share: f64| move |row: &RangeRow| quantile(&[&row.walls_ns], share);
    let mut table = Columns::over(rows)
        .about(|row| row.name.map(Subject::Range))
        .text("operation", "Operation", "range that the program named", |row| row.label(analysis))
        .key()
        .nanos(
            "device_ns",
            "Device",
            "self times of all device work the ranges caused, measured",
            Basis::Measured,
            |row| row.device_ns,
        )
        .key()
        .share("device_share", "Share", "device time as a part of all device work", Basis::Measured, |row| {
            analysis.share_of_work(row.device_ns)
        })
        .key()
        .columns(work_columns(analysis, &work))
        .nanos(
            "device_self_ns",
            "Device self",
            "device work caused directly, not by a range inside",
            Basis::Measured,
            |row| row.device_self_ns,
        )
        .count("count", "Count", "how often the range was entered", Basis::Counted, |row| row.walls_ns.len() as u64)
        .nanos("wall_ns", "Wall", "sum of the ranges' own durations on their threads", Basis::Measured, |row| {
            row.walls_ns.iter().sum::<i64>()
        })
        .nanos("median_ns", "Median", "range that half of them do not exceed", Basis::Measured, wall(0.5))
        .nanos("min_ns", "Min", "shortest range", Basis::Measured, wall(0.0))
        .detail()
        .nanos("p95_ns", "p95", "range that 95% of them do not exceed", Basis::Measured, wall(0.95))
        .detail()
        .nanos("max_ns", "Max", "longest range", Basis::Measured, wall(1.0))
        .detail()
        .count("events", "Events", "kernels, copies and device operations they caused", Basis::Counted, |row| {
            row.events
        })
        .count("depth", "Depth", "named ranges around it, at most", Basis::Counted, |row| row.depth)
        .detail()
        .table("operation", "Ranges");
    table.footnotes.extend(time_note(analysis.owners()));
    table
}
