//! The work of one capture: each module's cost times its runs.
//!
//! Loops are counted with the trips that the compiler knows, that follow from their counters, or that were observed.

use crate::Analysis;
use crate::context::observed_trips::module_costs;
use crate::models::ModuleRuns;
use ridge_hlo::cost::Assumption;

/// The work of all modules that ran in a capture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaptureWork {
    /// Floating-point operations, and integer ones of matrix units.
    pub flops: f64,
    /// Bytes that memory has to carry at least.
    pub compulsory_bytes: f64,
    /// Whether nothing is missing: no unknown operation, and every loop's trips known.
    pub is_whole: bool,
}

/// What every module of the capture cost together; `None` where none is known to have run.
pub fn capture_work(analysis: &Analysis<'_>) -> Option<CaptureWork> {
    let mut sum: Option<CaptureWork> = None;
    for (row, runs) in analysis.get::<ModuleRuns>().0.iter().copied().enumerate().filter(|(_, runs)| *runs > 0) {
        let costs = analysis.trace.modules[row].hlo.and_then(|hlo| module_costs(analysis, hlo));
        let Some(costs) = costs else { continue };
        let total = costs.total();
        let known = sum.get_or_insert(CaptureWork { flops: 0.0, compulsory_bytes: 0.0, is_whole: true });
        known.flops += total.counted_operations() * runs as f64;
        known.compulsory_bytes += total.compulsory.total() * runs as f64;
        known.is_whole &= total.unknown.is_none() && !total.assumptions.contains(Assumption::TripCountUnknown);
    }
    sum
}
