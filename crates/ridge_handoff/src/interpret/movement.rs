//! Where elements come from: positions and indices of arrays in logical order.

use crate::program::{Gather, WindowOf};

/// All indices of an array, the last dimension fastest.
pub(super) fn places(dims: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let dims = dims.to_vec();
    let all: usize = dims.iter().product();
    let mut index = vec![0; dims.len()];
    (0..all).map(move |count| {
        if count > 0 {
            for dim in (0..dims.len()).rev() {
                index[dim] += 1;
                if index[dim] < dims[dim] {
                    break;
                }
                index[dim] = 0;
            }
        }
        index.clone()
    })
}

/// How far apart neighbors of each dimension are.
pub(super) fn strides(dims: &[usize]) -> Vec<usize> {
    let mut steps = vec![1; dims.len()];
    for dim in (1..dims.len()).rev() {
        steps[dim - 1] = steps[dim] * dims[dim];
    }
    steps
}

/// A walk over all elements of an array in logical order, by the positions of what they are made of.
///
/// After the last it stands at the first again.
pub(super) struct Walk<'a> {
    dims: &'a [usize],
    /// How far a step along each dimension leads.
    steps: Vec<isize>,
    index: Vec<usize>,
    at: isize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(dims: &'a [usize], steps: Vec<isize>, first: isize) -> Walk<'a> {
        Walk { dims, steps, index: vec![0; dims.len()], at: first }
    }

    /// The position that it stands at; it goes on to the next.
    pub(super) fn step(&mut self) -> usize {
        let here = self.at;
        for dim in (0..self.dims.len()).rev() {
            self.index[dim] += 1;
            self.at += self.steps[dim];
            if self.index[dim] < self.dims[dim] {
                break;
            }
            self.at -= self.steps[dim] * self.dims[dim] as isize;
            self.index[dim] = 0;
        }
        here.cast_unsigned()
    }
}

/// Strides of these dimensions of an array.
pub(super) fn along(dims: &[usize], of: &[usize]) -> Vec<isize> {
    let steps = strides(of);
    dims.iter().map(|dim| steps[*dim].cast_signed()).collect()
}

/// The position of an index.
pub(super) fn position(index: impl Iterator<Item = usize>, dims: &[usize]) -> usize {
    index.zip(dims).fold(0, |position, (at, extent)| position * extent + at)
}

/// Where an element of a padded array comes from; `None` for the padding.
pub(super) fn padded(index: &[usize], edges: &[(i64, usize)], all: &[usize]) -> Option<usize> {
    let mut at = 0;
    for ((here, (low, interior)), extent) in index.iter().zip(edges).zip(all) {
        let inside = (*here as i64).checked_sub(*low)?;
        let step = *interior as i64 + 1;
        if inside < 0 || inside % step != 0 || inside / step >= *extent as i64 {
            return None;
        }
        at = at * extent + (inside / step) as usize;
    }
    Some(at)
}

/// The element that a place of a window reads; `None` for padding and holes.
pub(super) fn in_window(index: &[usize], inner: &[usize], windows: &[WindowOf], all: &[usize]) -> Option<usize> {
    let mut at = 0;
    for (((here, within), window), extent) in index.iter().zip(inner).zip(windows).zip(all) {
        let place = (*here * window.stride + *within * window.dilation) as i64;
        let place = place.checked_sub(window.low)?;
        let base = window.base as i64;
        if place < 0 || place % base != 0 || place / base >= *extent as i64 {
            return None;
        }
        at = at * extent + (place / base) as usize;
    }
    Some(at)
}

/// The pairs of elements that a product multiplies.
pub(super) struct Contraction<'a> {
    left: Walk<'a>,
    right: Walk<'a>,
    /// What is summed, from the first pair of a sum on.
    inner: Vec<(usize, usize)>,
}

