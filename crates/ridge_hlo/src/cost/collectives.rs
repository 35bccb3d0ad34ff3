//! Collectives: what a device sends to others, and the arithmetic of reducing ones.
//!
//! Bytes are those of ring algorithms, which send least: with n devices and a payload of B bytes an all-reduce sends
//! 2(n − 1)/n × B and the others (n − 1)/n × B, as the bus bandwidth of NCCL's own tests is defined
//! (<https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md>).

use super::work::times;
use super::{Assumption, Cost, Costing, sizes};
use crate::{Instruction, Phase};

impl Costing<'_> {
    /// Counts a collective where it starts; where it ends there is nothing left to do.
    pub(super) fn collective(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        if instruction.opcode.phase() == Phase::End {
            return Some(());
        }
        let opcode = instruction.opcode.whole();
        let operands = instruction.operands.iter().map(|&id| &self.module.instruction(id).shape);
        let sent: f64 = operands.clone().map(sizes::bytes).sum();
        let elements: f64 = operands.map(sizes::elements).sum();
        cost.collective_bytes = match opcode {
            "all-reduce" => times(sent, 2.0 * self.others(instruction, cost)),
            // What a device gets from each of the others is what it gives: n - 1 times its own part.
            "all-gather" => match group_size(instruction) {
                Some(devices) => times(sent, devices - 1.0),
                None => {
                    self.others(instruction, cost);
                    sent
                }
            },
            "reduce-scatter" | "all-to-all" | "ragged-all-to-all" => times(sent, self.others(instruction, cost)),
            "recv" => 0.0,
            _ => sent,
        };
        if matches!(opcode, "all-reduce" | "reduce-scatter") {
            let runs = times(elements, self.others(instruction, cost));
            cost.work.add_times(&self.called(instruction, 0)?.work, runs);
        }
        Some(())
    }

    /// The part of a payload that belongs to other devices.
    fn others(&self, instruction: &Instruction, cost: &mut Cost) -> f64 {
        let Some(devices) = group_size(instruction) else {
            cost.assumptions.add(Assumption::GroupSizeUnknown);
            return 1.0;
        };
        (devices - 1.0) / devices
    }
}

fn group_size(instruction: &Instruction) -> Option<f64> {
    instruction.attributes().replica_groups.group_size().filter(|&devices| devices > 0).map(|devices| devices as f64)
}
