//! Tables of allocator events: every allocator, its use over time, and who held memory at the peak.

use super::history::{Growth, History, Holder, Holding, segment_events};
use super::stacks::{frame_of_user, stack_text};
use crate::Analysis;
use crate::context::labels::process_labels;
use crate::tables::time::table as build;
use ridge_table::{Basis, Column, Rank, Table, Unit};
use ridge_trace::{NONE, StringId, Trace};
use rustc_hash::FxHashMap;

/// Points of each line of use over time.
pub(crate) const POINTS: usize = 100;

/// Every allocator, most bytes at its peak first.
pub(crate) fn allocators(analysis: &Analysis<'_>, histories: &[History]) -> Table {
    let trace = analysis.trace;
    let names = names(trace, histories);
    let of = |value: fn(&History, &Trace) -> u64| histories.iter().map(move |history| value(history, trace));
    let held: Vec<Vec<(Holder, Holding)>> = histories.iter().map(|history| history.alive_at_peak(trace).0).collect();
    let growth: Vec<Option<Growth>> = histories.iter().map(|history| history.growth(trace)).collect();
    let columns =
        vec![
        Column::text("allocator", "Allocator", "name in the capture, with its process where there are several", names)
            .ranked(Rank::Key),
        Column::whole(
            "peak_bytes",
            "Peak",
            "most bytes in use after any event of the capture",
            Unit::Bytes,
            of(History::peak_bytes),
        )
        .ranked(Rank::Key)
        .basis(Basis::Measured),
        Column::nanos(
            "peak_at_ns",
            "Peak at",
            "time of the first event with that many bytes in use, on the trace's clock",
            histories.iter().map(|history| history.peak_ns(trace)),
        )
        .basis(Basis::Measured),
        Column::whole(
            "end_bytes",
            "At the end",
            "bytes in use after the last event",
            Unit::Bytes,
            histories.iter().map(|history| {
                history.rows.last().map(|row| super::history::whole(trace.allocations.in_use_bytes[*row]))
            }),
        )
        .basis(Basis::Measured),
        Column::whole(
            "reserved_bytes",
            "Reserved",
            "most bytes that the allocator held from its driver, used or not; unknown where its events do not say",
            Unit::Bytes,
            histories.iter().map(|history| history.most_reserved(trace)),
        )
        .basis(Basis::Measured),
        Column::whole(
            "cached_bytes",
            "Cached unused",
            "most bytes that it held from its driver and nothing used: reserved less in use",
            Unit::Bytes,
            histories.iter().map(|history| history.most_cached(trace).map(|(bytes, _)| bytes)),
        )
        .basis(Basis::Measured),
        Column::whole(
            "rounding_bytes",
            "Rounding",
            "bytes in use at the peak beyond those that were asked for, of blocks allocated within the capture",
            Unit::Bytes,
            held.iter().map(|held| rounding(held)),
        )
        .basis(Basis::Measured),
        Column::real(
            "fragmentation",
            "Fragmentation",
            "largest value that the allocator reported: the part of its free memory that its largest free block is not",
            Unit::Share,
            histories.iter().map(|history| history.most_fragmented(trace)),
        )
        .basis(Basis::Measured),
        Column::whole(
            "allocations",
            "Allocations",
            "allocations in the capture",
            Unit::Count,
            of(|history, trace| history.counts(trace).0),
        ).basis(Basis::Counted),
        Column::whole(
            "frees",
            "Frees",
            "frees in the capture",
            Unit::Count,
            of(|history, trace| history.counts(trace).1),
        ).basis(Basis::Counted)
        .ranked(Rank::Detail),
        Column::whole(
            "burst",
            "Burst",
            "most allocator events within one millisecond",
            Unit::Count,
            of(|history, trace| history.worst_burst(trace).0),
        ).basis(Basis::Counted),
        Column::whole(
            "driver_allocations",
            "Driver calls",
            "times that it took more memory from its driver (cudaMalloc), each of which may stop the device",
            Unit::Count,
            of(|history, trace| history.driver_calls(trace).0),
        ).basis(Basis::Counted),
        Column::whole(
            "driver_frees",
            "Driver frees",
            "times that it gave memory back to its driver (cudaFree), each of which stops the device",
            Unit::Count,
            of(|history, trace| history.driver_calls(trace).1),
        ).basis(Basis::Counted)
        .ranked(Rank::Detail),
        Column::real(
            "growth_bytes_per_step",
            "Growth per step",
            "median slope of the bytes in use at the ends of the marked steps (Theil-Sen); unknown with fewer than \
             three steps",
            Unit::Number,
            growth.iter().map(|growth| growth.map(|growth| growth.bytes_per_step)),
        )
        .basis(Basis::Modelled)
        .ranked(Rank::Detail),
        Column::flag(
            "suspected_leak",
            "Leak?",
            "whether nine in ten pairs of steps have more in use at the later end, over at least four steps",
            growth.iter().map(|growth| growth.map(|growth| growth.is_suspect())),
        ),
    ];
    build("memory_allocators", "Allocators", columns)
}

