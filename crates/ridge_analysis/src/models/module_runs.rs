//! How often each module ran: as often as the instruction of its entry that executed most often.

use crate::context::observed_trips::KNOWN;
use crate::{Analysis, Executions, Need, Shared};
use ridge_trace::ModuleRow;

/// Runs of each module, by row of the modules table; 0 where none is known.
#[derive(Debug)]
pub struct ModuleRuns(pub Vec<u64>);

impl ModuleRuns {
    /// Times that `module` ran, over all devices, where that is known.
    pub fn of(&self, module: ModuleRow) -> Option<u64> {
        self.0.get(module.index()).copied().filter(|runs| *runs > 0)
    }
}

impl Shared for ModuleRuns {
    const NEEDS: &'static [Need] = &[Need::of::<Executions>()];

    fn make(analysis: &Analysis<'_>) -> ModuleRuns {
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
        ModuleRuns(runs)
    }
}
