//! Requests that could not be met, and what allocators took from their drivers.

use crate::Analysis;
use crate::models::memory::{Allocator, frame_of_user, stack_text};
use ridge_table::{Basis, Columns, Subject, Table};
use ridge_trace::{SegmentRow, StackRow};

/// In order of time.
pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let (trace, events) = (analysis.trace, &analysis.trace.memory.segments);
    let of = |allocator: &'_ Allocator| allocator.segment_events(trace);
    let allocators = analysis.memory().allocators.iter();
    let mut rows: Vec<(SegmentRow, &Allocator)> =
        allocators.flat_map(|allocator| of(allocator).into_iter().map(move |row| (row, allocator))).collect();
    rows.sort_by_key(|(row, _)| events.time_ns[row.index()]);
    let stack = |row: SegmentRow| StackRow::known(events.stack[row.index()]);
    Columns::over(&rows)
        .about(|(row, _)| Some(Subject::Segment(*row)))
        .nanos("time_ns", "Time", "on the trace's clock", Basis::Measured, |(row, _)| events.time_ns[row.index()])
        .key()
        .text("event", "Event", "what happened to the segment", |(row, _)| events.kind[row.index()].name().to_owned())
        .key()
        .bytes("bytes", "Size", "bytes of the segment, or asked for", Basis::Measured, |(row, _)| {
            events.bytes[row.index()]
        })
        .key()
        .bytes(
            "free_bytes",
            "Device free",
            "bytes that the device had left, where the event says it",
            Basis::Measured,
            |(row, _)| events.free_bytes[row.index()],
        )
        .text("allocator", "Allocator", "name in the capture", |(_, allocator)| allocator.label.clone())
        .text("source", "Source", "innermost frame of the call stack outside installed packages", |(row, _)| {
            frame_of_user(trace, stack(*row))
        })
        .text("stack", "Stack", "call stack, innermost frame first", |(row, _)| stack_text(trace, stack(*row)))
        .detail()
        .table("memory_segments", "Segments taken from the driver")
}