fn rounding(held: &[(Holder, Holding)]) -> Option<u64> {
    let asked = held.iter().filter(|(_, holding)| holding.requested > 0);
    let waste = asked.map(|(_, holding)| super::history::whole(holding.bytes.saturating_sub(holding.requested)));
    waste.reduce(u64::saturating_add)
}

/// Names of the histories, with their process where several have events.
pub(crate) fn names(trace: &Trace, histories: &[History]) -> Vec<String> {
    let labels = process_labels(trace);
    let several = histories.iter().any(|history| history.process != histories[0].process);
    let name = |history: &History| {
        let allocator = trace.strings.get(history.allocator);
        match labels.get(history.process as usize).filter(|label| several && !label.is_empty()) {
            Some(label) => format!("{allocator} {label}"),
            None => allocator.to_owned(),
        }
    };
    histories.iter().map(name).collect()
}

/// Use of one allocator in one stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Point {
    /// Begin of the stretch, nanoseconds on the trace clock.
    pub(crate) time_ns: i64,
    /// Most bytes in use within it.
    pub(crate) most: i64,
    /// Bytes in use at its end.
    pub(crate) last: i64,
    /// Most bytes held from the driver within it; -1 where unknown.
    pub(crate) reserved: i64,
    /// Allocator events within it.
    pub(crate) events: u64,
}

/// Use over time in [`POINTS`] equal stretches of the history's span; a stretch without events holds the last value.
pub(crate) fn line(trace: &Trace, history: &History) -> Vec<Point> {
    let table = &trace.allocations;
    let (first, last) = history.span_ns(trace);
    let width = (last.saturating_sub(first) / POINTS as i64).saturating_add(1);
    let before = history.rows.first().map_or(0, |row| table.in_use_bytes[*row].saturating_sub(table.delta_bytes[*row]));
    let mut now = (before.max(0), -1);
    let mut places = history.rows.iter().peekable();
    let mut points = Vec::with_capacity(POINTS);
    for number in 0..POINTS as i64 {
        let begin = first.saturating_add(width.saturating_mul(number));
        if begin > last {
            break;
        }
        let mut point = Point { time_ns: begin, most: now.0, last: now.0, reserved: now.1, events: 0 };
        while let Some(row) = places.next_if(|row| table.time_ns[**row] < begin.saturating_add(width)) {
            now = (table.in_use_bytes[*row], table.reserved_bytes[*row]);
            point.most = point.most.max(now.0);
            point.reserved = point.reserved.max(now.1);
            point.events += 1;
        }
        point.last = now.0;
        points.push(point);
    }
    points
}

