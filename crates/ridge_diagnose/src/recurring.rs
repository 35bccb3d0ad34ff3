//! What comes again and again, as a loop's work does, told from what sets up, and from hiccups of a machine that others use, too.
//!
//! On a processor the threads that compute share cores with the host, and with whatever else runs: a gap before a program's work may be
//! a launch, or a thread that was not given a core. Launching takes about the same time each time. So of the gaps before runs of one
//! program only as much counts as a usual one allows, and only of programs that run again and again, all through the judged time.

use crate::calls::Call;
use crate::case::Case;
use crate::pauses::is_own_code;
use ridge_analysis::models::ModuleRuns;
use ridge_analysis::models::idle::IdlePart;
use ridge_analysis::{Analysis, Breakdown, Cause, IdleGaps, Need, Shared, is_primitive, windows_of_processes};
use ridge_trace::{EventKind, ModuleRow, NONE, StringId, Trace};
use rustc_hash::FxHashMap;

/// The judged time is cut into so many slices of equal length, and what recurs is in at least this many of them.
const SLICES: usize = 8;
const LEAST_SLICES: u32 = 4;
/// Fewer runs of one program do not make a loop.
const FEWEST: u64 = 20;
/// A gap counts up to this multiple of a usual one.
const USUAL: i64 = 4;

/// How often each name was met, and in which slices of the judged time.
#[derive(Debug, Default)]
pub(crate) struct Recurring<K>(FxHashMap<K, (u64, u32)>);

impl<K: std::hash::Hash + Eq> Recurring<K> {
    /// `name` was met at `at` of the judged time from `from` to `until`.
    pub(crate) fn met(&mut self, name: K, at: i64, (from, until): (i64, i64)) {
        let length = until.saturating_sub(from).max(1);
        let slice = i128::from(at.saturating_sub(from)) * SLICES as i128 / i128::from(length);
        let (count, slices) = self.0.entry(name).or_default();
        *count += 1;
        *slices |= 1 << slice.clamp(0, SLICES as i128 - 1);
    }

    /// Whether `name` comes again and again, at least `fewest` times.
    pub(crate) fn has(&self, name: &K, fewest: u64) -> bool {
        self.0.get(name).is_some_and(|(count, slices)| *count >= fewest && slices.count_ones() >= LEAST_SLICES)
    }
}

/// The idle time of processors that is the launching of what runs again and again, as a part of their idle time of the host's making.
#[derive(Debug)]
pub(crate) struct LaunchingOnProcessors {
    /// That part, 0 to 1.
    pub(crate) part: f32,
}

impl Shared for LaunchingOnProcessors {
    const NEEDS: &'static [Need] = &[Need::of::<Breakdown>(), Need::of::<IdleGaps>(), Need::of::<ModuleRuns>()];

    fn make(analysis: &Analysis<'_>) -> LaunchingOnProcessors {
        let (trace, idle) = (analysis.trace, analysis.get::<IdleGaps>());
        let (mut counted, mut all) = (0_i64, 0_i64);
        for (position, device) in idle.devices.iter().map(|device| device.device).enumerate() {
            let Some(of) = trace.devices.get(device as usize).filter(|device| device.is_processor()) else { continue };
            let Some(spans) = analysis.analyzed().spans.get(of.process as usize) else { continue };
            let ends = spans.as_slice().first().zip(spans.as_slice().last()).map(|(first, last)| (first.0, last.1));
            let Some(judged) = ends else { continue };
            let gaps = idle.visit(trace, position, 0, Vec::new, |gaps: &mut Vec<(i64, i64)>, gap| {
                let within = |part: &IdlePart| spans.within_ns(part.start_ns, part.end_ns());
                let ns: i64 = gap.iter().filter(|part| is_launching(part)).map(within).sum();
                let end = gap.last().map_or(0, IdlePart::end_ns);
                if ns > 0 {
                    gaps.push((ns, end));
                }
            });
            let mut of_program: FxHashMap<StringId, Vec<i64>> = FxHashMap::default();
            let mut recurring = Recurring::default();
            for (ns, end) in gaps.into_iter().flatten() {
                all = all.saturating_add(ns);
                if let Some(program) = program_at(trace, device, end) {
                    recurring.met(program, end, judged);
                    of_program.entry(program).or_default().push(ns);
                }
            }
            for (program, mut gaps) in of_program.into_iter().filter(|(program, _)| recurring.has(program, FEWEST)) {
                gaps.sort_unstable();
                // A run begins after a long gap; those inside of it are shorter, and of a program of many operations far more.
                let before = &gaps[gaps.len().saturating_sub(runs_of(analysis, program))..];
                let usual = before.get(before.len() / 2).copied().unwrap_or(0).saturating_mul(USUAL);
                counted = gaps.iter().fold(counted, |sum, ns| sum.saturating_add((*ns).min(usual)));
            }
        }
        LaunchingOnProcessors { part: if all > 0 { (counted as f64 / all as f64) as f32 } else { 0.0 } }
    }
}

