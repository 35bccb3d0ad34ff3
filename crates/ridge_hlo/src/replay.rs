//! The most memory a program's buffers take at one time, by replaying the heap traces.
//!
//! This is what the compiler planned, not what a run used.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{Allocation, BufferAssignment, HeapEventKind, HeapTrace, InstructionId};

/// The planned peak of one memory space.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeakMemory {
    /// The memory space; 0 is the device's default.
    pub color: i64,
    /// Bytes alive at the peak, those that live throughout included.
    pub bytes: u64,
    /// Bytes that live throughout: parameters, results, constants.
    pub always_bytes: u64,
    /// The instruction at which the peak is reached, if a trace says so.
    pub at: Option<InstructionId>,
    /// Numbers of the values alive at the peak that come and go, largest first.
    pub alive: Vec<i64>,
}

impl BufferAssignment {
    /// Replays the heap traces of the default memory space.
    pub fn replay_peak(&self) -> PeakMemory {
        self.replay_peak_of(0)
    }

    /// Replays the heap traces of one memory space.
    ///
    /// Values a trace brings to life count while they live. Allocations no trace is about count throughout: that is
    /// how parameters, results and constants are kept. Thread-local ones and tuples' pointer tables inside traces
    /// count where XLA counts them, as any other value.
    pub fn replay_peak_of(&self, color: i64) -> PeakMemory {
        let sizes: FxHashMap<i64, u64> =
            self.buffers.iter().map(|buffer| (buffer.id, u64::try_from(buffer.size).unwrap_or(0))).collect();
        let traced: FxHashSet<i64> = self.heap_traces.iter().map(|trace| trace.allocation).collect();
        let in_space = |allocation: &&Allocation| allocation.color == color;
        let always_bytes = self
            .allocations
            .iter()
            .filter(in_space)
            .filter(|allocation| !traced.contains(&allocation.index) && !allocation.is_thread_local)
            .fold(0u64, |sum, allocation| sum.saturating_add(u64::try_from(allocation.size).unwrap_or(0)));
        let mut peak = PeakMemory { color, bytes: always_bytes, always_bytes, ..PeakMemory::default() };
        let spaces: FxHashMap<i64, i64> =
            self.allocations.iter().map(|allocation| (allocation.index, allocation.color)).collect();
        for trace in &self.heap_traces {
            if spaces.get(&trace.allocation).copied().unwrap_or(0) == color {
                let mut replay = Replay::new(&sizes);
                replay.run(trace);
                // Separate allocations are separate memory, so their peaks add up even if reached at different times.
                peak.bytes = peak.bytes.saturating_add(replay.peak);
                peak.at = peak.at.or(replay.peak_at);
                peak.alive.append(&mut replay.peak_alive);
            }
        }
        peak.alive.sort_by_key(|id| (std::cmp::Reverse(sizes.get(id).copied().unwrap_or(0)), *id));
        peak
    }
}

/// One trace being replayed.
struct Replay<'a> {
    sizes: &'a FxHashMap<i64, u64>,
    /// Values alive by the number of the value whose memory they share, with how many share it.
    sharers: FxHashMap<i64, u32>,
    /// The value whose memory each value uses, where it is another's.
    shares_with: FxHashMap<i64, i64>,
    bytes: u64,
    peak: u64,
    peak_at: Option<InstructionId>,
    peak_alive: Vec<i64>,
}

