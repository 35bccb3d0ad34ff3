//! What enters and leaves a computation, as if everything between stayed on the chip.

use super::demand::Demand;
use super::module_costs::Costing;
use super::reach::Update;
use super::work::CEILING;
use super::xla_bytes::OPERANDS;
use super::{Traffic, sizes};
use crate::{ComputationId, InstructionId};

impl Costing<'_> {
    /// The parts of a computation's parameters that are needed, and its result where it is no parameter.
    pub(super) fn boundary(&self, id: ComputationId) -> Traffic {
        let Some(root) = self.module.computation(id).root else { return Traffic::default() };
        let ids = self.module.computation(id).instruction_ids();
        let inputs = ids.filter(|&id| self.is_input(id) && !self.module.instruction(id).shape.is_tuple());
        let read = inputs.map(|input| self.needed(input, root)).sum::<f64>();
        Traffic::new(read.min(CEILING), self.changed(root))
    }

    /// Whether a value is a parameter or an element of one.
    fn is_input(&self, id: InstructionId) -> bool {
        let instruction = self.module.instruction(id);
        let of_parameter = || {
            let operand = instruction.operands.first().map(|&operand| self.module.instruction(operand));
            instruction.opcode == "get-tuple-element" && operand.is_some_and(|operand| operand.opcode == "parameter")
        };
        instruction.opcode == "parameter" || of_parameter()
    }

    /// Bytes that the users of an input need of it; being handed on in the result needs none.
    fn needed(&self, input: InstructionId, root: InstructionId) -> f64 {
        let mut demand = Demand::default();
        for &user in self.users.of(input).iter().filter(|&&user| user != root || !self.is_tuple_root(root)) {
            let instruction = self.module.instruction(user);
            for position in 0..instruction.operands.len().min(OPERANDS) {
                // What needs all of it settles the matter.
                if demand.is_full() {
                    break;
                }
                if instruction.operands[position] == input {
                    demand.add(self.demand_inside(instruction, &Demand::full(), position, Update::InPlace));
                }
            }
        }
        demand.bytes(&self.module.instruction(input).shape)
    }

    fn is_tuple_root(&self, root: InstructionId) -> bool {
        self.module.instruction(root).opcode == "tuple"
    }

    /// Bytes of the results that are not inputs handed on; an update in place is its update.
    fn changed(&self, root: InstructionId) -> f64 {
        let result = |&id: &InstructionId| {
            let instruction = self.module.instruction(id);
            match &*instruction.opcode {
                _ if self.is_input(id) => 0.0,
                "dynamic-update-slice" => self.operand_shape(instruction, 1).map_or(0.0, sizes::bytes),
                "fusion" => self.cost_of(id).compulsory.written.min(sizes::bytes(&instruction.shape)),
                _ => sizes::bytes(&instruction.shape),
            }
        };
        match self.is_tuple_root(root) {
            true => self.module.instruction(root).operands.iter().map(result).sum::<f64>().min(CEILING),
            false => result(&root),
        }
    }
}
