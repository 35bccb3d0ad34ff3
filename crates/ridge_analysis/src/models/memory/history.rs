//! What each allocator did over time: its peak, what was alive then, what it kept unused, how fast it worked.
//!
//! One history is the allocator events of one allocator of one process, in order of time.

use crate::models::scaling::theil_sen;
use ridge_trace::{NONE, SegmentEventKind, StringId, Trace};
use rustc_hash::FxHashMap;

/// Events within this time count as one burst, nanoseconds: a kernel launch takes a few microseconds, a storm does not
/// let one through.
const BURST_NS: i64 = 1_000_000;

/// The events of one allocator.
#[derive(Debug, Clone)]
pub(crate) struct History {
    /// Row of the processes table.
    pub(crate) process: u32,
    /// Its name.
    pub(crate) allocator: StringId,
    /// Rows of the allocations table, in order of time.
    pub(crate) rows: Vec<usize>,
    /// Place in `rows` of the first event after which most bytes were in use.
    pub(crate) peak: usize,
}

/// Who holds memory: what asked for it, and from which call stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Holder {
    /// What asked for it, an interned text.
    pub(crate) owner: u32,
    /// Row of the stacks, or [`NONE`].
    pub(crate) stack: u32,
}

/// Memory that one holder has at the peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Holding {
    /// Blocks.
    pub(crate) blocks: u64,
    /// Bytes of them.
    pub(crate) bytes: i64,
    /// Bytes that were asked for.
    pub(crate) requested: i64,
    /// Time of the earliest that is still alive, nanoseconds on the trace clock.
    pub(crate) since_ns: i64,
}

/// How memory in use changes from step to step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Growth {
    /// Median of the slopes between all pairs of steps (Theil 1950, Sen 1968), bytes per step.
    pub(crate) bytes_per_step: f64,
    /// Part of the pairs whose later step has more, 0 to 1.
    pub(crate) rising: f64,
    /// Steps looked at.
    pub(crate) steps: usize,
}

impl Growth {
    /// The trend of `in_use`, bytes at the ends of steps; `None` with fewer than three. A few wild values do not move it.
    fn of(in_use: &[f64]) -> Option<Growth> {
        let found = theil_sen(in_use)?;
        Some(Growth { bytes_per_step: found.slope, rising: found.rising, steps: found.values })
    }

    /// Whether it looks like a leak: nearly every later step holds more than every earlier one.
    pub(crate) fn is_suspect(&self) -> bool {
        const MOST_PAIRS: f64 = 0.9;
        self.steps >= 4 && self.bytes_per_step > 0.0 && self.rising >= MOST_PAIRS
    }
}

/// Every allocator's history, most bytes at its peak first.
pub(crate) fn histories(trace: &Trace) -> Vec<History> {
    let table = &trace.allocations;
    let mut places: FxHashMap<(u32, StringId), usize> = FxHashMap::default();
    let mut histories: Vec<History> = Vec::new();
    for row in 0..table.len() {
        let key = (table.process[row], table.allocator[row]);
        let place = *places.entry(key).or_insert(histories.len());
        if place == histories.len() {
            histories.push(History { process: key.0, allocator: key.1, rows: Vec::new(), peak: 0 });
        }
        let history = &mut histories[place];
        let highest = history.rows.get(history.peak).map_or(i64::MIN, |peak| table.in_use_bytes[*peak]);
        if table.in_use_bytes[row] > highest {
            history.peak = history.rows.len();
        }
        history.rows.push(row);
    }
    histories.sort_by_key(|history| std::cmp::Reverse(history.peak_bytes(trace)));
    histories
}

impl History {
    /// Most bytes in use after any event.
    pub(crate) fn peak_bytes(&self, trace: &Trace) -> u64 {
        whole(trace.allocations.in_use_bytes[self.rows[self.peak]])
    }

    /// When the peak was reached, nanoseconds on the trace clock.
    pub(crate) fn peak_ns(&self, trace: &Trace) -> i64 {
        trace.allocations.time_ns[self.rows[self.peak]]
    }

