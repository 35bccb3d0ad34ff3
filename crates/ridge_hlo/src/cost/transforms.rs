//! Fourier transforms, factorizations and normalizations that HLO has opcodes for.

use super::linear_algebra::{self, Operations};
use super::work::{part_type, times};
use super::{Assumption, Cost, Costing, OpKind, sizes};
use crate::{ElementType, Instruction};

impl Costing<'_> {
    /// `fft`: 5 n log₂ n operations for n complex points, half of it where one side is real.
    ///
    /// The convention of the FFTW benchmark (<http://www.fftw.org/speed/>). A radix-2 butterfly is four products and six
    /// sums over two points, so two fifths are products.
    pub(super) fn fft(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let input = self.operand_shape(instruction, 0)?;
        let lengths = &instruction.attributes().fft_length;
        let points = lengths.iter().fold(1.0, |points, &length| times(points, sizes::extent_of(length)));
        // The side that is not halved has all points: the real one of real transforms.
        let all = sizes::elements(input).max(sizes::elements(&instruction.shape));
        let is_real = !input.element_type.is_complex() || !instruction.shape.element_type.is_complex();
        transform(points, all / points.max(1.0), instruction.shape.element_type, is_real, cost);
        Some(())
    }

    /// `cholesky`: as LAPACK's `potrf`.
    pub(super) fn cholesky(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let matrix = self.operand_shape(instruction, 0)?;
        let order = sizes::extent_at(matrix, *matrix.dimensions.len().checked_sub(1).as_ref()? as i64);
        let count = sizes::elements(matrix) / (order * order).max(1.0);
        linear_algebra::potrf(order).add_to(&mut cost.work, matrix.element_type, count);
        Some(())
    }

    /// `triangular-solve`: as BLAS's `trsm`.
    pub(super) fn triangular_solve(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let (matrix, right) = (self.operand_shape(instruction, 0)?, self.operand_shape(instruction, 1)?);
        let order = sizes::extent_at(matrix, *matrix.dimensions.len().checked_sub(1).as_ref()? as i64);
        let columns = sizes::elements(right) / order.max(1.0);
        let is_unit = instruction.attributes().triangular_solve.as_ref().is_some_and(|options| options.unit_diagonal);
        linear_algebra::trsm(order, is_unit).add_to(&mut cost.work, right.element_type, columns);
        Some(())
    }

    /// Batch norms, by their definition: sums over all elements, a root per feature, a scaling per element.
    pub(super) fn batch_norm(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let input = self.operand_shape(instruction, 0)?;
        let (elements, element_type) = (sizes::elements(input), input.element_type);
        let features = sizes::extent_at(input, instruction.attributes().feature_index.unwrap_or(0));
        // Scaling alone; mean and mean square besides; two sums of the gradient and two terms besides.
        let multiply_adds = match &*instruction.opcode {
            "batch-norm-inference" => 1.0,
            "batch-norm-training" => 2.0,
            _ => 3.0,
        };
        cost.work.add(OpKind::MultiplyAdd, element_type, elements * multiply_adds);
        if instruction.opcode != "batch-norm-inference" {
            cost.work.add(OpKind::Add, element_type, elements);
        }
        cost.work.add(OpKind::DivideSqrt, element_type, features);
        Some(())
    }
}

/// Adds `count` transforms of `points` points.
pub(super) fn transform(points: f64, count: f64, element_type: ElementType, is_real: bool, cost: &mut Cost) {
    let whole = times(times(points, points.max(1.0).log2()), count);
    let steps = if is_real { whole / 2.0 } else { whole };
    let element_type = part_type(element_type);
    cost.work.add(OpKind::Multiply, element_type, 2.0 * steps);
    cost.work.add(OpKind::Add, element_type, 3.0 * steps);
    cost.assumptions.add(Assumption::FftModel);
}

impl Operations {
    /// Adds these operations `count` times: pairs of product and sum as multiply-adds, the rest as what it is.
    pub(super) fn add_to(self, work: &mut super::Work, element_type: ElementType, count: f64) {
        let pairs = self.products.min(self.sums);
        work.add_matrix(element_type, times(pairs, count));
        let (products, sums) = if element_type.is_complex() { (6.0, 2.0) } else { (1.0, 1.0) };
        // LAPACK's convention: a complex product is six operations, a complex sum two.
        work.add(OpKind::Multiply, element_type, times((self.products - pairs) * products, count));
        work.add(OpKind::Add, element_type, times((self.sums - pairs) * sums, count));
    }
}
