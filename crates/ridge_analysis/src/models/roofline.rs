//! How far operations are from what their device allows: the roofline model.
//!
//! An operation's work is counted from its HLO, its time is measured, and its device's ceilings come from a data sheet,
//! a measurement or the capture. Together they give the rate reached, the least time the work can take on that device
//! (*time at the roof*), what that time is made of, and the *headroom*: measured time over the least time, which is the
//! time at the roof or, where that is shorter, the start of a kernel.
//!
//! [`crate::Workload`] has the work of every event; what a row adds up is [`crate::WorkSums`].
//! Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore architectures",
//! CACM 52(4), 2009, is the source of the model.
//!
//! Launches under a hardware profiler ([`RooflineBy::Profile`]) need neither modules nor data sheets: their counters say what
//! they did at each level of memory, and what each level could have done.
//!
//! Nothing is drawn here: a [`Chart`] holds the numbers that a drawing needs.

mod chart;
mod launches;
mod rows;
#[cfg(test)]
mod tests;
mod tier_chart;
mod tiers;

pub use chart::{Chart, ChartPoint, ChartRoof, ChartSlope, OtherIntensity};
pub use launches::{Launch, launches};
pub use rows::{RooflineBy, RooflineRow, rows};
pub(crate) use tiers::LEVEL_NAMES;
pub use tiers::{Reached, Tiers};

use crate::Analysis;

/// One drawing for each kind of device.
pub fn charts(analysis: &Analysis<'_>, by: RooflineBy) -> Vec<Chart> {
    match by {
        // Counters have roofs of their own: nothing here is counted from modules.
        RooflineBy::Profile => tier_chart::charts(analysis, &launches(analysis)),
        by => chart::charts(analysis, &rows(analysis, by)),
    }
}
