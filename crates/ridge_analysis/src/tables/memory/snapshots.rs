//! Tables of memory snapshots: what each allocator held at that moment, and in whose blocks.

use crate::Analysis;
use crate::models::memory::{Blocks, Snapshot, frame_of_user, stack_text};
use ridge_table::{Basis, Columns, Subject, Table};
use ridge_trace::StringId;

/// Every allocator of every snapshot.
pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let text = |id: StringId| analysis.text(id).to_owned();
    Columns::over(&analysis.memory().snapshots)
        .about(|row| Some(Subject::Snapshot(row.snapshot, row.allocator)))
        .text("snapshot", "Snapshot", "file that holds it", |row| text(row.snapshot))
        .key()
        .text("allocator", "Memory of", "device or allocator", |row| text(row.allocator))
        .key()
        .bytes(
            "reserved_bytes",
            "Held",
            "all bytes that the allocator holds, used or not",
            Basis::Measured,
            Snapshot::reserved,
        )
        .key()
        .bytes("allocated_bytes", "In use", "bytes of blocks that the program holds", Basis::Measured, |row| {
            row.allocated
        })
        .key()
        .bytes(
            "awaiting_bytes",
            "Awaiting free",
            "bytes given back that a stream may still use",
            Basis::Measured,
            |row| row.awaiting,
        )
        .detail()
        .bytes(
            "inactive_bytes",
            "Cached unused",
            "bytes that nothing uses: held less in use less awaiting",
            Basis::Measured,
            |row| row.inactive,
        )
        .bytes(
            "inactive_split_bytes",
            "Split unused",
            "unused bytes in segments that also hold something in use, which cannot be given back to the device",
            Basis::Measured,
            |row| row.split,
        )
        .bytes("rounding_bytes", "Rounding", "bytes in use beyond those that were asked for", Basis::Measured, |row| {
            row.rounding
        })
        .share(
            "fragmentation",
            "Fragmentation",
            "part of the unused memory that its largest block is not",
            Basis::Counted,
            Snapshot::fragmentation,
        )
        .count("blocks", "Blocks", "blocks in use", Basis::Counted, |row| row.blocks)
        .count(
            "segments",
            "Segments",
            "pieces taken from the driver, where the snapshot says it",
            Basis::Counted,
            Snapshot::segments,
        )
        .detail()
        .table("memory_snapshots", "Memory at the moment of each snapshot")
}

/// Blocks of every snapshot by allocator, kind, state and stack, most bytes first.
pub(super) fn blocks(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let text = |id: StringId| analysis.text(id).to_owned();
    let subject = |row: &Blocks| row.stack.map_or(Subject::Snapshot(row.snapshot, row.allocator), Subject::Stack);
    Columns::over(&analysis.memory().blocks)
        .about(|row| Some(subject(row)))
        .text("source", "Source", "innermost frame of the call stack outside installed packages", |row| {
            frame_of_user(trace, row.stack).unwrap_or_else(|| "(no stack)".to_owned())
        })
        .key()
        .bytes("bytes", "Size", "bytes of these blocks", Basis::Measured, |row| row.bytes)
        .key()
        .count("blocks", "Blocks", "number of blocks", Basis::Counted, |row| row.count)
        .text("kind", "Kind", "kind of block as the snapshot names it", |row| text(row.kind))
        .text("state", "State", "what the blocks are used for", |row| row.state.name().to_owned())
        .text("allocator", "Memory of", "device or allocator", |row| text(row.allocator))
        .bytes("requested_bytes", "Asked for", "bytes that were asked for", Basis::Measured, |row| row.requested_bytes)
        .detail()
        .text("snapshot", "Snapshot", "file that holds them", |row| text(row.snapshot))
        .detail()
        .text("stack", "Stack", "call stack, innermost frame first", |row| stack_text(trace, row.stack))
        .detail()
        .table("memory_blocks", "Blocks of snapshots, by stack")
}
