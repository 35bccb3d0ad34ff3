//! Matrix products and convolutions: multiply-adds, which matrix units can do.

use super::windows;
use super::work::times;
use super::{Assumption, Cost, Costing, sizes};
use crate::{Attributes, ConvolutionDimensions, ElementType, Instruction, Shape, Window, WindowDimension};

impl Costing<'_> {
    /// `dot` and `scaled-dot`: each element of the result takes one multiply-add per contracted element.
    pub(super) fn dot(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let (left, right) = (self.operand_shape(instruction, 0)?, self.operand_shape(instruction, 1)?);
        let dimensions = instruction.attributes().dot.as_ref()?;
        let contracted = contracted(left, &dimensions.lhs_contracting, right, &dimensions.rhs_contracting);
        let count = times(sizes::elements(&instruction.shape), contracted);
        cost.work.add_matrix(wider(left.element_type, right.element_type), count);
        Some(())
    }

    /// `ragged-dot`: the groups share the rows or the contracted elements, so they multiply neither.
    ///
    /// Where the groups split the contracted dimension the result has a dimension of groups, and each of its elements
    /// takes its group's part of the contraction alone.
    pub(super) fn ragged_dot(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let (left, right) = (self.operand_shape(instruction, 0)?, self.operand_shape(instruction, 1)?);
        let attributes = instruction.attributes();
        let (dimensions, ragged) = (attributes.dot.as_ref()?, attributes.ragged_dot.as_ref()?);
        let all = contracted(left, &dimensions.lhs_contracting, right, &dimensions.rhs_contracting);
        let is_contracted = ragged.lhs_ragged.iter().any(|ragged| dimensions.lhs_contracting.contains(ragged));
        let groups = if is_contracted { sizes::extent_at(&instruction.shape, 0).max(1.0) } else { 1.0 };
        let count = times(sizes::elements(&instruction.shape), all) / groups;
        cost.work.add_matrix(wider(left.element_type, right.element_type), count);
        cost.assumptions.add(Assumption::UpperBound);
        Some(())
    }

    /// `convolution`: operands are input and kernel, the result is the output.
    pub(super) fn convolution(&mut self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let module = self.module;
        let shape = |at: usize| instruction.operands.get(at).map(|&id| &module.instruction(id).shape);
        let arrays = Arrays { input: shape(0)?, kernel: shape(1)?, output: &instruction.shape };
        self.convolve(arrays, instruction.attributes(), cost)
    }

    /// The multiply-adds of a convolution of these arrays, whichever of them is computed from the other two.
    ///
    /// Each output element sums over the input features of its group and over the taps that meet the input; see
    /// [`windows`].
    pub(super) fn convolve(&mut self, arrays: Arrays<'_>, attributes: &Attributes, cost: &mut Cost) -> Option<()> {
        let dimensions = attributes.convolution.as_ref()?;
        let window = with_sizes(attributes.window.as_ref(), dimensions, arrays.kernel);
        let extent = |shape: &Shape, dimensions: &[i64], at: usize| {
            dimensions.get(at).map_or(1, |&dimension| sizes::extent_at(shape, dimension) as i64)
        };
        let input = |at: usize| extent(arrays.input, &dimensions.input_spatial, at);
        let output = |at: usize| extent(arrays.output, &dimensions.output_spatial, at);
        let taps = windows::all_taps(&window, input, output, &mut self.budget).unwrap_or_else(|| {
            cost.assumptions.add(Assumption::Bounded);
            windows::all_pairs(&window, output)
        });
        let group = |count: i64| count.max(1) as f64;
        let features = sizes::extent_at(arrays.input, dimensions.input_feature) / group(attributes.feature_group_count);
        let batch = sizes::extent_at(arrays.input, dimensions.input_batch) / group(attributes.batch_group_count);
        let outputs = sizes::extent_at(arrays.output, dimensions.output_feature);
        let count = times(times(features, batch), times(outputs, taps));
        cost.work.add_matrix(wider(arrays.input.element_type, arrays.kernel.element_type), count);
        Some(())
    }
}

/// The three arrays of a convolution.
#[derive(Clone, Copy)]
pub(super) struct Arrays<'a> {
    pub(super) input: &'a Shape,
    pub(super) kernel: &'a Shape,
    pub(super) output: &'a Shape,
}

/// The window with the kernel's own extents, which decide where the two differ.
fn with_sizes(window: Option<&Window>, dimensions: &ConvolutionDimensions, kernel: &Shape) -> Vec<WindowDimension> {
    let given = window.map_or(&[][..], |window| &window.dimensions);
    let sized = dimensions.kernel_spatial.iter().enumerate().map(|(at, &dimension)| WindowDimension {
        size: sizes::extent_at(kernel, dimension) as i64,
        ..given.get(at).copied().unwrap_or_default()
    });
    sized.collect()
}

/// Elements summed into each element of the result.
///
/// A sparse operand holds half of its contracted elements; the products with the others are never made, so the shorter
/// side counts.
pub(super) fn contracted(left: &Shape, left_dims: &[i64], right: &Shape, right_dims: &[i64]) -> f64 {
    let product = |shape: &Shape, dimensions: &[i64]| {
        dimensions.iter().fold(1.0, |product, &dimension| times(product, sizes::extent_at(shape, dimension)))
    };
    let of_left = product(left, left_dims);
    if right_dims.is_empty() { of_left } else { of_left.min(product(right, right_dims)) }
}

/// The type a product of two types is made in: the one with more bits.
pub(super) fn wider(left: ElementType, right: ElementType) -> ElementType {
    if right.bits() > left.bits() { right } else { left }
}
