//! Idle time of the host's making: launching one piece of work after another, or pausing for long in between.

use crate::case::{Case, IdleTime};
use ridge_analysis::{Activity, Cause};

/// Launching takes less, whoever does it: what takes longer is a pause.
const PAUSE_NS: i64 = 10_000_000;
/// The same within a range that the program named and that is no step: what it does there is not launching.
const NAMED_PAUSE_NS: i64 = 1_000_000;
/// Steps whose names are looked at.
const FEW_STEPS: usize = 64;

/// Whether the device waited for code of the host that neither waits, loads, compiles nor allocates.
pub(crate) fn is_by_host(idle: &IdleTime<'_>) -> bool {
    matches!(idle.cause, Cause::HostLate | Cause::Run) && is_own_code(idle.activity)
}

/// Whether the host ran code of its own, and neither waited, loaded, compiled nor allocated.
pub(crate) fn is_own_code(activity: Activity) -> bool {
    !matches!(
        activity,
        Activity::Blocking
            | Activity::Loading
            | Activity::Compiling
            | Activity::Allocating
            | Activity::Profiler
            | Activity::Device
    )
}

/// The part of the time that is no pause, 0 to 1: all of it, or what is left without the longest stretch, or nothing where the
/// stretches are long on average.
pub(crate) fn short_part(case: &Case<'_>, idle: &IdleTime<'_>) -> f32 {
    let row = idle.row;
    let pause_ns = if is_in_named_range(case, idle) { NAMED_PAUSE_NS } else { PAUSE_NS };
    let (rest, stretches) = if row.longest_ns > pause_ns {
        (row.ns.saturating_sub(row.longest_ns), row.events.saturating_sub(1))
    } else {
        (row.ns, row.events)
    };
    let mean = rest / i64::try_from(stretches.max(1)).unwrap_or(i64::MAX);
    if row.ns <= 0 || rest <= 0 || mean > pause_ns { 0.0 } else { rest as f32 / row.ns as f32 }
}

/// Whether the program's own code ran in a range that it named for what it does.
fn is_in_named_range(case: &Case<'_>, idle: &IdleTime<'_>) -> bool {
    let trace = case.trace();
    let is_step = |name: &str| {
        let steps = trace.steps.iter().take(FEW_STEPS).map(|step| step.event as usize);
        name.starts_with("ProfilerStep")
            || steps.filter(|row| *row < trace.events.len()).any(|row| trace.name(row) == name)
    };
    idle.activity == Activity::Program && idle.name.is_some_and(|name| !is_step(name))
}
