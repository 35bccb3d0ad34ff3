//! Elements, bytes and distances of shapes as real numbers: a broken shape is huge or empty, never an error.

use ridge_hlo::{Shape, Window};

/// Counts stay below this, so that no sum or product of them is infinite.
const CEILING: f64 = 1e300;

/// Bytes of all arrays of a shape.
pub(crate) fn bytes(shape: &Shape) -> f64 {
    shape.leaves().iter().map(|leaf| leaf.byte_size().map_or(0.0, |size| size as f64)).sum::<f64>().min(CEILING)
}

/// Elements of the first array of a shape.
pub(crate) fn elements(shape: &Shape) -> f64 {
    let leaves = shape.leaves();
    leaves.first().map_or(0.0, |leaf| leaf.element_count().map_or(CEILING, |count| count as f64))
}

/// Bytes of one element of the first array.
pub(crate) fn element_bytes(shape: &Shape) -> f64 {
    let leaves = shape.leaves();
    leaves.first().and_then(|leaf| leaf.element_type.bits()).map_or(1.0, |bits| f64::from(bits) / 8.0)
}

/// The product of the extents at `dimensions`.
pub(crate) fn extent(shape: &Shape, dimensions: &[i64]) -> f64 {
    let at = |dimension: &i64| usize::try_from(*dimension).ok().and_then(|at| shape.dimensions.get(at));
    dimensions
        .iter()
        .filter_map(at)
        .fold(1.0, |product, extent| (product * extent.max(&0).to_owned() as f64).min(CEILING))
}

/// Elements from one position of each dimension to the next, slowest dimension first.
pub(crate) fn strides(shape: &Shape) -> Vec<f64> {
    let mut stride = 1.0;
    let mut strides: Vec<f64> = Vec::with_capacity(shape.dimensions.len());
    for extent in shape.dimensions.iter().rev() {
        strides.push(stride);
        stride = (stride * extent.max(&0).to_owned() as f64).min(CEILING);
    }
    strides.reverse();
    strides
}

/// Bytes from the first element that a window needs to the last.
pub(crate) fn window_bytes(shape: &Shape, window: &Window) -> f64 {
    let reach = window.dimensions.iter().zip(strides(shape)).map(|(dimension, stride)| {
        (dimension.size - 1).max(0) as f64 * dimension.window_dilation.max(1) as f64 * stride
    });
    (reach.sum::<f64>() * element_bytes(shape)).min(bytes(shape))
}

/// Whether any array of the shape has an extent that only a run can tell.
pub(crate) fn is_dynamic(shape: &Shape) -> bool {
    shape.leaves().iter().any(|leaf| leaf.dynamic.contains(&true))
}
