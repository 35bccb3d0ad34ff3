//! What all tables of one trace share, each part found when a table first asks and then kept.
//!
//! It borrows nothing, so that who owns a trace can own this beside it.

use crate::durations::Durations;
use crate::executions::Executions;
use crate::{Analysis, Ceilings, Owners, WorkGroups, Workload, ceilings};
use ridge_hlo::HloModule;
use ridge_trace::Trace;
use std::sync::OnceLock;

/// What all tables of one trace share; it keeps what it found, so it serves that trace alone.
#[derive(Debug, Default)]
pub struct Prepared {
    groups: OnceLock<WorkGroups>,
    durations: OnceLock<Durations>,
    executions: OnceLock<Executions>,
    owners: OnceLock<Owners>,
    ceilings: Vec<Ceilings>,
    workload: OnceLock<Workload>,
}

impl Prepared {
    /// With the roofs in `ceilings`, by row of the devices table; a device without an entry has no known ones.
    pub fn with_ceilings(ceilings: Vec<Ceilings>) -> Prepared {
        Prepared { ceilings, ..Prepared::default() }
    }

    /// With the roofs that data sheets and the capture itself give the devices of `trace`.
    pub fn with_sheets(trace: &Trace) -> Prepared {
        Prepared::with_ceilings(trace.devices.iter().map(ceilings).collect())
    }

    /// Takes other roofs, and forgets what was made of the former ones.
    pub fn set_ceilings(&mut self, ceilings: Vec<Ceilings>) {
        self.ceilings = ceilings;
        self.workload = OnceLock::new();
    }

    /// The analysis of `trace`; nothing is made before a table asks for it.
    pub fn analysis<'a>(&'a self, trace: &'a Trace, hlo: &'a [HloModule]) -> Analysis<'a> {
        Analysis {
            trace,
            hlo,
            groups: &self.groups,
            durations: &self.durations,
            executions: &self.executions,
            owners: &self.owners,
            ceilings: &self.ceilings,
            workload: &self.workload,
        }
    }

    /// Makes all of it, so that tables of `trace` may then be made in parallel.
    ///
    /// Each part is made by parallel tasks of its own: a thread that made one while tables wait to run could take up a table
    /// that needs this very part, and wait for itself.
    pub fn prepare(&self, trace: &Trace, hlo: &[HloModule]) {
        let analysis = self.analysis(trace, hlo);
        rayon::join(
            || rayon::join(|| analysis.groups(), || analysis.durations()),
            || rayon::join(|| analysis.executions(), || analysis.owners()),
        );
        analysis.workload();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tables_share_is_there_before_they_run_in_parallel() {
        let trace = ridge_test::trace("stream 1 on gpu\n  0 +5 a");
        let prepared = Prepared::with_sheets(&trace);
        let made = || {
            [
                prepared.groups.get().is_some(),
                prepared.durations.get().is_some(),
                prepared.executions.get().is_some(),
                prepared.owners.get().is_some(),
                prepared.workload.get().is_some(),
            ]
        };
        prepared.analysis(&trace, &[]);
        assert_eq!(made(), [false; 5]);
        prepared.prepare(&trace, &[]);
        assert_eq!(made(), [true; 5]);
    }
}
