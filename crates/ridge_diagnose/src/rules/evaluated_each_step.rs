//! A function that measures how good the state is runs as often as the step that improves it, each time on the same data.

use super::frozen_work::{results_of, updated};
use crate::arguments::{behind_each, name_of};
use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs, take_turns};
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "evaluated-each-step",
    group: Group::Structure,
    summary: "Evaluation in every training step",
    document: include_str!("evaluated_each_step.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["hot-line", "kernel-hotspot"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.25;
/// Runs from which on it is no chance that both run as often.
const RUNS: u64 = 8;
/// Numbers that a measure of quality has at most.
const MOST_RESULTS: u64 = 64;
/// Instructions of a program that is looked at.
const MOST: usize = 1 << 14;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    // Few captures have looks at Python, and all arguments of all programs are many.
    if case.trace().python.watched.iter().all(|watched| watched.steady.is_empty()) {
        return Ok(Vec::new());
    }
    let often = programs(case).into_iter().map(|program| (program.runs(), program)).filter(|(runs, _)| *runs >= RUNS);
    let (steps, others): (Vec<_>, Vec<_>) = often.partition(|(_, program)| updates(program));
    let of_program = |(runs, program): &(u64, Program<'_>)| {
        let (_, step) = steps.iter().find(|(times, _)| take_turns(*runs, *times))?;
        finding(case, program, *runs, step)
    };
    Ok(others.iter().filter_map(of_program).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>, runs: u64, step: &Program<'_>) -> Option<Finding> {
    let module = program.module;
    let entry = module.entry?;
    let ran: Vec<InstructionId> = program.ran.keys().copied().collect();
    let share = case.share(program.ns_of(&ran));
    let is_small = |id: &InstructionId| module.instruction(*id).shape.element_count().is_ok_and(|count| count <= MOST_RESULTS);
    if share < LEAST || !results_of(module, entry).iter().all(is_small) {
        return None;
    }
    // The data are the same each time, and the state is not.
    let (steady, looks) = case.steady(program).filter(|(steady, _)| !steady.is_empty())?;
    let is_new = |id: &InstructionId| module.instruction(*id).opcode == "parameter" && !steady.contains(id);
    module.computation(entry).instruction_ids().find(is_new)?;
    let (function, step) = (program.function(case), step.function(case));
    let names: Vec<String> = steady.iter().take(2).map(|id| name_of(module, *id)).collect();
    let message = format!(
        "{} of the time goes to `{function}`, called in every step like `{step}` and always on the same {}; evaluating every N steps would suffice for a log",
        percent(share),
        list(&names, 2),
    );
    let first = program.longest_first(&ran).first().copied()?;
    Some(
        Finding::new(message)
            .at(case.line_of_calls(function).or_else(|| place_of(case, program, first)))
            .about(Subject::Module(program.row))
            .number("runs in the analyzed time", Quantity::new(runs as f64, Unit::Count, Basis::Counted))
            .fact(format!("it returns a few numbers only; all {looks} looks at the program found the same arrays"))
            .why("an evaluation on a whole data set takes longer than a step on a batch, and tells little more in each step than in some of them")
            .help("call it only when its result is used (`if step % log_every == 0`), on a part of the data, or once per epoch")
            .claims(program.claim(&ran, 1.0))
            .information(),
    )
}

/// Whether a program returns new values of its arguments.
fn updates(program: &Program<'_>) -> bool {
    let module: &HloModule = program.module;
    let Some(entry) = module.entry.filter(|entry| module.computation(*entry).instruction_ids().len() <= MOST) else { return false };
    let is_array = |id: &InstructionId| module.instruction(*id).shape.element_count().is_ok_and(|count| count > MOST_RESULTS);
    updated(module, entry, &behind_each(module, entry)).iter().any(is_array)
}
