//! Tables of memory snapshots: what each allocator held at that moment, and in whose blocks.

use super::stacks::{frame_of_user, stack_text};
use crate::Analysis;
use crate::tables::time::table as build;
use ridge_table::{Basis, Column, Rank, Table, Unit};
use ridge_trace::{BlockState, NONE, StringId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Sums over the blocks of one allocator in one snapshot.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    /// Bytes that the program holds.
    pub(crate) allocated: u64,
    /// Bytes that were given back but may still be in use on a stream.
    pub(crate) awaiting: u64,
    /// Bytes that nothing uses.
    pub(crate) inactive: u64,
    /// Those of `inactive` in segments that also hold something: they cannot be given back.
    pub(crate) split: u64,
    /// The largest inactive block.
    pub(crate) largest_free: u64,
    /// Bytes in use beyond those that were asked for.
    pub(crate) rounding: u64,
    /// Blocks in use.
    pub(crate) blocks: u64,
    segments: FxHashSet<u32>,
}

impl Sums {
    /// All bytes that the allocator holds.
    pub(crate) fn reserved(&self) -> u64 {
        self.allocated.saturating_add(self.awaiting).saturating_add(self.inactive)
    }

    /// The part of free memory that its largest block is not, 0 to 1; `None` where nothing is free.
    fn fragmentation(&self) -> Option<f64> {
        (self.inactive > 0).then(|| 1.0 - self.largest_free as f64 / self.inactive as f64)
    }
}

/// Sums by snapshot and allocator, in the order they first appear.
pub(crate) fn sums(trace: &Trace) -> Vec<((StringId, StringId), Sums)> {
    let blocks = &trace.memory.blocks;
    let busy: FxHashSet<(StringId, StringId, u32)> = (0..blocks.len())
        .filter(|row| blocks.state[*row] != BlockState::Inactive && blocks.segment[*row] != NONE)
        .map(|row| (blocks.snapshot[row], blocks.allocator[row], blocks.segment[row]))
        .collect();
    let mut places: FxHashMap<(StringId, StringId), usize> = FxHashMap::default();
    let mut all: Vec<((StringId, StringId), Sums)> = Vec::new();
    for row in 0..blocks.len() {
        let key = (blocks.snapshot[row], blocks.allocator[row]);
        let place = *places.entry(key).or_insert(all.len());
        if place == all.len() {
            all.push((key, Sums::default()));
        }
        let sums = &mut all[place].1;
        let (bytes, segment) = (blocks.bytes[row], blocks.segment[row]);
        if segment != NONE {
            sums.segments.insert(segment);
        }
        let kept = match blocks.state[row] {
            BlockState::Allocated => &mut sums.allocated,
            BlockState::AwaitingFree => &mut sums.awaiting,
            BlockState::Inactive => {
                sums.largest_free = sums.largest_free.max(bytes);
                if busy.contains(&(key.0, key.1, segment)) {
                    sums.split = sums.split.saturating_add(bytes);
                }
                &mut sums.inactive
            }
        };
        *kept = kept.saturating_add(bytes);
        if blocks.state[row] != BlockState::Inactive {
            sums.blocks = sums.blocks.saturating_add(blocks.count[row]);
            sums.rounding = sums.rounding.saturating_add(bytes.saturating_sub(blocks.requested_bytes[row]));
        }
    }
    all
}

