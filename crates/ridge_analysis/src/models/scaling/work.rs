//! The work of one capture: each module's cost times its runs.
//!
//! A module ran as often as the instruction of its entry that executed most often.
//! Loops are counted with the trips that the compiler knows, that follow from their counters, or that were observed.

use crate::Analysis;
use crate::context::observed_trips::{KNOWN, module_costs};
use ridge_hlo::cost::Assumption;

/// The work of all modules that ran in a capture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaptureWork {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes that memory has to carry at least.
    pub compulsory_bytes: f64,
    /// Whether nothing is missing: no unknown operation, and every loop's trips known.
    pub is_whole: bool,
}

/// What every module of the capture cost together; `None` where none is known to have run.
pub fn capture_work(analysis: &Analysis<'_>) -> Option<CaptureWork> {
    let mut sum: Option<CaptureWork> = None;
    for (row, runs) in runs(analysis).into_iter().enumerate().filter(|(_, runs)| *runs > 0) {
        let costs = analysis.trace.modules[row].hlo.and_then(|hlo| module_costs(analysis, hlo));
        let Some(costs) = costs else { continue };
        let total = costs.total();
        let known = sum.get_or_insert(CaptureWork { flops: 0.0, compulsory_bytes: 0.0, is_whole: true });
        known.flops += total.work.flops() * runs as f64;
        known.compulsory_bytes += total.compulsory.total() * runs as f64;
        known.is_whole &= total.unknown.is_none() && !total.assumptions.contains(Assumption::TripCountUnknown);
    }
    sum
}

/// Runs of each module, by row of the modules table.
fn runs(analysis: &Analysis<'_>) -> Vec<u64> {
    let trace = analysis.trace;
    let mut runs = vec![0_u64; trace.modules.len()];
    for op in 0..trace.operations.len() as u32 {
        let Some((module, id)) = analysis.instruction(op) else { continue };
        let in_entry = module.entry.is_some_and(|entry| {
            module.computations.get(entry.0 as usize).is_some_and(|entry| entry.instructions.contains(&id.0))
        });
        if in_entry {
            let executed: u64 = KNOWN.iter().map(|how| analysis.executions().of(op, *how)).sum();
            let known = &mut runs[trace.operations[op as usize].module as usize];
            *known = (*known).max(executed);
        }
    }
    runs
}
