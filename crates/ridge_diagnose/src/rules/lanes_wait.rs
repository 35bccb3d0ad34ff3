//! A loop over several problems at once goes on until the last of them is done.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, of_loops, reached};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Lines, Need};
use ridge_hlo::{Flow, HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Unit};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "lanes-wait",
    group: Group::Structure,
    summary: "Batched loop runs until its slowest member ends",
    document: include_str!("lanes_wait.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
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
    Ok(of_loops(case, finding))
}

fn finding(case: &Case<'_>, program: &Program<'_>, flow: &Flow<'_>, id: InstructionId) -> Option<Finding> {
    let module = program.module;
    let called = &module.instruction(id).called;
    let lanes = lanes(module, flow, *called.get(1)?).filter(|lanes| *lanes >= LANES)?;
    let inside: FxHashSet<_> = reached(module, *called.first()?).into_iter().collect();
    let ran: Vec<InstructionId> =
        program.ran.keys().copied().filter(|id| inside.contains(&module.instruction(*id).computation)).collect();
    let ns = program.ns_of(&ran);
    let iterations = ran.iter().map(|id| program.events(*id)).max()? as f64;
    let trips = iterations / program.events(id).max(1) as f64;
    if case.share(ns) < LEAST || trips < TRIPS {
        return None;
    }
    let longest = program.longest_first(&ran);
    let message = format!(
        "{} of the time is in a loop over {lanes} problems at once, which goes on until the last of them is done",
        percent(case.share(ns)),
    );
    Some(
        program
            .located(case, Finding::new(message), longest.first().copied())
            .number("in its iterations", case.per_unit(ns))
            .number("iterations each time, as many as the slowest of them needs", Quantity::new(trips, Unit::Count, Basis::Measured))
            .fact("how unequal they are is not in the capture: return the count of each from the loop and look at its spread")
            .why("`vmap` of a `while_loop` runs every lane until all are done, and throws away what the finished ones compute")
            .help("where few lanes need many more iterations than most: run a few iterations for all, gather those that are not done and go on with them alone, or sort the problems by their expected length and run them in groups")
            .information(),
    )
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
