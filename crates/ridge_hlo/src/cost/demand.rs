//! Which elements of an array are needed: boxes where they are known, a number where they are not.
//!
//! Several slices of one array often overlap, as the shifted copies of a stencil do. What memory has to carry is their
//! union, so that is what is kept. A slice that starts where only a run can tell is a box all the same, at a [`Place`]:
//! boxes at one place are united, those at different ones are taken to share nothing.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::sizes;
use super::windows::Progression;
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

impl Span {
    /// Which of `extent` elements lie at its positions, where `low` positions come before them and `interior` between.
    pub(super) fn between_padding(&self, low: i64, interior: i64, extent: i64) -> Span {
        if interior <= 0 {
            return self.within(low, low.saturating_add(extent));
        }
        let apart = i128::from(interior) + 1;
        let stride = i128::from(self.stride.max(1));
        let on_elements = Progression { step: stride, modulus: apart };
        let inverse = on_elements.inverse();
        let offset = i128::from(self.start) - i128::from(low);
        let Some((first, period)) = on_elements.first(offset, inverse) else { return Span::between(0, 0) };
        let count = (i128::from(self.count) - first + period - 1).div_euclid(period).max(0);
        let small = |number: i128| i64::try_from(number).unwrap_or(i64::MAX);
        let start = (offset + first * stride).div_euclid(apart);
        let hit = Span { start: small(start), count: small(count), stride: small(period * stride / apart) };
        hit.within(0, extent)
    }
}

/// A box of positions, one span per dimension.
pub(super) type Region = Vec<Span>;

/// Where boxes are counted from: the start of the array, or a place that only a run can tell.
///
/// Places that were reached by the same steps from the same instructions are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place(u64);

impl Place {
    /// The start of the array.
    pub(super) const START: Place = Place(0);

    /// The place that `step` leads to from here.
    pub(super) fn then(self, step: impl Hash) -> Place {
        let mut hasher = FxHasher::default();
        (self.0, step).hash(&mut hasher);
        // The start is led to by nothing.
        Place(hasher.finish() | 1)
    }
}

/// What tells an operation that takes positions from its result to its operand from other such operations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// All it does but shifts, which boxes tell; `None` where it asks how far from the start a box is.
    pub(super) turn: Option<u64>,
    /// All it does.
    pub(super) whole: u64,
}

/// The elements of one array that are needed.
#[derive(Debug, Clone, Default)]
pub(super) struct Demand {
    is_full: bool,
    regions: Vec<(Place, Region)>,
    /// Elements needed at positions that are not known, by what leads to them.
    loose: Vec<(Place, f64)>,
}

impl Demand {
    /// Every element.
    pub(super) fn full() -> Demand {
        Demand { is_full: true, ..Demand::default() }
    }

    /// So many elements somewhere: what leads to the same `place` needs the same ones.
    pub(super) fn loose(place: Place, elements: f64) -> Demand {
        let mut demand = Demand::default();
        demand.add_loose(place, elements);
        demand
    }

