//! A window as a core: items of the input come one a clock in their order, results leave in theirs.
//!
//! A walk over the input brings every item once; what a window needs of earlier items comes from delays in memory, and at a
//! border each tap takes the item or constant that the program has there. Where a result needs a later item, the walk of the
//! results lags behind that of the items.

pub(in crate::verilog) mod bench;
pub(in crate::verilog) mod card;
mod files;
#[cfg(test)]
mod tests;
mod text;

pub(super) use files::files;
pub(super) use text::REGISTER_PORTS;

use crate::Refusal;
use crate::cone::{Bound, Places, WindowCode, index_of, sample};
use crate::program::Program;
use std::collections::{BTreeMap, BTreeSet};

/// Places at either end of a dimension that may be borders.
const WIDEST_BORDER: usize = 8;

/// Kinds of places, and taps in all of them.
const MOST_KINDS: usize = 4096;
const MOST_BINDINGS: usize = 200_000;

/// Bits of memory for earlier items: more than the boards of `offload` have on a chip.
const MOST_BITS: usize = 1 << 28;

/// What a tap takes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Taken {
    /// The item of an input that lies so many steps of the walk after the place of the result.
    Item(usize, i64),
    /// A real constant by its bits.
    Real(u64),
    /// A whole constant.
    Whole(i64),
}

/// One dimension of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Along {
    /// Items.
    pub(super) items: usize,
    /// Results.
    pub(super) results: usize,
    /// Items from one result to the next.
    pub(super) stride: usize,
    /// Results at the beginning and at the end whose taps lie otherwise.
    pub(super) borders: (usize, usize),
}

impl Along {
    /// Steps of the walk.
    pub(super) fn steps(&self) -> usize {
        self.items.max(self.last() + 1)
    }

    /// The step of the last result.
    pub(super) fn last(&self) -> usize {
        (self.results - 1) * self.stride
    }

    /// Kinds of places.
    fn kinds(&self) -> usize {
        self.borders.0 + 1 + self.borders.1
    }

    /// The kind of a result: those of the beginning, the middle, those of the end.
    fn kind(&self, at: usize) -> usize {
        let (low, high) = self.borders;
        match self.results - at {
            _ if at < low => at,
            left if left <= high => self.kinds() - left,
            _ => low,
        }
    }
}

/// How a window is fed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stream {
    /// Inputs whose items come together.
    pub(super) inputs: Vec<usize>,
    /// Dimensions, the last fastest.
    pub(super) dims: Vec<Along>,
    /// By tap: what it takes, with the kinds of places where it takes that; the middle's first.
    pub(super) taps: Vec<Vec<(Taken, BTreeSet<Vec<usize>>)>>,
    /// Steps from an item to the result that lies at its place.
    pub(super) lag: usize,
    /// Steps that each input's items are kept.
    pub(super) kept: BTreeMap<usize, BTreeSet<usize>>,
}

impl Stream {
    /// Steps of a frame.
    pub(super) fn steps(&self) -> usize {
        self.dims.iter().map(Along::steps).product()
    }

    /// Items of a frame.
    pub(super) fn items(&self) -> usize {
        self.dims.iter().map(|one| one.items).product()
    }

    /// Results of a frame.
    pub(super) fn results(&self) -> usize {
        self.dims.iter().map(|one| one.results).product()
    }

    /// Steps from the first item of a frame to its last result.
    pub(super) fn to_last(&self) -> usize {
        self.dims.iter().fold(0, |at, one| at * one.steps() + one.last()) + self.lag
    }

    /// The kinds of a dimension that are named: all but the middle.
    pub(super) fn named(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        self.dims.iter().enumerate().flat_map(|(dim, one)| {
            let (low, high) = one.borders;
            let first = (0..low).map(move |at| (dim, at, at * one.stride));
            let last = (1..=high).rev().map(move |left| (dim, one.kinds() - left, (one.results - left) * one.stride));
            first.chain(last)
        })
    }
}

fn refused<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal(why.into()))
}