impl<'a> Replay<'a> {
    fn new(sizes: &'a FxHashMap<i64, u64>) -> Replay<'a> {
        Replay {
            sizes,
            sharers: FxHashMap::default(),
            shares_with: FxHashMap::default(),
            bytes: 0,
            peak: 0,
            peak_at: None,
            peak_alive: Vec::new(),
        }
    }

    /// Finds the peak first and lists who is alive there second, so that no list is copied per event.
    fn run(&mut self, trace: &HeapTrace) {
        let mut peak_event = 0;
        for (position, event) in trace.events.iter().enumerate() {
            self.step(event.kind, event.buffer);
            if self.bytes > self.peak {
                (self.peak, self.peak_at, peak_event) = (self.bytes, event.instruction, position + 1);
            }
        }
        let mut again = Replay::new(self.sizes);
        for event in &trace.events[..peak_event] {
            again.step(event.kind, event.buffer);
        }
        self.peak_alive = again.sharers.into_keys().collect();
    }

    fn step(&mut self, kind: HeapEventKind, buffer: i64) {
        match kind {
            HeapEventKind::Alloc => {
                if *self.sharers.entry(buffer).and_modify(|count| *count += 1).or_insert(1) == 1 {
                    self.bytes = self.bytes.saturating_add(self.size(buffer));
                }
            }
            HeapEventKind::ShareWith(other) => {
                let owner = self.shares_with.get(&other).copied().unwrap_or(other);
                self.shares_with.insert(buffer, owner);
                if *self.sharers.entry(owner).and_modify(|count| *count += 1).or_insert(1) == 1 {
                    self.bytes = self.bytes.saturating_add(self.size(owner));
                }
            }
            HeapEventKind::Free => {
                let owner = self.shares_with.remove(&buffer).unwrap_or(buffer);
                let Some(count) = self.sharers.get_mut(&owner) else { return };
                *count -= 1;
                if *count == 0 {
                    self.sharers.remove(&owner);
                    self.bytes = self.bytes.saturating_sub(self.size(owner));
                }
            }
        }
    }

    fn size(&self, buffer: i64) -> u64 {
        self.sizes.get(&buffer).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AssignedBuffer, HeapEvent, LogicalBuffer};

    #[test]
    fn shared_memory_counts_once_and_lives_as_long_as_its_last_user() {
        use HeapEventKind::*;
        let event = |kind, buffer| HeapEvent { kind, buffer, instruction: None };
        let assignment = BufferAssignment {
            buffers: [(1, 100), (2, 100), (3, 50)]
                .map(|(id, size)| LogicalBuffer { id, size, ..LogicalBuffer::default() })
                .to_vec(),
            allocations: vec![
                Allocation { index: 0, size: 7, is_parameter: true, ..Allocation::default() },
                Allocation { index: 1, size: 150, ..Allocation::default() },
                Allocation { index: 2, size: 9, color: 5, ..Allocation::default() },
            ],
            heap_traces: vec![HeapTrace {
                allocation: 1,
                events: vec![event(Alloc, 1), event(ShareWith(1), 2), event(Free, 1), event(Alloc, 3), event(Free, 2)],
                ..HeapTrace::default()
            }],
            ..BufferAssignment::default()
        };
        let peak = assignment.replay_peak();
        assert_eq!((peak.bytes, peak.always_bytes, &peak.alive[..]), (157, 7, &[1, 3][..]));
        assert_eq!(assignment.replay_peak_of(5).bytes, 9);
    }

    #[test]
    fn a_trace_is_about_the_allocation_that_holds_its_values() {
        use HeapEventKind::*;
        let holding = |index, buffer, size| Allocation {
            index,
            size,
            assigned: vec![AssignedBuffer { buffer, offset: 0, size }],
            ..Allocation::default()
        };
        let mut assignment = BufferAssignment {
            buffers: [(1, 100), (2, 40)]
                .map(|(id, size)| LogicalBuffer { id, size, ..LogicalBuffer::default() })
                .to_vec(),
            allocations: vec![holding(6, 2, 40), holding(12, 1, 100)],
            heap_traces: vec![HeapTrace {
                allocation: 6,
                events: vec![HeapEvent { kind: Alloc, buffer: 1, instruction: None }],
                ..HeapTrace::default()
            }],
            ..BufferAssignment::default()
        };
        assignment.place_traces();
        assert_eq!(assignment.heap_traces[0].allocation, 12);
        assert_eq!(assignment.replay_peak().bytes, 140);
    }
}
