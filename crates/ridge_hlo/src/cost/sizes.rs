//! Elements and bytes of shapes as real numbers: a broken shape is huge or empty, never an error.

use super::work::{CEILING, times};
use crate::{ElementType, Shape};

/// Bytes of one entry of a tuple's pointer table, as XLA counts it.
const POINTER_BYTES: f64 = 8.0;

/// Elements of an array; of a tuple's first array for tuples, which is what XLA's formulas mean by one.
pub(super) fn elements(shape: &Shape) -> f64 {
    let array = if shape.is_tuple() { shape.leaves().first().copied() } else { Some(shape) };
    array.map_or(0.0, |array| array.dimensions.iter().fold(1.0, |product, &extent| times(product, extent_of(extent))))
}

/// An extent as a number; a negative one is none.
pub(super) fn extent_of(extent: i64) -> f64 {
    extent.max(0) as f64
}

/// The extent of dimension `dimension`; 1 where there is none.
pub(super) fn extent_at(shape: &Shape, dimension: i64) -> f64 {
    usize::try_from(dimension).ok().and_then(|at| shape.dimensions.get(at)).map_or(1.0, |&extent| extent_of(extent))
}

/// Bytes of the arrays in a shape, without pointer tables.
pub(super) fn bytes(shape: &Shape) -> f64 {
    if shape.is_tuple() {
        return shape.leaves().into_iter().map(array_bytes).sum::<f64>().min(CEILING);
    }
    array_bytes(shape)
}

fn array_bytes(shape: &Shape) -> f64 {
    shape.byte_size().map_or_else(|_| times(elements(shape), element_bytes(shape)), |size| size as f64)
}

/// Bytes of one element; 0 for what has no size.
pub(super) fn element_bytes(shape: &Shape) -> f64 {
    let own = shape.layout.as_ref().map(|layout| layout.element_size_in_bits).filter(|&bits| bits > 0);
    let bits = own.map(|bits| bits as f64);
    bits.or_else(|| shape.element_type.bits().map(|bits| f64::from(bits.max(8)))).unwrap_or(0.0) / 8.0
}

/// Bytes as XLA's analysis counts them: a tuple is its pointer table, an opaque value a pointer.
pub(super) fn xla_bytes(shape: &Shape) -> f64 {
    match shape.element_type {
        ElementType::Tuple => shape.tuple.len() as f64 * POINTER_BYTES,
        ElementType::Opaque => POINTER_BYTES,
        _ => bytes(shape) + dynamic_header(shape),
    }
}

/// Bytes of a result as XLA's analysis counts them: a tuple is its arrays.
pub(super) fn xla_result_bytes(shape: &Shape) -> f64 {
    match shape.is_tuple() {
        true => shape.leaves().into_iter().map(xla_bytes).sum::<f64>().min(CEILING),
        false => xla_bytes(shape),
    }
}

/// A dynamic array is followed by its extents, four bytes each.
fn dynamic_header(shape: &Shape) -> f64 {
    if shape.dynamic.contains(&true) { 4.0 * shape.dimensions.len() as f64 } else { 0.0 }
}