/// How the window of a program is fed; `width` gives the bits of an item of an input.
///
/// # Errors
/// [`Refusal`] where its inputs are no stream of windows.
pub(super) fn stream(
    program: &Program,
    code: &WindowCode,
    places: &Places<'_>,
    width: impl Fn(usize) -> usize,
) -> Result<Stream, Refusal> {
    let out = &program.nodes[program.outputs[0]].dims;
    let inputs: BTreeSet<usize> = code.cone.taps.iter().map(|(input, _)| *input).collect();
    let inputs: Vec<usize> = inputs.into_iter().collect();
    let extents = &program.inputs[inputs[0]].dims;
    if inputs.iter().any(|input| program.inputs[*input].dims != *extents) {
        return refused("its inputs have different extents, so their items do not come together");
    }
    let looking = Looking { places, out, extents, along: moves(places, out, extents)? };
    let borders = looking.borders()?;
    let mut dims: Vec<Along> =
        extents.iter().map(|items| Along { items: *items, results: 1, stride: 1, borders: (0, 0) }).collect();
    for ((to, results), borders) in looking.along.iter().zip(out).zip(borders) {
        if let Some((to, stride)) = to {
            dims[*to] = Along { results: *results, stride: *stride, borders, ..dims[*to] };
        }
    }
    let kinds: usize = dims.iter().map(Along::kinds).product();
    if kinds > MOST_KINDS || kinds * code.cone.taps.len() > MOST_BINDINGS {
        return refused(format!("its borders are of {kinds} kinds, which is too many to choose from"));
    }
    let mut taps: Vec<Vec<(Taken, BTreeSet<Vec<usize>>)>> = vec![Vec::new(); code.cone.taps.len()];
    let mut at_kind: BTreeMap<Vec<usize>, Vec<Option<Taken>>> = BTreeMap::new();
    let middle: Vec<usize> = out.iter().map(|extent| extent / 2).collect();
    // The middle first: what it takes is what a tap takes where nothing else is said.
    for index in std::iter::once(middle).chain(looking.one_of_each(&dims)) {
        let kind = looking.kind(&index, &dims);
        let taken = looking.taken(&index, &dims)?;
        for (tap, one) in taps.iter_mut().zip(&taken) {
            let Some(one) = one else { continue };
            match tap.iter_mut().find(|(known, _)| known == one) {
                Some((_, kinds)) => {
                    kinds.insert(kind.clone());
                }
                None => tap.push((one.clone(), BTreeSet::from([kind.clone()]))),
            }
        }
        at_kind.insert(kind, taken);
    }
    for index in sample(out) {
        if at_kind.get(&looking.kind(&index, &dims)) != Some(&looking.taken(&index, &dims)?) {
            return refused(format!("its element {index:?} takes other elements than its neighbors do"));
        }
    }
    kept(Stream { inputs, dims, taps, lag: 0, kept: BTreeMap::new() }, width)
}

/// The same with its lag, and how long items are kept.
fn kept(mut made: Stream, width: impl Fn(usize) -> usize) -> Result<Stream, Refusal> {
    let items: Vec<(usize, i64)> = made
        .taps
        .iter()
        .flatten()
        .filter_map(|(taken, _)| match taken {
            Taken::Item(input, steps) => Some((*input, *steps)),
            Taken::Real(_) | Taken::Whole(_) => None,
        })
        .collect();
    let lag = items.iter().map(|(_, steps)| *steps).max().unwrap_or(0).max(0);
    for (input, steps) in items {
        made.kept.entry(input).or_default().insert((lag - steps) as usize);
    }
    made.lag = lag as usize;
    let bits = |(input, steps): (&usize, &BTreeSet<usize>)| steps.last().unwrap_or(&0).saturating_mul(width(*input));
    let bits = made.kept.iter().map(bits).fold(0_usize, usize::saturating_add);
    if made.lag >= made.steps() || bits > MOST_BITS {
        return refused(format!("it would keep {bits} bits of earlier items, more than fit on a chip"));
    }
    Ok(made)
}

/// Dimension of the input along which each dimension of the result moves, and how far; none where it has one place.
fn moves(places: &Places<'_>, out: &[usize], extents: &[usize]) -> Result<Vec<Option<(usize, usize)>>, Refusal> {
    let middle: Vec<usize> = out.iter().map(|extent| extent / 2).collect();
    let here = places.taps(&middle)?;
    let mut along = Vec::with_capacity(out.len());
    for dim in 0..out.len() {
        if out[dim] == 1 {
            along.push(None);
            continue;
        }
        let mut found: BTreeMap<Vec<i64>, usize> = BTreeMap::new();
        for (beside, sign) in [(middle[dim] + 1, 1), (middle[dim] - 1, -1)] {
            if beside >= out[dim] {
                continue;
            }
            let mut index = middle.clone();
            index[dim] = beside;
            for (one, other) in here.iter().zip(places.taps(&index)?) {
                if let (Some(Bound::Element(input, from)), Some(Bound::Element(same, to))) = (one, other)
                    && *input == same
                {
                    let (from, to) = (index_of(*from, extents), index_of(to, extents));
                    let way = to.iter().zip(&from).map(|(to, from)| sign * (*to as i64 - *from as i64));
                    *found.entry(way.collect()).or_default() += 1;
                }
            }
        }
        let usual =
            found.into_iter().filter(|(way, _)| way.iter().any(|one| *one != 0)).max_by_key(|(_, count)| *count);
        let Some((way, _)) = usual else { return refused(format!("its result is repeated along dimension {dim}")) };
        match way.iter().enumerate().filter(|(_, one)| **one != 0).collect::<Vec<_>>()[..] {
            [(to, stride)] if *stride > 0 => along.push(Some((to, *stride as usize))),
            _ => return refused(format!("dimension {dim} of its result does not follow the order of its input")),
        }
    }
    let order: Vec<usize> = along.iter().flatten().map(|(to, _)| *to).collect();
    if !order.windows(2).all(|two| two[0] < two[1]) {
        return refused("its result is in another order than its input");
    }
    Ok(along)
}

