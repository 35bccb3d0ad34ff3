//! Allocator events.

use super::columns::{id, reals, wholes};
use super::table::{Parts, RawTable, Tables, ids, real, text, whole};
use arrow_array::ArrayRef;
use ridgeline::trace::Allocations;
use std::ops::Range;

/// What allocators gave and took back.
pub(super) static ALLOCATION: RawTable = RawTable {
    name: "allocation",
    about: "allocations and frees",
    parts: Parts::Rows(|tables| tables.trace.allocations.len()),
    columns: &[
        whole("allocation_id", "its number", |_, rows| ids(rows)),
        whole("process_id", "row of its process", |tables, rows| {
            numbers(tables, rows, |memory, row| Some(memory.process[row].into()))
        }),
        whole("time_ns", "when, nanoseconds on the trace's clock", |tables, rows| {
            numbers(tables, rows, |memory, row| Some(memory.time_ns[row]))
        }),
        text("allocator", "name of the allocator", |tables, rows| {
            tables.named(rows.map(|row| Some(tables.trace.allocations.allocator[row])))
        }),
        whole("allocator_id", "row of that name in `string`", |tables, rows| {
            numbers(tables, rows, |memory, row| Some(memory.allocator[row].0.into()))
        }),
        whole("delta_bytes", "allocated bytes; negative if freed", |tables, rows| {
            numbers(tables, rows, |memory, row| Some(memory.delta_bytes[row]))
        }),
        whole("requested_bytes", "requested bytes", |tables, rows| {
            numbers(tables, rows, |memory, row| Some(memory.requested_bytes[row]))
        }),
        whole("in_use_bytes", "bytes in use after it", |tables, rows| {
            numbers(tables, rows, |memory, row| Some(memory.in_use_bytes[row]))
        }),
        whole("peak_bytes", "most bytes in use so far", |tables, rows| {
            numbers(tables, rows, |memory, row| Some(memory.peak_bytes[row]))
        }),
        whole("reserved_bytes", "bytes that the allocator has reserved on the device", |tables, rows| {
            numbers(tables, rows, |memory, row| Some(memory.reserved_bytes[row]).filter(|bytes| *bytes >= 0))
        }),
        real("fragmentation", "fragmentation, 0 to 1", |tables, rows| {
            reals(rows.map(|row| Some(tables.trace.allocations.fragmentation[row])))
        }),
        whole("address", "address of the buffer; negative in the upper half of addresses", |tables, rows| {
            numbers(tables, rows, |memory, row| Some(memory.address[row].cast_signed()))
        }),
        text("owner", "the code that requested it", |tables, rows| {
            tables.named(rows.map(|row| Some(tables.trace.allocations.owner[row])))
        }),
        whole("stack_id", "its call stack", |tables, rows| {
            numbers(tables, rows, |memory, row| memory.stack.get(row).copied().and_then(id))
        }),
    ],
};

fn numbers(tables: &Tables<'_>, rows: Range<usize>, value: fn(&Allocations, usize) -> Option<i64>) -> ArrayRef {
    wholes(rows.map(|row| value(&tables.trace.allocations, row)))
}
