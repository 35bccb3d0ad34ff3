//! Arguments of compiled programs: which of them a value goes back to, what they are called, whether their memory was given.

use ridge_hlo::{HloModule, InstructionId};

/// Steps that are followed back from a value.
const CHAIN: usize = 1 << 14;

/// The entry parameter whose memory `id` would be, had it been given: through copies and updates in place.
pub(crate) fn argument_behind(module: &HloModule, id: InstructionId) -> Option<InstructionId> {
    let mut at = id;
    for _ in 0..CHAIN {
        let instruction = module.instruction(at);
        let place = match &*instruction.opcode {
            "parameter" => return (module.entry == Some(instruction.computation)).then_some(at),
            "copy" | "bitcast" | "dynamic-update-slice" | "scatter" | "copy-start" | "copy-done" => 0,
            "fusion" => updated_operand(module, at)?,
            _ => return None,
        };
        at = *instruction.operands.get(place)?;
    }
    None
}

/// The operand whose extents the result of a fusion has, where it is the only one: that is what it updates.
fn updated_operand(module: &HloModule, id: InstructionId) -> Option<usize> {
    let fusion = module.instruction(id);
    let is_like = |operand: &InstructionId| {
        let shape = &module.instruction(*operand).shape;
        shape.element_type == fusion.shape.element_type && shape.dimensions == fusion.shape.dimensions
    };
    let mut alike = (0..fusion.operands.len()).filter(|place| is_like(&fusion.operands[*place]));
    alike.next().filter(|_| alike.next().is_none())
}

/// What the program calls an entry parameter: JAX writes the argument's name.
pub(crate) fn name_of(module: &HloModule, parameter: InstructionId) -> String {
    let instruction = module.instruction(parameter);
    match instruction.metadata.op_name.as_str() {
        "" => format!("argument {}", instruction.parameter_number.unwrap_or(0)),
        name => name.to_owned(),
    }
}

/// Whether the memory of an entry parameter, or of a part of it, may be used for results.
pub(crate) fn is_donated(module: &HloModule, parameter: InstructionId) -> bool {
    let number = module.instruction(parameter).parameter_number.unwrap_or(-1);
    module.input_output_aliases.iter().any(|alias| alias.parameter == number)
        || module.buffer_donors.iter().any(|donor| donor.parameter == number)
}
