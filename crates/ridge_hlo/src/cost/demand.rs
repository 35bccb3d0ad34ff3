//! Which elements of an array are needed: boxes where they are known, a number where they are not.
//!
//! Several slices of one array often overlap, as the shifted copies of a stencil do. What memory has to carry is their
//! union, so that is what is kept.

use super::sizes;
use super::work::{CEILING, times};
use crate::Shape;

/// Boxes kept apart; beyond, they are counted one by one.
const BOXES: usize = 128;

/// Cells a union may be cut into; beyond, the boxes are counted one by one.
const CELLS: usize = 1 << 16;

/// Positions in one dimension: `count` of them from `start`, `stride` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Span {
    pub(super) start: i64,
    pub(super) count: i64,
    pub(super) stride: i64,
}

impl Span {
    /// All positions of a dimension.
    pub(super) fn all(extent: i64) -> Span {
        Span { start: 0, count: extent.max(0), stride: 1 }
    }

    /// The positions `from` to below `to`.
    pub(super) fn between(from: i64, to: i64) -> Span {
        Span { start: from, count: to.saturating_sub(from).max(0), stride: 1 }
    }

    /// The last position.
    pub(super) fn last(&self) -> i64 {
        self.start.saturating_add(self.count.saturating_sub(1).saturating_mul(self.stride))
    }

    /// Those of its positions that lie from `from` to below `to`, counted from `from`.
    pub(super) fn within(&self, from: i64, to: i64) -> Span {
        let stride = self.stride.max(1);
        let skipped = from.saturating_sub(self.start).max(0);
        let skip = skipped / stride + i64::from(skipped % stride != 0);
        let start = self.start.saturating_add(skip.saturating_mul(stride));
        let room = to.saturating_sub(start).max(0);
        let fit = room / stride + i64::from(room % stride != 0);
        Span { start: start.saturating_sub(from), count: self.count.saturating_sub(skip).max(0).min(fit), stride }
    }
}

/// A box of positions, one span per dimension.
pub(super) type Region = Vec<Span>;

/// The elements of one array that are needed.
#[derive(Debug, Clone, Default)]
pub(super) struct Demand {
    is_full: bool,
    regions: Vec<Region>,
    /// Elements needed at places that are not known.
    loose: f64,
}

impl Demand {
    /// Every element.
    pub(super) fn full() -> Demand {
        Demand { is_full: true, ..Demand::default() }
    }

