//! What one execution of each instruction costs, of the modules that ran.

use crate::{Analysis, Need, Shared, WorkGroups};
use rayon::prelude::*;
use ridge_hlo::InstructionId;
use ridge_hlo::cost::{Cost, ModuleCosts};
use ridge_trace::ModuleRow;
use rustc_hash::{FxHashMap, FxHashSet};

/// The costs of every module that ran, by position of its HLO.
#[derive(Debug)]
pub struct Costs(FxHashMap<u32, ModuleCosts>);

impl Shared for Costs {
    const NEEDS: &'static [Need] = &[Need::of::<WorkGroups>()];

    fn make(analysis: &Analysis<'_>) -> Costs {
        let ops: FxHashSet<u32> = analysis.groups().groups.iter().map(|group| group.op).collect();
        let modules: FxHashSet<u32> =
            ops.into_iter().filter_map(|op| analysis.instruction_place(op)).map(|(hlo, _)| hlo).collect();
        let modules: Vec<u32> = modules.into_iter().collect();
        let cost = |hlo: &u32| (*hlo, ModuleCosts::new(&analysis.hlo[*hlo as usize]));
        Costs(modules.par_iter().map(cost).collect())
    }
}

impl Costs {
    /// The cost of one execution of an instruction of the HLO module at position `hlo`; `None` where the module did not run.
    pub fn at(&self, hlo: u32, id: InstructionId) -> Option<&Cost> {
        self.0.get(&hlo).map(|costs| costs.of(id))
    }

    /// The cost of one execution of an instruction of `module`; `None` where it did not run.
    pub fn of(&self, analysis: &Analysis<'_>, module: ModuleRow, id: InstructionId) -> Option<&Cost> {
        self.at(analysis.trace.modules.get(module.index())?.hlo?, id)
    }
}
