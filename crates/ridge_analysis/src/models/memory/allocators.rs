//! What each allocator did over time: its peak, what was alive then, what it kept unused, how fast it worked.

use crate::context::labels::process_labels;
use crate::models::scaling::theil_sen;
use ridge_trace::{ProcessRow, SegmentEventKind, SegmentRow, StackRow, StringId, Trace};
use rustc_hash::FxHashMap;

/// Events within this time count as one burst, nanoseconds: a kernel launch takes a few microseconds, a storm does not
/// let one through.
const BURST_NS: i64 = 1_000_000;

/// One allocator of one process, with its events.
#[derive(Debug, Clone)]
pub struct Allocator {
    /// The process.
    pub process: ProcessRow,
    /// Its name.
    pub name: StringId,
    /// Its name for people, with its process where several have allocators.
    pub label: String,
    /// Rows of the allocations table, in order of time.
    pub rows: Vec<usize>,
    /// Place in `rows` of the first event after which most bytes were in use.
    pub peak: usize,
    /// How many rows at the beginning are what was held before the first event.
    older: usize,
}

/// Who holds memory: what asked for it, and from which call stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Holder {
    /// What asked for it.
    pub owner: StringId,
    /// The call stack, where the capture has it.
    pub stack: Option<StackRow>,
}

/// Memory that one holder has at the peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Holding {
    /// Blocks.
    pub blocks: u64,
    /// Bytes of them.
    pub bytes: i64,
    /// Bytes that were asked for.
    pub requested: i64,
    /// Time of the earliest that is still alive, nanoseconds on the trace clock.
    pub since_ns: i64,
}

/// How memory in use changes from step to step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Median of the slopes between all pairs of steps (Theil 1950, Sen 1968), bytes per step.
    pub bytes_per_step: f64,
    /// Part of the pairs whose later step has more, 0 to 1.
    pub rising: f64,
    /// Steps looked at.
    pub steps: usize,
}

impl Growth {
    /// The trend of `in_use`, bytes at the ends of steps; `None` with fewer than three. A few wild values do not move it.
    fn of(in_use: &[f64]) -> Option<Growth> {
        let found = theil_sen(in_use)?;
        Some(Growth { bytes_per_step: found.slope, rising: found.rising, steps: found.values })
    }

    /// Whether it looks like a leak: nearly every later step holds more than every earlier one.
    pub fn is_suspect(&self) -> bool {
        const MOST_PAIRS: f64 = 0.9;
        self.steps >= 4 && self.bytes_per_step > 0.0 && self.rising >= MOST_PAIRS
    }
}

/// Every allocator, most bytes at its peak first.
pub(crate) fn allocators(trace: &Trace) -> Vec<Allocator> {
    let table = &trace.allocations;
    let mut places: FxHashMap<(u32, StringId), usize> = FxHashMap::default();
    let mut found: Vec<Allocator> = Vec::new();
    for row in 0..table.len() {
        let key = (table.process[row], table.allocator[row]);
        let place = *places.entry(key).or_insert(found.len());
        if place == found.len() {
            let (process, name) = (ProcessRow(key.0), key.1);
            found.push(Allocator { process, name, label: String::new(), rows: Vec::new(), peak: 0, older: 0 });
        }
        let allocator = &mut found[place];
        let highest = allocator.rows.get(allocator.peak).map_or(i64::MIN, |peak| table.in_use_bytes[*peak]);
        if table.in_use_bytes[row] > highest {
            allocator.peak = allocator.rows.len();
        }
        allocator.older += usize::from(allocator.older == allocator.rows.len() && table.is_older[row]);
        allocator.rows.push(row);
    }
    found.sort_by_key(|allocator| std::cmp::Reverse(allocator.peak_bytes(trace)));
    name_all(trace, &mut found);
    found
}

