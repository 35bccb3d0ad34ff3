//! The datapath of a stage: operations on scalars, each with a register behind it, and reads of memories between them.
//!
//! Positions are kept as sums of counters with constant factors as long as possible, so that most of them need neither a
//! multiplication nor a division.

use super::super::Wires;
use crate::Refusal;
use crate::program::Each;
use ridge_hlo::ElementType;
use rustc_hash::FxHashMap;

/// Operations of a stage.
const MOST: usize = 4_000;

/// Position in [`Path::nodes`].
pub(super) type At = usize;

/// A position: a sum of variables with factors, and a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Ix {
    /// Factor and variable, the variables in order.
    terms: Vec<(i64, At)>,
    offset: i64,
}

impl Ix {
    /// A number.
    pub(super) fn number(offset: i64) -> Ix {
        Ix { terms: Vec::new(), offset }
    }

    /// A variable.
    pub(super) fn variable(at: At) -> Ix {
        Ix { terms: vec![(1, at)], offset: 0 }
    }

    /// The number that it is, if it is one.
    pub(super) fn known(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.offset)
    }

    pub(super) fn terms(&self) -> &[(i64, At)] {
        &self.terms
    }

    pub(super) fn offset(&self) -> i64 {
        self.offset
    }

    pub(super) fn scaled(&self, by: i64, more: i64) -> Ix {
        let terms = if by == 0 { Vec::new() } else { self.terms.iter().map(|(one, at)| (one * by, *at)).collect() };
        Ix { terms, offset: self.offset * by + more }
    }

    pub(super) fn plus(&self, other: &Ix) -> Ix {
        let mut terms = self.terms.clone();
        for (by, at) in &other.terms {
            match terms.iter_mut().find(|(_, known)| known == at) {
                Some((sum, _)) => *sum += by,
                None => terms.push((*by, *at)),
            }
        }
        terms.retain(|(by, _)| *by != 0);
        terms.sort_by_key(|(_, at)| *at);
        Ix { terms, offset: self.offset + other.offset }
    }
}

/// The position of an index in an array.
pub(super) fn linear(index: &[Ix], dims: &[usize]) -> Ix {
    index.iter().zip(dims).fold(Ix::default(), |all, (at, extent)| all.scaled(*extent as i64, 0).plus(at))
}

/// An operation on scalars.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Item {
    /// The counter of a dimension.
    Counter(usize),
    /// A position in wires.
    Sum(Ix),
    /// A position divided, and what is left.
    Divide(At, i64),
    Modulo(At, i64),
    /// Whether a position is one of these, both included.
    Within(At, i64, i64),
    /// Whether all of these hold.
    All(Vec<At>),
    /// A number of the program held from 0 to the most, as a position.
    Clamp(At, i64),
    /// Whether a number of the program lies there.
    Inside(At, i64),
    /// A position as a number of the program.
    Number(At),
    /// A constant.
    Literal(i64),
    /// An operation of the program.
    Each(Each, Vec<At>),
    /// A word of a memory, by its number, at an address.
    Load(usize, At),
}

impl Item {
    /// What it reads of other operations.
    pub(super) fn reads(&self) -> Vec<At> {
        match self {
            Item::Counter(_) | Item::Literal(_) => Vec::new(),
            Item::Sum(ix) => ix.terms.iter().map(|(_, at)| *at).collect(),
            Item::Divide(at, _)
            | Item::Modulo(at, _)
            | Item::Within(at, ..)
            | Item::Clamp(at, _)
            | Item::Inside(at, _)
            | Item::Number(at)
            | Item::Load(_, at) => vec![*at],
            Item::All(of) | Item::Each(_, of) => of.clone(),
        }
    }
}

/// An operation with what it gives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Made {
    pub(super) item: Item,
    pub(super) ty: ElementType,
    pub(super) wires: Wires,
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Always,
    Never,
    Where(At),
}

/// Operations, each after what it reads.
#[derive(Debug, Default)]
pub(super) struct Path {
    pub(super) nodes: Vec<Made>,
    /// The least and the greatest of each position.
    ranges: Vec<(i64, i64)>,
    known: FxHashMap<Made, At>,
}

/// Bits of a signed number from the least to the greatest.
fn bits(low: i64, high: i64) -> usize {
    let magnitude = |value: i64| 64 - if value < 0 { (!value).leading_zeros() } else { value.leading_zeros() };
    magnitude(low).max(magnitude(high)) as usize + 1
}

impl Path {
    pub(super) fn put(&mut self, item: Item, ty: ElementType, wires: Wires) -> Result<At, Refusal> {
        self.put_in(item, ty, wires, (0, 0))
    }

    fn put_in(&mut self, item: Item, ty: ElementType, wires: Wires, range: (i64, i64)) -> Result<At, Refusal> {
        let made = Made { item, ty, wires };
        if let Some(&at) = self.known.get(&made) {
            return Ok(at);
        }
        if self.nodes.len() >= MOST {
            return Err(Refusal(format!("one of its stages has more than {MOST} operations")));
        }
        self.nodes.push(made.clone());
        self.ranges.push(range);
        self.known.insert(made, self.nodes.len() - 1);
        Ok(self.nodes.len() - 1)
    }

    /// A position that lies in a range, as a variable.
    fn position(&mut self, item: Item, (low, high): (i64, i64)) -> Result<At, Refusal> {
        let wires = Wires { width: bits(low, high), is_signed: true };
        self.put_in(item, ElementType::S64, wires, (low, high))
    }