/// How often programs of that name ran in the capture; as often as can be where that is not known.
fn runs_of(analysis: &Analysis<'_>, name: StringId) -> usize {
    let named = (0..).map(ModuleRow).zip(&analysis.trace.modules).filter(|(_, module)| module.name == name);
    let runs: Option<u64> = named.map(|(row, _)| analysis.get::<ModuleRuns>().of(row)).sum();
    runs.filter(|runs| *runs > 0).and_then(|runs| usize::try_from(runs).ok()).unwrap_or(usize::MAX)
}

/// Whether the host had not launched, or just did.
fn is_launching(part: &IdlePart) -> bool {
    // Gaps inside of a run are many and short, and say nothing of how long a launch takes.
    let by_host = matches!(part.cause, Cause::HostLate | Cause::LaunchCall | Cause::LaunchLatency);
    by_host && is_own_code(part.activity)
}

/// The name of the program whose work begins at `start` on `device`.
fn program_at(trace: &Trace, device: u32, start: i64) -> Option<StringId> {
    let events = &trace.events;
    trace.tracks_of_device(device).find_map(|track| {
        let rows = track.rows.start as usize..track.rows.end as usize;
        let starts = &events.start_ns[rows.clone()];
        let row = rows.start + starts.partition_point(|at| *at < start);
        let is_there = row < rows.end && events.start_ns[row] == start;
        let op = is_there.then(|| events.op[row]).filter(|op| *op != NONE)?;
        let module = trace.operations.get(op as usize)?.module;
        Some(trace.modules.get(module as usize)?.name)
    })
}

/// The part of the devices' work of the process with these `windows` in the judged time that begins between `from` and `until`, 0 to 1.
pub(crate) fn work_between(case: &Case<'_>, windows: &[u32], from: i64, until: i64) -> f64 {
    let trace = case.trace();
    let Some((first, last)) = case.judged_of(windows) else { return 0.0 };
    let events = &trace.events;
    let (mut inside, mut all) = (0_i64, 0_i64);
    for track in trace.device_tracks().filter(|track| windows.contains(&track.process)) {
        for row in track.rows.clone().map(|row| row as usize) {
            let start = events.start_ns[row];
            if !EventKind::from_byte_is_work(events.kind[row]) || start < first || start > last {
                continue;
            }
            let ns = events.dur_ns[row].max(0);
            all = all.saturating_add(ns);
            inside = inside.saturating_add(if (from..=until).contains(&start) { ns } else { 0 });
        }
    }
    if all > 0 { inside as f64 / all as f64 } else { 0.0 }
}

impl<'a> Case<'a> {
    /// Calls of the program's own functions in the judged time that come again and again, at least `fewest` times, where `counts`
    /// takes them.
    pub(crate) fn recurring_calls(&self, fewest: u64, counts: impl Fn(&Call<'_>) -> bool) -> Vec<Call<'a>> {
        let windows = self.windows();
        let judged = |process: u32| self.judged_of(windows.iter().find(|windows| windows.contains(&process))?);
        let in_frame = |call: &Call<'_>| {
            self.analyzed().spans.get(call.process as usize).is_some_and(|spans| spans.contains(call.span.0))
        };
        let is_own = |call: &Call<'_>| in_frame(call) && !is_primitive(call.function) && counts(call);
        let calls: Vec<Call<'a>> = self.calls().into_iter().filter(is_own).collect();
        let mut recurring = Recurring::default();
        for call in &calls {
            if let Some(judged) = judged(call.process) {
                recurring.met(call.function, call.span.0, judged);
            }
        }
        calls.into_iter().filter(|call| recurring.has(&call.function, fewest)).collect()
    }

    /// The windows of each process, as rows of the processes table.
    pub(crate) fn windows(&self) -> Vec<Vec<u32>> {
        windows_of_processes(self.trace())
    }

    /// From the first to the last of what is judged in the `windows` of one process; `None` where nothing is.
    pub(crate) fn judged_of(&self, windows: &[u32]) -> Option<(i64, i64)> {
        let spans = windows.iter().filter_map(|process| self.analyzed().spans.get(*process as usize));
        let ends = spans.filter_map(|spans| spans.as_slice().first().zip(spans.as_slice().last()));
        ends.map(|(first, last)| (first.0, last.1)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The part of the idle time of the host's making that launching what runs again and again takes: all of it where devices are no
    /// processors.
    pub(crate) fn launching_part(&self) -> f32 {
        if self.is_on_processors() { self.analysis.get::<LaunchingOnProcessors>().part } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sets_up_does_not_recur() {
        let mut met = Recurring::default();
        for at in 0..100 {
            met.met("loop", at * 10, (0, 1000));
            met.met("set-up", at, (0, 1000));
        }
        (0..10).for_each(|at| met.met("seldom", at * 100, (0, 1000)));
        assert!(met.has(&"loop", 20) && !met.has(&"set-up", 20) && !met.has(&"seldom", 20) && met.has(&"seldom", 4));
    }
}
