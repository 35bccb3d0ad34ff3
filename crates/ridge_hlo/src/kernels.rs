//! From the name of a GPU kernel to the instructions it may implement.
//!
//! XLA names a kernel after the instruction it was made for, with every character a linker dislikes replaced. Identical
//! fusions share the kernel of the first, so one name may stand for several instructions. Kernels of libraries (GEMMs,
//! convolutions) have names of their own and are not found here.

use crate::ids::instruction_id;
use crate::names::{hash_of_kernel, sanitized};
use crate::{HloModule, Instruction, InstructionId};
use std::hash::BuildHasher as _;

/// Instructions compared to find those that share a kernel; beyond this only the named one is given.
const TWINS_LOOKED_AT: usize = 4096;

impl HloModule {
    /// The instruction a kernel of this name was made for.
    ///
    /// `input_transpose_fusion_1` and, as ROCm writes it, `input_transpose_fusion_1.kd` both lead to
    /// `input_transpose_fusion.1`. An instruction outside fusions is preferred, since only those become kernels.
    pub fn kernel_instruction(&self, kernel_name: &str) -> Option<InstructionId> {
        let name = kernel_name.strip_suffix(".kd").unwrap_or(kernel_name);
        let mut inside_fusion = None;
        for position in self.by_kernel_name.candidates(hash_of_kernel(name)) {
            let instruction = &self.instructions[position];
            if sanitized(&instruction.name).eq(sanitized(name)) {
                if !self.computation(instruction.computation).is_fusion {
                    return Some(instruction_id(position));
                }
                inside_fusion.get_or_insert(instruction_id(position));
            }
        }
        inside_fusion
    }

    /// All instructions a kernel of this name may implement: the one it was made for, then its identical twins in
    /// module order.
    ///
    /// Empty where the name is none of this module's. Cost grows with the module; [`crate::KernelFinder`] keeps what it
    /// looked up.
    pub fn kernel_candidates(&self, kernel_name: &str) -> Vec<InstructionId> {
        let Some(named) = self.kernel_instruction(kernel_name) else { return Vec::new() };
        if self.instruction(named).is_fusion() { self.with_twins(named, self.instruction_ids()) } else { vec![named] }
    }

    /// `named`, then those of `others` that run the same computation under another name.
    pub(crate) fn with_twins(
        &self,
        named: InstructionId,
        others: impl Iterator<Item = InstructionId>,
    ) -> Vec<InstructionId> {
        let instruction = self.instruction(named);
        let twins = others.filter(|&id| id != named && self.look_alike(instruction, id)).take(TWINS_LOOKED_AT);
        std::iter::once(named).chain(twins.filter(|&id| self.are_twins(named, id))).collect()
    }

    /// A number that fusions which look alike have in common.
    pub(crate) fn looks(&self, id: InstructionId) -> u64 {
        let Instruction { fusion_kind, operands, called, shape, .. } = self.instruction(id);
        rustc_hash::FxBuildHasher.hash_one((fusion_kind, operands.len(), called.len(), shape))
    }

    /// Whether an instruction is worth comparing in full.
    fn look_alike(&self, instruction: &Instruction, id: InstructionId) -> bool {
        let other = self.instruction(id);
        other.is_fusion()
            && other.fusion_kind == instruction.fusion_kind
            && other.operands.len() == instruction.operands.len()
            && other.called.len() == instruction.called.len()
            && other.shape == instruction.shape
    }

    /// Whether two fusions run computations that are equal in all but names.
    fn are_twins(&self, left: InstructionId, right: InstructionId) -> bool {
        let (left, right) = (self.instruction(left), self.instruction(right));
        left.called.iter().zip(&right.called).all(|(&left, &right)| {
            // Thousands of fusions may call one computation, which need not be compared with itself each time.
            if left == right {
                return true;
            }
            let (left_first, right_first) =
                (self.computation(left).instructions.start, self.computation(right).instructions.start);
            let (left, right) = (self.instructions_of(left), self.instructions_of(right));
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| {
                    left.opcode == right.opcode
                        && left.shape == right.shape
                        && left.parameter_number == right.parameter_number
                        && left.tuple_index == right.tuple_index
                        && left.dimensions == right.dimensions
                        && left.literal == right.literal
                        && left.attributes == right.attributes
                        && left.operands.len() == right.operands.len()
                        && left
                            .operands
                            .iter()
                            .zip(&right.operands)
                            .all(|(left, right)| left.0.wrapping_sub(left_first) == right.0.wrapping_sub(right_first))
                })
        })
    }
}
