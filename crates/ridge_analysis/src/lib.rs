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
mod by_call;
mod by_category;
mod by_collective;
mod by_copy;
mod by_kernel;
mod by_launch;
mod by_module;
mod by_op;
mod by_operator;
mod by_profile;
mod by_rank;
mod by_scope;
mod by_source;
mod by_step;
mod by_track;
mod category;
mod ceilings;
mod collectives;
mod coverage;
mod device;
mod durations;
mod executions;
mod groups;
mod host_paths;
mod idle;
mod in_order;
mod labels;
mod memory;
mod modules;
mod observed_trips;
mod overview;
mod places;
mod prepared;
mod profile_join;
mod profile_numbers;
mod quantiles;
mod roofline;
mod rows;
pub mod scaling;
mod spread;
mod stretches;
#[cfg(test)]
mod tests;
mod transfers;

pub use annotations::Owners;
pub use category::kernel_category;
pub use ceilings::{Ceiling, CeilingBasis, Ceilings, ComputeUnit, Limit, NumberType};
pub use device::{
    DeviceSheet, Figure, ProcessorSheet, SheetError, ceilings, processor_ceilings, processor_sheets, sheet_of, sheets,
};
pub use executions::Executions;
pub use groups::{Group, WorkGroups};
pub use idle::{Idle, IdleBy};
pub use memory::{Memory, MemoryBy};
pub use overview::overview;
pub use prepared::Prepared;
pub use profile_numbers::ProfileNumbers;
pub use roofline::{
    Bound, Chart, ChartPoint, ChartRoof, ChartSlope, OtherIntensity, ROOFLINE_GROUPINGS, Roofline, WorkSums, Workload,
};
pub use transfers::{Transfers, TransfersBy};

use durations::Durations;
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
    /// Operator of a framework on the host (`aten::mm`), with the device work it launched.
    Operator,
    /// Operator and the sizes of its inputs.
    OperatorShapes,
    /// Collective operation, matched over the ranks that took part.
    Collective,
    /// Rank of a distributed program.
    Rank,
    /// Step that the program marked.
    Step,
    /// Stream, lane or thread.
    Track,
    /// Launch of a kernel under a hardware profiler.
    Profile,
    /// Call of the host: runtime and driver API, libraries.
    Call,
    /// Copy or memory set, by direction and memory.
    Copy,
    /// Call and the kernel that it launched.
    Launch,
}

impl By {
    /// Every grouping, in the order reports show them.
    pub const ALL: [By; 17] = [
        By::Op,
        By::Kernel,
        By::Category,
        By::Module,
        By::Source,
        By::Scope,
        By::Operation,
        By::Operator,
        By::OperatorShapes,
        By::Collective,
        By::Rank,
        By::Step,
        By::Track,
        By::Profile,
        By::Call,
        By::Copy,
        By::Launch,
    ];

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
            By::Operator => "operator",
            By::OperatorShapes => "operator_shapes",
            By::Collective => "collective",
            By::Rank => "rank",
            By::Step => "step",
            By::Track => "track",
            By::Profile => "profile",
            By::Call => "call",
            By::Copy => "copy",
            By::Launch => "launch",
        }
    }
}

/// A trace, and what several tables need of it, made when the first of them asks; [`Prepared`] lends it.
#[derive(Debug)]
pub struct Analysis<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// HLO modules by [`ridge_trace::Module::hlo`].
    pub hlo: &'a [HloModule],
    /// Device work in its finest groups, made when a table first asks.
    pub(crate) groups: &'a OnceLock<WorkGroups>,
    /// Durations by group, sorted when a table first asks for a spread.
    pub(crate) durations: &'a OnceLock<Durations>,
    /// Times each operation was executed, counted when a table first asks.
    pub(crate) executions: &'a OnceLock<Executions>,
    /// Which range of the program caused which event, found when a table first asks.
    pub(crate) owners: &'a OnceLock<Owners>,
    /// What each device can do, by row of the devices table; a device without an entry has no known ceilings.
    pub ceilings: &'a [Ceilings],
    /// The work of the operations, counted when a table first asks.
    pub(crate) workload: &'a OnceLock<Workload>,
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
            By::Operator => by_operator::table(self, by_operator::Detail::Name),
            By::OperatorShapes => by_operator::table(self, by_operator::Detail::InputShapes),
            By::Collective => by_collective::table(self),
            By::Rank => by_rank::table(self),
            By::Step => by_step::table(self),
            By::Track => by_track::table(self),
            By::Profile => by_profile::table(self),
            By::Call => by_call::table(self),
            By::Copy => by_copy::table(self),
            By::Launch => by_launch::table(self),
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

    /// Device work in its finest groups.
    pub fn groups(&self) -> &'a WorkGroups {
        self.groups.get_or_init(|| WorkGroups::new(self.trace))
    }

    /// Durations of the events of each group.
    pub(crate) fn durations(&self) -> &'a Durations {
        self.durations.get_or_init(|| Durations::new(self.trace))
    }

    /// Times each operation was executed.
    pub fn executions(&self) -> &'a Executions {
        self.executions.get_or_init(|| Executions::new(self.trace))
    }

    /// `self_ns` as a part of all device work; 0 where there was none.
    fn share_of_work(&self, self_ns: i64) -> f64 {
        match self.groups().total_self_ns() {
            0 => 0.0,
            all => self_ns as f64 / all as f64,
        }
    }

    /// How far operations are from what their device allows, by one of [`ROOFLINE_GROUPINGS`].
    pub fn roofline(&self, by: By) -> Roofline {
        Roofline::new(self, by)
    }

    fn workload(&self) -> &'a Workload {
        self.workload.get_or_init(|| Workload::new(self))
    }

    fn owners(&self) -> &'a Owners {
        self.owners.get_or_init(|| Owners::new(self.trace))
    }

    fn text(&self, id: StringId) -> &'a str {
        self.trace.strings.get(id)
    }
}
