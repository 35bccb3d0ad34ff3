//! Operations that run a computation on elements: reductions, windows, scatters, sorts, maps.

use super::windows;
use super::work::times;
use super::{Assumption, Cost, Costing, OpKind, Work, sizes};
use crate::{ElementType, Instruction, Shape, Window};

impl Costing<'_> {
    /// `reduce`: the reducer runs once for each element that disappears, as XLA counts it.
    pub(super) fn reduce(&mut self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let elements = sizes::elements(self.operand_shape(instruction, 0)?);
        let runs = (elements - sizes::elements(&instruction.shape)).max(0.0);
        self.run_called(instruction, 0, runs, cost)
    }

    /// `reduce-window`: the reducer runs once for each tap but the first of each window; one without taps is its start.
    pub(super) fn reduce_window(&mut self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let input = self.operand_shape(instruction, 0)?.clone();
        let leaves = instruction.shape.leaves();
        let output = *leaves.first()?;
        let (taps, filled) = self.window_taps(instruction.attributes().window.as_ref()?, &input, output, cost);
        self.run_called(instruction, 0, (taps - filled).max(0.0), cost)
    }

    /// `select-and-scatter`: all taps but the first of each window are compared, and each source element whose
    /// window holds any is scattered.
    pub(super) fn select_and_scatter(&mut self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let input = self.operand_shape(instruction, 0)?.clone();
        let source = self.operand_shape(instruction, 1)?.clone();
        let (taps, filled) = self.window_taps(instruction.attributes().window.as_ref()?, &input, &source, cost);
        self.run_called(instruction, 0, (taps - filled).max(0.0), cost)?;
        self.run_called(instruction, 1, filled, cost)
    }

    /// Taps, and windows that hold any.
    fn window_taps(&mut self, window: &Window, input: &Shape, output: &Shape, cost: &mut Cost) -> (f64, f64) {
        let extent = |shape: &Shape, at: usize| sizes::extent_at(shape, at as i64) as i64;
        let (input, output_at) = (|at| extent(input, at), |at| extent(output, at));
        let taps = windows::all_taps(&window.dimensions, input, output_at, &mut self.budget);
        let filled = windows::all_filled(&window.dimensions, input, output_at, &mut self.budget);
        taps.zip(filled).unwrap_or_else(|| {
            cost.assumptions.add(Assumption::Bounded);
            (windows::all_pairs(&window.dimensions, output_at), sizes::elements(output))
        })
    }

    /// `scatter`: the combiner runs once for each element of an update.
    pub(super) fn scatter(&mut self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        // Operands are the arrays, the indices and as many updates as there are arrays.
        let updates = self.operand_shape(instruction, instruction.operands.len().checked_sub(1)? / 2 + 1)?;
        let runs = sizes::elements(updates);
        self.run_called(instruction, 0, runs, cost)
    }

    /// `map`: the function runs once for each element.
    pub(super) fn map(&mut self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        self.run_called(instruction, 0, sizes::elements(&instruction.shape), cost)
    }

    /// `sort`: the comparator runs n log₂ n times for each row of n.
    pub(super) fn sort(&mut self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let keys = self.operand_shape(instruction, 0)?;
        let row = sizes::extent_at(keys, instruction.dimensions.first().copied().unwrap_or(0));
        let runs = times(sizes::elements(keys), row.max(1.0).log2());
        cost.assumptions.add(Assumption::SortModel);
        self.run_called(instruction, 0, runs, cost)
    }

    /// `topk`: n log₂ k comparisons for each row of n, as with a heap of the k best.
    pub(super) fn topk(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        let keys = self.operand_shape(instruction, 0)?;
        let kept = match instruction.attributes().k {
            Some(kept) => sizes::extent_of(kept),
            None => instruction.shape.leaves().first()?.dimensions.last().map_or(1.0, |&kept| sizes::extent_of(kept)),
        };
        cost.work.add_all(&comparisons(keys.element_type, times(sizes::elements(keys), kept.max(1.0).log2())));
        cost.assumptions.add(Assumption::SortModel);
        Some(())
    }

    /// Adds the work of the `position`th computation it calls, `runs` times.
    fn run_called(&self, instruction: &Instruction, position: usize, runs: f64, cost: &mut Cost) -> Option<()> {
        let called = self.called(instruction, position)?;
        cost.work.add_times(&called.work, runs);
        cost.assumptions.add_all(called.assumptions);
        cost.merge_unknown(called.unknown, runs);
        Some(())
    }
}

/// So many comparisons of values of this type.
pub(super) fn comparisons(element_type: ElementType, count: f64) -> Work {
    let mut work = Work::default();
    let kind = if element_type.is_float() { OpKind::Compare } else { OpKind::Integer };
    work.add(kind, element_type, count);
    work
}
