//! Every allocator.

use crate::Analysis;
use crate::models::memory::{Allocator, Growth, Holder, Holding, whole};
use ridge_table::{Basis, Columns, Subject, Table, Unit};

/// An allocator with what takes a walk over its events.
struct Row<'a> {
    allocator: &'a Allocator,
    held: Vec<(Holder, Holding)>,
    growth: Option<Growth>,
}

/// Most bytes at its peak first.
pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let row = |allocator| Row {
        allocator,
        held: Allocator::alive_at_peak(allocator, trace).0,
        growth: allocator.growth(trace),
    };
    let rows: Vec<Row<'_>> = analysis.memory().allocators.iter().map(row).collect();
    Columns::over(&rows)
        .about(|row| Some(Subject::Allocator(row.allocator.process, row.allocator.name)))
        .text("allocator", "Allocator", "name in the capture, with its process where there are several", |row| {
            row.allocator.label.clone()
        })
        .key()
        .bytes("peak_bytes", "Peak", "most bytes in use after any event of the capture", Basis::Measured, |row| {
            row.allocator.peak_bytes(trace)
        })
        .key()
        .nanos(
            "peak_at_ns",
            "Peak at",
            "time of the first event with that many bytes in use, on the trace's clock; unknown where events have no time",
            Basis::Measured,
            |row| row.allocator.has_clock(trace).then(|| row.allocator.peak_ns(trace)),
        )
        .bytes("end_bytes", "At the end", "bytes in use after the last event", Basis::Measured, |row| {
            row.allocator.end_bytes(trace)
        })
        .bytes(
            "reserved_bytes",
            "Reserved",
            "most bytes that the allocator held from its driver, used or not; unknown where its events do not say",
            Basis::Measured,
            |row| row.allocator.most_reserved(trace),
        )
        .bytes(
            "cached_bytes",
            "Cached unused",
            "most bytes that it held from its driver and nothing used: reserved less in use",
            Basis::Measured,
            |row| row.allocator.most_cached(trace).map(|(bytes, _)| bytes),
        )
        .bytes(
            "rounding_bytes",
            "Rounding",
            "bytes in use at the peak beyond those that were asked for, of blocks allocated within the capture",
            Basis::Measured,
            |row| rounding(&row.held),
        )
        .share(
            "fragmentation",
            "Fragmentation",
            "largest value that the allocator reported: the part of its free memory that its largest free block is not",
            Basis::Measured,
            |row| row.allocator.most_fragmented(trace),
        )
        .count("allocations", "Allocations", "allocations in the capture", Basis::Counted, |row| {
            row.allocator.counts(trace).0
        })
        .count("frees", "Frees", "frees in the capture", Basis::Counted, |row| row.allocator.counts(trace).1)
        .detail()
        .count("burst", "Burst", "most allocator events within one millisecond; unknown where events have no time", Basis::Counted, |row| {
            row.allocator.has_clock(trace).then(|| row.allocator.worst_burst(trace).0)
        })
        .count(
            "driver_allocations",
            "Driver calls",
            "times that it took more memory from its driver (cudaMalloc), each of which may stop the device",
            Basis::Counted,
            |row| row.allocator.driver_calls(trace).0,
        )
        .count(
            "driver_frees",
            "Driver frees",
            "times that it gave memory back to its driver (cudaFree), each of which stops the device",
            Basis::Counted,
            |row| row.allocator.driver_calls(trace).1,
        )
        .detail()
        .real(
            "growth_bytes_per_step",
            "Growth per step",
            "median slope of the bytes in use at the ends of the marked steps (Theil-Sen); unknown with fewer than \
             three steps",
            (Unit::Number, Basis::Modelled),
            |row| row.growth.map(|growth| growth.bytes_per_step),
        )
        .detail()
        .flag(
            "suspected_leak",
            "Leak?",
            "whether nine in ten pairs of steps have more in use at the later end, over at least four steps",
            |row| row.growth.map(|growth| growth.is_suspect()),
        )
        .table("memory_allocators", "Allocators")
}

fn rounding(held: &[(Holder, Holding)]) -> Option<u64> {
    let asked = held.iter().filter(|(_, holding)| holding.requested > 0);
    let waste = asked.map(|(_, holding)| whole(holding.bytes.saturating_sub(holding.requested)));
    waste.reduce(u64::saturating_add)
}
