//! Calls that take a matrix apart.

use ridge_hlo::{HloModule, InstructionId};

/// Parts of the names that LAPACK, cuSOLVER and XLA give them.
const FACTORS: [&str; 8] = ["potrf", "getrf", "geqrf", "syevd", "heevd", "gesdd", "gesvd", "cholesky"];

/// Whether an instruction takes a matrix apart.
pub(crate) fn is_factor(module: &HloModule, id: InstructionId) -> bool {
    let instruction = module.instruction(id);
    let name = instruction.custom_call_target.as_deref().unwrap_or(&instruction.opcode);
    FACTORS.iter().any(|factor| name.contains(factor))
}