    /// So many elements somewhere.
    pub(super) fn loose(elements: f64) -> Demand {
        Demand { loose: elements, ..Demand::default() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether some of it is at unknown places.
    pub(super) fn has_loose(&self) -> bool {
        self.loose > 0.0
    }

    pub(super) fn is_none(&self) -> bool {
        !self.is_full && self.regions.is_empty() && self.loose == 0.0
    }

    /// Adds what `other` needs of the same array.
    pub(super) fn add(&mut self, other: Demand) {
        if self.is_full || other.is_full {
            *self = Demand::full();
            return;
        }
        self.loose = (self.loose + other.loose).min(CEILING);
        other.regions.into_iter().for_each(|region| self.add_region(region));
    }

    pub(super) fn add_region(&mut self, region: Region) {
        if self.is_full || volume(&region) == 0.0 || self.regions.contains(&region) {
            return;
        }
        if self.regions.len() < BOXES {
            self.regions.push(region);
        } else {
            self.loose = (self.loose + volume(&region)).min(CEILING);
        }
    }

    /// How many elements of an array of this shape are needed.
    pub(super) fn elements(&self, shape: &Shape) -> f64 {
        let total = sizes::elements(shape);
        if self.is_full { total } else { (union(&self.regions) + self.loose).min(total) }
    }

    /// Bytes of those elements; for tuples all or nothing.
    pub(super) fn bytes(&self, shape: &Shape) -> f64 {
        if self.is_full || shape.is_tuple() {
            return if self.is_none() { 0.0 } else { sizes::bytes(shape) };
        }
        times(self.elements(shape), sizes::element_bytes(shape))
    }

    /// What is needed of another array whose positions follow from this one's: `map` takes each box over.
    ///
    /// `shape` is this array's. Elements at unknown places stay as many.
    pub(super) fn map(&self, shape: &Shape, map: impl Fn(&Region) -> Option<Region>) -> Demand {
        let whole = || shape.dimensions.iter().map(|&extent| Span::all(extent)).collect::<Region>();
        let own = if self.is_full { &[whole()][..] } else { &self.regions };
        let mut mapped = Demand::loose(self.loose);
        for region in own.iter().filter(|region| region.len() == shape.dimensions.len()) {
            match map(region) {
                Some(region) => mapped.add_region(region),
                None => mapped.loose = (mapped.loose + volume(region)).min(CEILING),
            }
        }
        mapped
    }
}

fn volume(region: &[Span]) -> f64 {
    region.iter().fold(1.0, |product, span| times(product, span.count.max(0) as f64))
}

/// Elements in at least one of the boxes.
///
/// Boxes of different strides are taken to share nothing; of equal strides, those whose starts differ by less than a
/// stride do share nothing, and the others are counted in units of it.
fn union(regions: &[Region]) -> f64 {
    if let [only] = regions {
        return volume(only);
    }
    let mut left: Vec<&Region> = regions.iter().collect();
    let mut total = 0.0;
    while let Some(first) = left.first().copied() {
        let (alike, rest) = left.into_iter().partition(|region| is_aligned(first, region));
        let scaled: Vec<Region> = Vec::<&Region>::into_iter(alike).map(scale).collect();
        total += union_of_plain(&scaled);
        left = rest;
    }
    f64::min(total, CEILING)
}

/// Whether two boxes lie on one grid.
fn is_aligned(left: &Region, right: &Region) -> bool {
    let on_grid = |(left, right): (&Span, &Span)| {
        let stride = left.stride.max(1);
        stride == right.stride.max(1) && left.start.rem_euclid(stride) == right.start.rem_euclid(stride)
    };
    left.len() == right.len() && left.iter().zip(right).all(on_grid)
}

fn scale(region: &Region) -> Region {
    let scale = |span: &Span| Span { start: span.start.div_euclid(span.stride.max(1)), count: span.count, stride: 1 };
    region.iter().map(scale).collect()
}

/// The union of boxes without strides: cut along all their edges, each cell counted once.
fn union_of_plain(regions: &[Region]) -> f64 {
    let [first, _, ..] = regions else { return regions.first().map_or(0.0, |only| volume(only)) };
    let edges: Vec<Vec<i64>> = (0..first.len()).map(|dimension| edges(regions, dimension)).collect();
    let counts: Vec<usize> = edges.iter().map(|edges| edges.len() - 1).collect();
    let cells = counts.iter().try_fold(1usize, |product, &count| product.checked_mul(count));
    let Some(cells) = cells.filter(|&cells| cells <= CELLS) else {
        return regions.iter().map(|region| volume(region)).sum();
    };
    let mut is_covered = vec![false; cells];
    let mut total = 0.0;
    for region in regions {
        let ranges: Vec<(usize, usize)> =
            region.iter().zip(&edges).map(|(span, edges)| cell_range(span, edges)).collect();
        for_each_cell(&ranges, &counts, &mut |cell, at| {
            if !std::mem::replace(&mut is_covered[cell], true) {
                total += at.iter().zip(&edges).map(|(&at, edges)| (edges[at + 1] - edges[at]) as f64).product::<f64>();
            }
        });
    }
    total
}

/// Where boxes start and end in one dimension, sorted.
fn edges(regions: &[Region], dimension: usize) -> Vec<i64> {
    let ends =
        |region: &Region| [region[dimension].start, region[dimension].start.saturating_add(region[dimension].count)];
    let mut edges: Vec<i64> = regions.iter().flat_map(ends).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn cell_range(span: &Span, edges: &[i64]) -> (usize, usize) {
    let find = |edge: i64| edges.binary_search(&edge).unwrap_or(0);
    (find(span.start), find(span.start.saturating_add(span.count)))
}

/// Calls `visit` with the number and the position of each cell in a box of cells.
fn for_each_cell(ranges: &[(usize, usize)], counts: &[usize], visit: &mut impl FnMut(usize, &[usize])) {
    let mut at: Vec<usize> = ranges.iter().map(|range| range.0).collect();
    if ranges.iter().any(|range| range.0 >= range.1) {
        return;
    }
    loop {
        let cell = at.iter().zip(counts).fold(0, |cell, (&at, &count)| cell * count + at);
        visit(cell, &at);
        let Some(next) = (0..at.len()).rev().find(|&dimension| at[dimension] + 1 < ranges[dimension].1) else { return };
        at[next] += 1;
        at[next + 1..].iter_mut().zip(&ranges[next + 1..]).for_each(|(at, range)| *at = range.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementType;

    fn region(spans: &[(i64, i64, i64)]) -> Region {
        spans.iter().map(|&(start, count, stride)| Span { start, count, stride }).collect()
    }

    fn elements(dimensions: &[i64], regions: &[Region]) -> f64 {
        let mut demand = Demand::default();
        regions.iter().for_each(|region| demand.add_region(region.clone()));
        demand.elements(&Shape::array(ElementType::F32, dimensions.to_vec()))
    }

    #[test]
    fn boxes_are_united() {
        // The nine shifts of a 3 by 3 stencil over 6 by 6: together the whole.
        let shifts: Vec<Region> = (0..9).map(|at| region(&[(at / 3, 4, 1), (at % 3, 4, 1)])).collect();
        assert_eq!(elements(&[6, 6], &shifts), 36.0);
        // A cross: 2 by 6 and 6 by 2 share 2 by 2.
        assert_eq!(elements(&[6, 6], &[region(&[(2, 2, 1), (0, 6, 1)]), region(&[(0, 6, 1), (2, 2, 1)])]), 20.0);
        assert_eq!(elements(&[9], &[region(&[(0, 3, 1)]), region(&[(5, 3, 1)]), region(&[(0, 3, 1)])]), 6.0);
    }

    #[test]
    fn strides_keep_to_their_grid() {
        assert_eq!(elements(&[10], &[region(&[(0, 5, 2)]), region(&[(1, 5, 2)])]), 10.0);
        assert_eq!(elements(&[10], &[region(&[(0, 3, 2)]), region(&[(4, 3, 2)])]), 5.0);
        assert_eq!(elements(&[10], &[region(&[(0, 4, 3)]), region(&[(0, 9, 1)])]), 10.0);
    }

    #[test]
    fn spans_are_cut() {
        let span = Span { start: 1, count: 5, stride: 3 };
        assert_eq!(span.last(), 13);
        assert_eq!(span.within(4, 11), Span { start: 0, count: 3, stride: 3 });
        assert_eq!(span.within(5, 100), Span { start: 2, count: 3, stride: 3 });
        assert_eq!(span.within(20, 30).count, 0);
    }

    #[test]
    fn many_boxes_are_bounded() {
        let scattered: Vec<Region> = (0..500i64)
            .map(|at| (0..6).map(|dimension| Span::between(at * (dimension + 3) % 97, 99)).collect())
            .collect();
        assert_eq!(elements(&[99; 6], &scattered), 99f64.powi(6));
    }
}
