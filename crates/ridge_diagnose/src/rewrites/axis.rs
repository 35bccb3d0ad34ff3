//! One axis of an array, followed from the results of operations to what they are made of: rows that are computed each by itself.

use super::site::Site;
use ridge_hlo::{Instruction, InstructionId, OpcodeClass, Shape};

/// An axis: a dimension, or a part of one that other axes were merged with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) dimension: usize,
    /// The part of the dimension that varies slower, the axis itself, and what varies faster.
    outer: i64,
    pub(super) size: i64,
    inner: i64,
}

impl Axis {
    /// A whole dimension.
    pub(super) fn whole(shape: &Shape, dimension: usize) -> Option<Axis> {
        Some(Axis { dimension, outer: 1, size: *shape.dimensions.get(dimension)?, inner: 1 })
    }

    /// It in another dimension of the same extent.
    fn at(self, dimension: usize) -> Axis {
        Axis { dimension, ..self }
    }

    /// What varies slower and faster than the axis where elements are taken in the order of `dimensions`, slowest first.
    fn flat(self, shape: &Shape, order: &[usize]) -> Option<(i64, i64)> {
        let place = order.iter().position(|dimension| *dimension == self.dimension)?;
        let product = |part: &[usize]| {
            let mut extents = part.iter().map(|dimension| shape.dimensions.get(*dimension).copied().unwrap_or(1));
            extents.try_fold(1_i64, i64::checked_mul)
        };
        let before = product(order.get(..place)?)?.checked_mul(self.outer)?;
        let after = product(order.get(place + 1..)?)?.checked_mul(self.inner)?;
        Some((before, after))
    }

    /// The axis of `shape` that has so much before and `size` of its own, where elements are taken in the order of `dimensions`.
    fn from_flat(shape: &Shape, order: &[usize], before: i64, size: i64) -> Option<Axis> {
        let mut slower = 1_i64;
        for dimension in order {
            let extent = *shape.dimensions.get(*dimension)?;
            let all = slower.checked_mul(extent)?;
            if extent > 1 && all > before {
                if before % slower != 0 {
                    return None;
                }
                let outer = before / slower;
                let rest = outer.checked_mul(size).filter(|part| *part > 0 && extent % part == 0)?;
                return Some(Axis { dimension: *dimension, outer, size, inner: extent / rest });
            }
            slower = all;
        }
        None
    }

    /// The same axis of an array with the same elements in the same order.
    fn through(self, from: &Shape, order: &[usize], to: &Shape, into: &[usize]) -> Option<Axis> {
        let (before, after) = self.flat(from, order)?;
        let axis = Axis::from_flat(to, into, before, self.size)?;
        (axis.flat(to, into)? == (before, after)).then_some(axis)
    }
}

/// An operand with the axis that a part of a result comes from; `None` where every part needs all of the operand, or none of it.
pub(super) type Input = (InstructionId, Option<Axis>);

/// The operands of `id`, each with the axis of it that the rows of `axis` are made of, row by row; `None` where a row needs others.
pub(super) fn inputs(site: &Site<'_, '_>, id: InstructionId, axis: Axis) -> Option<Vec<Input>> {
    let instruction = site.instruction(id);
    let shape = &instruction.shape;
    let of = |operand: InstructionId| &site.instruction(operand).shape;
    let first = instruction.operands.first().copied();
    let alone = |axis: Option<Axis>| Some(vec![(first?, axis)]);
    match &*instruction.opcode {
        "bitcast" => {
            let operand = of(first?);
            alone(Some(axis.through(shape, &in_memory(shape), operand, &in_memory(operand))?))
        }
        "reshape" => {
            let operand = of(first?);
            alone(Some(axis.through(shape, &in_order(shape), operand, &in_order(operand))?))
        }
        "copy" => alone(Some(axis)),
        "transpose" => alone(Some(axis.at(usize::try_from(*instruction.dimensions.get(axis.dimension)?).ok()?))),
        "broadcast" => {
            let operand = of(first?);
            let from = instruction.dimensions.iter().position(|to| usize::try_from(*to) == Ok(axis.dimension));
            let is_alike = |from: &usize| operand.dimensions.get(*from) == shape.dimensions.get(axis.dimension);
            alone(from.filter(is_alike).map(|from| axis.at(from)))
        }
        "reduce" => {
            let rank = of(first?).dimensions.len();
            let is_left =
                |dimension: &usize| !instruction.dimensions.contains(&i64::try_from(*dimension).unwrap_or(-1));
            let from = (0..rank).filter(is_left).nth(axis.dimension)?;
            let half = instruction.operands.len() / 2;
            Some(instruction.operands.iter().take(half).map(|operand| (*operand, Some(axis.at(from)))).collect())
        }
        // Long sums are split into windows.
        "reduce-window" => {
            let windows = instruction.attributes().window.as_ref();
            let is_one =
                windows.and_then(|window| window.dimensions.get(axis.dimension)).is_some_and(|one| one.size == 1);
            let is_whole = of(first?).dimensions.get(axis.dimension) == shape.dimensions.get(axis.dimension);
            (is_one && is_whole).then(|| alone(Some(axis)))?
        }
        "concatenate" => {
            let joined = usize::try_from(*instruction.dimensions.first()?).ok()?;
            let all = instruction.operands.iter().map(|operand| (*operand, Some(axis)));
            (joined != axis.dimension).then(|| all.collect())
        }
        "slice" | "pad" => {
            let is_whole = of(first?).dimensions.get(axis.dimension) == shape.dimensions.get(axis.dimension);
            is_whole.then(|| alone(Some(axis)))?
        }
        "dot" => product(site, instruction, axis),
        _ if matches!(instruction.opcode.class(), OpcodeClass::Elementwise(_)) => {
            let is_alike = |operand: &InstructionId| of(*operand).dimensions == shape.dimensions;
            Some(
                instruction
                    .operands
                    .iter()
                    .map(|operand| (*operand, Some(axis).filter(|_| is_alike(operand))))
                    .collect(),
            )
        }
        _ => None,
    }
}

