//! From a trace to numbers: where device time went.
//!
//! An [`Analysis`] groups all device work once ([`WorkGroups`]); each table is a module that puts those groups
//! together its own way, so no table walks the events again.
//! Definitions stand where the number is made and travel with it as the column's definition.
//!
//! Words used throughout:
//! *device work* is every kernel, copy, memory set and device operation;
//! *total* is the sum of durations;
//! *self* is total less what ran nested inside (a `while` less its body), so self times never count a moment of one
//! lane twice;
//! *busy* is the union of intervals.
//!
//! Nothing here opens a file, renders text or knows a capture format.

mod annotations;
mod by_annotation;
mod by_category;
mod by_kernel;
mod by_module;
mod by_op;
mod by_scope;
mod by_source;
mod by_step;
mod by_track;
mod category;
mod coverage;
mod executions;
mod groups;
mod labels;
mod modules;
mod overview;
mod quantiles;
mod rows;
#[cfg(test)]
mod tests;

pub use annotations::Owners;
pub use category::kernel_category;
pub use executions::Executions;
pub use groups::{Group, WorkGroups};
pub use overview::overview;

use ridge_hlo::{HloModule, InstructionId};
use ridge_trace::{NONE, Operation, StringId, Table, Trace};
use std::sync::OnceLock;

/// What tables can be grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    /// HLO instruction or framework operation.
    Op,
    /// Kernel and how it was launched.
    Kernel,
    /// Kind of work.
    Category,
    /// Compiled program.
    Module,
    /// Line of the user's source.
    Source,
    /// Scope path (`jit(f)/while/body`).
    Scope,
    /// Range that the program named.
    Operation,
    /// Step that the program marked.
    Step,
    /// Stream, lane or thread.
    Track,
}

impl By {
    /// Every grouping, in the order reports show them.
    pub const ALL: [By; 9] =
        [By::Op, By::Kernel, By::Category, By::Module, By::Source, By::Scope, By::Operation, By::Step, By::Track];

    /// Its name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            By::Op => "op",
            By::Kernel => "kernel",
            By::Category => "category",
            By::Module => "module",
            By::Source => "source",
            By::Scope => "scope",
            By::Operation => "operation",
            By::Step => "step",
            By::Track => "track",
        }
    }
}

/// A trace with its device work grouped, ready for every table.
#[derive(Debug)]
pub struct Analysis<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// HLO modules by [`ridge_trace::Module::hlo`].
    pub hlo: &'a [HloModule],
    /// Device work in its finest groups.
    pub groups: &'a WorkGroups,
    /// Which range of the program caused which event, found when a table first asks.
    pub owners: &'a OnceLock<Owners>,
}

impl<'a> Analysis<'a> {
    /// The table grouped by `by`, most device time first.
    pub fn table(&self, by: By) -> Table {
        match by {
            By::Op => by_op::table(self),
            By::Kernel => by_kernel::table(self),
            By::Category => by_category::table(self),
            By::Module => by_module::table(self),
            By::Source => by_source::table(self, |_, _| None),
            By::Scope => by_scope::table(self),
            By::Operation => by_annotation::table(self),
            By::Step => by_step::table(self),
            By::Track => by_track::table(self),
        }
    }

    /// The table by source line, with the line's own text where `line_text(file, line)` has it.
    pub fn source_table(&self, line_text: impl FnMut(&str, u32) -> Option<String>) -> Table {
        by_source::table(self, line_text)
    }

    /// Every module with the device time it took.
    pub fn modules_table(&self) -> Table {
        modules::table(self)
    }

    /// Every instruction of the module at row `module` with the device time it took.
    pub fn instructions_table(&self, module: u32) -> Table {
        modules::instructions(self, module)
    }

    /// The operation at row `op`, where there is one.
    pub fn operation(&self, op: u32) -> Option<&Operation> {
        if op == NONE { None } else { self.trace.operations.get(op as usize) }
    }

    /// The HLO module and instruction of the operation at row `op`, where the capture has them.
    pub fn instruction(&self, op: u32) -> Option<(&'a HloModule, InstructionId)> {
        let op = self.operation(op)?;
        let hlo = self.trace.modules.get(op.module as usize)?.hlo?;
        let module = self.hlo.get(hlo as usize)?;
        (op.instruction != NONE).then_some((module, InstructionId(op.instruction)))
    }

    /// `self_ns` as a part of all device work; 0 where there was none.
    fn share_of_work(&self, self_ns: i64) -> f64 {
        match self.groups.total_self_ns() {
            0 => 0.0,
            all => self_ns as f64 / all as f64,
        }
    }

    fn owners(&self) -> &'a Owners {
        self.owners.get_or_init(|| Owners::new(self.trace))
    }

    fn text(&self, id: StringId) -> &'a str {
        self.trace.strings.get(id)
    }
}