/// Every allocator of every snapshot.
pub(crate) fn snapshots(analysis: &Analysis<'_>) -> Table {
    let rows = sums(analysis.trace);
    let bytes = |key, title, definition, value: fn(&Sums) -> u64| {
        Column::whole(key, title, definition, Unit::Bytes, rows.iter().map(move |(_, sums)| value(sums)))
            .basis(Basis::Measured)
    };
    let columns = vec![
        Column::text(
            "snapshot",
            "Snapshot",
            "file that holds it",
            rows.iter().map(|((snapshot, _), _)| analysis.text(*snapshot).to_owned()),
        )
        .ranked(Rank::Key),
        Column::text(
            "allocator",
            "Memory of",
            "device or allocator",
            rows.iter().map(|((_, allocator), _)| analysis.text(*allocator).to_owned()),
        )
        .ranked(Rank::Key),
        bytes("reserved_bytes", "Held", "all bytes that the allocator holds, used or not", Sums::reserved)
            .ranked(Rank::Key),
        bytes("allocated_bytes", "In use", "bytes of blocks that the program holds", |sums| sums.allocated)
            .ranked(Rank::Key),
        bytes("awaiting_bytes", "Awaiting free", "bytes given back that a stream may still use", |sums| sums.awaiting)
            .ranked(Rank::Detail),
        bytes("inactive_bytes", "Cached unused", "bytes that nothing uses: held less in use less awaiting", |sums| {
            sums.inactive
        }),
        bytes(
            "inactive_split_bytes",
            "Split unused",
            "unused bytes in segments that also hold something in use, which cannot be given back to the device",
            |sums| sums.split,
        ),
        bytes("rounding_bytes", "Rounding", "bytes in use beyond those that were asked for", |sums| sums.rounding),
        Column::real(
            "fragmentation",
            "Fragmentation",
            "part of the unused memory that its largest block is not",
            Unit::Share,
            rows.iter().map(|(_, sums)| sums.fragmentation()),
        )
        .basis(Basis::Counted),
        Column::whole("blocks", "Blocks", "blocks in use", Unit::Count, rows.iter().map(|(_, sums)| sums.blocks))
            .basis(Basis::Counted),
        Column::whole(
            "segments",
            "Segments",
            "pieces taken from the driver, where the snapshot says it",
            Unit::Count,
            rows.iter().map(|(_, sums)| (!sums.segments.is_empty()).then_some(sums.segments.len() as u64)),
        )
        .basis(Basis::Counted)
        .ranked(Rank::Detail),
    ];
    build("memory_snapshots", "Memory at the moment of each snapshot", columns)
}

/// What makes blocks alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    snapshot: StringId,
    allocator: StringId,
    kind: StringId,
    state: &'static str,
    stack: u32,
}

/// Blocks of every snapshot by allocator, kind, state and stack, most bytes first.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Table {
    let (trace, table) = (analysis.trace, &analysis.trace.memory.blocks);
    let mut sums: FxHashMap<Key, (u64, u64, u64)> = FxHashMap::default();
    for row in 0..table.len() {
        let key = Key {
            snapshot: table.snapshot[row],
            allocator: table.allocator[row],
            kind: table.kind[row],
            state: table.state[row].name(),
            stack: table.stack[row],
        };
        let sum = sums.entry(key).or_default();
        sum.0 = sum.0.saturating_add(table.bytes[row]);
        sum.1 = sum.1.saturating_add(table.count[row]);
        sum.2 = sum.2.saturating_add(table.requested_bytes[row]);
    }
    let mut rows: Vec<(Key, (u64, u64, u64))> = sums.into_iter().collect();
    rows.sort_by_key(|(key, sum)| (std::cmp::Reverse(sum.0), *key));
    let text = |id: StringId| analysis.text(id).to_owned();
    let columns = vec![
        Column::text(
            "source",
            "Source",
            "innermost frame of the call stack outside installed packages",
            rows.iter().map(|(key, _)| frame_of_user(trace, key.stack).unwrap_or_else(|| "(no stack)".to_owned())),
        )
        .ranked(Rank::Key),
        Column::whole("bytes", "Size", "bytes of these blocks", Unit::Bytes, rows.iter().map(|(_, sum)| sum.0))
            .ranked(Rank::Key)
            .basis(Basis::Measured),
        Column::whole("blocks", "Blocks", "number of blocks", Unit::Count, rows.iter().map(|(_, sum)| sum.1))
            .basis(Basis::Counted),
        Column::text(
            "kind",
            "Kind",
            "kind of block as the snapshot names it",
            rows.iter().map(|(key, _)| text(key.kind)),
        ),
        Column::text(
            "state",
            "State",
            "what the blocks are used for",
            rows.iter().map(|(key, _)| key.state.to_owned()),
        ),
        Column::text("allocator", "Memory of", "device or allocator", rows.iter().map(|(key, _)| text(key.allocator))),
        Column::whole(
            "requested_bytes",
            "Asked for",
            "bytes that were asked for",
            Unit::Bytes,
            rows.iter().map(|(_, sum)| sum.2),
        )
        .ranked(Rank::Detail)
        .basis(Basis::Measured),
        Column::text("snapshot", "Snapshot", "file that holds them", rows.iter().map(|(key, _)| text(key.snapshot)))
            .ranked(Rank::Detail),
        Column::text(
            "stack",
            "Stack",
            "call stack, innermost frame first",
            rows.iter().map(|(key, _)| stack_text(trace, key.stack)),
        )
        .ranked(Rank::Detail),
    ];
    build("memory_blocks", "Blocks of snapshots, by stack", columns)
}
