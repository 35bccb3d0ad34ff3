//! The first of the judged steps still warms up.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use ridge_analysis::{Need, Per, Steps};
use ridge_table::{Basis, Quantity, Subject};

pub(crate) static RULE: Rule = Rule {
    id: "late-warmup",
    group: Group::Host,
    summary: "Warm-up extends past the first step",
    document: include_str!("late_warmup.md"),
    asks: &[Question::Steps],
    explains: &[],
    needs: &[Need::of::<Steps>()],
    find: Find::Causes(find),
};

/// A step that takes so many times what those after it take in the median warms up.
const LONG: f64 = 2.0;
/// Fewer steps after it say nothing of what is usual.
const LEAST_STEPS: usize = 4;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.analyzed().per != Per::Step {
        return Ok(Vec::new());
    }
    let steps = case.steps_of_one_process();
    // The first is not judged.
    let Some((second, later)) = steps.get(1).zip(steps.get(2..)).filter(|(_, later)| later.len() >= LEAST_STEPS) else {
        return Ok(Vec::new());
    };
    let mut walls: Vec<i64> = later.iter().map(|step| step.wall_ns).collect();
    walls.sort_unstable();
    let median = walls[walls.len() / 2].max(1);
    // Steps of several kinds, such as evaluation among training, differ throughout.
    let is_steady = walls.last().is_some_and(|longest| (*longest as f64) < LONG * median as f64);
    let times = second.wall_ns as f64 / median as f64;
    if times <= LONG || !is_steady || later.iter().any(|step| step.name != second.name) {
        return Ok(Vec::new());
    }
    let finding = Finding::new(format!("the second step takes {times:.1} times as long as later steps"))
        .at(case.line_of_row(second.event.0))
        .about(Subject::Event(second.event))
        .number("duration of the second step", Quantity::nanos(second.wall_ns, Basis::Measured))
        .number("median duration of later steps", Quantity::nanos(median, Basis::Measured))
        .why("warm-up continues in the second step: another compilation, kernel autotuning, or a first memory allocation")
        .help("start the capture after more warm-up steps; all per-step times here include this step")
        .information();
    Ok(vec![finding])
}
