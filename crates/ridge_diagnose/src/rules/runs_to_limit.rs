//! A loop that may end early, by a number that it compares, and always runs to its limit.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, of_loops, reached};
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Lines, Need};
use ridge_hlo::{ComputationId, ElementType, Flow, HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Subject, Unit};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "runs-to-limit",
    group: Group::Structure,
    summary: "Iterative solver never meets its tolerance",
    document: include_str!("runs_to_limit.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.10;
/// Iterations below which a limit is meant as a count.
const FEWEST: f64 = 20.0;
/// Iterations from which on a tolerance of zero is worth a word.
const MANY: f64 = 100.0;
/// Runs of the loop: one that ends at its limit may be chance.
const RUNS: u64 = 2;
/// Steps of a condition.
const MOST: usize = 256;

/// When a loop ends.
struct End {
    /// At this number of its counter at the latest.
    limit: f64,
    /// The element of the loop's state that counts.
    counter: usize,
    /// Before that where a number is below or above this one; `None` where that is computed.
    threshold: Option<f64>,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    Ok(of_loops(case, finding))
}

fn finding(case: &Case<'_>, program: &Program<'_>, flow: &Flow<'_>, id: InstructionId) -> Option<Finding> {
    let module = program.module;
    let runs = program.events(id);
    let body = *module.instruction(id).called.first()?;
    let each = module.computation(body).instruction_ids().map(|id| program.events(id)).max()?;
    let trips = each as f64 / runs.max(1) as f64;
    if runs < RUNS || trips < FEWEST {
        return None;
    }
    let (limit, threshold) = by_condition(module, flow, id, trips).or_else(|| by_branch(program, flow, id, each))?;
    // A threshold that nothing can be below is how a fixed number of iterations is asked for, unless that is large.
    let is_exact = threshold.is_some_and(|threshold| threshold <= 0.0);
    if is_exact && limit < MANY {
        return None;
    }
    let mut ran = program.ran_in(&reached(module, body));
    ran.push(id);
    let ns = program.ns_of(&ran);
    if case.share(ns) < LEAST {
        return None;
    }
    let message = format!(
        "{} of the time is in a loop that always runs to its limit of {} iterations, because {}",
        percent(case.share(ns)),
        limit,
        if is_exact { "its tolerance is zero; a tolerance would end it earlier" } else { "it never converges to its tolerance" },
    );
    let found = Finding::new(message)
        .at(place_of(case, program, id))
        .about(Subject::Module(program.row))
        .number("in its iterations", case.per_unit(ns))
        .number("runs of the loop, all to the limit", Quantity::new(runs as f64, Unit::Count, Basis::Measured));
    let found = if is_exact { found.information() } else { found };
    let found = match threshold.filter(|_| !is_exact) {
        Some(threshold) => found.fact(format!("the loop would end early at an error of {threshold:.1e}")),
        None => found,
    };
    Some(
        found
            .why("the loop ends early only if its error drops below a threshold, which never happened; a threshold near the floating-point resolution (about 1e-7 relative in single precision) can't be reached")
            .help("check the final error, and loosen the tolerance to what the result needs (1e-4 is usual in single precision), or make the iteration converge: scale the problem, start from the last solution, or compute in double precision")
            .claims(program.claim(&ran, 1.0))
            .unknown_amount(),
    )
}

/// The limit and the threshold of a loop that ends when its condition fails, where it took as many iterations as the limit allows.
fn by_condition(module: &HloModule, flow: &Flow<'_>, id: InstructionId, trips: f64) -> Option<(f64, Option<f64>)> {
    let end = end(module, flow, id)?;
    let by = step(module, flow, id, end.counter)?;
    let counted = trips * by;
    let is_all = counted >= FEWEST && counted >= end.limit - by && counted < end.limit + by;
    is_all.then_some((end.limit, end.threshold))
}

/// The same of a loop with a known number of iterations that does nothing any more once a flag of its state is set, where all of its
/// `iterations` still did something.
fn by_branch(program: &Program<'_>, flow: &Flow<'_>, id: InstructionId, iterations: u64) -> Option<(f64, Option<f64>)> {
    let module = program.module;
    let limit = module.instruction(id).known_trip_count()?;
    let body = module.computation(*module.instruction(id).called.first()?);
    let root = module.instruction(body.root?);
    let of_choice = |choice: InstructionId| {
        let conditional = module.instruction(choice);
        let flag = module.instruction(flow.content(*conditional.operands.first()?));
        let element = usize::try_from(flag.tuple_index.filter(|_| flag.opcode == "get-tuple-element")?).ok()?;
        let next = module.instruction(flow.source(*root.operands.get(element)?));
        let is_set = next.operands.first() == Some(&choice) && flag.shape.element_type == ElementType::Pred;
        let place = usize::try_from(next.tuple_index.filter(|_| is_set)?).ok()?;
        let compared = conditional.called.iter().find_map(|branch| compared(module, flow, *branch, place).map(|found| (*branch, found)));
        let (branch, threshold) = compared?;
        let ran = module.computation(branch).instruction_ids().map(|id| program.events(id)).max()?;
        (ran >= iterations).then_some((limit as f64, threshold))
    };
    body.instruction_ids().filter(|id| module.instruction(*id).opcode == "conditional").find_map(of_choice)
}

/// What a branch compares a real number with for the element `place` of its result; `None` where that is no comparison.
fn compared(module: &HloModule, flow: &Flow<'_>, branch: ComputationId, place: usize) -> Option<Option<f64>> {
    let root = module.instruction(module.computation(branch).root?);
    let compare = module.instruction(flow.source(*root.operands.get(place).filter(|_| root.opcode == "tuple")?));
    let [one, other] = compare.operands[..] else { return None };
    let is_real = module.instruction(flow.source(one)).shape.element_type.is_float();
    (compare.opcode == "compare" && is_real).then(|| number(module, flow, other).or_else(|| number(module, flow, one)))
}

/// When the loop `id` ends, where that is at a limit or by a comparison of real numbers, whichever comes first.
fn end(module: &HloModule, flow: &Flow<'_>, id: InstructionId) -> Option<End> {
    let condition = module.computation(*module.instruction(id).called.get(1)?);
    let (mut open, mut seen) = (vec![flow.source(condition.root?)], FxHashSet::default());
    let (mut limit, mut threshold) = (None, None);
    while let Some(at) = open.pop() {
        if !seen.insert(at) || seen.len() > MOST {
            continue;
        }
        let instruction = module.instruction(at);
        if instruction.opcode != "compare" {
            // A flag of the state is what the iteration before made of it.
            match flag(module, id, at) {
                Some(next) => open.push(flow.source(next)),
                None => open.extend(flow.inputs(at)),
            }
            continue;
        }
        let [one, other] = instruction.operands[..] else { continue };
        let (left, right) = (flow.source(one), flow.source(other));
        let is_real = module.instruction(left).shape.element_type.is_float();
        match instruction.attributes().comparison_direction.as_deref()? {
            direction @ ("LT" | "LE") if !is_real => {
                let counter = counted(module, flow, left);
                if let Some((counter, number)) = counter.zip(number(module, flow, right)) {
                    let number = if direction == "LE" { number + 1.0 } else { number };
                    let larger = limit.is_none_or(|(_, known)| number > known);
                    limit = if larger { Some((counter, number)) } else { limit };
                }
            }
            "LT" | "LE" | "GT" | "GE" if is_real => {
                threshold = threshold.or(Some(number(module, flow, right).or(number(module, flow, left))));
            }
            _ => open.extend(flow.inputs(at)),
        }
    }
    let ((counter, limit), threshold) = limit.zip(threshold)?;
    Some(End { limit, counter, threshold })
}

/// What an iteration makes of an element of the loop's state that says whether it goes on.
fn flag(module: &HloModule, around: InstructionId, id: InstructionId) -> Option<InstructionId> {
    let element = module.instruction(id);
    let is_flag = element.opcode == "get-tuple-element" && element.shape.element_type == ElementType::Pred;
    let condition = *module.instruction(around).called.get(1)?;
    if !is_flag || element.computation != condition {
        return None;
    }
    let root = module.instruction(module.computation(*module.instruction(around).called.first()?).root?);
    root.operands.get(usize::try_from(element.tuple_index?).ok()?).copied().filter(|_| root.opcode == "tuple")
}

/// The element of the state that a number counts: itself, or with what the iteration adds.
fn counted(module: &HloModule, flow: &Flow<'_>, id: InstructionId) -> Option<usize> {
    let instruction = module.instruction(id);
    let element = match &*instruction.opcode {
        "add" => flow.inputs(id).map(|id| module.instruction(id)).find(|one| one.opcode == "get-tuple-element")?,
        _ => instruction,
    };
    element.tuple_index.filter(|_| element.opcode == "get-tuple-element").and_then(|index| usize::try_from(index).ok())
}

/// By how much an element of a loop's state grows in each iteration.
fn step(module: &HloModule, flow: &Flow<'_>, id: InstructionId, element: usize) -> Option<f64> {
    let root = module.instruction(module.computation(*module.instruction(id).called.first()?).root?);
    let next = module.instruction(flow.source(*root.operands.get(element).filter(|_| root.opcode == "tuple")?));
    let [one, other] = next.operands[..] else { return None };
    let by = number(module, flow, other).or_else(|| number(module, flow, one));
    by.filter(|by| next.opcode == "add" && *by > 0.0)
}

/// The number that a value is, where that is a constant.
fn number(module: &HloModule, flow: &Flow<'_>, id: InstructionId) -> Option<f64> {
    let mut at = flow.content(id);
    if module.instruction(at).opcode == "broadcast" {
        at = flow.content(*module.instruction(at).operands.first()?);
    }
    match module.instruction(at).literal.as_ref()?.scalar()? {
        ridge_hlo::Scalar::Float(value) => Some(value),
        ridge_hlo::Scalar::Int(value) => Some(value as f64),
        ridge_hlo::Scalar::Uint(value) => Some(value as f64),
        _ => None,
    }
}
