//! Warps of a profiled kernel mostly wait for one thing.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::profiled::{Profiled, findings};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "warp-stalls",
    group: Group::Compute,
    summary: "Warps mostly stalled for one reason",
    document: include_str!("warp_stalls.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// The part of the time between two instructions of a warp that one reason has.
const MOST: f64 = 0.4;
/// Warps that could go on in each cycle: from here on another runs while one waits.
const ELIGIBLE: f64 = 1.0;

/// Reasons that something can be done about: the metric's word, what it means, what to do.
const REASONS: [(&str, &str, &str); 7] = [
    (
        "long_scoreboard",
        "data from global or local memory",
        "load earlier and more at once: unroll, use `cp.async`, or stage tiles in shared memory",
    ),
    (
        "short_scoreboard",
        "shared memory or special functions",
        "reduce bank conflicts, exponentials and divisions, or use approximate functions",
    ),
    (
        "mio_throttle",
        "the shared-memory and special-function queue",
        "use fewer and wider shared-memory accesses",
    ),
    ("lg_throttle", "the global memory queue", "use fewer and wider accesses: `float4`, no spilled registers"),
    ("barrier", "other warps at a barrier", "use smaller blocks, fewer `__syncthreads()`, and balanced work between them"),
    ("math_pipe_throttle", "a full arithmetic pipe", "spread the work over other pipes: other types, fewer conversions"),
    ("membar", "a memory fence", "use fewer fences, or a narrower scope"),
];

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    findings(case, judge)
}

fn judge(launch: &Profiled<'_>) -> Option<(Finding, f32)> {
    let eligible = launch.metric("smsp__warps_eligible.avg.per_cycle_active").filter(|warps| *warps < ELIGIBLE)?;
    let (begin, end) = ("smsp__average_warps_issue_stalled_", "_per_issue_active.ratio");
    let stalls = launch.between(begin, end);
    let all: f64 =
        stalls.iter().filter(|(reason, _)| !reason.ends_with("_not_issued")).map(|(_, cycles)| cycles.max(0.0)).sum();
    let (reason, cycles) = stalls.iter().find(|(reason, _)| !reason.ends_with("_not_issued"))?;
    let (_, what, help) = REASONS.iter().find(|(word, _, _)| word == reason)?;
    let share = cycles / all.max(f64::MIN_POSITIVE);
    if share < MOST {
        return None;
    }
    let finding =
        Finding::new(format!("warps of `{}` wait {} of their time for {what}", short(launch.name), percent(share)))
            .number(
                "cycles between two instructions of a warp",
                Quantity::new(share, Unit::Share, Basis::Measured),
            )
            .number("eligible warps per cycle", Quantity::new(eligible, Unit::Number, Basis::Measured))
            .why("less than one warp per cycle is ready to issue, so nothing else can hide the stall")
            .help(*help);
    Some((finding, (share * (1.0 - eligible)) as f32))
}
