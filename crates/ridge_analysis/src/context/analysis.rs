//! A trace with what its analyses share.

use crate::context::{Compilation, Durations, Executions, Owners, Store, WorkGroups};
use crate::device::Ceilings;
use ridge_hlo::{HloModule, InstructionId};
use ridge_trace::{NONE, Operation, StringId, Trace};

/// A trace, its HLO, its ceilings, and what several answers need of them, made when the first asks.
#[derive(Debug, Clone, Copy)]
pub struct Analysis<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// HLO modules by [`ridge_trace::Module::hlo`].
    pub hlo: &'a [HloModule],
    /// What each device can do, by row of the devices table; a device without an entry has no known ceilings.
    pub ceilings: &'a [Ceilings],
    /// What the program compiled, the longest first; empty where nobody said it.
    pub compilations: &'a [Compilation],
    /// Where shared parts are kept; it belongs to this trace and these ceilings alone.
    pub store: &'a Store,
}

impl<'a> Analysis<'a> {
    /// The operation at row `op`, where there is one.
    pub fn operation(&self, op: u32) -> Option<&'a Operation> {
        if op == NONE { None } else { self.trace.operations.get(op as usize) }
    }

    /// The HLO module and instruction of the operation at row `op`, where the capture has them.
    pub fn instruction(&self, op: u32) -> Option<(&'a HloModule, InstructionId)> {
        let op = self.operation(op)?;
        let hlo = self.trace.modules.get(op.module as usize)?.hlo?;
        let module = self.hlo.get(hlo as usize)?;
        let is_there = (op.instruction as usize) < module.instructions.len();
        is_there.then_some((module, InstructionId(op.instruction)))
    }

    /// The position of the HLO module and the instruction of the operation at row `op`, where the capture has them.
    pub fn instruction_place(&self, op: u32) -> Option<(u32, InstructionId)> {
        let (_, instruction) = self.instruction(op)?;
        Some((self.trace.modules[self.operation(op)?.module as usize].hlo?, instruction))
    }

    /// Device work in its finest groups.
    pub fn groups(&self) -> &'a WorkGroups {
        self.get()
    }

    /// Durations of the events of each group.
    pub(crate) fn durations(&self) -> &'a Durations {
        self.get()
    }

    /// Times each operation was executed.
    pub fn executions(&self) -> &'a Executions {
        self.get()
    }

    /// Which range of the program caused which event.
    pub fn owners(&self) -> &'a Owners {
        self.get()
    }

    /// `self_ns` as a part of all device work; 0 where there was none.
    pub(crate) fn share_of_work(&self, self_ns: i64) -> f64 {
        match self.groups().total_self_ns() {
            0 => 0.0,
            all => self_ns as f64 / all as f64,
        }
    }

    /// The text of `id`.
    pub fn text(&self, id: StringId) -> &'a str {
        self.trace.strings.get(id)
    }
}
