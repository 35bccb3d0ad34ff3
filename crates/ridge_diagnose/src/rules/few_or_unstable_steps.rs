//! Too few steps to tell one from another, or steps that differ much.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, percent};
use ridge_analysis::{Need, Per, Steps};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "few-or-unstable-steps",
    group: Group::Fitness,
    summary: "steps are few or differ much",
    document: include_str!("few_or_unstable_steps.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<Steps>()],
    find: Find::Doubts(find),
};

/// Of fewer steps nothing is known of how they differ.
const FEW: usize = 3;
/// Above this coefficient of variation a mean step says little.
const UNSTABLE: f64 = 0.25;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    if case.frame().per != Per::Step || case.wall().busy_ns() == 0 {
        return;
    }
    let trace = case.trace();
    let mut by_process: FxHashMap<u32, Vec<(i64, i64)>> = FxHashMap::default();
    for step in &case.analysis.steps().rows {
        let Some(track) = trace.track_of(step.event.0) else { continue };
        by_process.entry(track.process).or_default().push((trace.events.start_ns[step.event.index()], step.wall_ns));
    }
    let most = by_process.into_iter().max_by_key(|(process, steps)| (steps.len(), std::cmp::Reverse(*process)));
    let Some((_, mut steps)) = most else { return };
    steps.sort_unstable();
    let command = Some("ridgeline record --steps 10..20 -- python PROGRAM.py".to_owned());
    if steps.len() < FEW {
        let message = format!(
            "{} in the capture: how much steps differ is not known",
            count(steps.len() as u64, "step is", "steps are")
        );
        let blocks = if steps.len() == 1 { vec![Question::Steps] } else { Vec::new() };
        doubts.push(Doubt { message, command, blocks });
        return;
    }
    let steady = &steps[1..];
    let spread = variation(steady);
    if steady.len() >= FEW && spread > UNSTABLE {
        let message = format!(
            "the times of {} steps differ by {} of their mean (standard deviation): one step says little of another",
            steady.len(),
            percent(spread)
        );
        doubts.push(Doubt { message, command, blocks: Vec::new() });
    }
}

/// Standard deviation over mean of the steps' times.
fn variation(steps: &[(i64, i64)]) -> f64 {
    let count = steps.len().max(1) as f64;
    let mean = steps.iter().map(|(_, ns)| *ns as f64).sum::<f64>() / count;
    let variance = steps.iter().map(|(_, ns)| (*ns as f64 - mean).powi(2)).sum::<f64>() / count;
    if mean > 0.0 { variance.sqrt() / mean } else { 0.0 }
}
