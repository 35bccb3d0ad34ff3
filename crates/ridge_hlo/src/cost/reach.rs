//! Which elements of an operand an instruction needs for given elements of its result.
//!
//! Where it cannot be said exactly, the answer is more than is needed and never more than the operand.

use std::hash::{Hash, Hasher};

use super::demand::{Demand, Place, Region, Span, Step};
use super::sizes;
use rustc_hash::FxHasher;

use crate::{HloModule, Instruction, InstructionId, Shape};

/// Whether an update lands in the buffer of what it updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Update {
    /// The buffer is the operand's: what is not updated is not touched.
    InPlace,
    /// The result is a value of its own.
    Fresh,
}

/// What `instruction` needs of its operand at `position` for the elements `wanted` of its result.
pub(super) fn operand_demand(
    module: &HloModule,
    instruction: &Instruction,
    wanted: &Demand,
    position: usize,
    update: Update,
) -> Demand {
    let Some(&id) = instruction.operands.get(position).filter(|_| !wanted.is_none()) else { return Demand::default() };
    let operand = &module.instruction(id).shape;
    let reach = Reach { module, instruction, wanted, operand, position };
    match &*instruction.opcode {
        "slice" => reach.slice(),
        "dynamic-slice" if position == 0 => reach.dynamic_slice(),
        "dynamic-update-slice" if position == 0 => match update {
            Update::InPlace => Demand::default(),
            Update::Fresh => reach.outside_of_update(),
        },
        "gather" if position == 0 => wanted.scattered(&instruction.shape, reach.whole_step()),
        "scatter" => reach.scatter(position, update),
        "broadcast" => reach.broadcast(),
        "transpose" => reach.transpose(),
        "bitcast" | "reshape" => reach.reshape(),
        "concatenate" => reach.concatenate(position),
        "pad" if position == 0 => reach.pad(),
        "reverse" => reach.reverse(),
        "reduce" if !instruction.shape.is_tuple() && position == 0 => reach.reduce(),
        "reduce-window" if !instruction.shape.is_tuple() && position == 0 => reach.window(),
        "dot" if position < 2 => reach.dot(position),
        opcode if instruction.opcode.is_elementwise() || opcode == "copy" => {
            if operand.dimensions == instruction.shape.dimensions { wanted.clone() } else { Demand::full() }
        }
        _ => Demand::full(),
    }
}

struct Reach<'a> {
    module: &'a HloModule,
    instruction: &'a Instruction,
    wanted: &'a Demand,
    operand: &'a Shape,
    position: usize,
}