    /// First and last event, nanoseconds on the trace clock.
    pub(crate) fn span_ns(&self, trace: &Trace) -> (i64, i64) {
        let time = |row: Option<&usize>| row.map_or(0, |row| trace.allocations.time_ns[*row]);
        (time(self.rows.first()), time(self.rows.last()))
    }

    /// Allocations and frees.
    pub(crate) fn counts(&self, trace: &Trace) -> (u64, u64) {
        let frees = self.rows.iter().filter(|row| trace.allocations.delta_bytes[**row] < 0).count();
        ((self.rows.len() - frees) as u64, frees as u64)
    }

    /// What is alive right after the peak, most bytes first; and bytes in use then that no event of the history made.
    ///
    /// Where events have addresses a free ends what was allocated there; where they have none (a timeline by category)
    /// it ends as much of its own holder.
    pub(crate) fn alive_at_peak(&self, trace: &Trace) -> (Vec<(Holder, Holding)>, u64) {
        let table = &trace.allocations;
        let mut alive: FxHashMap<u64, usize> = FxHashMap::default();
        let mut holdings: FxHashMap<Holder, Holding> = FxHashMap::default();
        for &row in &self.rows[..=self.peak] {
            match (table.address[row], table.delta_bytes[row] >= 0) {
                (0, _) => hold(&mut holdings, trace, row),
                (address, true) => {
                    alive.insert(address, row);
                }
                (address, false) => {
                    alive.remove(&address);
                }
            }
        }
        alive.into_values().for_each(|row| hold(&mut holdings, trace, row));
        let mut holdings: Vec<(Holder, Holding)> =
            holdings.into_iter().filter(|(_, holding)| holding.bytes > 0).collect();
        holdings.sort_by_key(|(holder, holding)| (std::cmp::Reverse(holding.bytes), *holder));
        let known = holdings.iter().fold(0i64, |sum, (_, holding)| sum.saturating_add(holding.bytes));
        (holdings, whole(table.in_use_bytes[self.rows[self.peak]].saturating_sub(known)))
    }

    /// Most bytes that the allocator held without using them, and when; `None` where events do not say what it held.
    pub(crate) fn most_cached(&self, trace: &Trace) -> Option<(u64, i64)> {
        let table = &trace.allocations;
        let known = self.rows.iter().filter(|row| table.reserved_bytes[**row] >= 0);
        let cached = known.map(|row| (table.reserved_bytes[*row].saturating_sub(table.in_use_bytes[*row]), *row));
        let (bytes, row) = cached.max_by_key(|(bytes, row)| (*bytes, std::cmp::Reverse(*row)))?;
        Some((whole(bytes), table.time_ns[row]))
    }

    /// Most bytes that the allocator held from its driver, where events say it.
    pub(crate) fn most_reserved(&self, trace: &Trace) -> Option<u64> {
        let reserved = self.rows.iter().map(|row| trace.allocations.reserved_bytes[*row]);
        reserved.filter(|bytes| *bytes >= 0).max().map(whole)
    }

    /// Largest fragmentation that the allocator reported, where it did.
    pub(crate) fn most_fragmented(&self, trace: &Trace) -> Option<f64> {
        let said = self.rows.iter().map(|row| trace.allocations.fragmentation[*row]);
        said.filter(|share| share.is_finite() && *share > 0.0).reduce(f64::max)
    }

    /// Most events within a millisecond, and when that began.
    pub(crate) fn worst_burst(&self, trace: &Trace) -> (u64, i64) {
        let time = |place: usize| trace.allocations.time_ns[self.rows[place]];
        let (mut first, mut worst) = (0, (0, 0));
        for last in 0..self.rows.len() {
            while time(last).saturating_sub(time(first)) >= BURST_NS {
                first += 1;
            }
            let events = (last - first + 1) as u64;
            if events > worst.0 {
                worst = (events, time(first));
            }
        }
        worst
    }