    /// The elements in `regions`.
    pub(super) fn boxes(regions: impl IntoIterator<Item = Region>) -> Demand {
        let mut demand = Demand::default();
        regions.into_iter().for_each(|region| demand.add_region(Place::START, region));
        demand
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Whether some of it is at unknown positions.
    pub(super) fn has_loose(&self) -> bool {
        !self.loose.is_empty()
    }

    pub(super) fn is_none(&self) -> bool {
        !self.is_full && self.regions.is_empty() && self.loose.is_empty()
    }

    /// Adds what `other` needs of the same array.
    pub(super) fn add(&mut self, other: Demand) {
        if self.is_full || other.is_full {
            *self = Demand::full();
            return;
        }
        other.loose.into_iter().for_each(|(place, elements)| self.add_loose(place, elements));
        other.regions.into_iter().for_each(|(place, region)| self.add_region(place, region));
    }

    fn add_region(&mut self, place: Place, region: Region) {
        let size = volume(&region);
        if self.is_full || size == 0.0 || self.regions.iter().any(|(at, known)| *at == place && *known == region) {
            return;
        }
        if self.regions.len() < BOXES {
            self.regions.push((place, region));
        } else {
            self.add_loose(place.then(&region), size);
        }
    }

    fn add_loose(&mut self, place: Place, elements: f64) {
        if elements <= 0.0 {
            return;
        }
        match self.loose.iter().position(|(known, _)| *known == place) {
            Some(at) => self.loose[at].1 = self.loose[at].1.max(elements),
            None if self.loose.len() < BOXES => self.loose.push((place, elements)),
            None => self.loose[BOXES - 1].1 = (self.loose[BOXES - 1].1 + elements).min(CEILING),
        }
    }

    /// How many elements of an array of this shape are needed.
    pub(super) fn elements(&self, shape: &Shape) -> f64 {
        let total = sizes::elements(shape);
        if self.is_full { total } else { (self.united() + self.loose_elements()).min(total) }
    }

    /// Elements in at least one box.
    fn united(&self) -> f64 {
        let mut left: Vec<&(Place, Region)> = self.regions.iter().collect();
        let mut total = 0.0;
        while let Some(&(place, _)) = left.first().copied() {
            let (here, rest) = left.into_iter().partition(|(at, _)| *at == place);
            let here: Vec<&Region> = Vec::<&(Place, Region)>::into_iter(here).map(|(_, region)| region).collect();
            total += union(here);
            left = rest;
        }
        f64::min(total, CEILING)
    }

    fn loose_elements(&self) -> f64 {
        self.loose.iter().map(|(_, elements)| elements).sum::<f64>().min(CEILING)
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
    /// `shape` is this array's. Elements at unknown positions stay as many.
    pub(super) fn map(&self, shape: &Shape, step: Step, map: impl Fn(&Region) -> Option<Region>) -> Demand {
        let mut mapped = Demand::default();
        self.loose.iter().for_each(|(place, elements)| mapped.add_loose(place.then(step.whole), *elements));
        for (place, region) in self.boxes_of(shape).iter().filter(|(_, region)| region.len() == shape.dimensions.len())
        {
            let there = if *place == Place::START { Some(*place) } else { step.turn.map(|turn| place.then(turn)) };
            match there.and_then(|there| Some((there, map(region)?))) {
                Some((there, region)) => mapped.add_region(there, region),
                None => mapped.add_loose(place.then((step.whole, region)), volume(region)),
            }
        }
        mapped
    }

    /// The same boxes of another array, counted from where `step` leads to.
    pub(super) fn moved(&self, shape: &Shape, step: u64) -> Demand {
        let mut moved = Demand::default();
        self.loose.iter().for_each(|(place, elements)| moved.add_loose(place.then(step), *elements));
        self.boxes_of(shape).iter().for_each(|(place, region)| moved.add_region(place.then(step), region.clone()));
        moved
    }

    /// As many elements of another array, at positions that `step` leads to.
    pub(super) fn scattered(&self, shape: &Shape, step: u64) -> Demand {
        let loose: Vec<Place> = self.loose.iter().map(|(place, _)| *place).collect();
        Demand::loose(Place::START.then((step, self.is_full, &self.regions, loose)), self.elements(shape))
    }

    /// Its boxes; all of the array is one.
    fn boxes_of(&self, shape: &Shape) -> Cow<'_, [(Place, Region)]> {
        match self.is_full {
            true => vec![(Place::START, shape.dimensions.iter().map(|&extent| Span::all(extent)).collect())].into(),
            false => (&self.regions[..]).into(),
        }
    }
}

fn volume(region: &[Span]) -> f64 {
    region.iter().fold(1.0, |product, span| times(product, span.count.max(0) as f64))
}

/// Elements in at least one of the boxes.
///
/// Boxes of different strides are taken to share nothing; of equal strides, those whose starts differ by less than a
/// stride do share nothing, and the others are counted in units of it.
fn union(mut left: Vec<&Region>) -> f64 {
    if let [only] = left[..] {
        return volume(only);
    }
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
        regions.iter().for_each(|region| demand.add_region(Place::START, region.clone()));
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
