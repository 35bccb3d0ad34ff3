//! Memory snapshots: what each allocator held at that moment, and in whose blocks.

use ridge_trace::{BlockState, MemoryBlocks, NONE, StackRow, StringId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// What one allocator held in one snapshot: sums over its blocks, bytes unless said otherwise.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The file that holds it.
    pub snapshot: StringId,
    /// The device or allocator.
    pub allocator: StringId,
    /// Bytes that the program holds.
    pub allocated: u64,
    /// Bytes that were given back but may still be in use on a stream.
    pub awaiting: u64,
    /// Bytes that nothing uses.
    pub inactive: u64,
    /// Those of `inactive` in segments that also hold something: they cannot be given back.
    pub split: u64,
    /// The largest inactive block.
    pub largest_free: u64,
    /// Bytes in use beyond those that were asked for.
    pub rounding: u64,
    /// Blocks in use.
    pub blocks: u64,
    segments: FxHashSet<u32>,
}

impl Snapshot {
    fn new(snapshot: StringId, allocator: StringId) -> Snapshot {
        let segments = FxHashSet::default();
        Snapshot {
            snapshot,
            allocator,
            allocated: 0,
            awaiting: 0,
            inactive: 0,
            split: 0,
            largest_free: 0,
            rounding: 0,
            blocks: 0,
            segments,
        }
    }

    /// Pieces taken from the driver, where the snapshot says it.
    pub fn segments(&self) -> Option<u64> {
        (!self.segments.is_empty()).then_some(self.segments.len() as u64)
    }

    /// All bytes that the allocator holds.
    pub fn reserved(&self) -> u64 {
        self.allocated.saturating_add(self.awaiting).saturating_add(self.inactive)
    }

    /// The part of free memory that its largest block is not, 0 to 1; `None` where nothing is free.
    pub fn fragmentation(&self) -> Option<f64> {
        (self.inactive > 0).then(|| 1.0 - self.largest_free as f64 / self.inactive as f64)
    }
}

/// Whether the block at `row` is no memory: XLA's processor client lists its executables without their size.
fn holds_nothing(blocks: &MemoryBlocks, row: usize) -> bool {
    blocks.bytes[row] == 0 && blocks.state[row] == BlockState::Allocated
}

/// By snapshot and allocator, in the order they first appear.
pub(crate) fn snapshots(trace: &Trace) -> Vec<Snapshot> {
    let blocks = &trace.memory.blocks;
    let busy: FxHashSet<(StringId, StringId, u32)> = (0..blocks.len())
        .filter(|row| blocks.state[*row] != BlockState::Inactive && blocks.segment[*row] != NONE)
        .map(|row| (blocks.snapshot[row], blocks.allocator[row], blocks.segment[row]))
        .collect();
    let mut places: FxHashMap<(StringId, StringId), usize> = FxHashMap::default();
    let mut all: Vec<Snapshot> = Vec::new();
    for row in (0..blocks.len()).filter(|row| !holds_nothing(blocks, *row)) {
        let key = (blocks.snapshot[row], blocks.allocator[row]);
        let place = *places.entry(key).or_insert(all.len());
        if place == all.len() {
            all.push(Snapshot::new(key.0, key.1));
        }
        let sums = &mut all[place];
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

/// Blocks of a snapshot that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// The file that holds them.
    pub snapshot: StringId,
    /// The device or allocator.
    pub allocator: StringId,
    /// Their kind as the snapshot names it.
    pub kind: StringId,
    /// What they are used for.
    pub state: BlockState,
    /// Who allocated them, where the snapshot says it.
    pub stack: Option<StackRow>,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes that were asked for.
    pub requested_bytes: u64,
    /// How many they are.
    pub count: u64,
}

/// Blocks of every snapshot by allocator, kind, state and stack, most bytes first.
pub(crate) fn blocks(trace: &Trace) -> Vec<Blocks> {
    let table = &trace.memory.blocks;
    let mut places: FxHashMap<(StringId, StringId, StringId, BlockState, u32), usize> = FxHashMap::default();
    let mut all: Vec<Blocks> = Vec::new();
    for row in (0..table.len()).filter(|row| !holds_nothing(table, *row)) {
        let (snapshot, allocator, kind) = (table.snapshot[row], table.allocator[row], table.kind[row]);
        let (state, stack) = (table.state[row], table.stack[row]);
        let place = *places.entry((snapshot, allocator, kind, state, stack)).or_insert(all.len());
        if place == all.len() {
            let stack = StackRow::known(stack);
            all.push(Blocks { snapshot, allocator, kind, state, stack, bytes: 0, requested_bytes: 0, count: 0 });
        }
        let sum = &mut all[place];
        sum.bytes = sum.bytes.saturating_add(table.bytes[row]);
        sum.count = sum.count.saturating_add(table.count[row]);
        sum.requested_bytes = sum.requested_bytes.saturating_add(table.requested_bytes[row]);
    }
    all.sort_by_key(|row| {
        let stack = row.stack.map_or(NONE, |stack| stack.0);
        (Reverse(row.bytes), row.snapshot, row.allocator, row.kind, row.state.name(), stack)
    });
    all
}