    /// Times the allocator went to its driver for more and gave back: from its own events, else from what it held.
    pub(crate) fn driver_calls(&self, trace: &Trace) -> (u64, u64) {
        let own = segment_events(trace, self.process, self.allocator);
        if !own.is_empty() {
            let count =
                |sign: i64| own.iter().filter(|row| trace.memory.segments.kind[**row].sign() == sign).count() as u64;
            return (count(1), count(-1));
        }
        let held = self.rows.iter().map(|row| trace.allocations.reserved_bytes[*row]).filter(|bytes| *bytes >= 0);
        let (mut grew, mut shrank, mut before) = (0, 0, None);
        for bytes in held {
            grew += u64::from(before.is_some_and(|before| bytes > before));
            shrank += u64::from(before.is_some_and(|before| bytes < before));
            before = Some(bytes);
        }
        (grew, shrank)
    }

    /// How memory in use at the ends of the marked steps changes; `None` with fewer than three.
    pub(crate) fn growth(&self, trace: &Trace) -> Option<Growth> {
        let mut ends: Vec<i64> = trace.steps.iter().map(|step| trace.events.end_ns(step.event as usize)).collect();
        ends.sort_unstable();
        ends.dedup();
        let (first, _) = self.span_ns(trace);
        let in_use: Vec<f64> =
            ends.iter().filter(|end| **end >= first).map(|end| self.in_use_at(trace, *end)).collect();
        Growth::of(&in_use)
    }

    /// Bytes in use at `time_ns`.
    fn in_use_at(&self, trace: &Trace, time_ns: i64) -> f64 {
        let after = self.rows.partition_point(|row| trace.allocations.time_ns[*row] <= time_ns);
        let row = self.rows[after.saturating_sub(1)];
        trace.allocations.in_use_bytes[row] as f64
    }
}

fn hold(holdings: &mut FxHashMap<Holder, Holding>, trace: &Trace, row: usize) {
    let table = &trace.allocations;
    let holder = Holder { owner: table.owner[row].0, stack: table.stack.get(row).copied().unwrap_or(NONE) };
    let holding = holdings.entry(holder).or_insert(Holding { since_ns: table.time_ns[row], ..Holding::default() });
    let is_new = table.delta_bytes[row] >= 0;
    holding.blocks = if is_new { holding.blocks + 1 } else { holding.blocks.saturating_sub(1) };
    holding.bytes = holding.bytes.saturating_add(table.delta_bytes[row]);
    holding.requested = holding.requested.saturating_add(table.requested_bytes[row]);
    holding.since_ns = holding.since_ns.min(table.time_ns[row]);
}

/// Rows of the segment events of one allocator.
pub(crate) fn segment_events(trace: &Trace, process: u32, allocator: StringId) -> Vec<usize> {
    let segments = &trace.memory.segments;
    let is_own = |row: &usize| segments.process[*row] == process && segments.allocator[*row] == allocator;
    (0..segments.bytes.len()).filter(is_own).collect()
}

/// Requests that could not be met, over all allocators: rows of the segment events.
pub(crate) fn out_of_memory(trace: &Trace) -> impl Iterator<Item = usize> + '_ {
    let kinds = trace.memory.segments.kind.iter().enumerate();
    kinds.filter(|(_, kind)| **kind == SegmentEventKind::OutOfMemory).map(|(row, _)| row)
}

/// Bytes that may not be negative.
pub(crate) fn whole(bytes: i64) -> u64 {
    u64::try_from(bytes).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wild_step_does_not_move_the_trend() {
        let growth = Growth::of(&[10.0, 20.0, 30.0, 9_000.0, 50.0, 60.0]).expect("enough steps");
        // scipy.stats.theilslopes([10, 20, 30, 9000, 50, 60]) gives 10.0.
        assert_eq!((growth.bytes_per_step, growth.steps), (10.0, 6));
        assert_eq!(Growth::of(&[1.0, 2.0]), None);
        assert!(Growth::of(&[0.0, 1.0, 2.0, 3.0]).expect("enough steps").is_suspect());
        assert!(!Growth::of(&[5.0; 8]).expect("enough steps").is_suspect());
    }
}
