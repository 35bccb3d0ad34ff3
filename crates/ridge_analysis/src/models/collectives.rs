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

    /// The first rank's part, by process.
    pub fn first(&self) -> &Part {
        &self.parts[0]
    }

    /// Whether the parts of several ranks were captured.
    pub fn is_met(&self) -> bool {
        self.parts.len() > 1
    }

    /// Durations on the ranks where it was shortest and longest, nanoseconds; in the shortest nobody waits for a later
    /// rank.
    pub fn extremes_ns(&self) -> (i64, i64) {
        let durations = || self.parts.iter().map(|part| part.dur_ns);
        (durations().min().unwrap_or(0), durations().max().unwrap_or(0))
    }

    /// From the first rank's start to the last's, nanoseconds; `None` where one rank was captured.
    pub fn skew_ns(&self) -> Option<i64> {
        let (first, last) = self.first_and_last().filter(|_| self.is_met())?;
        Some(last.start_ns.saturating_sub(first.start_ns))
    }

    /// What one rank puts in or gets out, whichever is more, where the capture says it.
    pub fn bytes(&self) -> Option<u64> {
        self.parts.iter().filter_map(|part| part.collective.bytes_in.max(part.collective.bytes_out)).max()
    }

    /// Bytes over the shortest duration: the algorithm's bandwidth.
    pub fn bytes_per_sec(&self) -> Option<f64> {
        let (shortest, _) = self.extremes_ns();
        self.bytes().filter(|_| shortest > 0).map(|bytes| bytes as f64 / (shortest as f64 * 1e-9))
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
