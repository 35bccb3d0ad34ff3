//! Memory over time, for whoever draws it.

use crate::session::Session;
use ridge_analysis::models::memory::{Allocator, Holder, Holding, Point};
use ridge_trace::{StackRow, Trace};

/// What one allocator held over time.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySeries {
    /// The allocator's name.
    pub name: String,
    /// Its use in up to 100 equal stretches of its time.
    pub points: Vec<Point>,
    /// Most bytes in use.
    pub peak_bytes: u64,
    /// When that was, nanoseconds on the trace clock.
    pub peak_ns: i64,
    /// What was alive then, most bytes first, up to 200 holders.
    pub alive_at_peak: Vec<Held>,
    /// Bytes in use then that no event made.
    pub unknown_at_peak_bytes: u64,
}

/// What one holder held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Who asked for it; empty where nothing says.
    pub owner: String,
    /// From where, innermost call first.
    pub stack: Vec<String>,
    /// Bytes.
    pub bytes: i64,
    /// Blocks.
    pub blocks: u64,
    /// Since when the oldest is held, nanoseconds on the trace clock.
    pub since_ns: i64,
}

/// What was alive at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alive {
    /// When the last event until then was, nanoseconds on the trace clock.
    pub time_ns: i64,
    /// Bytes in use after it.
    pub in_use_bytes: u64,
    /// Who held them, most bytes first, up to 200 holders.
    pub held: Vec<Held>,
    /// Bytes in use that no event made.
    pub unknown_bytes: u64,
}

/// Holders at one time.
const MOST_HOLDERS: usize = 200;

/// Frames of a stack.
const MOST_FRAMES: usize = 32;

fn stack_lines(trace: &Trace, stack: Option<StackRow>) -> Vec<String> {
    let frames = stack.into_iter().flat_map(|stack| trace.memory.stacks.frames(stack.0).take(MOST_FRAMES));
    frames.map(|frame| trace.strings.get(frame).to_owned()).collect()
}

impl Session {
    /// Use of every allocator over time, most bytes at its peak first; nothing where the capture has no allocator's events.
    pub fn memory_series(&self) -> Vec<MemorySeries> {
        self.allocators().iter().map(|allocator| self.series(allocator)).collect()
    }

    /// Bytes in use after each event of an allocator, by time; `None` where there is no such allocator.
    pub fn memory_samples(&self, allocator: usize) -> Option<Vec<(i64, f64)>> {
        let table = &self.trace().allocations;
        let sample = |row: &usize| (table.time_ns[*row], table.in_use_bytes[*row] as f64);
        Some(self.allocators().get(allocator)?.rows.iter().map(sample).collect())
    }

    /// Every allocator with the number of its events, in the order of [`Session::memory_series`].
    pub fn memory_allocators(&self) -> Vec<(String, u64)> {
        self.allocators().iter().map(|allocator| (allocator.label.clone(), allocator.rows.len() as u64)).collect()
    }

    /// What was alive in an allocator at a time, nanoseconds on the trace clock; `None` where there is no such allocator, or
    /// before its first event.
    pub fn memory_alive_at(&self, allocator: usize, time_ns: i64) -> Option<Alive> {
        let (trace, allocator) = (self.trace(), self.allocators().get(allocator)?);
        let position = allocator.last_until(trace, time_ns)?;
        let (alive, unknown_bytes) = allocator.alive_after(trace, position);
        Some(Alive {
            time_ns: trace.allocations.time_ns[allocator.rows[position]],
            in_use_bytes: allocator.in_use_after(trace, position),
            held: self.held(&alive),
            unknown_bytes,
        })
    }

    fn allocators(&self) -> &[Allocator] {
        // Plans of modules are made beside them, which takes time that a capture without allocators need not spend.
        if self.trace().allocations.is_empty() { &[] } else { &self.analysis().memory().allocators }
    }

    fn series(&self, allocator: &Allocator) -> MemorySeries {
        let trace = self.trace();
        let (alive, unknown) = allocator.alive_at_peak(trace);
        MemorySeries {
            name: allocator.label.clone(),
            points: allocator.line(trace),
            peak_bytes: allocator.peak_bytes(trace),
            peak_ns: allocator.peak_ns(trace),
            alive_at_peak: self.held(&alive),
            unknown_at_peak_bytes: unknown,
        }
    }

    fn held(&self, alive: &[(Holder, Holding)]) -> Vec<Held> {
        let trace = self.trace();
        let held = |(holder, holding): &(Holder, Holding)| Held {
            owner: trace.strings.get(holder.owner).to_owned(),
            stack: stack_lines(trace, holder.stack),
            bytes: holding.bytes,
            blocks: holding.blocks,
            since_ns: holding.since_ns,
        };
        alive.iter().take(MOST_HOLDERS).map(held).collect()
    }
}
