//! What a large value is made of by cheap steps alone: its cone, down to the arrays that it is made from.

use super::site::Site;
use ridge_hlo::{InstructionId, OpcodeClass};

/// Steps that are looked at; a value of more is not of a simple kind.
const MOST: usize = 1024;

/// The cheap steps that make a value.
pub(super) struct Cone {
    /// The steps, the value's own first.
    pub(super) steps: Vec<InstructionId>,
    /// The arrays that they start from, each once; constants and counters are none.
    pub(super) leaves: Vec<InstructionId>,
}

impl Cone {
    /// The cone of `id`; `None` where that is no such step, or they are too many.
    pub(super) fn of(site: &Site<'_, '_>, id: InstructionId) -> Option<Cone> {
        let first = site.flow.source(id);
        let mut cone = Cone { steps: Vec::new(), leaves: Vec::new() };
        let mut open = vec![first];
        while let Some(at) = open.pop() {
            if cone.steps.contains(&at) || cone.leaves.contains(&at) {
                continue;
            }
            if cone.steps.len() + cone.leaves.len() >= MOST {
                return None;
            }
            let instruction = site.instruction(at);
            let is_cheap = match instruction.opcode.class() {
                OpcodeClass::Elementwise(_) => true,
                OpcodeClass::Moves => {
                    !matches!(&*instruction.opcode, "dynamic-update-slice" | "scatter" | "dynamic-slice")
                }
                OpcodeClass::Makes => instruction.opcode != "parameter",
                OpcodeClass::PassesBy => matches!(&*instruction.opcode, "bitcast" | "reshape"),
                _ => false,
            } || matches!(
                &*instruction.opcode,
                "broadcast" | "concatenate" | "pad" | "reverse" | "transpose" | "reshape"
            );
            // A scalar that was computed is a number like a constant.
            if is_cheap {
                cone.steps.push(at);
                open.extend(site.flow.inputs(at));
            } else if site.elements(at) > 1.0 {
                cone.leaves.push(at);
            }
        }
        (!cone.steps.is_empty()).then_some(cone)
    }

    /// How many times the bytes of its leaves the value has.
    pub(super) fn expansion(&self, site: &Site<'_, '_>, id: InstructionId) -> f64 {
        let from: f64 = self.leaves.iter().map(|leaf| site.bytes(*leaf)).sum();
        site.bytes(id) / from.max(1.0)
    }

    /// The instructions that ran for it and for nothing but `readers`: what would not run without them.
    pub(super) fn made_for(&self, site: &Site<'_, '_>, readers: &[InstructionId]) -> Vec<InstructionId> {
        let mut old: Vec<InstructionId> = readers.to_vec();
        let mut carriers: Vec<InstructionId> = self.steps.iter().map(|step| site.flow.carrier(*step)).collect();
        carriers.sort_unstable();
        carriers.dedup();
        loop {
            let before = old.len();
            for carrier in &carriers {
                let is_for_them = || {
                    let readers = site.flow.readers(*carrier);
                    readers.is_some_and(|readers| {
                        !readers.is_empty() && readers.iter().all(|reader| old.contains(&site.flow.carrier(*reader)))
                    })
                };
                if !old.contains(carrier) && site.instruction(*carrier).opcode != "constant" && is_for_them() {
                    old.push(*carrier);
                }
            }
            if old.len() == before {
                break;
            }
        }
        old.retain(|id| site.program.ran.contains_key(id));
        old
    }
}