/// Use over time by allocator, and by holder where events say no address: a timeline of categories.
pub(crate) fn usage(analysis: &Analysis<'_>, histories: &[History]) -> Table {
    let trace = analysis.trace;
    let names = names(trace, histories);
    let mut rows: Vec<(String, Option<String>, Point)> = Vec::new();
    for (history, name) in histories.iter().zip(&names) {
        rows.extend(line(trace, history).into_iter().map(|point| (name.clone(), None, point)));
        for (owner, points) in lines_of_owners(trace, history) {
            let owner = trace.strings.get(owner).to_owned();
            rows.extend(points.into_iter().map(|point| (name.clone(), Some(owner.clone()), point)));
        }
    }
    let bytes = |value: i64| u64::try_from(value).ok();
    let columns = vec![
        Column::text("allocator", "Allocator", "name in the capture", rows.iter().map(|row| row.0.clone()))
            .ranked(Rank::Key),
        Column::text(
            "owner",
            "Owner",
            "category whose use it is; empty for all use of the allocator",
            rows.iter().map(|row| row.1.clone()),
        ),
        Column::nanos(
            "time_ns",
            "From",
            "begin of the stretch, on the trace's clock; a line has at most 100 of equal length",
            rows.iter().map(|row| row.2.time_ns),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
        Column::whole(
            "most_bytes",
            "Most",
            "most bytes in use within it",
            Unit::Bytes,
            rows.iter().map(|row| bytes(row.2.most)),
        )
        .ranked(Rank::Key)
        .basis(Basis::Measured),
        Column::whole(
            "last_bytes",
            "At its end",
            "bytes in use at its end",
            Unit::Bytes,
            rows.iter().map(|row| bytes(row.2.last)),
        )
        .basis(Basis::Measured),
        Column::whole(
            "reserved_bytes",
            "Reserved",
            "most bytes held from the driver within it, where events say it",
            Unit::Bytes,
            rows.iter().map(|row| bytes(row.2.reserved)),
        )
        .basis(Basis::Measured),
        Column::whole(
            "events",
            "Events",
            "allocator events within it",
            Unit::Count,
            rows.iter().map(|row| row.2.events),
        )
        .basis(Basis::Counted),
    ];
    build("memory_usage", "Use over time", columns)
}

/// Lines of every owner of a history whose events have no address.
fn lines_of_owners(trace: &Trace, history: &History) -> Vec<(StringId, Vec<Point>)> {
    let table = &trace.allocations;
    if history.rows.iter().any(|row| table.address[*row] != 0) {
        return Vec::new();
    }
    let (first, last) = history.span_ns(trace);
    let width = (last.saturating_sub(first) / POINTS as i64).saturating_add(1);
    let count = (last.saturating_sub(first) / width + 1) as usize;
    let empty: Vec<Point> = (0..count as i64)
        .map(|number| Point { time_ns: first + width * number, reserved: -1, ..Point::default() })
        .collect();
    let mut sums: FxHashMap<StringId, (i64, usize)> = FxHashMap::default();
    let mut lines: Vec<(StringId, Vec<Point>)> = Vec::new();
    for &row in &history.rows {
        let owner = table.owner[row];
        let (sum, place) = sums.entry(owner).or_insert((0, lines.len()));
        if *place == lines.len() {
            lines.push((owner, empty.clone()));
        }
        *sum = sum.saturating_add(table.delta_bytes[row]);
        let stretch = ((table.time_ns[row].saturating_sub(first)) / width) as usize;
        let point = &mut lines[*place].1[stretch.min(count - 1)];
        point.most = if point.events == 0 { *sum } else { point.most.max(*sum) };
        point.last = *sum;
        point.events += 1;
    }
    for (_, points) in &mut lines {
        let mut before = 0;
        for point in points {
            if point.events == 0 {
                point.last = before;
            }
            point.most = point.most.max(before).max(point.last);
            before = point.last;
        }
    }
    lines
}

/// Who held memory at the peak of each allocator, most bytes first.
pub(crate) fn holders(analysis: &Analysis<'_>, histories: &[History]) -> Table {
    let trace = analysis.trace;
    let names = names(trace, histories);
    let mut rows: Vec<(&str, u64, Option<Holder>, Holding)> = Vec::new();
    for (history, name) in histories.iter().zip(&names) {
        let (held, unknown) = history.alive_at_peak(trace);
        let peak = history.peak_bytes(trace);
        rows.extend(held.into_iter().map(|(holder, holding)| (name.as_str(), peak, Some(holder), holding)));
        if unknown > 0 {
            let bytes = i64::try_from(unknown).unwrap_or(i64::MAX);
            rows.push((name, peak, None, Holding { bytes, ..Holding::default() }));
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.3.bytes));
    let stack = |row: &(&str, u64, Option<Holder>, Holding)| row.2.map_or(NONE, |holder| holder.stack);
    let whole = super::history::whole;
    let columns = vec![
        Column::text(
            "owner",
            "Owner",
            "what asked for the memory, as the capture names it",
            rows.iter().map(|row| {
                row.2.map_or_else(|| "(allocated before the capture)".to_owned(), |holder| owner_text(trace, holder))
            }),
        )
        .ranked(Rank::Key),
        Column::whole(
            "bytes",
            "At the peak",
            "bytes in use at its allocator's peak",
            Unit::Bytes,
            rows.iter().map(|row| whole(row.3.bytes)),
        )
        .ranked(Rank::Key)
        .basis(Basis::Measured),
        Column::real(
            "share",
            "Share",
            "bytes as a part of the allocator's peak",
            Unit::Share,
            rows.iter().map(|row| if row.1 == 0 { 0.0 } else { row.3.bytes as f64 / row.1 as f64 }),
        )
        .basis(Basis::Measured),
        Column::whole(
            "blocks",
            "Blocks",
            "blocks alive at the peak",
            Unit::Count,
            rows.iter().map(|row| row.2.map(|_| row.3.blocks)),
        )
        .basis(Basis::Counted),
        Column::whole(
            "requested_bytes",
            "Asked for",
            "bytes that were asked for",
            Unit::Bytes,
            rows.iter().map(|row| (row.3.requested > 0).then(|| whole(row.3.requested))),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Detail),
        Column::text("allocator", "Allocator", "name in the capture", rows.iter().map(|row| row.0.to_owned())),
        Column::nanos(
            "since_ns",
            "Since",
            "time of the earliest of these blocks, on the trace's clock",
            rows.iter().map(|row| row.2.map(|_| row.3.since_ns)),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Detail),
        Column::text(
            "source",
            "Source",
            "innermost frame of the call stack outside installed packages, where the capture has stacks",
            rows.iter().map(|row| frame_of_user(trace, stack(row))),
        ),
        Column::text(
            "stack",
            "Stack",
            "call stack, innermost frame first",
            rows.iter().map(|row| stack_text(trace, stack(row))),
        )
        .ranked(Rank::Detail),
    ];
    build("memory_holders", "Alive at the peak, by owner", columns)
}

fn owner_text(trace: &Trace, holder: Holder) -> String {
    let named = Some(trace.strings.get(StringId(holder.owner))).filter(|owner| !owner.is_empty()).map(str::to_owned);
    named.or_else(|| frame_of_user(trace, holder.stack)).unwrap_or_else(|| "(not named)".to_owned())
}

/// Requests that could not be met, and what allocators took from their drivers, in order of time.
pub(crate) fn segments(analysis: &Analysis<'_>, histories: &[History]) -> Table {
    let trace = analysis.trace;
    let names = names(trace, histories);
    let mut rows: Vec<(usize, &str)> = Vec::new();
    for (history, name) in histories.iter().zip(&names) {
        rows.extend(
            segment_events(trace, history.process, history.allocator).into_iter().map(|row| (row, name.as_str())),
        );
    }
    let events = &trace.memory.segments;
    rows.sort_by_key(|(row, _)| events.time_ns[*row]);
    let columns = vec![
        Column::nanos("time_ns", "Time", "on the trace's clock", rows.iter().map(|(row, _)| events.time_ns[*row]))
            .ranked(Rank::Key)
            .basis(Basis::Measured),
        Column::text(
            "event",
            "Event",
            "what happened to the segment",
            rows.iter().map(|(row, _)| events.kind[*row].name().to_owned()),
        )
        .ranked(Rank::Key),
        Column::whole(
            "bytes",
            "Size",
            "bytes of the segment, or asked for",
            Unit::Bytes,
            rows.iter().map(|(row, _)| events.bytes[*row]),
        )
        .ranked(Rank::Key)
        .basis(Basis::Measured),
        Column::whole(
            "free_bytes",
            "Device free",
            "bytes that the device had left, where the event says it",
            Unit::Bytes,
            rows.iter().map(|(row, _)| events.free_bytes[*row]),
        )
        .basis(Basis::Measured),
        Column::text("allocator", "Allocator", "name in the capture", rows.iter().map(|(_, name)| (*name).to_owned())),
        Column::text(
            "source",
            "Source",
            "innermost frame of the call stack outside installed packages",
            rows.iter().map(|(row, _)| frame_of_user(trace, events.stack[*row])),
        ),
        Column::text(
            "stack",
            "Stack",
            "call stack, innermost frame first",
            rows.iter().map(|(row, _)| stack_text(trace, events.stack[*row])),
        )
        .ranked(Rank::Detail),
    ];
    build("memory_segments", "Segments taken from the driver", columns)
}
