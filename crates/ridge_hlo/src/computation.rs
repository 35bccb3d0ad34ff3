//! One computation: a run of instructions with a result.

use std::ops::Range;

use crate::InstructionId;

/// One computation of a module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Computation {
    /// Its name, without a leading `%`.
    pub name: String,
    /// Its number in the proto; 0 where the module was read from text.
    pub id: i64,
    /// Positions of its instructions in [`crate::HloModule::instructions`], in file order;
    /// XLA writes operands before users.
    pub instructions: Range<u32>,
    /// The instruction whose value it returns.
    pub root: Option<InstructionId>,
    /// Whether it is the body of a fusion.
    pub is_fusion: bool,
    /// The thread it runs on; empty for the main one.
    pub execution_thread: String,
    /// The order its instructions run in, where the module is scheduled and the file says so.
    pub schedule: Option<Vec<InstructionId>>,
    /// Instructions that run it, in module order.
    pub callers: Vec<InstructionId>,
}

impl Computation {
    /// Its instructions in file order.
    pub fn instruction_ids(&self) -> impl DoubleEndedIterator<Item = InstructionId> + ExactSizeIterator + use<> {
        self.instructions.clone().map(InstructionId)
    }

    /// Its instructions in the order they run, or in file order if it is not scheduled.
    pub fn in_order(&self) -> Vec<InstructionId> {
        self.schedule.clone().unwrap_or_else(|| self.instruction_ids().collect())
    }
}
