//! Collective operations matched over the ranks that took part in them.
//!
//! The same call has the same group and sequence number on every rank; where captures do not count calls, it is the
//! k-th of its group on each. A rank's clock is taken as it is: whoever read the captures aligned them.

use ridge_trace::{Collective, StringId, Trace};
use rustc_hash::FxHashMap;

/// One rank's part in a collective.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    /// Row of the processes table.
    pub(crate) process: u32,
    pub(crate) collective: &'a Collective,
    pub(crate) start_ns: i64,
    pub(crate) dur_ns: i64,
}

/// A collective with all parts that were captured, in order of process.
#[derive(Debug, Clone)]
pub(crate) struct Matched<'a> {
    pub(crate) parts: Vec<Part<'a>>,
}

impl Matched<'_> {
    /// When the last rank began, nanoseconds on the trace clock.
    pub(crate) fn last_start_ns(&self) -> i64 {
        self.parts.iter().map(|part| part.start_ns).max().unwrap_or(0)
    }

    /// The part that began first, and the one that began last; of equals the first.
    pub(crate) fn first_and_last(&self) -> Option<(&Part<'_>, &Part<'_>)> {
        let first = self.parts.iter().min_by_key(|part| part.start_ns)?;
        let last = self.parts.iter().min_by_key(|part| std::cmp::Reverse(part.start_ns))?;
        Some((first, last))
    }

    /// How long a rank's part waited for the last rank, nanoseconds.
    pub(crate) fn wait_ns(&self, part: &Part<'_>) -> i64 {
        self.last_start_ns().saturating_sub(part.start_ns)
    }
}

/// What one call has on every rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Numbered(StringId, u64, u32),
    InOrder(StringId, u32),
}

/// All collectives of `trace`, matched, by the start of their first part.
pub(crate) fn matched(trace: &Trace) -> Vec<Matched<'_>> {
    let mut found: FxHashMap<Key, Vec<Part<'_>>> = FxHashMap::default();
    let mut counts: FxHashMap<(u32, StringId), u32> = FxHashMap::default();
    let mut numbered: FxHashMap<(u32, StringId, u64), u32> = FxHashMap::default();
    for part in parts_in_order(trace) {
        let collective = part.collective;
        let key = match collective.sequence {
            // One call may launch several kernels; groups of different ranks may share a name.
            Some(sequence) => {
                let again = numbered.entry((part.process, collective.group, sequence)).or_default();
                *again += 1;
                Key::Numbered(collective.group, sequence, *again)
            }
            None => {
                let count = counts.entry((part.process, collective.group)).or_default();
                *count += 1;
                Key::InOrder(collective.group, *count)
            }
        };
        found.entry(key).or_default().push(part);
    }
    let mut all: Vec<Matched<'_>> = found.into_values().map(|parts| Matched { parts }).collect();
    all.iter_mut().for_each(|matched| matched.parts.sort_by_key(|part| part.process));
    all.sort_by_key(|matched| matched.parts.iter().map(|part| (part.start_ns, part.collective.event)).min());
    all
}

/// The parts of all ranks in order of start.
fn parts_in_order(trace: &Trace) -> Vec<Part<'_>> {
    let tracks: Vec<(u32, u32)> = trace.tracks.iter().map(|track| (track.rows.start, track.process)).collect();
    let mut parts: Vec<Part<'_>> = (trace.collectives.iter())
        .map(|collective| {
            let row = collective.event as usize;
            let track = tracks.partition_point(|(first, _)| *first <= collective.event).saturating_sub(1);
            let process = tracks[track].1;
            Part { process, collective, start_ns: trace.events.start_ns[row], dur_ns: trace.events.dur_ns[row] }
        })
        .collect();
    parts.sort_by_key(|part| (part.start_ns, part.collective.event));
    parts
}

/// What a process is called: its rank, or its position.
pub(crate) fn rank_of(trace: &Trace, process: u32) -> u64 {
    let rank = trace.processes.get(process as usize).and_then(|found| found.rank);
    u64::from(rank.unwrap_or(process))
}
