//! Compiled programs with the memory that they were planned to need.

use super::helpers::is_of_library;
use super::plan::{Held, Plan};
use crate::Analysis;
use ridge_hlo::HloModule;
use ridge_hlo::memory::{Liveness, MissedDonation, Schedule, missed_donations};
use ridge_trace::ModuleRow;

/// One module with its plan.
#[derive(Debug)]
pub struct PlannedModule {
    /// The module.
    pub row: ModuleRow,
    /// Its position among the HLO modules.
    hlo: u32,
    /// The order in which its instructions run.
    pub schedule: Schedule,
    /// What one run of it needs on one device.
    pub plan: Plan,
    /// Arguments that could have been donated and were not.
    pub missed: Vec<MissedDonation>,
}

impl PlannedModule {
    /// Plans the module at `row`; `None` without HLO.
    pub(crate) fn new(analysis: &Analysis<'_>, row: ModuleRow) -> Option<PlannedModule> {
        let position = analysis.trace.modules.get(row.index())?.hlo?;
        let hlo = analysis.hlo.get(position as usize)?;
        let schedule = Schedule::new(hlo);
        let liveness = Liveness::new(hlo, &schedule);
        let plan = Plan::new(hlo, &schedule, &liveness)?;
        // Nobody can donate to a program that a library made for one of its own calls.
        let missed = if is_of_library(hlo) { Vec::new() } else { missed_donations(hlo, &liveness) };
        Some(PlannedModule { row, hlo: position, schedule, plan, missed })
    }

    /// Its HLO.
    pub fn hlo<'a>(&self, analysis: &Analysis<'a>) -> &'a HloModule {
        &analysis.hlo[self.hlo as usize]
    }

    /// Everything that takes memory at some time of a run, each with its first and last position in the schedule, largest
    /// first.
    pub fn course(&self, analysis: &Analysis<'_>) -> Vec<Held> {
        let hlo = self.hlo(analysis);
        Plan::course(hlo, &self.schedule, &Liveness::new(hlo, &self.schedule))
    }

    /// Name of the module.
    pub fn name<'a>(&self, analysis: &Analysis<'a>) -> &'a str {
        analysis.text(analysis.trace.modules[self.row.index()].name)
    }

    /// Its program id in the capture.
    pub fn program_id(&self, analysis: &Analysis<'_>) -> u64 {
        analysis.trace.modules[self.row.index()].program_id
    }

    /// Bytes that the missed donations would save.
    pub fn missed_bytes(&self) -> u64 {
        self.missed.iter().fold(0, |sum, missed| sum.saturating_add(missed.bytes))
    }
}
