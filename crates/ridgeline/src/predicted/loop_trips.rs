//! How often the loops of compiled modules went round in a recording of the same modules on another device.
//!
//! XLA names loops differently for each device, so they are found by the name that JAX gave them (`jit(solve)/while`).
//! Loops of one name count only where all of them went round equally often; loops without a name, where each side has one.

use crate::hlo::number_of;
use crate::session::Session;
use ridge_analysis::module_costs;
use ridge_hlo::cost::ModuleCosts;
use ridge_hlo::{HloModule, InstructionId};
use rustc_hash::FxHashMap;

/// Trips of the loops of each module, by its folder in the recording as the manifest has it.
pub type LoopTrips = FxHashMap<String, ModuleTrips>;

/// Trips of the loops of one module for each time that they ran: a mean, where they vary.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModuleTrips {
    /// By JAX's name of the loop; `None` where the recording does not have one number for it.
    by_name: FxHashMap<String, Option<f64>>,
    loops: usize,
}

impl ModuleTrips {
    /// Those of `module`, as far as `costs` know them.
    pub(super) fn of(module: &HloModule, costs: &ModuleCosts) -> ModuleTrips {
        let mut found = ModuleTrips::default();
        for id in loops(module) {
            let trips = costs.known_trips(id).map(|(trips, _)| trips);
            let known = found.by_name.entry(module.instruction(id).metadata.op_name.clone()).or_insert(trips);
            *known = known.filter(|known| Some(*known) == trips);
            found.loops += 1;
        }
        found
    }

    /// Those of the loop `id` in `module`, which is the same module as compiled for another device.
    pub(super) fn for_loop(&self, module: &HloModule, id: InstructionId) -> Option<f64> {
        let name = &module.instruction(id).metadata.op_name;
        let is_told = !name.is_empty() || (self.loops == 1 && loops(module).count() == 1);
        self.by_name.get(name).copied().flatten().filter(|_| is_told)
    }
}

fn loops(module: &HloModule) -> impl Iterator<Item = InstructionId> {
    module.instruction_ids().filter(|id| module.instruction(*id).opcode == "while")
}

impl Session {
    /// How often the loops of each module went round, as the compiler knew or the capture shows it; modules without loops are left out.
    pub fn loop_trips(&self) -> LoopTrips {
        let mut found = LoopTrips::default();
        let Some(manifest) = self.manifest() else { return found };
        let analysis = self.analysis();
        let mut rows: FxHashMap<(&str, u64), u32> = FxHashMap::default();
        for row in &analysis.trace.modules {
            if let Some(hlo) = row.hlo {
                rows.entry((analysis.trace.strings.get(row.name), row.program_id)).or_insert(hlo);
            }
        }
        for module in &manifest.document.modules {
            let Some(folder) = manifest.folder_of(module) else { continue };
            let Some(number) = module.program_id.or_else(|| number_of(&folder)) else { continue };
            let Some(hlo) = rows.get(&(module.name.as_str(), number)) else { continue };
            let Some(text) = analysis.hlo.get(*hlo as usize).filter(|text| loops(text).next().is_some()) else {
                continue;
            };
            let Some(costs) = module_costs(&analysis, *hlo) else { continue };
            found.insert(module.dir.clone().unwrap_or_default(), ModuleTrips::of(text, &costs));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// A module with a loop for each `name`, none of whose trips the compiler knows.
    fn module(names: &[&str]) -> HloModule {
        let mut text = String::from(
            "HloModule jit_f

%goes (s: (f32[])) -> pred[] {
  %s = (f32[]) parameter(0)
  ROOT %yes = pred[] constant(true)
}

%body (r: (f32[])) -> (f32[]) {
  ROOT %r = (f32[]) parameter(0)
}

ENTRY %main (p: (f32[])) -> (f32[]) {
  %while.0 = (f32[]) parameter(0)
",
        );
        for (at, name) in names.iter().enumerate() {
            let root = if at + 1 == names.len() { "ROOT " } else { "" };
            let metadata = if name.is_empty() { String::new() } else { format!(", metadata={{op_name=\"{name}\"}}") };
            let next = at + 1;
            writeln!(text, "  {root}%while.{next} = (f32[]) while(%while.{at}), condition=%goes, body=%body{metadata}")
                .expect("a string takes all");
        }
        text.push_str("}\n");
        HloModule::from_text(&text).expect("HLO text of the test")
    }

    /// What the loops `compiled` are given of the loops `recorded`, which ran as often as told.
    #[track_caller]
    fn check(recorded: &[(&str, f64)], compiled: &[&str], expected: &[Option<f64>]) {
        let names: Vec<&str> = recorded.iter().map(|(name, _)| *name).collect();
        let (source, target) = (module(&names), module(compiled));
        let trips: FxHashMap<InstructionId, f64> =
            loops(&source).zip(recorded).map(|(id, (_, trips))| (id, *trips)).collect();
        let costs = ModuleCosts::with_observed(&source, &|id: InstructionId| trips.get(&id).copied());
        let known = ModuleTrips::of(&source, &costs);
        let given: Vec<Option<f64>> = loops(&target).map(|id| known.for_loop(&target, id)).collect();
        assert_eq!(given, expected, "{recorded:?} for {compiled:?}");
    }

    #[test]
    fn loops_are_found_by_their_names() {
        check(&[("jit(f)/while", 40.0)], &["jit(f)/while"], &[Some(40.0)]);
        check(&[("a", 40.0), ("b", 2.5)], &["b", "a", "c"], &[Some(2.5), Some(40.0), None]);
    }

    #[test]
    fn loops_of_one_name_count_if_they_agree() {
        check(&[("a", 3.0), ("a", 3.0)], &["a"], &[Some(3.0)]);
        check(&[("a", 3.0), ("a", 4.0), ("b", 1.0)], &["a", "a", "b"], &[None, None, Some(1.0)]);
        check(&[("a", 3.0), ("a", f64::NAN)], &["a"], &[None]);
    }

    #[test]
    fn a_loop_without_a_name_is_known_if_it_is_the_only_one() {
        check(&[("", 7.0)], &[""], &[Some(7.0)]);
        check(&[("", 7.0)], &["", "a"], &[None, None]);
        check(&[("", 7.0), ("a", 7.0)], &[""], &[None]);
    }
}