impl Reach<'_> {
    /// As [`Demand::map`], for what only shifts and turns boxes.
    fn map(&self, map: impl Fn(&Region) -> Option<Region>) -> Demand {
        let attributes = self.instruction.attributes();
        let strides: Vec<i64> = attributes.slices.iter().map(|at| at.stride).collect();
        let own = (&self.instruction.dimensions, strides, &attributes.window, &attributes.dot);
        let turn = hash((&*self.instruction.opcode, self.position, own));
        self.wanted.map(&self.instruction.shape, Step { turn: Some(turn), whole: self.whole_step() }, map)
    }

    /// As [`Reach::map`], for what asks how far from the start a box is.
    fn map_from_start(&self, map: impl Fn(&Region) -> Option<Region>) -> Demand {
        self.wanted.map(&self.instruction.shape, Step { turn: None, whole: self.whole_step() }, map)
    }

    /// What the operation does to positions: the same for two that do the same to arrays of the same extents.
    fn whole_step(&self) -> u64 {
        let attributes = self.instruction.attributes();
        let slices: Vec<[i64; 3]> = attributes.slices.iter().map(|at| [at.start, at.limit, at.stride]).collect();
        let edges: Vec<[i64; 3]> = attributes.padding.iter().map(|at| [at.low, at.high, at.interior]).collect();
        let extents = (&self.operand.dimensions, &self.instruction.shape.dimensions, &self.instruction.dimensions);
        let at = (self.position, self.instruction.operands.get(1..));
        hash((&*self.instruction.opcode, at, extents, slices, edges, &attributes.gather))
    }

    fn extent(&self, dimension: usize) -> i64 {
        sizes::extent_at(self.operand, dimension as i64) as i64
    }

    /// Every dimension of the operand in full, to be narrowed.
    fn whole(&self) -> Region {
        self.operand.dimensions.iter().map(|&extent| Span::all(extent)).collect()
    }

    fn slice(&self) -> Demand {
        let bounds = &self.instruction.attributes().slices;
        self.map(|region| {
            let spans = region.iter().zip(bounds).map(|(span, bounds)| Span {
                start: bounds.start.saturating_add(span.start.saturating_mul(bounds.stride)),
                count: span.count,
                stride: span.stride.saturating_mul(bounds.stride.max(1)),
            });
            (bounds.len() == region.len()).then(|| spans.collect())
        })
    }

    fn dynamic_slice(&self) -> Demand {
        let starts: Option<Vec<i64>> =
            (0..self.operand.dimensions.len()).map(|dimension| self.slice_start(dimension)).collect();
        let Some(starts) = starts else { return self.wanted.moved(&self.instruction.shape, self.whole_step()) };
        let shift = |(span, start): (&Span, &i64)| Span { start: span.start.saturating_add(*start), ..*span };
        self.map(|region| Some(region.iter().zip(&starts).map(shift).collect()))
    }

    /// Where a dynamic slice starts, if it is the same each time: it takes the whole dimension, or starts at a constant.
    fn slice_start(&self, dimension: usize) -> Option<i64> {
        let taken = *self.instruction.shape.dimensions.get(dimension)?;
        self.start_of(dimension, taken, self.instruction.operands.get(dimension + 1))
    }

    /// Where `taken` elements of a dimension start, as the operand `start` says.
    fn start_of(&self, dimension: usize, taken: i64, start: Option<&InstructionId>) -> Option<i64> {
        let room = self.extent(dimension).saturating_sub(taken);
        if room <= 0 {
            return Some(0);
        }
        self.module.instruction(*start?).literal.as_ref()?.integer().map(|start| start.clamp(0, room))
    }

    /// What an update leaves of its operand, where all of its result is wanted.
    fn outside_of_update(&self) -> Demand {
        let update = self.instruction.operands.get(1).map(|&id| &self.module.instruction(id).shape);
        let Some(update) = update.filter(|_| self.wanted.is_full()) else { return self.wanted.clone() };
        let start = |at: usize| self.start_of(at, *update.dimensions.get(at)?, self.instruction.operands.get(at + 2));
        let starts: Option<Vec<i64>> = (0..self.operand.dimensions.len()).map(start).collect();
        let Some(starts) = starts else {
            let left = sizes::elements(self.operand) - sizes::elements(update);
            return Demand::loose(Place::START.then(self.whole_step()), left);
        };
        // Before and after it in each dimension, where it is not already outside of it in an earlier one.
        let mut left = self.whole();
        let mut boxes = Vec::new();
        for (at, (&start, &extent)) in starts.iter().zip(&update.dimensions).enumerate() {
            let end = start.saturating_add(extent);
            for span in [Span::between(0, start), Span::between(end, self.extent(at))] {
                let mut outside = left.clone();
                outside[at] = span;
                boxes.push(outside);
            }
            left[at] = Span::between(start, end);
        }
        Demand::boxes(boxes)
    }

    fn scatter(&self, position: usize, update: Update) -> Demand {
        let arrays = self.instruction.operands.len().saturating_sub(1) / 2;
        if position >= arrays {
            return Demand::full();
        }
        match update {
            Update::Fresh if !self.instruction.shape.is_tuple() => self.wanted.clone(),
            Update::Fresh => Demand::full(),
            Update::InPlace if overwrites(self.module, self.instruction) => Demand::default(),
            Update::InPlace => {
                let updates = self.instruction.operands.get(arrays + 1 + position);
                let updated = updates.map_or(0.0, |&id| sizes::elements(&self.module.instruction(id).shape));
                Demand::loose(Place::START.then(self.whole_step()), updated)
            }
        }
    }

    fn broadcast(&self) -> Demand {
        if self.operand.dimensions.is_empty() || self.wanted.is_full() {
            return Demand::full();
        }
        let dimensions = &self.instruction.dimensions;
        self.map(|region| dimensions.iter().map(|&at| region.get(usize::try_from(at).ok()?).copied()).collect())
    }

    fn transpose(&self) -> Demand {
        if self.wanted.is_full() {
            return Demand::full();
        }
        let order = &self.instruction.dimensions;
        self.map(|region| {
            let mut moved = self.whole();
            for (span, &at) in region.iter().zip(order) {
                *moved.get_mut(usize::try_from(at).ok()?)? = *span;
            }
            Some(moved)
        })
    }

    /// Elements keep their order, so boxes stay boxes where only dimensions of one element come or go.
    fn reshape(&self) -> Demand {
        if self.wanted.is_full() {
            return Demand::full();
        }
        let is_long = |extent: &&i64| **extent != 1;
        let own = self.instruction.shape.dimensions.iter().filter(is_long);
        let is_plain = is_row_major(self.operand) && is_row_major(&self.instruction.shape);
        if !is_plain || !own.eq(self.operand.dimensions.iter().filter(is_long)) {
            return self.wanted.scattered(&self.instruction.shape, self.whole_step());
        }
        self.map(|region| {
            let mut long = region.iter().zip(&self.instruction.shape.dimensions).filter(|(_, extent)| **extent != 1);
            let next = |extent: &i64| if *extent == 1 { Some(Span::all(1)) } else { Some(*long.next()?.0) };
            self.operand.dimensions.iter().map(next).collect()
        })
    }

    fn concatenate(&self, position: usize) -> Demand {
        let Some(joined) = self.instruction.dimensions.first().and_then(|&at| usize::try_from(at).ok()) else {
            return Demand::full();
        };
        let extent_of =
            |id: &InstructionId| sizes::extent_at(&self.module.instruction(*id).shape, joined as i64) as i64;
        let before: i64 = self.instruction.operands[..position]
            .iter()
            .map(extent_of)
            .fold(0, |sum, extent| sum.saturating_add(extent));
        if self.wanted.is_full() {
            return Demand::full();
        }
        self.map_from_start(|region| {
            let mut own = region.clone();
            let span = own.get_mut(joined)?;
            *span = span.within(before, before.saturating_add(self.extent(joined)));
            Some(own)
        })
    }

    fn pad(&self) -> Demand {
        let edges = &self.instruction.attributes().padding;
        self.map_from_start(|region| {
            let own = |(at, span): (usize, &Span)| {
                let edge = edges.get(at)?;
                Some(span.between_padding(edge.low, edge.interior, self.extent(at)))
            };
            region.iter().enumerate().map(own).collect()
        })
    }

    fn reverse(&self) -> Demand {
        if self.wanted.is_full() {
            return Demand::full();
        }
        let is_turned = |at: usize| self.instruction.dimensions.contains(&(at as i64));
        let turn = |(at, span): (usize, &Span)| match is_turned(at) {
            true => Span { start: (self.extent(at) - 1).saturating_sub(span.last()), ..*span },
            false => *span,
        };
        self.map(|region| Some(region.iter().enumerate().map(turn).collect()))
    }

    fn reduce(&self) -> Demand {
        if self.wanted.is_full() {
            return Demand::full();
        }
        let is_reduced = |at: usize| self.instruction.dimensions.contains(&(at as i64));
        self.grow(|region| {
            let mut kept = region.iter();
            let span = |(at, &extent): (usize, &i64)| match is_reduced(at) {
                true => Some(Span::all(extent)),
                false => kept.next().copied(),
            };
            self.operand.dimensions.iter().enumerate().map(span).collect()
        })
    }

    fn window(&self) -> Demand {
        let Some(window) = &self.instruction.attributes().window else { return Demand::full() };
        self.grow(|region| {
            let span = |(at, span): (usize, &Span)| {
                let window = window.dimensions.get(at)?;
                let holes = window.base_dilation.max(1);
                let low = span.start.saturating_mul(window.stride).saturating_sub(window.padding_low);
                let high = span.last().saturating_mul(window.stride).saturating_sub(window.padding_low);
                let reach = (window.size - 1).max(0).saturating_mul(window.window_dilation.max(1));
                let end = high.saturating_add(reach).div_euclid(holes).saturating_add(1).min(self.extent(at));
                Some(Span::between((low.saturating_add(holes - 1)).div_euclid(holes).max(0), end))
            };
            region.iter().enumerate().map(span).collect()
        })
    }

    fn dot(&self, position: usize) -> Demand {
        let Some(dimensions) = self.instruction.attributes().dot.as_ref().filter(|_| !self.wanted.is_full()) else {
            return Demand::full();
        };
        let (batch, contracted) = match position {
            0 => (&dimensions.lhs_batch, &dimensions.lhs_contracting),
            _ => (&dimensions.rhs_batch, &dimensions.rhs_contracting),
        };
        let is_free = |at: &usize| !batch.contains(&(*at as i64)) && !contracted.contains(&(*at as i64));
        let free: Vec<usize> = (0..self.operand.dimensions.len()).filter(is_free).collect();
        // The result's dimensions: those of the batch, the left operand's own, the right operand's own.
        let first = if position == 0 {
            batch.len()
        } else {
            self.instruction.shape.dimensions.len().saturating_sub(free.len())
        };
        self.grow(|region| {
            let mut own = self.whole();
            for (&at, span) in free.iter().zip(region.get(first..)?) {
                own[at] = *span;
            }
            for (&at, span) in batch.iter().zip(region) {
                *own.get_mut(usize::try_from(at).ok()?)? = *span;
            }
            Some(own)
        })
    }

    /// As [`Reach::map`] for operations that need several elements for one: what cannot be told is everything.
    fn grow(&self, mut grow: impl FnMut(&Region) -> Option<Region>) -> Demand {
        let is_loose = std::cell::Cell::new(false);
        let grow = std::cell::RefCell::new(&mut grow);
        let mapped = self.map(|region| {
            let grown = grow.borrow_mut()(region);
            is_loose.set(is_loose.get() || grown.is_none());
            grown
        });
        if is_loose.get() || self.wanted.has_loose() { Demand::full() } else { mapped }
    }
}

/// A number for something.
fn hash(of: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Whether a scatter's combiner takes the update as it is.
fn overwrites(module: &HloModule, scatter: &Instruction) -> bool {
    let root = scatter.called.first().and_then(|&combiner| module.computation(combiner).root);
    root.is_some_and(|root| module.instruction(root).parameter_number == Some(1))
}

/// Whether elements lie in the order of their positions.
pub(super) fn is_row_major(shape: &Shape) -> bool {
    let Some(layout) = &shape.layout else { return true };
    let is_falling = layout.minor_to_major.windows(2).all(|pair| pair[0] > pair[1]);
    is_falling && layout.tiles.is_empty()
}
