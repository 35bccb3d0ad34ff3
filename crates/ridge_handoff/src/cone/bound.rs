//! Where the elements of a place come from: the code of the middle, held against the code of that place.
//!
//! At a border the code is that of the middle with another element, or a constant of the padding, in the place of some taps.

use super::{Cone, Reals, Scalar, Walk, unrolled};
use crate::Refusal;
use crate::program::Program;
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// What stands in the place of a tap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Bound {
    /// An element: the input and its position.
    Element(usize, usize),
    /// A real constant by its bits.
    Real(u64),
    /// A whole constant.
    Whole(i64),
}

/// A program that is looked at place by place.
pub(crate) struct Places<'a> {
    program: Cow<'a, Program>,
    reals: Reals,
    cone: &'a Cone,
}

impl<'a> Places<'a> {
    /// The places of a program whose middle has this code.
    pub(crate) fn new(program: &'a Program, reals: Reals, cone: &'a Cone) -> Result<Places<'a>, Refusal> {
        Ok(Places { program: unrolled::unrolled(program)?, reals, cone })
    }

    /// What stands in the place of each tap; `None` where the result does not depend on it.
    ///
    /// # Errors
    /// [`Refusal`] where the code is another one.
    pub(crate) fn taps(&self, index: &[usize]) -> Result<Vec<Option<Bound>>, Refusal> {
        let here = Walk::cone(&self.program, self.reals, index)?;
        let differs = || Refusal(format!("the code of its element {index:?} differs from its inner code"));
        let mut bound = vec![None; self.cone.taps.len()];
        let (mut seen, mut open) = (FxHashSet::default(), vec![(self.cone.root, here.root)]);
        while let Some((ours, theirs)) = open.pop() {
            if !seen.insert((ours, theirs)) {
                continue;
            }
            let ((our, ty), (their, other)) = (&self.cone.nodes[ours], &here.nodes[theirs]);
            if ty != other {
                return Err(differs());
            }
            match (our, their) {
                (Scalar::Tap(number, _), their) => {
                    let found = match their {
                        Scalar::Tap(number, _) => {
                            let (input, at) = here.taps[*number];
                            Bound::Element(input, at)
                        }
                        Scalar::Real(bits) => Bound::Real(*bits),
                        Scalar::Whole(value) => Bound::Whole(*value),
                        Scalar::Each(..) | Scalar::Before(_) => return Err(differs()),
                    };
                    if bound[*number].replace(found).is_some_and(|known| known != found) {
                        return Err(differs());
                    }
                }
                (Scalar::Each(our, of), Scalar::Each(their, others)) if our == their && of.len() == others.len() => {
                    open.extend(of.iter().copied().zip(others.iter().copied()));
                }
                (Scalar::Before(of), Scalar::Before(others)) => {
                    open.extend(of.iter().copied().zip(others.iter().copied()));
                }
                (our, their) if our == their => {}
                _ => return Err(differs()),
            }
        }
        Ok(bound)
    }
}