/// Gives allocators their labels.
fn name_all(trace: &Trace, allocators: &mut [Allocator]) {
    let labels = process_labels(trace);
    let first = allocators.first().map(|allocator| allocator.process);
    let several = allocators.iter().any(|allocator| Some(allocator.process) != first);
    for allocator in allocators {
        let name = trace.strings.get(allocator.name);
        let label = labels.get(allocator.process.index()).filter(|label| several && !label.is_empty());
        allocator.label = label.map_or_else(|| name.to_owned(), |label| format!("{name} {label}"));
    }
}

impl Allocator {
    /// Most bytes in use after any event.
    pub fn peak_bytes(&self, trace: &Trace) -> u64 {
        whole(trace.allocations.in_use_bytes[self.rows[self.peak]])
    }

    /// When the peak was reached, nanoseconds on the trace clock.
    pub fn peak_ns(&self, trace: &Trace) -> i64 {
        trace.allocations.time_ns[self.rows[self.peak]]
    }

    /// First and last event, nanoseconds on the trace clock.
    pub fn span_ns(&self, trace: &Trace) -> (i64, i64) {
        let time = |row: Option<&usize>| row.map_or(0, |row| trace.allocations.time_ns[*row]);
        (time(self.rows.first()), time(self.rows.last()))
    }

    /// Whether its times are those of a clock: where a snapshot says none, the order of its events stands for them, a nanosecond
    /// each, and no allocator is as fast.
    pub fn has_clock(&self, trace: &Trace) -> bool {
        const FASTEST_NS: i64 = 3;
        let time = |row: &usize| trace.allocations.time_ns[*row];
        let gaps = self.happened().windows(2).map(|pair| time(&pair[1]).saturating_sub(time(&pair[0])));
        let mut gaps: Vec<i64> = gaps.filter(|gap| *gap > 0).collect();
        let middle = gaps.len() / 2;
        gaps.is_empty() || *gaps.select_nth_unstable(middle).1 >= FASTEST_NS
    }

    /// The rows that happened in the capture.
    pub fn happened(&self) -> &[usize] {
        &self.rows[self.older..]
    }

    /// The rows whose levels the allocator really had: memory that was there at the beginning was there all at once.
    fn levels(&self) -> &[usize] {
        &self.rows[self.older.saturating_sub(1)..]
    }

    /// Allocations and frees.
    pub fn counts(&self, trace: &Trace) -> (u64, u64) {
        let happened = self.happened();
        let frees = happened.iter().filter(|row| trace.allocations.delta_bytes[**row] < 0).count();
        ((happened.len() - frees) as u64, frees as u64)
    }

    /// What is alive right after the peak, most bytes first; and bytes in use then that no event made.
    pub fn alive_at_peak(&self, trace: &Trace) -> (Vec<(Holder, Holding)>, u64) {
        self.alive_after(trace, self.peak)
    }

    /// The last event until a time, nanoseconds on the trace clock, as its position in the rows; `None` before the first.
    pub fn last_until(&self, trace: &Trace, time_ns: i64) -> Option<usize> {
        self.rows.partition_point(|row| trace.allocations.time_ns[*row] <= time_ns).checked_sub(1)
    }

    /// Bytes in use after the event at a position of the rows.
    pub fn in_use_after(&self, trace: &Trace, position: usize) -> u64 {
        whole(trace.allocations.in_use_bytes[self.rows[position]])
    }

