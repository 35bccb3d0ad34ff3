//! What who owns a trace keeps beside it: the ceilings of its devices, what was compiled, and what its answers share.

use super::{Analysis, Compilation, Store};
use crate::device::{Ceilings, ceilings};
use ridge_hlo::HloModule;
use ridge_trace::Trace;

/// The ceilings of one trace's devices, what its program compiled, and what its answers share; it borrows nothing and serves that trace alone.
#[derive(Debug, Default)]
pub struct Prepared {
    ceilings: Vec<Ceilings>,
    compilations: Vec<Compilation>,
    store: Store,
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

    /// The same with what the program compiled, the longest first.
    pub fn and_compilations(self, compilations: Vec<Compilation>) -> Prepared {
        Prepared { compilations, ..self }
    }

    /// What each device can do.
    pub fn ceilings(&self) -> &[Ceilings] {
        &self.ceilings
    }

    /// What the program compiled, the longest first; empty where nobody said it.
    pub fn compilations(&self) -> &[Compilation] {
        &self.compilations
    }

    /// The analysis of `trace`; nothing is made before an answer needs it.
    pub fn analysis<'a>(&'a self, trace: &'a Trace, hlo: &'a [HloModule]) -> Analysis<'a> {
        let Prepared { ceilings, compilations, store } = self;
        Analysis { trace, hlo, ceilings, compilations, store }
    }
}
