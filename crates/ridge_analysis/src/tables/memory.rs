//! Views of memory.

mod changes;
mod overview;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use changes::table as changes;
pub(crate) use overview::sections;
pub(crate) use values::{ALIVE, DONATIONS, MODULES};

use crate::context::Need;
use crate::models::memory::{
    AllocatorRow, Blocks, HolderRow, SegmentEventRow, Snapshot, UsageRow, frame_of_user, stack_text, whole,
};
use crate::view::{Sheet, Shown, Topic, View, columns};
use crate::{Analysis, Memory};
use ridge_table::Subject;
use ridge_trace::StackRow;

/// What all of them have in common.
const OF_MEMORY: View =
    View { shown: Shown::InReport, needs: &[Need::of::<Memory>()], answers: |_| true, ..View::of(Topic::Memory) };

/// Allocators, most bytes at its peak first.
pub(crate) static ALLOCATORS: View = View {
    id: "allocator",
    documented: Some("memory_allocators"),
    about: "allocator",
    make: |analysis, _| {
        let rows = analysis.memory().allocator_rows(analysis.trace);
        let subject =
            |at: &Analysis<'_>, row: &AllocatorRow| Some(Subject::Allocator(row.of(at).process, row.of(at).name));
        Sheet::over(analysis, &rows).about(subject).show(EACH).table("Allocators")
    },
    ..OF_MEMORY
};

/// Who held memory at the peak of each allocator, most bytes first.
pub(crate) static HOLDERS: View = View {
    id: "holder",
    documented: Some("memory_holders"),
    about: "owner of memory at the peak of each allocator",
    make: |analysis, _| {
        let rows = analysis.memory().holders(analysis.trace);
        let sheet = Sheet::over(analysis, &rows).about(|at, row| Some(row.subject(at)));
        sheet.show(AT_PEAK).table("Alive at the peak, by owner")
    },
    ..OF_MEMORY
};

/// Use over time: a timeline of categories.
pub(crate) static USAGE: View = View {
    id: "usage",
    documented: Some("memory_usage"),
    about: "stretch of time",
    shown: Shown::ForPrograms,
    make: |analysis, _| {
        let rows = analysis.memory().usage(analysis.trace);
        let subject = |at: &Analysis<'_>, row: &UsageRow| {
            Some(Subject::Allocator(row.allocator(at).process, row.allocator(at).name))
        };
        Sheet::over(analysis, &rows).about(subject).show(STRETCHES).table("Memory use over time")
    },
    ..OF_MEMORY
};

/// Requests that could not be met, and what allocators took from their drivers.
pub(crate) static SEGMENTS: View = View {
    id: "segment",
    documented: Some("memory_segments"),
    about: "segment that an allocator took from its driver",
    make: |analysis, _| {
        let rows = analysis.memory().segment_events(analysis.trace);
        let sheet = Sheet::over(analysis, &rows).about(|_, row| Some(Subject::Segment(row.row)));
        sheet.show(TAKEN).table("Driver allocations")
    },
    ..OF_MEMORY
};

/// What each allocator held at the moment of each snapshot.
pub(crate) static SNAPSHOTS: View = View {
    id: "snapshot",
    documented: Some("memory_snapshots"),
    about: "snapshot and device",
    make: |analysis, _| {
        let subject = |_: &_, row: &Snapshot| Some(Subject::Snapshot(row.snapshot, row.allocator));
        let sheet = Sheet::over(analysis, &analysis.memory().snapshots).about(subject);
        sheet.show(MOMENTS).table("Memory by snapshot")
    },
    ..OF_MEMORY
};

/// Blocks of every snapshot by allocator, kind, state and stack, most bytes first.
pub(crate) static BLOCKS: View = View {
    id: "block",
    documented: Some("memory_blocks"),
    about: "block of snapshots by the line that made it",
    make: |analysis, _| {
        let subject = |_: &_, row: &Blocks| {
            Some(row.stack.map_or(Subject::Snapshot(row.snapshot, row.allocator), Subject::Stack))
        };
        let sheet = Sheet::over(analysis, &analysis.memory().blocks).about(subject);
        sheet.show(ALIKE).table("Snapshot blocks by stack")
    },
    ..OF_MEMORY
};

