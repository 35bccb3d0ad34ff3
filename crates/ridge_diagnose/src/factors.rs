//! Calls that take a matrix apart.

use ridge_hlo::{HloModule, InstructionId};

/// Parts of the names that LAPACK, cuSOLVER and XLA give them, and what they are.
const FACTORS: [(&str, &str); 8] = [
    ("potrf", "Cholesky"),
    ("getrf", "LU"),
    ("geqrf", "QR"),
    ("syevd", "eigenvalues"),
    ("heevd", "eigenvalues"),
    ("gesdd", "SVD"),
    ("gesvd", "SVD"),
    ("cholesky", "Cholesky"),
];

/// Whether an instruction takes a matrix apart.
pub(crate) fn is_factor(module: &HloModule, id: InstructionId) -> bool {
    kind_of_factor(module, id).is_some()
}

/// Into what an instruction takes a matrix apart.
pub(crate) fn kind_of_factor(module: &HloModule, id: InstructionId) -> Option<&'static str> {
    let instruction = module.instruction(id);
    let name = instruction.custom_call_target.as_deref().unwrap_or(&instruction.opcode);
    FACTORS.iter().find(|(part, _)| name.contains(part)).map(|(_, what)| *what)
}
