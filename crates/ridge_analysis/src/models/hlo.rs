//! The modules of a capture and the instructions of one, each with the device time it took.

use crate::context::observed_trips::module_costs;
use crate::{Analysis, Group};
use ridge_hlo::cost::Cost;
use ridge_hlo::{HloModule, Instruction, InstructionId};
use ridge_trace::{Module, ModuleRow};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::hash::Hash;

/// A module with the device time of its operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedModule {
    /// The module.
    pub row: ModuleRow,
    /// Self times of its operations, nanoseconds.
    pub self_ns: i64,
}

impl TimedModule {
    /// The module in the trace.
    pub fn module<'a>(&self, analysis: &Analysis<'a>) -> &'a Module {
        &analysis.trace.modules[self.row.index()]
    }

    /// Its HLO, where the capture has it.
    pub fn hlo<'a>(&self, analysis: &Analysis<'a>) -> Option<&'a HloModule> {
        analysis.hlo.get(self.module(analysis).hlo? as usize)
    }
}

/// An instruction with its device time, and what one execution of it costs with all it calls.
#[derive(Debug, Clone)]
pub struct TimedInstruction {
    /// Its module's position among the HLO modules.
    hlo: u32,
    /// Its id there.
    pub id: InstructionId,
    /// Self time, nanoseconds.
    pub self_ns: i64,
    /// Kernels and device operations.
    pub events: u64,
    /// What one execution costs.
    pub cost: Cost,
}

impl TimedInstruction {
    /// Its module.
    pub fn hlo<'a>(&self, analysis: &Analysis<'a>) -> &'a HloModule {
        &analysis.hlo[self.hlo as usize]
    }

    /// The instruction in its module.
    pub fn instruction<'a>(&self, analysis: &Analysis<'a>) -> &'a Instruction {
        self.hlo(analysis).instruction(self.id)
    }

    /// What one execution costs, where all of its work is known: part of a work is no answer.
    pub fn known_cost(&self) -> Option<&Cost> {
        Some(&self.cost).filter(|cost| cost.unknown.is_none())
    }
}

/// Every module, most device time first; those that did not run are rows too.
pub fn timed_modules(analysis: &Analysis<'_>) -> Vec<TimedModule> {
    let time = times(analysis, |group| analysis.operation(group.op).map(|op| op.module));
    let row = |row: u32| TimedModule { row: ModuleRow(row), self_ns: time.get(&row).map_or(0, |(ns, _)| *ns) };
    let mut rows: Vec<TimedModule> = (0..analysis.trace.modules.len() as u32).map(row).collect();
    rows.sort_by_key(|row| Reverse(row.self_ns));
    rows
}

/// Instructions of `module` outside fusions, most device time first, those without any in program order; none where the
/// capture does not have its HLO.
pub fn timed_instructions(analysis: &Analysis<'_>, module: ModuleRow) -> Vec<TimedInstruction> {
    let of_module = |group: &Group| analysis.operation(group.op).filter(|op| op.module == module.0);
    let position = analysis.trace.modules.get(module.index()).and_then(|module| module.hlo);
    let found = position.and_then(|position| Some((position, analysis.hlo.get(position as usize)?)));
    let Some((position, hlo)) = found else { return Vec::new() };
    let Some(costs) = module_costs(analysis, position) else { return Vec::new() };
    let time = times(analysis, |group| of_module(group).map(|op| op.instruction));
    let row = |id: InstructionId| {
        let (self_ns, events) = time.get(&id.0).copied().unwrap_or_default();
        TimedInstruction { hlo: position, id, self_ns, events, cost: costs.of(id).clone() }
    };
    let all = (0..hlo.instructions.len() as u32).map(InstructionId);
    let shown = all.filter(|id| !hlo.computation(hlo.instruction(*id).computation).is_fusion);
    let mut rows: Vec<TimedInstruction> = shown.map(row).collect();
    rows.sort_by_key(|row| Reverse(row.self_ns));
    rows
}

/// Self time and events of all device work by `key`.
fn times<K: Hash + Eq>(analysis: &Analysis<'_>, key: impl Fn(&Group) -> Option<K>) -> FxHashMap<K, (i64, u64)> {
    let mut times: FxHashMap<K, (i64, u64)> = FxHashMap::default();
    for group in &analysis.groups().groups {
        let Some(key) = key(group) else { continue };
        let time = times.entry(key).or_default();
        *time = (time.0.saturating_add(group.self_ns), time.1 + group.count());
    }
    times
}
