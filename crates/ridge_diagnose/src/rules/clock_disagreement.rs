//! Clocks of several processes that cannot be brought together.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use ridge_analysis::models::collectives::{Matched, Part, matched};
use ridge_units::Nanos;

pub(crate) static RULE: Rule = Rule {
    id: "clock-disagreement",
    group: Group::Fitness,
    summary: "Unsynchronized clocks across processes",
    document: include_str!("clock_disagreement.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Doubts(find),
};

/// Fewest collectives that tell a clock from a chance.
const FEWEST: usize = 4;
/// Clocks of one host agree to microseconds.
const LEAST_NS: i64 = 100_000;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let trace = case.trace();
    // Old captures say what a collective does in its kernel's name alone.
    let does = |part: &Part| match trace.strings.get(part.collective.name) {
        "" => trace.name(part.collective.event as usize),
        name => name,
    };
    let met = matched(case.analysis.collectives().parts.iter().copied().filter(|part| is_for_all(does(part))));
    // Nobody leaves a collective before the last has come: what is missing to that is the clocks'.
    let mut apart: Vec<i64> = met.iter().filter(|met| met.parts.len() > 1).filter_map(missing_ns).collect();
    apart.sort_unstable();
    let Some(median) = apart.get(apart.len() / 2).copied().filter(|_| apart.len() >= FEWEST) else { return };
    if median > LEAST_NS {
        doubts.push(Doubt {
            message: format!(
                "the processes' clocks disagree by at least {}: ranks leave collectives before others enter them",
                Nanos(median)
            ),
            command: Some("chronyc makestep, or PTP, on every host; then record all ranks at once".to_owned()),
            blocks: vec![Question::Ranks],
        });
    }
}

/// From the first end of a collective's parts to the last start, nanoseconds; negative where all were in it at one time.
fn missing_ns(met: &Matched) -> Option<i64> {
    let first_end = met.parts.iter().map(|part| part.start_ns.saturating_add(part.dur_ns.max(0))).min()?;
    Some(met.last_start_ns().saturating_sub(first_end))
}

/// Whether every rank waits for every other: who sends one way may leave before others come.
fn is_for_all(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "");
    ["allreduce", "allgather", "reducescatter", "alltoall", "barrier"].iter().any(|known| name.contains(known))
}