    /// The counter of a dimension.
    pub(super) fn counter(&mut self, dim: usize, extent: usize) -> Result<Ix, Refusal> {
        if extent == 1 {
            return Ok(Ix::number(0));
        }
        Ok(Ix::variable(self.position(Item::Counter(dim), (0, extent as i64 - 1))?))
    }

    /// The least and the greatest that a position can be.
    pub(super) fn range_of(&self, at: At) -> (i64, i64) {
        self.ranges[at]
    }

    fn range(&self, ix: &Ix) -> (i64, i64) {
        ix.terms.iter().fold((ix.offset, ix.offset), |(low, high), (by, at)| {
            let (least, most) = self.ranges[*at];
            let ends = [by * least, by * most];
            (low + ends[0].min(ends[1]), high + ends[0].max(ends[1]))
        })
    }

    /// A position in wires.
    pub(super) fn sum(&mut self, ix: &Ix) -> Result<At, Refusal> {
        match (&ix.terms[..], ix.offset) {
            ([(1, at)], 0) => Ok(*at),
            _ => {
                let range = self.range(ix);
                self.position(Item::Sum(ix.clone()), range)
            }
        }
    }

    /// A position divided, and what is left, which is never below zero.
    pub(super) fn divided(&mut self, ix: &Ix, by: i64) -> Result<(Ix, Ix), Refusal> {
        if by == 1 {
            return Ok((ix.clone(), Ix::number(0)));
        }
        let whole = ix.terms.iter().filter(|(one, _)| one % by == 0).map(|(one, at)| (one / by, *at)).collect();
        let rest: Vec<(i64, At)> = ix.terms.iter().filter(|(one, _)| one % by != 0).copied().collect();
        let quotient = Ix { terms: whole, offset: ix.offset.div_euclid(by) };
        let rest = Ix { terms: rest, offset: ix.offset.rem_euclid(by) };
        let (low, high) = self.range(&rest);
        if low >= 0 && high < by {
            return Ok((quotient, rest));
        }
        // Moved above zero by a multiple, so that cutting is rounding down.
        let moved = (-low).max(0).div_euclid(by) + i64::from(low < 0);
        let sum = self.sum(&rest.scaled(1, moved * by))?;
        let high = high + moved * by;
        let found = self.position(Item::Divide(sum, by), (0, high / by))?;
        let left = self.position(Item::Modulo(sum, by), (0, (by - 1).min(high)))?;
        Ok((quotient.plus(&Ix::variable(found)).scaled(1, -moved), Ix::variable(left)))
    }

    /// Whether a position is one of these, both included.
    pub(super) fn within(&mut self, ix: &Ix, least: i64, most: i64) -> Result<Holds, Refusal> {
        let (low, high) = self.range(ix);
        if low >= least && high <= most {
            return Ok(Holds::Always);
        }
        if high < least || low > most {
            return Ok(Holds::Never);
        }
        let sum = self.sum(ix)?;
        let wires = Wires { width: 1, is_signed: false };
        Ok(Holds::Where(self.put(Item::Within(sum, least, most), ElementType::Pred, wires)?))
    }

    /// Whether all hold.
    pub(super) fn all(&mut self, holds: &[Holds]) -> Result<Holds, Refusal> {
        if holds.contains(&Holds::Never) {
            return Ok(Holds::Never);
        }
        let mut all: Vec<At> =
            holds.iter().filter_map(|one| if let Holds::Where(at) = one { Some(*at) } else { None }).collect();
        all.sort_unstable();
        all.dedup();
        match all[..] {
            [] => Ok(Holds::Always),
            [at] => Ok(Holds::Where(at)),
            _ => {
                let wires = Wires { width: 1, is_signed: false };
                Ok(Holds::Where(self.put(Item::All(all), ElementType::Pred, wires)?))
            }
        }
    }

    /// A number of the program held within an array, as a position.
    pub(super) fn clamped(&mut self, at: At, most: usize) -> Result<Ix, Refusal> {
        if most == 0 {
            return Ok(Ix::number(0));
        }
        if let Item::Literal(value) = self.nodes[at].item {
            return Ok(Ix::number(value.clamp(0, most as i64)));
        }
        Ok(Ix::variable(self.position(Item::Clamp(at, most as i64), (0, most as i64))?))
    }

    /// The same where it lies inside, and whether it does.
    pub(super) fn inside(&mut self, at: At, most: usize) -> Result<(Ix, Holds), Refusal> {
        let place = self.clamped(at, most)?;
        let wires = Wires { width: 1, is_signed: false };
        Ok((place, Holds::Where(self.put(Item::Inside(at, most as i64), ElementType::Pred, wires)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_divided_without_dividers_where_counters_fit() {
        let mut path = Path::default();
        let (a, b) = (path.counter(0, 6).expect("a counter"), path.counter(1, 8).expect("a counter"));
        let all = linear(&[a.clone(), b.clone()], &[6, 8]);
        assert_eq!(path.divided(&all, 8).expect("divided"), (a.clone(), b.clone()));
        assert_eq!(path.nodes.len(), 2);
        let (quotient, left) = path.divided(&all.scaled(1, -3), 5).expect("divided");
        assert!(quotient.known().is_none() && left.known().is_none());
        assert!(path.nodes.iter().any(|node| matches!(node.item, Item::Divide(_, 5))));
        assert_eq!(path.within(&all, 0, 47), Ok(Holds::Always));
        assert_eq!(path.within(&all, 48, 50), Ok(Holds::Never));
        assert!(matches!(path.within(&all, 1, 47), Ok(Holds::Where(_))));
    }
}
