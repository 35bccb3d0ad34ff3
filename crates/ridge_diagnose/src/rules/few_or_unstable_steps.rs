//! Too few steps to tell one from another, or steps that differ much.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, percent};
use ridge_analysis::{Need, Per, Steps, StepRow};

pub(crate) static RULE: Rule = Rule {
    id: "few-or-unstable-steps",
    group: Group::Fitness,
    summary: "Too few steps, or high step-to-step variation",
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
    if case.analyzed().per != Per::Step || case.breakdown().busy_ns() == 0 {
        return;
    }
    let steps = case.steps_of_one_process();
    if steps.is_empty() {
        return;
    }
    let command = Some("ridgeline record --steps 10..20 -- python PROGRAM.py".to_owned());
    if steps.len() < FEW {
        let message = format!(
            "{} in the capture: step-to-step variation is unknown",
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
            "the times of {} steps vary by {} of their mean (standard deviation): one step predicts little about another",
            steady.len(),
            percent(spread)
        );
        doubts.push(Doubt { message, command, blocks: Vec::new() });
    }
}

/// Standard deviation over mean of the steps' times.
fn variation(steps: &[&StepRow]) -> f64 {
    let count = steps.len().max(1) as f64;
    let mean = steps.iter().map(|step| step.wall_ns as f64).sum::<f64>() / count;
    let variance = steps.iter().map(|step| (step.wall_ns as f64 - mean).powi(2)).sum::<f64>() / count;
    if mean > 0.0 { variance.sqrt() / mean } else { 0.0 }
}