/// What stands in the place of a tap; if that is an element, how far it is along each dimension.
type Around = (Bound, Vec<i64>);

/// A program looked at along the dimensions of its input.
struct Looking<'a> {
    places: &'a Places<'a>,
    out: &'a [usize],
    extents: &'a [usize],
    along: Vec<Option<(usize, usize)>>,
}

impl Looking<'_> {
    /// What each tap takes at a place: how far from it along each dimension.
    fn around(&self, index: &[usize]) -> Result<Vec<Option<Around>>, Refusal> {
        let mut base = vec![0_i64; self.extents.len()];
        for (at, to) in index.iter().zip(&self.along) {
            if let Some((to, stride)) = to {
                base[*to] = (*at * *stride) as i64;
            }
        }
        let from = |bound: Option<Bound>| {
            bound.map(|bound| match bound {
                Bound::Element(input, at) => {
                    let place = index_of(at, self.extents);
                    let off = place.iter().zip(&base).map(|(place, base)| *place as i64 - base).collect();
                    (Bound::Element(input, 0), off)
                }
                other => (other, Vec::new()),
            })
        };
        Ok(self.places.taps(index)?.into_iter().map(from).collect())
    }

    /// The same in steps of the walk.
    fn taken(&self, index: &[usize], dims: &[Along]) -> Result<Vec<Option<Taken>>, Refusal> {
        let steps = |off: &[i64]| off.iter().zip(dims).fold(0, |at, (off, one)| at * one.steps() as i64 + off);
        let taken = |(bound, off): Around| match bound {
            Bound::Element(input, _) => Taken::Item(input, steps(&off)),
            Bound::Real(bits) => Taken::Real(bits),
            Bound::Whole(value) => Taken::Whole(value),
        };
        Ok(self.around(index)?.into_iter().map(|one| one.map(taken)).collect())
    }

    /// Along each dimension of the result how many places at its ends take other elements than the middle does.
    fn borders(&self) -> Result<Vec<(usize, usize)>, Refusal> {
        let middle: Vec<usize> = self.out.iter().map(|extent| extent / 2).collect();
        let usual = self.around(&middle)?;
        let mut all = Vec::with_capacity(self.out.len());
        for (dim, extent) in self.out.iter().enumerate() {
            let is_usual = |at: usize| -> Result<bool, Refusal> {
                let mut index = middle.clone();
                index[dim] = at;
                Ok(self.around(&index)? == usual)
            };
            let (mut low, mut high) = (0, 0);
            for far in 0..=WIDEST_BORDER {
                if far < middle[dim] && !is_usual(far)? {
                    low = far + 1;
                }
                if far < extent - 1 - middle[dim] && !is_usual(extent - 1 - far)? {
                    high = far + 1;
                }
            }
            if low.max(high) > WIDEST_BORDER {
                return refused(format!("its borders along dimension {dim} are wider than {WIDEST_BORDER} places"));
            }
            all.push((low, high));
        }
        Ok(all)
    }

    /// A place of each kind.
    fn one_of_each(&self, dims: &[Along]) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        for (extent, to) in self.out.iter().zip(&self.along) {
            let (low, high) = to.map_or((0, 0), |(to, _)| dims[to].borders);
            let along: Vec<usize> = (0..low).chain([extent / 2]).chain(extent - high..*extent).collect();
            all =
                all.iter().flat_map(|index| along.iter().map(move |at| [index.as_slice(), &[*at]].concat())).collect();
        }
        all
    }

    /// The kind of a place, along each dimension of the input.
    fn kind(&self, index: &[usize], dims: &[Along]) -> Vec<usize> {
        let mut kind: Vec<usize> = vec![0; dims.len()];
        for (at, to) in index.iter().zip(&self.along) {
            if let Some((to, _)) = to {
                kind[*to] = dims[*to].kind(*at);
            }
        }
        kind
    }
}
