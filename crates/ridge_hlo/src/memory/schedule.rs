//! One line of all instructions of a program in the order they run: positions to say when a value lives.
//!
//! The bodies of loops, calls and branches come before the instruction that runs them, each once, as in
//! `HloLiveRange::FlattenSchedule` of XLA. Fusions and reducers are one step and are not entered.

use crate::{ComputationId, HloModule, InstructionId, OpcodeClass};

/// Position of an instruction that is not in the schedule.
const NOWHERE: u32 = u32::MAX;

/// The flattened schedule of a module's entry computation.
#[derive(Debug, Clone, Default)]
pub struct Schedule {
    /// The instructions in order.
    pub order: Vec<InstructionId>,
    /// The instruction that runs each computation, by computation; `None` for the entry and for what does not run.
    pub caller: Vec<Option<InstructionId>>,
    position: Vec<u32>,
}

impl Schedule {
    /// Flattens `module` from its entry; empty where there is none.
    pub fn new(module: &HloModule) -> Schedule {
        let mut schedule = Schedule {
            order: Vec::new(),
            caller: vec![None; module.computations.len()],
            position: vec![NOWHERE; module.instructions.len()],
        };
        if let Some(entry) = module.entry {
            schedule.flatten(module, entry);
        }
        schedule
    }

    /// Where an instruction stands, if it runs at a place of its own.
    pub fn position(&self, id: InstructionId) -> Option<u32> {
        self.position.get(id.0 as usize).copied().filter(|position| *position != NOWHERE)
    }

    /// Whether nothing runs.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Number of positions.
    pub fn len(&self) -> u32 {
        self.order.len() as u32
    }

    /// Walks with a stack of its own, because the nesting is the file's to say.
    fn flatten(&mut self, module: &HloModule, entry: ComputationId) {
        let mut entered = vec![false; module.computations.len()];
        entered[entry.0 as usize] = true;
        let mut open = vec![(module.computation(entry).in_order(), 0)];
        while let Some((order, at)) = open.last_mut() {
            let Some(&id) = order.get(*at) else {
                open.pop();
                continue;
            };
            let inner = runs_inside(module, id).iter().find(|called| !entered[called.0 as usize]);
            if let Some(&called) = inner {
                entered[called.0 as usize] = true;
                self.caller[called.0 as usize] = Some(id);
                open.push((module.computation(called).in_order(), 0));
                continue;
            }
            *at += 1;
            // A damaged schedule may name an instruction twice: its first place stands.
            if self.position[id.0 as usize] == NOWHERE {
                self.position[id.0 as usize] = self.order.len() as u32;
                self.order.push(id);
            }
        }
    }
}

/// The computations whose instructions run one by one as part of `id`.
pub(super) fn runs_inside(module: &HloModule, id: InstructionId) -> &[ComputationId] {
    let instruction = module.instruction(id);
    if instruction.opcode.class() == OpcodeClass::Runs { &instruction.called } else { &[] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_before_their_caller() {
        let text = "HloModule m, is_scheduled=true
            %body (p: f32[2]) -> f32[2] {
              %p = f32[2]{0} parameter(0)
              ROOT %n = f32[2]{0} negate(%p)
            }
            %cond (q: f32[2]) -> pred[] {
              %q = f32[2]{0} parameter(0)
              ROOT %c = pred[] constant(false)
            }
            ENTRY %main (x: f32[2]) -> f32[2] {
              %x = f32[2]{0} parameter(0)
              %w = f32[2]{0} while(%x), condition=%cond, body=%body
              ROOT %e = f32[2]{0} exponential(%w)
            }";
        let module = HloModule::from_text(text).expect("HLO text of the test");
        let schedule = Schedule::new(&module);
        let names: Vec<&str> = schedule.order.iter().map(|id| module.instruction(*id).name.as_str()).collect();
        assert_eq!((names.first(), names.last()), (Some(&"x"), Some(&"e")));
        let at = |name: &str| schedule.position(module.instruction_named(name).expect("a name of the test"));
        assert!(at("n") < at("w") && at("c") < at("w") && at("w") < at("e"), "{names:?}");
        assert_eq!(schedule.len(), 7);
    }
}
