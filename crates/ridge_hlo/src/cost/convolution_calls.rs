//! Convolutions of libraries: cuDNN, MIOpen (under cuDNN's names) and oneDNN.
//!
//! Window and dimension numbers of a call are those of the forward convolution whichever of the three arrays it
//! computes, as XLA's `GetGpuConvConfig` reads them (`xla/service/gpu/gpu_conv_runner.cc`).

use super::contraction::Arrays;
use super::reductions::comparisons;
use super::{Assumption, Cost, Costing, OpKind, sizes};
use crate::{Instruction, Shape};

/// Whether a custom call is one of XLA's to cuDNN's convolutions.
pub(super) fn is_convolution(instruction: &Instruction) -> bool {
    instruction.custom_call_target.as_deref().is_some_and(|target| target.starts_with("__cudnn$conv"))
}

impl Costing<'_> {
    /// A convolution of whichever of input, kernel and output are operands.
    pub(super) fn library_convolution(&mut self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let target = instruction.custom_call_target.as_deref()?;
        let (first, second) = (self.operand_shape(instruction, 0)?, self.operand_shape(instruction, 1)?);
        let result = instruction.shape.tuple.first().unwrap_or(&instruction.shape);
        let arrays = match target {
            "__cudnn$convBackwardInput" => Arrays { input: result, kernel: second, output: first },
            "__cudnn$convBackwardFilter" => Arrays { input: first, kernel: result, output: second },
            _ => Arrays { input: first, kernel: second, output: result },
        };
        self.convolve(arrays, instruction.attributes(), cost)?;
        match target {
            "__cudnn$convBiasActivationForward" => bias_and_activation(instruction, result, cost),
            "__cudnn$convForwardGraph" => cost.assumptions.add(Assumption::EpilogueLeftOut),
            _ => {}
        }
        Some(())
    }
}

/// A bias per feature, a scaled second input where there is one, and an activation.
fn bias_and_activation(instruction: &Instruction, result: &Shape, cost: &mut Cost) {
    let (elements, element_type) = (sizes::elements(result), result.element_type);
    cost.work.add(OpKind::Add, element_type, elements);
    // Operands are input, kernel, bias and, where there is one, the second input.
    if instruction.operands.len() > 3 {
        cost.work.add(OpKind::MultiplyAdd, element_type, elements);
    }
    let mode = instruction.backend_config.string("/cudnn_conv_backend_config/activation_mode");
    match mode.as_deref().unwrap_or("kNone") {
        "kNone" => {}
        "kRelu" | "kRelu6" | "kReluX" | "kLeakyRelu" => cost.work.add_all(&comparisons(element_type, elements)),
        _ => cost.work.add(OpKind::Transcendental, element_type, elements),
    }
}