impl<'a> Contraction<'a> {
    /// For the elements of a result of these extents, in order.
    pub(super) fn new(
        left: &[usize],
        right: &[usize],
        contract: &(Vec<usize>, Vec<usize>),
        batch: &(Vec<usize>, Vec<usize>),
        dims: &'a [usize],
    ) -> Contraction<'a> {
        let free = |dims: &[usize], contract: &[usize], batch: &[usize]| -> Vec<usize> {
            (0..dims.len()).filter(|dim| !contract.contains(dim) && !batch.contains(dim)).collect()
        };
        let (of_left, of_right) = (free(left, &contract.0, &batch.0), free(right, &contract.1, &batch.1));
        let none = |count: usize| vec![0; count];
        let outer = [along(&batch.0, left), along(&of_left, left), none(of_right.len())].concat();
        let outer_too = [along(&batch.1, right), none(of_left.len()), along(&of_right, right)].concat();
        let summed: Vec<usize> = contract.0.iter().map(|dim| left[*dim]).collect();
        let mut inner = Walk::new(&summed, along(&contract.0, left), 0);
        let mut inner_too = Walk::new(&summed, along(&contract.1, right), 0);
        let inner = (0..summed.iter().product()).map(|_| (inner.step(), inner_too.step())).collect();
        Contraction { left: Walk::new(dims, outer, 0), right: Walk::new(dims, outer_too, 0), inner }
    }

    /// The pairs of the next element.
    pub(super) fn pairs(&mut self) -> impl Iterator<Item = (usize, usize)> {
        let (left, right) = (self.left.step(), self.right.step());
        self.inner.iter().map(move |(at, to)| (left + at, right + to))
    }
}

/// Where the elements of a gather come from, and those of a scatter go.
pub(super) struct Gathering<'a> {
    numbers: &'a Gather,
    operand: &'a [usize],
    indices: &'a [usize],
    /// Dimensions of the result that are not offsets.
    outer: Vec<usize>,
    /// Dimensions of the operand that offsets walk.
    windowed: Vec<usize>,
}

impl<'a> Gathering<'a> {
    pub(super) fn new(
        numbers: &'a Gather,
        operand: &'a [usize],
        indices: &'a [usize],
        dims: &[usize],
    ) -> Gathering<'a> {
        let is_windowed = |dim: &usize| !numbers.collapsed.contains(dim) && !numbers.operand_batch.contains(dim);
        Gathering {
            numbers,
            operand,
            indices,
            outer: (0..dims.len()).filter(|dim| !numbers.offset.contains(dim)).collect(),
            windowed: (0..operand.len()).filter(is_windowed).collect(),
        }
    }

    /// The position of an element of the result in the operand; `read` gives an index by its position.
    pub(super) fn position(&self, index: &[usize], read: impl FnMut(usize) -> i64) -> usize {
        self.placed(index, read, |start, most| Some(start.clamp(0, most))).unwrap_or(0)
    }

    /// The same, unless a part of the window lies outside.
    pub(super) fn inside(&self, index: &[usize], read: impl FnMut(usize) -> i64) -> Option<usize> {
        self.placed(index, read, |start, most| (0..=most).contains(&start).then_some(start))
    }

    fn placed(
        &self,
        index: &[usize],
        mut read: impl FnMut(usize) -> i64,
        held: impl Fn(i64, i64) -> Option<i64>,
    ) -> Option<usize> {
        let outer: Vec<usize> = self.outer.iter().map(|dim| index[*dim]).collect();
        let start_at = |component: usize| {
            let mut full = Vec::with_capacity(self.indices.len());
            let mut rest = outer.iter();
            for dim in 0..self.indices.len() {
                full.push(if dim == self.numbers.index_dim { component } else { *rest.next().unwrap_or(&0) });
            }
            position(full.into_iter(), self.indices)
        };
        let mut at = vec![0; self.operand.len()];
        for (component, dim) in self.numbers.starts.iter().enumerate() {
            let most = (self.operand[*dim] - self.numbers.sizes[*dim]) as i64;
            at[*dim] = held(read(start_at(component)), most)? as usize;
        }
        for (of_operand, of_indices) in self.numbers.operand_batch.iter().zip(&self.numbers.index_batch) {
            let place =
                (0..self.indices.len()).filter(|dim| *dim != self.numbers.index_dim).position(|dim| dim == *of_indices);
            at[*of_operand] = place.map_or(0, |place| outer[place]);
        }
        for (of_result, dim) in self.numbers.offset.iter().zip(&self.windowed) {
            at[*dim] += index[*of_result];
        }
        Some(position(at.into_iter(), self.operand))
    }
}
