//! Device work by the ranges that the program named, with all that each caused.

use super::each_work::{WorkRow, for_each_work};
use super::work::{WorkSums, add_event};
use crate::context::helping_threads::is_range;
use crate::context::{Owners, Shared};
use crate::{Analysis, Need, Workload};
use ridge_trace::{EventKind, NONE, StringId, Trace, TrackKind};
use rustc_hash::FxHashMap;

/// Every name of a range, with what its ranges caused; most device time first.
///
/// Ranges inside ranges count in both.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    /// The names, and last the work outside every range where there is any of both.
    pub rows: Vec<RangeRow>,
}

/// All ranges of one name.
#[derive(Debug, Clone, Default)]
pub struct RangeRow {
    /// Their name; `None` for work outside every range.
    pub name: Option<StringId>,
    /// Durations of the ranges on their threads, nanoseconds, sorted.
    pub walls_ns: Vec<i64>,
    /// Self times of all device work they caused, nanoseconds.
    pub device_ns: i64,
    /// The part that no range inside them caused, nanoseconds.
    pub device_self_ns: i64,
    /// Device events they caused.
    pub events: u64,
    /// Named ranges around them, at most.
    pub depth: u64,
    /// Their work by kind of device.
    pub work: Vec<WorkSums>,
}

impl Shared for Ranges {
    const NEEDS: &'static [Need] = &[Need::of::<Owners>(), Need::of::<Workload>()];

    fn make(analysis: &Analysis<'_>) -> Ranges {
        let trace = analysis.trace;
        let owners = analysis.owners();
        let mut named: FxHashMap<u32, RangeRow> = FxHashMap::default();
        for row in ranges(trace).filter(|row| trace.events.kind(*row as usize) == EventKind::Annotation) {
            let name = trace.events.name[row as usize];
            let entry =
                named.entry(name).or_insert_with(|| RangeRow { name: Some(StringId(name)), ..RangeRow::default() });
            entry.walls_ns.push(trace.events.dur_ns[row as usize]);
            entry.depth = entry.depth.max(owners.chain(trace, row).count() as u64 - 1);
        }
        let mut outside = RangeRow::default();
        let mut seen: Vec<u32> = Vec::new();
        for_each_work(trace, |work| {
            seen.clear();
            for (position, range) in owners.chain(trace, work.row).enumerate() {
                if trace.events.kind(range as usize) != EventKind::Annotation {
                    continue;
                }
                let name = trace.events.name[range as usize];
                let Some(entry) = named.get_mut(&name) else { continue };
                if position == 0 {
                    entry.device_self_ns += work.self_ns;
                }
                if !seen.contains(&name) {
                    seen.push(name);
                    entry.add(analysis, work);
                }
            }
            if owners.of(work.row) == NONE {
                outside.device_self_ns += work.self_ns;
                outside.add(analysis, work);
            }
        });
        let mut rows: Vec<RangeRow> = named.into_values().collect();
        rows.iter_mut().for_each(|row| row.walls_ns.sort_unstable());
        if outside.events > 0 && !rows.is_empty() {
            rows.push(outside);
        }
        rows.sort_by_cached_key(|row| (std::cmp::Reverse(row.device_ns), row.label(analysis)));
        Ranges { rows }
    }
}

impl RangeRow {
    fn add(&mut self, analysis: &Analysis<'_>, WorkRow { row, self_ns, device }: WorkRow) {
        self.device_ns += self_ns;
        self.events += 1;
        add_event(analysis, &mut self.work, row, self_ns, device);
    }

    /// The name, or what stands for work without a range.
    pub fn label(&self, analysis: &Analysis<'_>) -> String {
        self.name.map_or("(outside every range)".to_owned(), |name| analysis.text(name).to_owned())
    }
}

impl<'a> Analysis<'a> {
    /// Device work by the ranges that the program named.
    pub fn ranges(&self) -> &'a Ranges {
        self.get()
    }
}

/// The rows of all ranges that the program named, steps among them.
pub(crate) fn ranges(trace: &Trace) -> impl Iterator<Item = u32> + '_ {
    let threads = trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread);
    threads.flat_map(|track| track.rows.clone()).filter(|row| is_range(trace, *row))
}
