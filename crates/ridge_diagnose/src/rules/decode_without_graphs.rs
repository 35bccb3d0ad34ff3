//! A server decodes and launches each kernel of a step on its own.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::pauses::is_own_code;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Cause, IdleGaps, Need, Spans};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "decode-without-graphs",
    group: Group::Serving,
    summary: "Decode without CUDA graphs",
    document: include_str!("decode_without_graphs.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-bound-dispatch", "many-small-kernels"],
    needs: &[Need::of::<IdleGaps>()],
    find: Find::Causes(find),
};

/// Below this part of the time launching does not hold a server back.
const LEAST: f64 = 0.05;
/// Kernels of a step, beside which a graph would be worth it.
const FEWEST: u64 = 10;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    let served = case.served();
    let decodes = served.iter().filter(|(step, served)| served.is_decode() && step.kernels >= FEWEST);
    let steps: Vec<_> = decodes.map(|(step, _)| *step).collect();
    let launches_graph = trace.strings.iter().any(|name| name.contains("GraphLaunch"));
    let Some(longest) = steps.iter().max_by_key(|step| step.wall_ns).filter(|_| !launches_graph) else {
        return Ok(Vec::new());
    };
    let span = |row: usize, last: i64| (trace.events.start_ns[row], trace.events.end_ns(row).max(last));
    let spans = Spans::of(steps.iter().map(|step| span(step.event.index(), step.last_ns)));
    let (claim, ns) = case.idle_within(&spans, |part| {
        let cause = part.cause_per(case.analyzed().per);
        let by_host = matches!(cause, Cause::HostLate | Cause::Run | Cause::LaunchCall | Cause::LaunchLatency);
        by_host && is_own_code(part.activity)
    });
    let share = case.share(ns);
    if share < LEAST {
        return Ok(Vec::new());
    }
    let kernels = steps.iter().map(|step| step.kernels).sum::<u64>() as f64 / steps.len() as f64;
    let finding = Finding::new(format!(
        "decode steps launch every kernel separately, and the device waits {} of the time for the launches",
        percent(share)
    ))
    .about(Subject::Event(longest.event))
    .number("idle during the launches of decode steps", case.per_unit(ns))
    .number("kernels per decode step", Quantity::new(kernels.round(), Unit::Count, Basis::Measured))
    .why("every decode step launches the same short kernels, and no CUDA graph replays them")
    .help("keep CUDA graphs on: drop `--enforce-eager` (vLLM) or `--disable-cuda-graph` (SGLang), and capture every batch size you decode")
    .claims(claim);
    Ok(vec![finding])
}
