//! The kernels that a call of an operator launches, one after the other, and what its streams ran before and after them.
//!
//! Calls with the same kernels in the same order are one row, as in Holistic Trace Analysis' frequent kernel sequences.
//! Where one operator inside a call launches all of its kernels, the inner one has them.

use super::operators::Calls;
use crate::{Analysis, Shared};
use ridge_trace::{EventKind, NONE, StringId, Trace, TrackKind};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Calls of one operator that launched the same kernels in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceRow {
    /// The operator.
    pub operator: StringId,
    /// The outermost operator around most of the calls; the operator itself where none is.
    pub within: StringId,
    /// The kernels by name, in order of their starts.
    pub kernels: Vec<StringId>,
    /// The calls.
    pub calls: u64,
    /// The time of all their kernels, nanoseconds.
    pub device_ns: i64,
    /// The time of all the calls on their threads, nanoseconds.
    pub host_ns: i64,
    /// The kernel that most often ran on the stream just before the first one.
    pub before: Option<StringId>,
    /// The kernel that most often ran on the stream just after the last one.
    pub after: Option<StringId>,
}

/// Sequences of kernels, those with most device time first.
#[derive(Debug, Default)]
pub struct Sequences(pub Vec<SequenceRow>);

impl Shared for Sequences {
    fn make(analysis: &Analysis<'_>) -> Sequences {
        let trace = analysis.trace;
        if !trace.events.kind.contains(&(EventKind::Operator as u8)) {
            return Sequences::default();
        }
        let calls = Calls::of(trace);
        let mut found: FxHashMap<(u32, Vec<u32>), Sums> = FxHashMap::default();
        for (at, kernels) in kernels_of_calls(trace, &calls) {
            let name = |kernel: &Kernel| trace.events.name[kernel.row as usize];
            let operator = trace.events.name[calls.row[at as usize] as usize];
            let key = (operator, kernels.iter().map(name).collect());
            found.entry(key).or_default().add(trace, &calls, at, &kernels);
        }
        let mut rows: Vec<SequenceRow> =
            found.into_iter().map(|((name, kernels), sums)| sums.row(name, kernels)).collect();
        rows.sort_by(|one, other| {
            let key = |row: &SequenceRow| (Reverse(row.device_ns), row.operator);
            key(one).cmp(&key(other)).then_with(|| one.kernels.cmp(&other.kernels))
        });
        Sequences(rows)
    }
}

/// A kernel with its neighbors on its stream.
#[derive(Debug, Clone, Copy)]
struct Kernel {
    start_ns: i64,
    row: u32,
    /// Rows, or [`NONE`].
    before: u32,
    after: u32,
}

/// Each call of an operator, by its position, with the kernels launched within it in order of their starts.
fn kernels_of_calls(trace: &Trace, calls: &Calls) -> Vec<(u32, Vec<Kernel>)> {
    let is_operator = |at: u32| trace.events.kind(calls.row[at as usize] as usize) == EventKind::Operator;
    let mut of: FxHashMap<u32, Vec<Kernel>> = FxHashMap::default();
    for (kernel, launch) in kernels(trace) {
        let mut at = calls.by_row[launch as usize];
        while at != NONE {
            if is_operator(at) {
                of.entry(at).or_default().push(kernel);
            }
            at = calls.parent[at as usize];
        }
    }
    let inner: Vec<(u32, usize)> = of
        .iter()
        .filter_map(|(at, kernels)| Some((operator_around(calls, *at, &is_operator)?, kernels.len())))
        .collect();
    for (outer, count) in inner {
        if of.get(&outer).is_some_and(|kernels| kernels.len() == count) {
            of.remove(&outer);
        }
    }
    let mut of: Vec<(u32, Vec<Kernel>)> = of.into_iter().collect();
    of.sort_unstable_by_key(|(at, _)| *at);
    of.iter_mut().for_each(|(_, kernels)| kernels.sort_unstable_by_key(|kernel| (kernel.start_ns, kernel.row)));
    of
}

/// The operator directly around another one.
fn operator_around(calls: &Calls, at: u32, is_operator: &impl Fn(u32) -> bool) -> Option<u32> {
    let outer = |at: &u32| Some(calls.parent[*at as usize]).filter(|parent| *parent != NONE);
    std::iter::successors(Some(at), outer).skip(1).find(|at| is_operator(*at))
}

/// Every kernel whose launch is in the capture, with the row of that.
fn kernels(trace: &Trace) -> Vec<(Kernel, u32)> {
    let events = &trace.events;
    let mut found = Vec::new();
    // On a processor an operator is its own work, and those within it are, too: no row of kernels, and their times would add up twice.
    for track in trace.tracks.iter().filter(|track| track.kind == TrackKind::Stream) {
        let rows: Vec<u32> = track.rows.clone().filter(|row| events.kind(*row as usize).is_compute()).collect();
        for (place, row) in rows.iter().enumerate() {
            let launch = events.link[*row as usize];
            if launch != NONE {
                let before = place.checked_sub(1).map_or(NONE, |before| rows[before]);
                let after = rows.get(place + 1).copied().unwrap_or(NONE);
                found.push((Kernel { start_ns: events.start_ns[*row as usize], row: *row, before, after }, launch));
            }
        }
    }
    found
}

/// The calls of one sequence.
#[derive(Debug, Default)]
struct Sums {
    calls: u64,
    device_ns: i64,
    host_ns: i64,
    within: FxHashMap<u32, u64>,
    before: FxHashMap<u32, u64>,
    after: FxHashMap<u32, u64>,
}

impl Sums {
    fn add(&mut self, trace: &Trace, calls: &Calls, at: u32, kernels: &[Kernel]) {
        let events = &trace.events;
        self.calls += 1;
        self.host_ns = self.host_ns.saturating_add(events.dur_ns[calls.row[at as usize] as usize]);
        for kernel in kernels {
            self.device_ns = self.device_ns.saturating_add(events.dur_ns[kernel.row as usize]);
        }
        let is_operator = |at: u32| events.kind(calls.row[at as usize] as usize) == EventKind::Operator;
        let outermost = std::iter::successors(Some(at), |at| operator_around(calls, *at, &is_operator)).last();
        let outermost = calls.row[outermost.unwrap_or(at) as usize];
        let ends = [kernels.first().map(|kernel| kernel.before), kernels.last().map(|kernel| kernel.after)];
        for (counts, row) in
            [&mut self.within, &mut self.before, &mut self.after].into_iter().zip([Some(outermost), ends[0], ends[1]])
        {
            if let Some(row) = row.filter(|row| *row != NONE) {
                *counts.entry(events.name[row as usize]).or_default() += 1;
            }
        }
    }

    fn row(self, operator: u32, kernels: Vec<u32>) -> SequenceRow {
        let most = |counts: FxHashMap<u32, u64>| {
            counts.into_iter().max_by_key(|(name, count)| (*count, Reverse(*name))).map(|(name, _)| StringId(name))
        };
        SequenceRow {
            operator: StringId(operator),
            within: most(self.within).unwrap_or(StringId(operator)),
            kernels: kernels.into_iter().map(StringId).collect(),
            calls: self.calls,
            device_ns: self.device_ns,
            host_ns: self.host_ns,
            before: most(self.before),
            after: most(self.after),
        }
    }
}
