//! What memory tools say beside single allocations: call stacks, blocks held at one moment, and what allocators took
//! from the driver.
//!
//! Single allocations are [`crate::Allocations`], so that every format's allocator history answers the same questions.

use crate::strings::StringId;
use rustc_hash::FxHashMap;

/// Call stacks that share their outer frames: a tree in columns of equal length, a stack is a row.
#[derive(Debug, Clone, Default)]
pub struct Stacks {
    /// The caller's row, or [`crate::NONE`] for the outermost frame.
    pub parent: Vec<u32>,
    /// The frame: `file:line function`.
    pub frame: Vec<StringId>,
    known: FxHashMap<(u32, StringId), u32>,
}

impl Stacks {
    /// The row of the stack that calls `frame` from `parent`, new or known.
    pub fn push(&mut self, parent: u32, frame: StringId) -> u32 {
        *self.known.entry((parent, frame)).or_insert_with(|| {
            self.parent.push(parent);
            self.frame.push(frame);
            self.frame.len() as u32 - 1
        })
    }

    /// The frames of a stack, innermost first; none for [`crate::NONE`].
    pub fn frames(&self, stack: u32) -> impl Iterator<Item = StringId> + '_ {
        let mut next = stack;
        std::iter::from_fn(move || {
            let frame = *self.frame.get(next as usize)?;
            // A parent is entered before the frames it calls, so the walk ends.
            next = self.parent[next as usize];
            Some(frame)
        })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.frame.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.frame.is_empty()
    }
}

/// What a block is used for at the moment of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockState {
    /// The program holds it.
    Allocated,
    /// The program gave it back, but a stream may still use it.
    AwaitingFree,
    /// The allocator keeps it for later: part of what is cached.
    Inactive,
}

impl BlockState {
    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            BlockState::Allocated => "allocated",
            BlockState::AwaitingFree => "awaiting free",
            BlockState::Inactive => "inactive",
        }
    }
}

/// Blocks of memory held at the moment of a snapshot, in columns of equal length.
#[derive(Debug, Clone, Default)]
pub struct MemoryBlocks {
    /// Name of the snapshot: its source's.
    pub snapshot: Vec<StringId>,
    /// Whose memory it is: a device or an allocator (`cpu:0`, `cuda:0`).
    pub allocator: Vec<StringId>,
    /// Kind of block as the snapshot names it (`buffer`, `executable`, `large`, `small`).
    pub kind: Vec<StringId>,
    /// What it is used for.
    pub state: Vec<BlockState>,
    /// Number of blocks that the row stands for.
    pub count: Vec<u64>,
    /// Bytes of all of them, as the allocator rounds them.
    pub bytes: Vec<u64>,
    /// Bytes that were asked for; the same as `bytes` where the snapshot does not say.
    pub requested_bytes: Vec<u64>,
    /// The segment it is part of, a number of the snapshot, or [`crate::NONE`].
    pub segment: Vec<u32>,
    /// Row of [`Stacks`] that allocated it, or [`crate::NONE`].
    pub stack: Vec<u32>,
}

/// What an allocator did with its driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentEventKind {
    /// It took a segment (`cudaMalloc`).
    Allocated,
    /// It gave a segment back (`cudaFree`).
    Freed,
    /// It mapped memory into an expandable segment.
    Mapped,
    /// It took memory out of an expandable segment.
    Unmapped,
    /// A request could not be met; `bytes` is what was asked for.
    OutOfMemory,
}

impl SegmentEventKind {
    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            SegmentEventKind::Allocated => "allocated",
            SegmentEventKind::Freed => "freed",
            SegmentEventKind::Mapped => "mapped",
            SegmentEventKind::Unmapped => "unmapped",
            SegmentEventKind::OutOfMemory => "out of memory",
        }
    }

    /// What it does to the bytes that the allocator holds: more (1), less (-1), nothing (0).
    pub fn sign(self) -> i64 {
        match self {
            SegmentEventKind::Allocated | SegmentEventKind::Mapped => 1,
            SegmentEventKind::Freed | SegmentEventKind::Unmapped => -1,
            SegmentEventKind::OutOfMemory => 0,
        }
    }
}

/// Segments that allocators took and gave back over time, in columns of equal length.
#[derive(Debug, Clone, Default)]
pub struct SegmentEvents {
    /// Name of the allocator, as in [`crate::Allocations::allocator`].
    pub allocator: Vec<StringId>,
    /// Row of the processes table.
    pub process: Vec<u32>,
    /// Time on the trace clock, nanoseconds.
    pub time_ns: Vec<i64>,
    /// What happened.
    pub kind: Vec<SegmentEventKind>,
    /// Bytes of the segment, or asked for.
    pub bytes: Vec<u64>,
    /// Bytes that the device had left, where the event says it.
    pub free_bytes: Vec<Option<u64>>,
    /// Row of [`Stacks`] that caused it, or [`crate::NONE`].
    pub stack: Vec<u32>,
}

/// Everything that memory tools say beside single allocations.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Call stacks.
    pub stacks: Stacks,
    /// Blocks held at the moment of each snapshot.
    pub blocks: MemoryBlocks,
    /// Segments over time, in any order.
    pub segments: SegmentEvents,
}

impl MemoryBlocks {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NONE;

    #[test]
    fn stacks_share_their_callers() {
        let mut stacks = Stacks::default();
        let main = stacks.push(NONE, StringId(1));
        let inner = stacks.push(main, StringId(2));
        assert_eq!(stacks.push(main, StringId(2)), inner);
        let other = stacks.push(main, StringId(3));
        assert_eq!((stacks.len(), other), (3, 2));
        assert_eq!(stacks.frames(inner).collect::<Vec<_>>(), [StringId(2), StringId(1)]);
        assert_eq!(stacks.frames(NONE).count(), 0);
    }
}
