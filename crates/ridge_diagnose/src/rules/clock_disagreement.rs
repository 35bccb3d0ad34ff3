//! Clocks of several processes that cannot be brought together.

use crate::case::Case;
use crate::collectives::{Part, parts};
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use ridge_trace::StringId;
use ridge_units::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    id: "clock-disagreement",
    group: Group::Fitness,
    summary: "the clocks of several processes disagree",
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

/// When the parts of one collective began last and ended first.
#[derive(Debug, Clone, Copy)]
struct Meeting {
    last_start_ns: i64,
    first_end_ns: i64,
    parts: u32,
}

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let trace = case.trace();
    let mut met: FxHashMap<(StringId, u64, u32), Meeting> = FxHashMap::default();
    let mut again: FxHashMap<(u32, StringId, Option<u64>), u32> = FxHashMap::default();
    let mut processes: FxHashSet<u32> = FxHashSet::default();
    // Old captures say what a collective does in its kernel's name alone.
    let does = |part: &Part<'_>| match trace.strings.get(part.collective.name) {
        "" => trace.name(part.collective.event as usize),
        name => name,
    };
    for part in parts(trace).into_iter().filter(|part| is_for_all(does(part))) {
        processes.insert(part.process);
        let times = again.entry((part.process, part.collective.group, part.collective.sequence)).or_default();
        *times += 1;
        let key = (part.collective.group, part.collective.sequence.unwrap_or(u64::MAX), *times);
        let (start, end) = (part.start_ns, part.start_ns.saturating_add(part.dur_ns.max(0)));
        let meeting = met.entry(key).or_insert(Meeting { last_start_ns: start, first_end_ns: end, parts: 0 });
        meeting.last_start_ns = meeting.last_start_ns.max(start);
        meeting.first_end_ns = meeting.first_end_ns.min(end);
        meeting.parts += 1;
    }
    if processes.len() < 2 {
        return;
    }
    // Nobody leaves a collective before the last has come: what is missing to that is the clocks'.
    let several = met.values().filter(|meeting| meeting.parts > 1);
    let mut apart: Vec<i64> = several.map(|met| met.last_start_ns.saturating_sub(met.first_end_ns)).collect();
    apart.sort_unstable();
    let Some(median) = apart.get(apart.len() / 2).copied().filter(|_| apart.len() >= FEWEST) else { return };
    if median > LEAST_NS {
        doubts.push(Doubt {
            message: format!(
                "the processes' clocks disagree by at least {}: ranks leave collectives before others have come",
                Nanos(median)
            ),
            command: Some("chronyc makestep, or PTP, on every host; then record all ranks at once".to_owned()),
            blocks: vec![Question::Ranks],
        });
    }
}

/// Whether every rank waits for every other: who sends one way may leave before others come.
fn is_for_all(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "");
    ["allreduce", "allgather", "reducescatter", "alltoall", "barrier"].iter().any(|known| name.contains(known))
}
