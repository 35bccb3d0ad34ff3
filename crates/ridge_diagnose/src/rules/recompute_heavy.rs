//! Work that is done again in the backward pass, to save memory.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{InstructionId, OpcodeClass};
use ridge_table::{Basis, Quantity, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "recompute-heavy",
    group: Group::Structure,
    summary: "Rematerialization despite free memory",
    document: include_str!("recompute_heavy.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.10;
/// A program that needs less than this part of the memory leaves room to keep what it computed.
const ROOMY: f64 = 0.5;
/// What JAX puts into the scope of work that `jax.checkpoint` does again.
const SCOPE: &str = "rematted_computation";

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let of_program = |program: Program<'_>| finding(case, &program);
    Ok(programs(case).into_iter().filter_map(of_program).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let module = program.module;
    let is_again = |id: &InstructionId| {
        let is_container = module.instruction(*id).opcode.class() == OpcodeClass::Runs;
        !is_container && module.op_name_in_fusion(*id).contains(SCOPE)
    };
    let again = program.longest_first(&program.ran.keys().copied().filter(is_again).collect::<Vec<_>>());
    let ns = program.ns_of(&again);
    if case.share(ns) < LEAST {
        return None;
    }
    let device = again.first().and_then(|id| program.work(*id).first()).map(|work| work.row.device.index())?;
    let memory = case.trace().devices.get(device).and_then(|device| device.memory_bytes);
    let needed = module.buffers.as_ref().map(|buffers| buffers.replay_peak().bytes).filter(|bytes| *bytes > 0);
    let message =
        format!("{} of the time goes to recomputing values that `{}` had already computed", percent(case.share(ns)), program.function(case));
    let mut found = program
        .located(case, Finding::new(message), again.first().copied())
        .number(format!("in {}", list(&program.names(&again), 3)), case.per_unit(ns))
        .why("`jax.checkpoint` keeps only part of what the backward pass needs, and recomputes the rest")
        .help("keep what is expensive to compute: `jax.checkpoint(f, policy=jax.checkpoint_policies.dots_saveable)`, or checkpoint fewer layers");
    let bytes = |bytes: u64, basis| Quantity::new(bytes as f64, Unit::Bytes, basis);
    let Some((memory, needed)) = memory.zip(needed) else { return Some(found.information()) };
    found = found
        .number("needed at the program's peak", bytes(needed, Basis::Counted))
        .number("of the device's memory", bytes(memory, Basis::Capture));
    if needed as f64 > ROOMY * memory as f64 {
        return Some(found.information());
    }
    let claim = program.claim(&again, 1.0);
    Some(found.edit(case.without(claim.iter().map(|(at, _)| *at))).claims(claim))
}
