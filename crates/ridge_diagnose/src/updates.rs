//! Updates in place: which array an instruction writes a part of, and what lies between it and the update before.

use ridge_hlo::{HloModule, Instruction, InstructionId};

/// Steps that are followed from one instruction to the next.
const CHAIN: usize = 64;

/// A write of a part of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Update {
    /// The array that it writes into, as the instruction reads it.
    pub(crate) base: InstructionId,
    /// Bytes that it writes.
    pub(crate) bytes: u64,
}

/// What `id` updates: a `dynamic-update-slice`, a `scatter`, or a fusion whose result is one of these of its operand.
pub(crate) fn update(module: &HloModule, id: InstructionId) -> Option<Update> {
    let instruction = module.instruction(id);
    if !instruction.is_fusion() {
        let bytes = written(module, instruction)?;
        return Some(Update { base: *instruction.operands.first()?, bytes });
    }
    let mut at = module.computation(*instruction.called.first()?).root?;
    let mut bytes: Option<u64> = None;
    for _ in 0..CHAIN {
        let inner = module.instruction(at);
        match &*inner.opcode {
            "parameter" => {
                let number = usize::try_from(inner.parameter_number?).ok()?;
                return Some(Update { base: *instruction.operands.get(number)?, bytes: bytes? });
            }
            "bitcast" => {}
            _ => bytes = Some(bytes.unwrap_or(0).saturating_add(written(module, inner)?)),
        }
        at = *inner.operands.first()?;
    }
    None
}

/// Bytes that an update writes; `None` for what is none.
fn written(module: &HloModule, instruction: &Instruction) -> Option<u64> {
    let place = match &*instruction.opcode {
        "dynamic-update-slice" => 1,
        "scatter" if instruction.operands.len() == 3 => 2,
        _ => return None,
    };
    module.instruction(*instruction.operands.get(place)?).shape.byte_size().ok()
}

/// The instruction whose value `id` is, seen through copies in the same layout; the copies are added to `copies`.
pub(crate) fn behind_copies(module: &HloModule, id: InstructionId, copies: &mut Vec<InstructionId>) -> InstructionId {
    let mut at = id;
    for _ in 0..CHAIN {
        let instruction = module.instruction(at);
        let Some(&operand) = instruction.operands.first() else { break };
        match &*instruction.opcode {
            "copy" | "copy-start" | "copy-done" => copies.push(at),
            "bitcast" => {}
            _ => break,
        }
        at = operand;
    }
    at
}

/// Whether a copy leaves every element where it is in the array's order in memory.
pub(crate) fn keeps_layout(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    let Some(&operand) = instruction.operands.first() else { return false };
    let (from, to) = (&module.instruction(operand).shape, &instruction.shape);
    let order = |layout: &Option<Box<ridge_hlo::Layout>>| layout.as_ref().map(|layout| layout.minor_to_major.clone());
    from.dimensions == to.dimensions && order(&from.layout) == order(&to.layout)
}
