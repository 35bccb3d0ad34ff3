//! Copies in the bodies of loops, made because the state is updated while something still reads it.

use crate::case::{Case, is_installed};
use crate::finding::{Finding, Place};
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rewrites::own_line;
use crate::rule::{Find, Group, Rule};
use crate::updates::{keeps_layout, update};
use crate::words::{count, list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{ComputationId, Flow, HloModule, InstructionId, OpcodeClass, Users};
use ridge_table::{Basis, Quantity, Unit};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "loop-state-copies",
    group: Group::Structure,
    summary: "Loop carries copied every iteration",
    document: include_str!("loop_state_copies.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// Below this part of the time the copies are what any loop has.
const LEAST: f64 = 0.03;
/// On processors the recording of a smaller copy takes longer than the copy, bytes.
const LEAST_BYTES: u64 = 16 << 10;
/// Below this part of the time one copy in each iteration is how XLA keeps the old state beside the new, and what mending it
/// gives back is less than what the change costs to make.
const WORTH: f64 = 0.25;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let of_program = |program: Program<'_>| finding(case, &program);
    Ok(programs(case).into_iter().filter_map(of_program).collect())
}

/// The bodies of the module's loops.
fn bodies(module: &HloModule) -> FxHashSet<ComputationId> {
    let loops = module.instructions.iter().filter(|instruction| instruction.opcode == "while");
    loops.filter_map(|instruction| instruction.called.first().copied()).collect()
}

fn is_copy(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    // A counter is copied as well, and costs what any operation of its size costs.
    let is_array =
        instruction.shape.leaves().first().is_some_and(|shape| shape.element_count().is_ok_and(|count| count > 1));
    matches!(&*instruction.opcode, "copy" | "copy-start") && is_array && keeps_layout(module, id)
}

/// Whether a copy is of an array that is computed anew from all of the old one: while that is done both are needed, and the copy after it
/// takes the place of the memory traffic of any other way.
fn needs_both(module: &HloModule, flow: &Flow<'_>, users: &Users, id: InstructionId) -> bool {
    let is_computed = || {
        let next = module.instruction(next_of(module, flow, id)?);
        Some(matches!(next.opcode.class(), OpcodeClass::Elementwise(_)))
    };
    let is_updated = users.of(id).iter().any(|user| update(module, *user).is_some_and(|update| update.base == id));
    !is_updated && is_computed().unwrap_or(false)
}

/// What the state that a copy is of becomes in the same iteration.
fn next_of(module: &HloModule, flow: &Flow<'_>, copy: InstructionId) -> Option<InstructionId> {
    let from = flow.source(*module.instruction(copy).operands.first()?);
    let root = module.instruction(module.computation(module.instruction(copy).computation).root?);
    let of_state = module.instruction(from);
    let at = match &*of_state.opcode {
        "get-tuple-element" => usize::try_from(of_state.tuple_index?).ok()?,
        _ => root.operands.iter().position(|next| flow.source(*next) == from)?,
    };
    Some(flow.source(*root.operands.get(at)?))
}

/// The line that makes the new state, as the copy itself has none.
fn line_of_next(module: &HloModule, flow: &Flow<'_>, copy: InstructionId) -> Option<Place> {
    let next = next_of(module, flow, copy)?;
    let is_made = !matches!(&*module.instruction(next).opcode, "parameter" | "get-tuple-element" | "copy" | "tuple");
    own_line(module, next).filter(|_| is_made)
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let bodies = bodies(program.module);
    let least = if case.is_on_processors() { LEAST_BYTES } else { 0 };
    let in_body = |id: &InstructionId| {
        let instruction = program.module.instruction(*id);
        bodies.contains(&instruction.computation) && instruction.shape.byte_size().is_ok_and(|bytes| bytes >= least)
    };
    let copies = program.ran.keys().copied().filter(|id| in_body(id) && is_copy(program.module, *id));
    let copies = program.longest_first(&copies.collect::<Vec<_>>());
    let ns = program.ns_of(&copies);
    if case.share(ns) < LEAST {
        return None;
    }
    let bytes = copies.iter().filter_map(|id| program.module.instruction(*id).shape.byte_size().ok()).max()?;
    let found = Finding::new(format!(
        "loops of `{}` copy their state in every iteration, {} of the time",
        program.function(case),
        percent(case.share(ns)),
    ));
    let claim = program.claim(&copies, 1.0);
    let copied = count(copies.len() as u64, "copy", "copies");
    let (flow, users) = (Flow::new(program.module), Users::new(program.module));
    let is_needed = copies.iter().all(|id| needs_both(program.module, &flow, &users, *id));
    // What a library keeps in the state of its loop is not the user's to change.
    let is_of_library = |id: &InstructionId| {
        let around = flow.loop_around(*id);
        around.and_then(|around| program.module.source_stack(around).first().map(|frame| is_installed(frame.file))).unwrap_or(false)
    };
    let is_of_library = copies.iter().all(is_of_library);
    let found = if is_needed || is_of_library || case.share(ns) < WORTH { found.information() } else { found };
    let found = program.located(case, found, copies.first().copied());
    let line = copies.first().and_then(|copy| line_of_next(program.module, &flow, *copy));
    let place = line.or_else(|| found.place.clone());
    Some(
        found
            .at(place)
            .number(format!("in {copied}: {}", list(&program.names(&copies), 3)), case.per_unit(ns))
            .number("copied per iteration by the largest copy", Quantity::new(bytes as f64, Unit::Bytes, Basis::Counted))
            .why("the loop overwrites its state while the old value is still read, or it swaps elements of the state")
            .help("read the old state before you update it, don't swap arrays of the state (run two iterations per body instead), and keep constants out of the state")
            .edit(case.without(claim.iter().map(|(at, _)| *at)))
            .claims(claim),
    )
}
