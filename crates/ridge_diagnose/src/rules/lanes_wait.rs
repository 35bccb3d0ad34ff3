//! A loop over several problems at once goes on until the last of them is done.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, of_loops, reached};
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Lines, Need};
use ridge_hlo::{Flow, HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "lanes-wait",
    group: Group::Structure,
    summary: "Batched loop runs until its slowest member ends",
    document: include_str!("lanes_wait.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["no-warm-start"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.10;
/// Fewer problems, or fewer iterations, leave little to wait for.
const LANES: u64 = 8;
const TRIPS: f64 = 16.0;
/// Steps from a condition to the answers that it joins.
const MOST: usize = 64;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let mut found = of_loops(case, finding);
    found.extend(of_loops(case, padded));
    Ok(found)
}

fn finding(case: &Case<'_>, program: &Program<'_>, flow: &Flow<'_>, id: InstructionId) -> Option<Finding> {
    let module = program.module;
    let called = &module.instruction(id).called;
    let lanes = lanes(module, flow, *called.get(1)?).filter(|lanes| *lanes >= LANES)?;
    let ran = program.ran_in(&reached(module, *called.first()?));
    let ns = program.ns_of(&ran);
    let iterations = ran.iter().map(|id| program.events(*id)).max()? as f64;
    let trips = iterations / program.events(id).max(1) as f64;
    if case.share(ns) < LEAST || trips < TRIPS {
        return None;
    }
    let longest = program.longest_first(&ran);
    let message = format!(
        "{} of the time is in a loop over a batch of {lanes} problems that runs until the slowest one finishes; groups of similar length would wait less",
        percent(case.share(ns)),
    );
    Some(
        program
            .located(case, Finding::new(message), longest.first().copied())
            .number("in its iterations", case.per_unit(ns))
            .number("iterations per run, as many as the slowest problem needs", Quantity::new(trips, Unit::Count, Basis::Measured))
            .fact("the capture doesn't show how much the iteration counts differ: return the count of each problem from the loop and compare them")
            .why("`vmap` of a `while_loop` runs every lane until all of them finish, and discards the results of lanes that have already finished")
            .help("if a few lanes need many more iterations than most: run a few iterations for all, gather the unfinished lanes and continue with only those, or sort the problems by expected length and run them in groups")
            .claims(program.claim(&ran, 1.0))
            .information(),
    )
}

/// A loop with a fixed number of steps whose state a mask of data keeps: the members of the batch are padded to one length.
fn padded(case: &Case<'_>, program: &Program<'_>, flow: &Flow<'_>, id: InstructionId) -> Option<Finding> {
    let module = program.module;
    let body = *module.instruction(id).called.first()?;
    let trips = module.instruction(id).known_trip_count().filter(|trips| *trips as f64 >= TRIPS)?;
    let root = module.instruction(module.computation(body).root?);
    let is_kept = |(index, next): (usize, &InstructionId)| keeps_by_mask(module, flow, id, index, *next);
    if root.opcode != "tuple" || !root.operands.iter().enumerate().any(is_kept) {
        return None;
    }
    let ran = program.ran_in(&reached(module, body));
    let ns = program.ns_of(&ran);
    if case.share(ns) < LEAST {
        return None;
    }
    let longest = program.longest_first(&ran);
    let message = format!(
        "{} of the time is in a loop of {trips} steps that a mask skips for the shorter members of the batch, though their padding is still computed; batches of similar lengths have less",
        percent(case.share(ns)),
    );
    Some(
        program
            .located(case, Finding::new(message), longest.first().copied())
            .at(place_of(case, program, id))
            .number("in its steps", case.per_unit(ns))
            .fact("the capture doesn't show how much of the batch is padding: compare the sum of the mask with its size")
            .why("the loop runs one step for every position of the padded arrays, and discards the new state wherever the mask is off")
            .help("if much of the batch is padding: sort or bucket the members by length, and pad each batch to the smallest of a few fixed lengths that fits; each length compiles once")
            .claims(program.claim(&ran, 1.0))
            .information(),
    )
}

/// Whether the next value of element `index` of a loop's state is a choice, by data that the loop reads, between a new value and
/// the one that it has.
fn keeps_by_mask(module: &HloModule, flow: &Flow<'_>, around: InstructionId, index: usize, next: InstructionId) -> bool {
    let choice = module.instruction(flow.source(next));
    let [mask, yes, no] = choice.operands[..] else { return false };
    let is_large = choice.shape.element_count().is_ok_and(|count| count > LANES);
    if choice.opcode != "select" || !is_large {
        return false;
    }
    let is_old = |id: InstructionId| {
        let value = module.instruction(flow.source(id));
        value.opcode == "get-tuple-element" && value.tuple_index == i64::try_from(index).ok()
    };
    (is_old(yes) || is_old(no)) && is_data(module, flow, around, mask)
}

/// Whether a mask is a part of an array that the loop does not change, or compares such an array with a counter.
fn is_data(module: &HloModule, flow: &Flow<'_>, around: InstructionId, mask: InstructionId) -> bool {
    let (mut open, mut has_data) = (vec![flow.source(mask)], false);
    for _ in 0..MOST {
        let Some(at) = open.pop() else { return has_data };
        let instruction = module.instruction(at);
        let is_array = instruction.shape.element_count().is_ok_and(|count| count > 1);
        match &*instruction.opcode {
            "dynamic-slice" => {
                let from = instruction.operands.first();
                has_data |= from.is_some_and(|from| flow.is_unchanged_in(*from, around));
            }
            "constant" | "iota" => {}
            _ if flow.is_unchanged_in(at, around) => has_data |= is_array,
            "get-tuple-element" if !is_array => {}
            "broadcast" | "compare" | "not" | "and" | "or" | "convert" | "reshape" | "slice" => open.extend(flow.inputs(at)),
            _ => return false,
        }
    }
    false
}

/// How many answers the condition of a loop joins into one, where it asks whether any problem is not done.
fn lanes(module: &HloModule, flow: &Flow<'_>, condition: ridge_hlo::ComputationId) -> Option<u64> {
    let mut open = vec![flow.content(module.computation(condition).root?)];
    for _ in 0..MOST {
        let at = open.pop()?;
        let instruction = module.instruction(at);
        match &*instruction.opcode {
            "reduce" => {
                let body = module.computation(*instruction.called.first()?);
                let joins = matches!(&*module.instruction(body.root?).opcode, "or" | "and" | "maximum" | "minimum");
                let from = flow.content(*instruction.operands.first()?);
                // Long reductions are split in several.
                let splits = |at: InstructionId| matches!(&*module.instruction(at).opcode, "reduce" | "reduce-window");
                let mut first = from;
                for _ in 0..MOST {
                    if !splits(first) {
                        break;
                    }
                    first = flow.content(*module.instruction(first).operands.first()?);
                }
                let count = module.instruction(first).shape.element_count().ok()?;
                return joins.then_some(count);
            }
            "not" | "or" | "and" | "compare" | "select" | "convert" => open.extend(flow.inputs(at)),
            _ => {}
        }
    }
    None
}
