//! What all tables of one trace share, each part found when a table first asks and then kept.
//!
//! It borrows nothing, so that who owns a trace can own this beside it.

use crate::{Analysis, Ceilings, Owners, WorkGroups, Workload, ceilings};
use ridge_hlo::HloModule;
use ridge_trace::Trace;
use std::sync::OnceLock;

/// What all tables of one trace share; it keeps what it found, so it serves that trace alone.
#[derive(Debug, Default)]
pub struct Prepared {
    groups: OnceLock<WorkGroups>,
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

    /// The analysis of `trace`, whose device work is grouped now unless it was before.
    pub fn analysis<'a>(&'a self, trace: &'a Trace, hlo: &'a [HloModule]) -> Analysis<'a> {
        Analysis {
            trace,
            hlo,
            groups: self.groups.get_or_init(|| WorkGroups::new(trace)),
            owners: &self.owners,
            ceilings: &self.ceilings,
            workload: &self.workload,
        }
    }

    /// Finds what most tables need, in parallel, so that tables made in parallel do not wait for each other.
    pub fn prepare(&self, trace: &Trace) {
        rayon::join(
            || self.groups.get_or_init(|| WorkGroups::new(trace)),
            || self.owners.get_or_init(|| Owners::new(trace)),
        );
    }
}
