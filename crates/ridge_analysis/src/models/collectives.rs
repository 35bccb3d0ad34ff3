//! Collective operations matched over the ranks that took part in them.
//!
//! The same call has the same group and sequence number on every rank; where captures do not count calls, it is the
//! k-th of its group on each. A rank's clock is taken as it is: whoever read the captures aligned them.

use crate::{Analysis, Shared};
use ridge_trace::{Collective, StringId, Trace};
use rustc_hash::FxHashMap;

/// One rank's part in a collective.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Row of the processes table.
    pub process: u32,
    /// What is known of it.
    pub collective: Collective,
    /// When it began, nanoseconds on the trace clock.
    pub start_ns: i64,
    /// How long it took, nanoseconds.
    pub dur_ns: i64,
}

/// A collective with all parts that were captured, in order of process.
#[derive(Debug, Clone)]
pub struct Matched {
    /// The parts.
    pub parts: Vec<Part>,
}

impl Matched {
    /// When the last rank began, nanoseconds on the trace clock.
    pub fn last_start_ns(&self) -> i64 {
        self.parts.iter().map(|part| part.start_ns).max().unwrap_or(0)
    }

    /// The part that began first, and the one that began last; of equals the first.
    pub fn first_and_last(&self) -> Option<(&Part, &Part)> {
        let first = self.parts.iter().min_by_key(|part| part.start_ns)?;
        let last = self.parts.iter().min_by_key(|part| std::cmp::Reverse(part.start_ns))?;
        Some((first, last))
    }

    /// How long a rank's part waited for the last rank, nanoseconds.
    pub fn wait_ns(&self, part: &Part) -> i64 {
        self.last_start_ns().saturating_sub(part.start_ns)
    }
}

/// The collectives of a capture.
#[derive(Debug)]
pub struct Collectives {
    /// The parts of all ranks in order of start.
    pub parts: Vec<Part>,
    /// All of them, matched, by the start of their first part.
    pub matched: Vec<Matched>,
}

impl Shared for Collectives {
    fn make(analysis: &Analysis<'_>) -> Collectives {
        let parts = parts(analysis.trace);
        let matched = matched(parts.iter().copied());
        Collectives { parts, matched }
    }
}

impl<'a> Analysis<'a> {
    /// Collectives, matched over ranks.
    pub fn collectives(&self) -> &'a Collectives {
        self.get()
    }
}

/// What one call has on every rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Numbered(StringId, u64, u32),
    InOrder(StringId, u32),
}

/// The collectives that `parts` are of, by the start of their first part; parts come in order of start, and what is left out is not counted.
pub fn matched(parts: impl IntoIterator<Item = Part>) -> Vec<Matched> {
    let mut found: FxHashMap<Key, Vec<Part>> = FxHashMap::default();
    let mut counts: FxHashMap<(u32, StringId), u32> = FxHashMap::default();
    let mut numbered: FxHashMap<(u32, StringId, u64), u32> = FxHashMap::default();
    for part in parts {
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
    let mut all: Vec<Matched> = found.into_values().map(|parts| Matched { parts }).collect();
    all.iter_mut().for_each(|matched| matched.parts.sort_by_key(|part| part.process));
    all.sort_by_key(|matched| matched.parts.iter().map(|part| (part.start_ns, part.collective.event)).min());
    all
}

/// The parts of all ranks in order of start.
fn parts(trace: &Trace) -> Vec<Part> {
    let mut parts: Vec<Part> = (trace.collectives.iter())
        .filter_map(|&collective| {
            let (row, process) = (collective.event as usize, trace.track_of(collective.event)?.process);
            let (start_ns, dur_ns) = (trace.events.start_ns[row], trace.events.dur_ns[row]);
            Some(Part { process, collective, start_ns, dur_ns })
        })
        .collect();
    parts.sort_by_key(|part| (part.start_ns, part.collective.event));
    parts
}

/// What a process is called: its rank, or its position.
pub fn rank_of(trace: &Trace, process: u32) -> u64 {
    let rank = trace.processes.get(process as usize).and_then(|found| found.rank);
    u64::from(rank.unwrap_or(process))
}
