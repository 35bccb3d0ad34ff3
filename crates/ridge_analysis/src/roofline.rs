//! How far operations are from what their device allows: the roofline model.
//!
//! An operation's work is counted from its HLO, its time is measured, and its device's ceilings come from a data sheet,
//! a measurement or the capture. Together they give the rate reached, the least time the work can take on that device
//! (*time at the roof*), what that time is made of, and the *headroom*: measured time over the least time, which is the
//! time at the roof or, where that is shorter, the start of a kernel.
//!
//! [`Workload`] finds the work of every event once, when a table first asks. What rows of a table add up is
//! [`WorkSums`]; the columns that tables share are made from it.
//! Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures",
//! CACM 52(4), 2009, is the source of the model.
//!
//! Launches under a hardware profiler ([`By::Profile`]) need neither modules nor data sheets: their counters say what
//! they did at each level of memory, and what each level could have done.
//!
//! Nothing is drawn here: a [`Chart`] holds the numbers that a drawing needs.

mod chart;
mod columns;
mod light;
mod rows;
mod sums;
mod table;
#[cfg(test)]
mod tests;
mod tier_chart;
mod tier_table;
mod tiers;
mod totals;
mod workload;

pub use chart::{Chart, ChartPoint, ChartRoof, ChartSlope, OtherIntensity};
pub use light::Bound;
pub use sums::WorkSums;
pub use workload::Workload;

pub(crate) use columns::{Rows, columns as work_columns, note as work_note, sums};
pub(crate) use rows::{RooflineRow, add_event, rows_by_class};

use crate::{Analysis, By};
use ridge_trace::{Section, Table};

/// The groupings a roofline is made for.
pub const ROOFLINE_GROUPINGS: [By; 6] = [By::Op, By::Kernel, By::Module, By::Step, By::Operation, By::Profile];

/// A roofline: the totals of each kind of device, its drawing, and the table behind it.
#[derive(Debug, Clone)]
pub struct Roofline {
    /// What each kind of device reached in all.
    pub sections: Vec<Section>,
    /// One drawing per kind of device.
    pub charts: Vec<Chart>,
    /// The rows, most time first.
    pub table: Table,
}

impl Roofline {
    /// The roofline of `analysis` by `by`; a grouping that has none gives that by operation.
    pub(crate) fn new(analysis: &Analysis<'_>, by: By) -> Roofline {
        let by = if ROOFLINE_GROUPINGS.contains(&by) { by } else { By::Op };
        if by == By::Profile {
            // Counters have roofs of their own: nothing here is counted from modules.
            let rows = tier_table::rows(analysis);
            let (charts, table) = (tier_chart::charts(analysis, &rows), tier_table::table(analysis, &rows));
            return Roofline { sections: Vec::new(), charts, table };
        }
        let rows = rows::rows(analysis, by);
        Roofline {
            sections: totals::sections(analysis),
            charts: chart::charts(analysis, &rows),
            table: table::table(analysis, by, &rows),
        }
    }
}
