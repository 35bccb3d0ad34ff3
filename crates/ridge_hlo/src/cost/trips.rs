//! How often a loop runs, where its counter tells.
//!
//! The form that `lax.scan` and `fori_loop` lower to: one element of the state starts at a constant, each iteration adds
//! a constant, and the loop runs while it is below a constant. Everything else is left to those who observed it.

use crate::{ComputationId, HloModule, Instruction, InstructionId};

/// Copies and conversions looked through on the way to a constant.
const STEPS: usize = 8;

/// The trip count of a `while` whose counter starts, steps and ends at constants.
pub(super) fn derive(module: &HloModule, instruction: &Instruction) -> Option<u64> {
    let (&body, &condition) = (instruction.called.first()?, instruction.called.get(1)?);
    let test = root(module, condition)?;
    let direction = test.attributes().comparison_direction.as_deref()?;
    let element = state_element(module, *test.operands.first()?)?;
    let end = constant(module, *test.operands.get(1)?)?;
    let first = constant(module, tuple_operand(module, *instruction.operands.first()?, element)?)?;
    let step = step(module, body, element)?;
    let last = match direction {
        "LT" if test.opcode == "compare" => end,
        "LE" if test.opcode == "compare" => end.checked_add(1)?,
        _ => return None,
    };
    let distance = last.checked_sub(first)?;
    (step > 0).then(|| u64::try_from(distance.max(0).checked_add(step - 1)? / step).ok())?
}

fn root(module: &HloModule, computation: ComputationId) -> Option<&Instruction> {
    module.computation(computation).root.map(|root| module.instruction(root))
}

/// What an iteration adds to element `element` of the state.
fn step(module: &HloModule, body: ComputationId, element: i64) -> Option<i64> {
    let next = module.instruction(tuple_operand(module, module.computation(body).root?, element)?);
    let (&left, &right) = (next.operands.first()?, next.operands.get(1)?);
    match &*next.opcode {
        "add" if state_element(module, left) == Some(element) => constant(module, right),
        "add" if state_element(module, right) == Some(element) => constant(module, left),
        _ => None,
    }
}

/// Which element of the loop's state a value is.
fn state_element(module: &HloModule, id: InstructionId) -> Option<i64> {
    let element = module.instruction(through_copies(module, id));
    let state = module.instruction(*element.operands.first()?);
    (state.opcode == "parameter").then_some(element.tuple_index)?
}

fn tuple_operand(module: &HloModule, id: InstructionId, element: i64) -> Option<InstructionId> {
    let tuple = module.instruction(id);
    let operand = tuple.operands.get(usize::try_from(element).ok()?).copied();
    operand.filter(|_| tuple.opcode == "tuple")
}

fn constant(module: &HloModule, id: InstructionId) -> Option<i64> {
    module.instruction(through_copies(module, id)).literal.as_ref()?.integer()
}

fn through_copies(module: &HloModule, id: InstructionId) -> InstructionId {
    let mut at = id;
    for _ in 0..STEPS {
        let instruction = module.instruction(at);
        match instruction.operands.first() {
            Some(&inner) if matches!(&*instruction.opcode, "copy" | "bitcast" | "convert") => at = inner,
            _ => break,
        }
    }
    at
}
