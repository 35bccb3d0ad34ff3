//! Idle time that costs nothing, because the rank then waits for a slower one.
//!
//! Ranks meet in collectives. What a rank could have done sooner before one, it would have waited longer in it: of its idle
//! time since the collective before, as much as it then waits is slack. Only who comes last holds the others up.

use crate::case::{Case, IdleTime};
use crate::collectives::{Meeting, meetings};
use crate::known::Known;
use ridge_analysis::models::idle::IdlePart;
use ridge_analysis::{Analysis, Breakdown, Cause, IdleGaps, Need, Shared};
use rustc_hash::FxHashMap;

/// The part of rows of the breakdown that is slack, 0 to 1, by their place; what is not there has none.
#[derive(Debug, Default)]
pub(crate) struct Slack(FxHashMap<usize, f32>);

impl Shared for Slack {
    const NEEDS: &'static [Need] = &[Need::of::<Breakdown>(), Need::of::<IdleGaps>()];

    fn make(analysis: &Analysis<'_>) -> Slack {
        slack(&Case { analysis: *analysis, known: &Known::default() })
    }
}

impl Case<'_> {
    /// The part of an idle row of the breakdown whose end would bring the devices forward, 0 to 1.
    pub(crate) fn part_that_counts(&self, idle: &IdleTime<'_>) -> f32 {
        1.0 - self.analysis.get::<Slack>().0.get(&idle.at).copied().unwrap_or(0.0)
    }
}

/// A collective of one rank: when it began, and how long it waited for the last.
#[derive(Debug, Clone, Copy)]
struct Met {
    start_ns: i64,
    wait_ns: i64,
    is_last: bool,
}

/// The collectives of each process that others were captured in, in order.
fn met_by(met: &[Meeting]) -> FxHashMap<u32, Vec<Met>> {
    let mut of_process: FxHashMap<u32, Vec<Met>> = FxHashMap::default();
    for meeting in met {
        for part in &meeting.parts {
            let is_last = meeting.last().is_some_and(|last| last.process == part.process);
            let met = Met { start_ns: part.start_ns, wait_ns: meeting.wait_ns(part), is_last };
            of_process.entry(part.process).or_default().push(met);
        }
    }
    of_process.values_mut().for_each(|met| met.sort_by_key(|met| met.start_ns));
    of_process
}

fn slack(case: &Case<'_>) -> Slack {
    let of_process = met_by(&meetings(case));
    let held = of_process.iter().flat_map(|(process, met)| {
        idle_before(case, *process, met, |met, idle_ns| met.wait_ns as f64 / idle_ns.max(1) as f64)
    });
    Slack(case.parts_of(held).into_iter().collect())
}

/// The idle time of `process` before the collectives in which it comes last: rows of the breakdown with the part of each.
pub(crate) fn idle_of_last(case: &Case<'_>, met: &[Meeting], process: u32) -> Vec<(usize, f32)> {
    let of_process = met_by(met);
    let met = of_process.get(&process).map_or(&[][..], Vec::as_slice);
    case.parts_of(idle_before(case, process, met, |met, _| f64::from(u8::from(met.is_last))))
}

/// Rows of the breakdown of `process` with the time of each, nanoseconds, that lies before the collectives `met`, of which `part`
/// takes a part by the collective and the idle time since the one before.
fn idle_before(case: &Case<'_>, process: u32, met: &[Met], part: impl Fn(&Met, i64) -> f64) -> Vec<(usize, f64)> {
    let (trace, idle) = (case.trace(), case.analysis.get::<IdleGaps>());
    let Some(spans) = case.analyzed().spans.get(process as usize) else { return Vec::new() };
    let per = case.analyzed().per;
    let mut held = Vec::new();
    for (position, device) in idle.devices.iter().map(|device| device.device).enumerate() {
        if trace.devices.get(device as usize).is_none_or(|device| device.process != process) {
            continue;
        }
        let next = |part: &IdlePart| {
            let next = met.partition_point(|met| met.start_ns < part.start_ns);
            (next < met.len() && part.cause_per(per) != Cause::Unknown).then_some(next)
        };
        let parts = case.idle_of(position, spans, next);
        let mut sums = vec![0_i64; met.len()];
        parts.iter().for_each(|(next, _, ns)| sums[*next] = sums[*next].saturating_add(*ns));
        let taken = |next: usize| part(&met[next], sums[next]).clamp(0.0, 1.0);
        held.extend(parts.iter().map(|(next, at, ns)| (*at, taken(*next) * *ns as f64)));
    }
    held
}
