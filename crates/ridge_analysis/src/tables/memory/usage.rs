//! Use over time by allocator, and by holder where events say no address: a timeline of categories.

use crate::Analysis;
use crate::models::memory::{Allocator, Point};
use ridge_table::{Basis, Columns, Subject, Table};
use ridge_trace::StringId;

/// A stretch of time of an allocator, or of one of its owners.
type Row<'a> = (&'a Allocator, Option<StringId>, Point);

/// By allocator, then by owner, then in order of time.
pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let mut rows: Vec<Row<'_>> = Vec::new();
    for allocator in &analysis.memory().allocators {
        rows.extend(allocator.line(trace).into_iter().map(|point| (allocator, None, point)));
        for (owner, points) in allocator.lines_of_owners(trace) {
            rows.extend(points.into_iter().map(|point| (allocator, Some(owner), point)));
        }
    }
    let bytes = |value: i64| u64::try_from(value).ok();
    Columns::over(&rows)
        .about(|(allocator, ..)| Some(Subject::Allocator(allocator.process, allocator.name)))
        .text("allocator", "Allocator", "name in the capture", |(allocator, ..)| allocator.label.clone())
        .key()
        .text("owner", "Owner", "category whose use it is; empty for all use of the allocator", |(_, owner, _)| {
            owner.map(|owner| analysis.text(owner).to_owned())
        })
        .nanos(
            "time_ns",
            "From",
            "begin of the stretch, on the trace's clock; a line has at most 100 of equal length",
            Basis::Measured,
            |(.., point)| point.time_ns,
        )
        .key()
        .bytes("most_bytes", "Most", "most bytes in use within it", Basis::Measured, |(.., point)| bytes(point.most))
        .key()
        .bytes("last_bytes", "At its end", "bytes in use at its end", Basis::Measured, |(.., point)| bytes(point.last))
        .bytes(
            "reserved_bytes",
            "Reserved",
            "most bytes held from the driver within it, where events say it",
            Basis::Measured,
            |(.., point)| bytes(point.reserved),
        )
        .count("events", "Events", "allocator events within it", Basis::Counted, |(.., point)| point.events)
        .table("memory_usage", "Use over time")
}
