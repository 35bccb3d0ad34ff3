//! Positions of computations and instructions in a module.

/// Position of a computation in [`HloModule::computations`](crate::HloModule::computations).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct ComputationId(pub u32);

/// Position of an instruction in [`HloModule::instructions`](crate::HloModule::instructions).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct InstructionId(pub u32);

/// The id of a position that is known to fit.
pub(crate) fn instruction_id(position: usize) -> InstructionId {
    InstructionId(u32::try_from(position).expect("readers refuse modules with more than 2^31 instructions"))
}

/// The id of a position that is known to fit.
pub(crate) fn computation_id(position: usize) -> ComputationId {
    ComputationId(u32::try_from(position).expect("readers refuse modules with more than 2^31 computations"))
}
