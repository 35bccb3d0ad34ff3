//! A server's host schedules the next step while the device waits.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::pauses::is_own_code;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Cause, IdleGaps, Need, Spans};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "host-between-steps",
    group: Group::Serving,
    summary: "Scheduling gap between server steps",
    document: include_str!("host_between_steps.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-bound-dispatch", "host-pause", "python-loop-of-eager-ops"],
    needs: &[Need::of::<IdleGaps>()],
    find: Find::Causes(find),
};

/// Below this part of the time scheduling does not hold a server back.
const LEAST: f64 = 0.05;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    let steps = case.served();
    let between = steps.windows(2).filter_map(|pair| {
        let (before, after) = (pair[0].0, pair[1].0);
        let begins = trace.events.start_ns[after.event.index()];
        (before.first_ns.is_some() && before.last_ns < begins).then_some((before.last_ns, begins))
    });
    let spans = Spans::of(between);
    let (claim, ns) = case.idle_within(&spans, |part| {
        let by_host = matches!(part.cause_per(case.analyzed().per), Cause::HostLate | Cause::Run);
        by_host && is_own_code(part.activity)
    });
    let share = case.share(ns);
    if share < LEAST {
        return Ok(Vec::new());
    }
    let longest = spans.as_slice().iter().max_by_key(|(start, end)| end.saturating_sub(*start));
    let after = steps.iter().find(|(step, _)| longest.is_some_and(|(_, end)| trace.events.start_ns[step.event.index()] == *end));
    let finding = Finding::new(format!("the device waits {} of the time for the host to schedule the next step", percent(share)))
        .about(after.map(|(step, _)| Subject::Event(step.event)))
        .number("idle between one step's work and the start of the next step", case.per_unit(ns))
        .number("such gaps", Quantity::new(spans.as_slice().len() as f64, Unit::Count, Basis::Counted))
        .why("sampling, detokenizing and choosing the next batch run on the host after the device finishes, with nothing queued")
        .help("schedule the next step while this one runs: `--async-scheduling` (vLLM) or the overlap scheduler (SGLang); move tokenization and HTTP to other processes")
        .claims(claim);
    Ok(vec![finding])
}
