//! Small collectives that a loop on the device begins in every iteration.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs, reached};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{ComputationId, HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Unit};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "collective-in-loop",
    group: Group::Structure,
    summary: "Small collective in every loop iteration",
    document: include_str!("collective_in_loop.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.03;
/// Below this size a collective is bound by its latency, bytes.
const SMALL: u64 = 256 << 10;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let of_program = |program: Program<'_>| finding(case, &program);
    Ok(programs(case).into_iter().filter_map(of_program).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let module = program.module;
    let in_loops = in_loops(module);
    let is_one = |id: &InstructionId| {
        in_loops.contains(&module.instruction(*id).computation) && payload(module, *id).is_some_and(|bytes| bytes <= SMALL)
    };
    let small = program.longest_first(&program.ran.keys().copied().filter(is_one).collect::<Vec<_>>());
    let ns = program.ns_of(&small);
    if case.share(ns) < LEAST {
        return None;
    }
    let events = small.iter().fold(0_u64, |sum, id| sum.saturating_add(program.events(*id)));
    let most = small.iter().filter_map(|id| payload(module, *id)).max()?;
    let message =
        format!("{} of the time goes to small collectives inside loops of `{}`", percent(case.share(ns)), program.function(case));
    Some(
        program
            .located(case, Finding::new(message), small.first().copied())
            .number(format!("in {}", list(&program.names(&small), 3)), case.per_unit(ns))
            .number("small collectives", case.count_per_unit(events))
            .number("transferred by the largest", Quantity::new(most as f64, Unit::Bytes, Basis::Counted))
            .why("a small collective costs its full latency however little it transfers, and the loop pays that in every iteration")
            .help("move it out of the loop: accumulate on each device and reduce once afterwards, or combine several values or iterations in one collective")
            .information(),
    )
}

/// The computations that loops run.
fn in_loops(module: &HloModule) -> FxHashSet<ComputationId> {
    let mut all = FxHashSet::default();
    for instruction in module.instructions.iter().filter(|instruction| instruction.opcode == "while") {
        for called in &instruction.called {
            // What an inner loop runs was found with the outer one, or will be.
            if all.insert(*called) {
                all.extend(reached(module, *called));
            }
        }
    }
    all
}

/// Bytes that the collective at `id` takes from each device; `None` for what is none.
fn payload(module: &HloModule, id: InstructionId) -> Option<u64> {
    let collective = module.instruction(module.collective(id)?);
    let operands = collective.operands.iter().map(|operand| module.instruction(*operand).shape.byte_size().unwrap_or(0));
    Some(operands.fold(0, u64::saturating_add))
}
