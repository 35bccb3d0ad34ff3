//! From a trace to numbers: where device time went.
//!
//! Three floors, and each knows only what is below it:
//! - `context/`: an [`Analysis`], which is a trace with what its answers share ([`Shared`]), such as all device work in
//!   groups ([`WorkGroups`]), so that nothing walks the events twice; `device/` has what devices can do;
//! - `models/`: typed answers, such as [`Idle`] or [`Steps`];
//! - `tables/`: models as tables, each a [`View`] of the registry [`VIEWS`].
//!
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
//!
//! Floors, lowest first: `device`; `context`; `models`; `view`; `tables`; `views`.

mod context;
mod device;
pub mod models;
#[cfg(test)]
mod random;
mod tables;
#[cfg(test)]
mod tests;
mod view;
mod views;

pub use context::labels::{op_module, process_labels};
pub use context::observed_trips::module_costs;
pub use context::{
    Analysis, Compilation, CompilingCall, DeviceTime, EventCategories, Executions, Group, Line, Lines, Need, OpLines,
    Owners, Prepared, ProfileNumbers, PythonFrame, Shared, Spans, Store, WorkGroups, WorkRow, device_labels,
    is_primitive, kernel_category, windows_of_processes,
};
pub use device::{
    Ceiling, Ceilings, ComputeUnit, DeviceSheet, Figure, Limit, NumberType, ProcessorSheet, SheetError, ceilings,
    processor_ceilings, processor_sheets, sheet_of, sheets, sheets_named,
};
pub use models::analyzed::{AnalyzedTime, Per};
pub use models::breakdown::{Breakdown, BreakdownRow, DeviceBreakdown, TimeOwner};
pub use models::compared::{ComparedTime, Stretch};
pub use models::device_time::{Categories, Kernels, Modules, OpKey, Ops};
pub use models::event_facts::EventFacts;
pub use models::event_lines::{EventLines, LinesKnown, lines_of_event};
pub use models::idle::{Activity, Cause, Idle, IdleGaps};
pub use models::life::Life;
pub use models::memory::Memory;
pub use models::python_looks::{Looks, PythonLooks};
pub use models::ranges::{RangeRow, Ranges};
pub use models::roofline::{Chart, ChartPoint, ChartRoof, ChartSlope, OtherIntensity, RooflineBy};
pub use models::scaled::{Factor, Factors, KernelWork, ScaledBy, ScaledWork};
pub use models::scaling;
pub use models::scopes::{ScopeRow, Scopes, rows_of_scope};
pub use models::source::{LineSums, SourceLine, SourceLines, TimeOf, rows_of_line};
pub use models::source_idle::{LineIdle, SourceIdle};
pub use models::steps::{StepRow, Steps};
pub use models::transfers::Transfers;
pub use models::work::{Bound, Costs, WorkSums, Workload, least_secs};
pub use tables::hlo::{instructions, modules};
pub use tables::overview::overview;
pub use tables::scaling::{growth_table, next_table, steps_tables};
pub use tables::{memory_changes, sections};
pub use view::{Ask, LineText, Shown, Topic, View};
pub use views::{VIEWS, view, views_of};

impl Analysis<'_> {
    /// The table of the view of `topic` that is called `name`; `None` where there is no such view.
    pub fn table(&self, topic: Topic, name: &str) -> Option<ridge_table::Table> {
        view(topic, name).map(|view| view.table(self, &Ask::default()))
    }
}
