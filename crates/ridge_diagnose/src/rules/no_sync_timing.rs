//! Steps time the launching of their work and not the work.

use crate::case::{Case, Framework};
use crate::fitness::Doubt;
use crate::rule::{Find, Group, Rule};
use ridge_analysis::{Need, StepRow, Steps};
use ridge_units::Nanos;

pub(crate) static RULE: Rule = Rule {
    id: "no-sync-timing",
    group: Group::Fitness,
    summary: "Steps end before their device work",
    document: include_str!("no_sync_timing.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<Steps>()],
    find: Find::Doubts(find),
};

/// A step whose range is shorter than this part of its device work says nothing of it.
const PART: f64 = 0.50;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    let events = &case.trace().events;
    let steps = case.analysis.steps().rows.iter().filter(|step| step.busy_ns > 0);
    let steps: Vec<&StepRow> = steps.collect();
    let is_early = |step: &&&StepRow| {
        let ends = events.end_ns(step.event.index());
        (step.wall_ns as f64) < PART * step.busy_ns as f64 && ends < step.last_ns
    };
    let mut early: Vec<&&StepRow> = steps.iter().filter(is_early).collect();
    if early.is_empty() || early.len().saturating_mul(2) < steps.len() {
        return;
    }
    early.sort_by_key(|step| step.wall_ns);
    let median = early[early.len() / 2];
    let command = match case.framework() {
        Framework::Jax => "jax.block_until_ready(RESULT)",
        Framework::Torch => "torch.cuda.synchronize()",
        Framework::Other => "cudaDeviceSynchronize()",
    };
    doubts.push(Doubt {
        message: format!(
            "a step takes {} on the host but its device work takes {}: the step times measure only launching",
            Nanos(median.wall_ns),
            Nanos(median.busy_ns),
        ),
        command: Some(format!("{command}, before the step's range ends")),
        blocks: Vec::new(),
    });
}
