//! Arguments of compiled programs: which of them a value goes back to, what they are called, whether their memory was given.

use ridge_hlo::{HloModule, InstructionId};

/// Steps that are followed back from a value.
const CHAIN: usize = 64;

/// The entry parameter that `id` is a copy of, through other copies; updates in between make other copies necessary, which
/// giving the argument away does not spare.
pub(crate) fn argument_behind(module: &HloModule, id: InstructionId) -> Option<InstructionId> {
    let mut at = id;
    for _ in 0..CHAIN {
        let instruction = module.instruction(at);
        match &*instruction.opcode {
            "parameter" => return (module.entry == Some(instruction.computation)).then_some(at),
            "copy" | "bitcast" | "copy-start" | "copy-done" => at = *instruction.operands.first()?,
            _ => return None,
        }
    }
    None
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