/// What asked for the memory, else the line of the program that did.
fn owner(analysis: &Analysis<'_>, row: &HolderRow) -> String {
    let Some(holder) = row.holder else { return "(allocated before the capture)".to_owned() };
    let named = Some(analysis.text(holder.owner)).filter(|owner| !owner.is_empty()).map(str::to_owned);
    named.or_else(|| frame(analysis, holder.stack)).unwrap_or_else(|| "(not named)".to_owned())
}

fn frame(analysis: &Analysis<'_>, stack: Option<StackRow>) -> Option<String> {
    frame_of_user(analysis.trace, stack)
}

columns! {
    EACH: AllocatorRow {
        allocator: text Key "Allocator",
            "name in the capture, with its process if there are several", |at, row| row.of(at).label.as_str();
        peak_bytes: bytes Key Measured "Peak",
            "most bytes in use after any event of the capture", |at, row| row.of(at).peak_bytes(at.trace);
        peak_at_ns: nanos Measured "Peak at",
            "time of the first event with that many bytes in use, on the trace's clock; unknown where events have no time",
            |at, row| row.of(at).has_clock(at.trace).then(|| row.of(at).peak_ns(at.trace));
        end_bytes: bytes Measured "At the end",
            "bytes in use after the last event", |at, row| row.of(at).end_bytes(at.trace);
        reserved_bytes: bytes Measured "Reserved",
            "peak bytes reserved from the driver, used or not; unknown if not recorded",
            |at, row| row.of(at).most_reserved(at.trace);
        cached_bytes: bytes Measured "Cached unused",
            "peak bytes reserved from the driver but unused: reserved minus in use",
            |at, row| row.of(at).most_cached(at.trace).map(|(bytes, _)| bytes);
        rounding_bytes: bytes Measured "Rounding",
            "bytes in use at the peak beyond the requested bytes, for blocks allocated within the capture",
            |_, row| row.rounding_bytes;
        fragmentation: share Measured "Fragmentation",
            "largest value that the allocator reported: the part of its free memory that its largest free block is not",
            |at, row| row.of(at).most_fragmented(at.trace);
        allocations: count Counted "Allocations",
            "allocations in the capture", |at, row| row.of(at).counts(at.trace).0;
        frees: count Detail Counted "Frees", "frees in the capture", |at, row| row.of(at).counts(at.trace).1;
        burst: count Counted "Burst",
            "most allocator events within one millisecond; unknown where events have no time",
            |at, row| row.of(at).has_clock(at.trace).then(|| row.of(at).worst_burst(at.trace).0);
        driver_allocations: count Counted "Driver calls",
            "times that it took more memory from its driver (cudaMalloc), each of which may stop the device",
            |at, row| row.of(at).driver_calls(at.trace).0;
        driver_frees: count Detail Counted "Driver frees",
            "times that it gave memory back to its driver (cudaFree), each of which stops the device",
            |at, row| row.of(at).driver_calls(at.trace).1;
        growth_bytes_per_step: real(Number) Detail Modelled "Growth per step",
            "median slope of the bytes in use at the ends of the marked steps (Theil-Sen); unknown with fewer than \
             three steps", |_, row| row.growth.map(|growth| growth.bytes_per_step);
        suspected_leak: flag "Leak?",
            "whether nine in ten pairs of steps have more in use at the later end, over at least four steps",
            |_, row| row.growth.map(|growth| growth.is_suspect());
    }
    AT_PEAK: HolderRow {
        owner: text Key "Owner", "the code that requested the memory, as named in the capture", |at, row| owner(at, row);
        bytes: bytes Key Measured "At the peak",
            "bytes in use at its allocator's peak", |_, row| whole(row.holding.bytes);
        share: share Measured "Share", "bytes as a part of the allocator's peak", |_, row| row.share;
        blocks: count Counted "Blocks", "blocks alive at the peak", |_, row| row.holder.map(|_| row.holding.blocks);
        requested_bytes: bytes Detail Measured "Asked for", "requested bytes",
            |_, row| (row.holding.requested > 0).then(|| whole(row.holding.requested));
        allocator: text "Allocator", "name in the capture", |at, row| row.allocator(at).label.as_str();
        since_ns: nanos Detail Measured "Since", "time of the earliest of these blocks, on the trace's clock",
            |_, row| row.holder.map(|_| row.holding.since_ns);
        source: text "Source",
            "innermost frame of the call stack outside installed packages, if the capture has stacks",
            |at, row| frame(at, row.stack());
        stack: text Detail "Stack",
            "call stack, innermost frame first", |at, row| stack_text(at.trace, row.stack());
    }
    STRETCHES: UsageRow {
        allocator: text Key "Allocator", "name in the capture", |at, row| row.allocator(at).label.as_str();
        owner: text "Owner",
            "category of the memory; empty for the whole allocator", |at, row| row.owner.map(|owner| at.text(owner));
        time_ns: nanos Key Measured "From",
            "begin of the stretch, on the trace's clock; a line has at most 100 of equal length",
            |_, row| row.point.time_ns;
        most_bytes: bytes Key Measured "Most",
            "most bytes in use within it", |_, row| u64::try_from(row.point.most).ok();
        last_bytes: bytes Measured "At its end",
            "bytes in use at its end", |_, row| u64::try_from(row.point.last).ok();
        reserved_bytes: bytes Measured "Reserved", "peak bytes reserved from the driver within it, if recorded",
            |_, row| u64::try_from(row.point.reserved).ok();
        events: count Counted "Events", "allocator events within it", |_, row| row.point.events;
    }
    TAKEN: SegmentEventRow {
        time_ns: nanos Key Measured "Time",
            "on the trace's clock", |at, row| at.trace.memory.segments.time_ns[row.row.index()];
        event: text Key "Event",
            "the segment's event", |at, row| at.trace.memory.segments.kind[row.row.index()].name();
        bytes: bytes Key Measured "Size",
            "bytes of the segment, or requested bytes", |at, row| at.trace.memory.segments.bytes[row.row.index()];
        free_bytes: bytes Measured "Device free", "free bytes on the device, if recorded",
            |at, row| at.trace.memory.segments.free_bytes[row.row.index()];
        allocator: text "Allocator", "name in the capture", |at, row| row.allocator(at).label.as_str();
        source: text "Source", "innermost frame of the call stack outside installed packages",
            |at, row| frame(at, row.stack(at.trace));
        stack: text Detail "Stack",
            "call stack, innermost frame first", |at, row| stack_text(at.trace, row.stack(at.trace));
    }
    MOMENTS: Snapshot {
        snapshot: text Key "Snapshot", "file that contains it", |at, row| at.text(row.snapshot);
        allocator: text Key "Memory of", "device or allocator", |at, row| at.text(row.allocator);
        reserved_bytes: bytes Key Measured "Reserved",
            "all bytes reserved by the allocator, used or not", |_, row| row.reserved();
        allocated_bytes: bytes Key Measured "In use",
            "bytes of blocks that the program uses", |_, row| row.allocated;
        awaiting_bytes: bytes Detail Measured "Awaiting free",
            "freed bytes that a stream may still use", |_, row| row.awaiting;
        inactive_bytes: bytes Measured "Cached unused",
            "unused bytes: reserved minus in use minus awaiting", |_, row| row.inactive;
        inactive_split_bytes: bytes Measured "Split unused",
            "unused bytes in segments that also contain blocks in use, so they can't be returned to the device",
            |_, row| row.split;
        rounding_bytes: bytes Measured "Rounding",
            "bytes in use beyond the requested bytes", |_, row| row.rounding;
        fragmentation: share Counted "Fragmentation",
            "part of the unused memory that its largest block is not", |_, row| row.fragmentation();
        blocks: count Counted "Blocks", "blocks in use", |_, row| row.blocks;
        segments: count Detail Counted "Segments",
            "pieces taken from the driver, if the snapshot has them", |_, row| row.segments();
    }
    ALIKE: Blocks {
        source: text Key "Source", "innermost frame of the call stack outside installed packages",
            |at, row| frame(at, row.stack).unwrap_or_else(|| "(no stack)".to_owned());
        bytes: bytes Key Measured "Size", "bytes of these blocks", |_, row| row.bytes;
        blocks: count Counted "Blocks", "number of blocks", |_, row| row.count;
        kind: text "Kind", "kind of block as the snapshot names it", |at, row| at.text(row.kind);
        state: text "State", "purpose of the blocks", |_, row| row.state.name();
        allocator: text "Memory of", "device or allocator", |at, row| at.text(row.allocator);
        requested_bytes: bytes Detail Measured "Asked for", "requested bytes", |_, row| row.requested_bytes;
        snapshot: text Detail "Snapshot", "file that contains them", |at, row| at.text(row.snapshot);
        stack: text Detail "Stack", "call stack, innermost frame first", |at, row| stack_text(at.trace, row.stack);
    }
}
