//! Bytes accessed, as XLA's own `HloCostAnalysis` counts them.
//!
//! The rules are those of `xla/service/hlo_cost_analysis.cc` as jaxlib 0.10 has it, odd ones included: a reader of a
//! fused parameter through a slice is billed for the slice each time, a tuple costs its pointer table, and what its
//! analysis has no rule for costs its operands and its result.

use super::compulsory::{IMMEDIATE_ELEMENTS, is_renaming_transpose};
use super::module_costs::Costing;
use super::work::CEILING;
use super::{Traffic, convolution_calls, sizes};
use crate::{ComputationId, Instruction, InstructionId, Shape};

/// Operands of one instruction looked at for one value; only broken files have more.
pub(super) const OPERANDS: usize = 4096;

impl Costing<'_> {
    /// The traffic of an instruction that is neither a fusion nor what it calls.
    pub(super) fn xla_traffic(&self, instruction: &Instruction) -> Traffic {
        let operand = |at: usize| self.operand_shape(instruction, at).map_or(0.0, sizes::xla_bytes);
        let own = sizes::xla_bytes(&instruction.shape);
        match &*instruction.opcode {
            "add-dependency" | "after-all" | "bitcast" | "constant" | "domain" | "get-tuple-element" | "parameter" => {
                Traffic::default()
            }
            "transpose" if is_renaming_transpose(self.module, instruction) => Traffic::default(),
            "tuple" => Traffic::new(0.0, own),
            "slice" => Traffic::new(own, own),
            "dynamic-slice" | "gather" => Traffic::new(own + operand(1), own),
            "dynamic-update-slice" => Traffic::new(operand(1) + operand(2), operand(1)),
            "scatter" => self.xla_scatter(instruction),
            "triangular-solve" => Traffic::new(operand(0) / 2.0 + operand(1), own),
            "cholesky" => Traffic::new(operand(0) / 2.0, operand(0) / 2.0),
            "infeed" => Traffic::new(0.0, sizes::xla_result_bytes(&instruction.shape)),
            "outfeed" => Traffic::new(self.xla_leaves(instruction), 0.0),
            "all-reduce" | "all-reduce-start" => {
                Traffic::new(self.xla_operands(instruction), sizes::xla_result_bytes(&instruction.shape))
            }
            "custom-call" if convolution_calls::is_convolution(instruction) => {
                let output = instruction.shape.tuple.first().unwrap_or(&instruction.shape);
                Traffic::new(self.xla_operands(instruction), sizes::xla_bytes(output))
            }
            // A tuple counts as its arrays where it is made, and as its pointers where it is read.
            _ => Traffic::new(self.xla_operands(instruction), sizes::xla_result_bytes(&instruction.shape)),
        }
    }

    fn xla_operands(&self, instruction: &Instruction) -> f64 {
        let shapes = instruction.operands.iter().map(|&id| &self.module.instruction(id).shape);
        shapes.map(sizes::xla_bytes).sum::<f64>().min(CEILING)
    }

    fn xla_leaves(&self, instruction: &Instruction) -> f64 {
        let shapes = instruction.operands.iter().map(|&id| &self.module.instruction(id).shape);
        shapes.map(sizes::bytes).sum::<f64>().min(CEILING)
    }

    /// Three times the updates, and the indices.
    fn xla_scatter(&self, instruction: &Instruction) -> Traffic {
        let arrays = instruction.operands.len().saturating_sub(1) / 2;
        let operand = |at: usize| self.operand_shape(instruction, at).map_or(0.0, sizes::xla_bytes);
        let updates = (arrays + 1..=2 * arrays).map(operand).sum::<f64>().min(CEILING);
        Traffic::new(2.0 * updates + operand(arrays), updates)
    }

    /// The traffic of a gather or scatter that a custom fusion is made around, which stands for the fusion.
    pub(super) fn xla_custom_fusion(&self, fusion: &Instruction) -> Option<Traffic> {
        if fusion.fusion_kind.as_deref() != Some("kCustom") {
            return None;
        }
        let mut inside = self.module.instructions_of(*fusion.called.first()?).iter();
        let found = inside.find(|inside| matches!(&*inside.opcode, "gather" | "scatter"))?;
        Some(self.xla_traffic(found))
    }

    /// The traffic of a fusion's computation: its results, its large constants, and what it reads of its parameters.
    pub(super) fn xla_fusion_traffic(&self, id: ComputationId, parameters: f64) -> Traffic {
        let computation = self.module.computation(id);
        let Some(root) = computation.root else { return Traffic::default() };
        let instructions = self.module.instructions_of(id).iter();
        let is_large =
            |found: &&Instruction| found.opcode == "constant" && sizes::elements(&found.shape) > IMMEDIATE_ELEMENTS;
        let constants = instructions.filter(is_large).map(|found| sizes::xla_bytes(&found.shape)).sum::<f64>();
        Traffic::new((parameters + constants).min(CEILING), self.xla_results(root))
    }

    /// An update in place writes the update, everything else itself.
    fn xla_results(&self, root: InstructionId) -> f64 {
        let instruction = self.module.instruction(root);
        let result = |instruction: &Instruction, shape: &Shape| match &*instruction.opcode {
            "dynamic-update-slice" => self.operand_shape(instruction, 1).map_or(0.0, sizes::xla_bytes),
            _ => sizes::xla_bytes(shape),
        };
        if !instruction.shape.is_tuple() {
            return result(instruction, &instruction.shape);
        }
        let elements = instruction.shape.tuple.iter().enumerate().map(|(at, shape)| {
            let made_by = instruction.operands.get(at).filter(|_| instruction.opcode == "tuple");
            match made_by.map(|&id| self.module.instruction(id)) {
                _ if shape.is_tuple() => sizes::bytes(shape),
                Some(made_by) => result(made_by, shape),
                None => sizes::xla_bytes(shape),
            }
        });
        elements.sum::<f64>().min(CEILING)
    }

    /// A parameter that is a tuple is read through what takes its elements.
    pub(super) fn xla_parameter(&self, id: InstructionId) -> f64 {
        let instruction = self.module.instruction(id);
        if !instruction.shape.is_tuple() {
            return self.xla_reads(id);
        }
        let elements =
            self.users.of(id).iter().filter(|&&user| self.module.instruction(user).opcode == "get-tuple-element");
        elements.map(|&element| self.xla_reads(element)).sum::<f64>().min(CEILING)
    }

    /// Bytes the users of a fused parameter read: slices each time, all others once together.
    fn xla_reads(&self, id: InstructionId) -> f64 {
        let mut reads =
            Reads { whole: sizes::xla_bytes(&self.module.instruction(id).shape), sum: 0.0, is_shared: false };
        for &user in self.users.of(id) {
            let instruction = self.module.instruction(user);
            match &*instruction.opcode {
                "fusion" => reads.sum += self.xla_reads_of_inner(id, user, instruction),
                "broadcast" | "reshape" => reads.sum += reads.whole,
                _ => reads.add(id, instruction),
            }
        }
        reads.sum.min(CEILING)
    }

    /// An inner fusion reads what its own computation does, unless it only passes the value on to slices.
    fn xla_reads_of_inner(&self, id: InstructionId, fusion: InstructionId, instruction: &Instruction) -> f64 {
        let Some(&called) = instruction.called.first() else { return 0.0 };
        let Some(body) = self.bodies.get(&called) else { return 0.0 };
        let root = self.module.computation(called).root.map(|root| self.module.instruction(root));
        let positions = instruction.operands.iter().take(OPERANDS).enumerate().filter(|&(_, &operand)| operand == id);
        let mut sum = 0.0;
        for (position, _) in positions {
            let Some(inner) = body.read_of(position) else { continue };
            let is_simple =
                root.is_some_and(|root| root.operands.is_empty() || root.operands.first() == Some(&inner.parameter));
            let own = sizes::xla_bytes(&instruction.shape);
            let mut reads = Reads { whole: own, sum: 0.0, is_shared: false };
            for &user in self.users.of(fusion) {
                let user = self.module.instruction(user);
                match &*user.opcode {
                    "slice" | "dynamic-slice" | "dynamic-update-slice" if is_simple => reads.add(fusion, user),
                    _ if !reads.is_shared => {
                        reads.is_shared = true;
                        reads.sum += inner.bytes_accessed;
                    }
                    _ => {}
                }
            }
            sum += reads.sum;
        }
        sum
    }
}

/// The reads of one value being added up.
struct Reads {
    /// Bytes of all of it.
    whole: f64,
    sum: f64,
    /// Whether those who read all of it have been counted.
    is_shared: bool,
}

impl Reads {
    fn add(&mut self, id: InstructionId, user: &Instruction) {
        let is_first = user.operands.first() == Some(&id);
        match &*user.opcode {
            "slice" => self.sum += sizes::xla_bytes(&user.shape),
            "dynamic-slice" if is_first => self.sum += sizes::xla_bytes(&user.shape),
            "dynamic-update-slice" if is_first => {}
            _ if !self.is_shared => {
                self.is_shared = true;
                self.sum += self.whole;
            }
            _ => {}
        }
    }
}