    /// What is alive right after the event at a position of the rows, most bytes first; and bytes in use then that no
    /// event made.
    ///
    /// Where events have addresses a free ends what was allocated there; where they have none (a timeline by category)
    /// it ends as much of its own holder.
    pub fn alive_after(&self, trace: &Trace, position: usize) -> (Vec<(Holder, Holding)>, u64) {
        let table = &trace.allocations;
        let mut alive: FxHashMap<u64, usize> = FxHashMap::default();
        let mut holdings: FxHashMap<Holder, Holding> = FxHashMap::default();
        for &row in &self.rows[..=position] {
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
        (holdings, whole(table.in_use_bytes[self.rows[position]].saturating_sub(known)))
    }

    /// Most bytes that the allocator held without using them, and when; `None` where events do not say what it held.
    pub fn most_cached(&self, trace: &Trace) -> Option<(u64, i64)> {
        let table = &trace.allocations;
        let known = self.levels().iter().filter(|row| table.reserved_bytes[**row] >= 0);
        let cached = known.map(|row| (table.reserved_bytes[*row].saturating_sub(table.in_use_bytes[*row]), *row));
        let (bytes, row) = cached.max_by_key(|(bytes, row)| (*bytes, std::cmp::Reverse(*row)))?;
        Some((whole(bytes), table.time_ns[row]))
    }

    /// Most bytes that the allocator held from its driver, where events say it.
    pub fn most_reserved(&self, trace: &Trace) -> Option<u64> {
        let reserved = self.rows.iter().map(|row| trace.allocations.reserved_bytes[*row]);
        reserved.filter(|bytes| *bytes >= 0).max().map(whole)
    }

    /// Largest fragmentation that the allocator reported, where it did.
    pub fn most_fragmented(&self, trace: &Trace) -> Option<f64> {
        let said = self.rows.iter().map(|row| trace.allocations.fragmentation[*row]);
        said.filter(|share| share.is_finite() && *share > 0.0).reduce(f64::max)
    }

    /// Most events within a millisecond, and when that began.
    pub fn worst_burst(&self, trace: &Trace) -> (u64, i64) {
        let happened = self.happened();
        let time = |place: usize| trace.allocations.time_ns[happened[place]];
        let (mut first, mut worst) = (0, (0, 0));
        for last in 0..happened.len() {
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
    pub fn driver_calls(&self, trace: &Trace) -> (u64, u64) {
        let own = self.segment_events(trace);
        if !own.is_empty() {
            let count = |sign: i64| {
                own.iter().filter(|row| trace.memory.segments.kind[row.index()].sign() == sign).count() as u64
            };
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
    pub fn growth(&self, trace: &Trace) -> Option<Growth> {
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

    /// Bytes in use after its last event.
    pub fn end_bytes(&self, trace: &Trace) -> u64 {
        self.rows.last().map_or(0, |row| whole(trace.allocations.in_use_bytes[*row]))
    }

    /// What it took from its driver, gave back, and could not have.
    pub fn segment_events(&self, trace: &Trace) -> Vec<SegmentRow> {
        let segments = &trace.memory.segments;
        let is_own = |row: &usize| segments.process[*row] == self.process.0 && segments.allocator[*row] == self.name;
        (0..segments.bytes.len()).filter(is_own).map(|row| SegmentRow(row as u32)).collect()
    }
}

fn hold(holdings: &mut FxHashMap<Holder, Holding>, trace: &Trace, row: usize) {
    let table = &trace.allocations;
    let holder = Holder { owner: table.owner[row], stack: table.stack.get(row).copied().and_then(StackRow::known) };
    let holding = holdings.entry(holder).or_insert(Holding { since_ns: table.time_ns[row], ..Holding::default() });
    let is_new = table.delta_bytes[row] >= 0;
    holding.blocks = if is_new { holding.blocks + 1 } else { holding.blocks.saturating_sub(1) };
    holding.bytes = holding.bytes.saturating_add(table.delta_bytes[row]);
    holding.requested = holding.requested.saturating_add(table.requested_bytes[row]);
    holding.since_ns = holding.since_ns.min(table.time_ns[row]);
}

/// Requests that could not be met, over all allocators.
pub fn out_of_memory(trace: &Trace) -> impl Iterator<Item = SegmentRow> + '_ {
    let kinds = trace.memory.segments.kind.iter().enumerate();
    kinds.filter(|(_, kind)| **kind == SegmentEventKind::OutOfMemory).map(|(row, _)| SegmentRow(row as u32))
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