/// A product's batch dimensions come first in its result, then the others of the left operand, then those of the right.
fn product(site: &Site<'_, '_>, instruction: &Instruction, axis: Axis) -> Option<Vec<Input>> {
    let dot = instruction.attributes().dot.as_ref()?;
    let [lhs, rhs] = instruction.operands[..] else { return None };
    let free = |operand: InstructionId, batch: &[i64], contracting: &[i64]| -> Vec<usize> {
        let rank = site.instruction(operand).shape.dimensions.len();
        let is_free = |dimension: &usize| {
            let dimension = i64::try_from(*dimension).unwrap_or(-1);
            !batch.contains(&dimension) && !contracting.contains(&dimension)
        };
        (0..rank).filter(is_free).collect()
    };
    let (left, right) =
        (free(lhs, &dot.lhs_batch, &dot.lhs_contracting), free(rhs, &dot.rhs_batch, &dot.rhs_contracting));
    let batches = dot.lhs_batch.len();
    let at = |dimension: i64| usize::try_from(dimension).ok().map(|dimension| axis.at(dimension));
    match axis.dimension {
        place if place < batches => {
            Some(vec![(lhs, Some(at(*dot.lhs_batch.get(place)?)?)), (rhs, Some(at(*dot.rhs_batch.get(place)?)?))])
        }
        place if place < batches + left.len() => {
            Some(vec![(lhs, Some(axis.at(*left.get(place - batches)?))), (rhs, None)])
        }
        place => Some(vec![(lhs, None), (rhs, Some(axis.at(*right.get(place - batches - left.len())?)))]),
    }
}

/// The dimensions of an array in order.
fn in_order(shape: &Shape) -> Vec<usize> {
    (0..shape.dimensions.len()).collect()
}

/// The dimensions of an array as they are in memory, slowest first.
fn in_memory(shape: &Shape) -> Vec<usize> {
    let Some(layout) = shape.layout.as_ref().filter(|layout| layout.minor_to_major.len() == shape.dimensions.len())
    else {
        return in_order(shape);
    };
    layout.minor_to_major.iter().rev().filter_map(|dimension| usize::try_from(*dimension).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(dimensions: &[i64]) -> Shape {
        Shape { dimensions: dimensions.to_vec(), ..Shape::default() }
    }

    #[test]
    fn an_axis_is_found_again_where_it_is_merged_with_others_and_apart_again() {
        let (apart, merged) = (shape(&[8, 64, 16]), shape(&[512, 16]));
        let positions = Axis::whole(&apart, 1).expect("it is a dimension");
        let order = |shape: &Shape| in_order(shape);
        let through = |axis: Axis, from: &Shape, to: &Shape| axis.through(from, &order(from), to, &order(to));
        let found = through(positions, &apart, &merged).expect("the axis is in both");
        assert_eq!(found, Axis { dimension: 0, outer: 8, size: 64, inner: 1 });
        assert_eq!(through(found, &merged, &apart), Some(positions));
        // Taken apart in another way, there is no such axis any more.
        assert_eq!(through(found, &merged, &shape(&[16, 32, 16])), None);
    }
}
