//! A function that measures how good the state is runs as often as the step that improves it, each time on the same data.

use super::frozen_work::{results_of, updated};
use crate::arguments::{behind_each, name_of};
use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
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
/// Instructions of a program that is looked at, and calls whose line is looked for.
const MOST: usize = 1 << 14;
const MOST_CALLS: usize = 4096;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let all: Vec<(Program<'_>, u64)> = programs(case).into_iter().map(|program| { let runs = runs(&program); (program, runs) }).collect();
    let steps: Vec<&(Program<'_>, u64)> = all.iter().filter(|(program, runs)| *runs >= RUNS && updates(program)).collect();
    let of_program = |(program, runs): &(Program<'_>, u64)| {
        let step = steps.iter().find(|(step, times)| step.row != program.row && is_as_often(*runs, *times))?;
        finding(case, program, *runs, &step.0)
    };
    Ok(all.iter().filter(|(program, runs)| *runs >= RUNS && !updates(program)).filter_map(of_program).collect())
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
    let calls = case.calls().into_iter().filter(|call| call.function == function).map(|call| call.row).take(MOST_CALLS);
    let seen = case.seen_during(calls).map(|seen| seen.place);
    let first = program.longest_first(&ran).first().copied()?;
    Some(
        Finding::new(message)
            .at(seen.or_else(|| place_of(case, program, first)))
            .about(Subject::Module(program.row))
            .number("runs in the analyzed time", Quantity::new(runs as f64, Unit::Count, Basis::Counted))
            .fact(format!("it returns a few numbers only; all {looks} looks at the program found the same arrays"))
            .why("an evaluation on a whole data set takes longer than a step on a batch, and tells little more in each step than in some of them")
            .help("call it only when its result is used (`if step % log_every == 0`), on a part of the data, or once per epoch")
            .claims(program.claim(&ran, 1.0))
            .information(),
    )
}

/// How often a program ran, by what of it ran most.
fn runs(program: &Program<'_>) -> u64 {
    let of_entry = program.ran.keys().filter(|id| Some(program.module.instruction(**id).computation) == program.module.entry);
    of_entry.map(|id| program.events(*id)).max().unwrap_or(0)
}

/// Whether a program returns new values of its arguments.
fn updates(program: &Program<'_>) -> bool {
    let module: &HloModule = program.module;
    let Some(entry) = module.entry.filter(|entry| module.computation(*entry).instruction_ids().len() <= MOST) else { return false };
    let is_array = |id: &InstructionId| module.instruction(*id).shape.element_count().is_ok_and(|count| count > MOST_RESULTS);
    updated(module, entry, &behind_each(module, entry)).iter().any(is_array)
}

/// Whether two programs take turns, of which the ends of what is judged cut some.
fn is_as_often(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= (one / 100).max(2)
}
