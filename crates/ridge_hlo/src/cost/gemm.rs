//! Matrix products of libraries: cuBLAS, cuBLASLt and their AMD kin, oneDNN.

use serde_json::Value;

use super::contraction::{contracted, wider};
use super::reductions::comparisons;
use super::work::times;
use super::{Assumption, Cost, Costing, OpKind, sizes};
use crate::{ElementType, Instruction, Shape};

/// Whether a target multiplies matrices as XLA's GPU backend asks for it.
pub(super) fn is_gemm(target: &str) -> bool {
    target == "__cublas$gemm" || target.starts_with("__cublas$lt$")
}

impl Costing<'_> {
    /// A product of the first two operands, scaled and with what follows it in the same call.
    pub(super) fn gemm(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let (left, right) = (self.operand_shape(instruction, 0)?, self.operand_shape(instruction, 1)?);
        let result = result(&instruction.shape)?;
        let config = instruction.backend_config.value("/gemm_backend_config");
        let inner = match config.as_ref().and_then(|config| config.get("dot_dimension_numbers")) {
            Some(dimensions) => {
                let of = |key: &str| dimension_list(dimensions.get(key));
                contracted(left, &of("lhs_contracting_dimensions"), right, &of("rhs_contracting_dimensions"))
            }
            None => {
                cost.assumptions.add(Assumption::FromShapes);
                guess_contraction(left, right, result)
            }
        };
        let element_type = wider(left.element_type, right.element_type);
        cost.work.add_matrix(element_type, times(sizes::elements(result), inner));
        if let Some(config) = config {
            epilogue(&config, result, cost);
        }
        Some(())
    }

    /// `__onednn$matmul`: the last dimensions but one of the left and the last of the right are the result's.
    pub(super) fn onednn_matmul(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let (left, right) = (self.operand_shape(instruction, 0)?, self.operand_shape(instruction, 1)?);
        let result = result(&instruction.shape)?;
        let inner = guess_contraction(left, right, result);
        cost.work.add_matrix(wider(left.element_type, right.element_type), times(sizes::elements(result), inner));
        cost.assumptions.add(Assumption::FromShapes);
        let fused = instruction.backend_config.value("/onednn_matmul_config/fusions/ops");
        if fused.as_ref().and_then(Value::as_array).is_some_and(|operations| !operations.is_empty()) {
            cost.assumptions.add(Assumption::EpilogueLeftOut);
        }
        Some(())
    }
}

/// The product itself, where the call also returns scratch space or what a backward pass needs.
fn result(shape: &Shape) -> Option<&Shape> {
    if shape.is_tuple() { shape.tuple.first() } else { Some(shape) }
}

/// A list of dimensions; protobuf's JSON writes 64-bit numbers as strings, and leaves empty lists out.
fn dimension_list(list: Option<&Value>) -> Vec<i64> {
    let number = |value: &Value| value.as_i64().or_else(|| value.as_str()?.parse().ok());
    list.and_then(Value::as_array).map(|list| list.iter().filter_map(number).collect()).unwrap_or_default()
}

/// The contracted extent that the numbers of elements tell: k² = (b m k)(b k n) / (b m n) / b.
///
/// The batch b is what all three arrays begin with, but for their last two dimensions.
fn guess_contraction(left: &Shape, right: &Shape, result: &Shape) -> f64 {
    let leading = |shape: &Shape| shape.dimensions[..shape.dimensions.len().saturating_sub(2)].to_vec();
    let batch = leading(result);
    let is_shared = leading(left) == batch && leading(right) == batch;
    let batches =
        batch.iter().filter(|_| is_shared).fold(1.0, |product, &extent| times(product, sizes::extent_of(extent)));
    let squared = times(sizes::elements(left), sizes::elements(right)) / sizes::elements(result).max(1.0);
    (squared / batches.max(1.0)).sqrt().round()
}

/// The scaling and the epilogue: cuBLASLt's `BIAS`, `RELU`, `GELU` and their combinations.
fn epilogue(config: &Value, result: &Shape, cost: &mut Cost) {
    let number = |key: &str| config.get(key).and_then(Value::as_f64);
    let (elements, element_type) = (sizes::elements(result), result.element_type);
    if number("alpha_real").is_some_and(|alpha| alpha != 1.0) {
        cost.work.add(OpKind::Multiply, element_type, elements);
    }
    if number("beta").is_some_and(|beta| beta != 0.0) {
        cost.work.add(OpKind::MultiplyAdd, element_type, elements);
    }
    let name = config.get("epilogue").and_then(Value::as_str).unwrap_or_default();
    if name.contains("BIAS") {
        cost.work.add(OpKind::Add, element_type, elements);
    }
    if name.contains("RELU") {
        cost.work.add_all(&comparisons(element_type, elements));
    }
    if name.contains("GELU") {
        gelu(element_type, elements, cost);
    }
    if name.contains("SILU") {
        cost.work.add(OpKind::Multiply, element_type, elements);
        cost.work.add(OpKind::Transcendental, element_type, elements);
    }
}

/// GELU by its `tanh` form, x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))): five products, two of them with a sum.
fn gelu(element_type: ElementType, elements: f64, cost: &mut Cost) {
    cost.work.add(OpKind::Multiply, element_type, 3.0 * elements);
    cost.work.add(OpKind::MultiplyAdd, element_type, 2.0 * elements);
    cost.work.add(OpKind::Transcendental, element_type, elements);
}
