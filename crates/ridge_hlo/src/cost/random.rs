//! Random numbers: the integer operations of the generators that XLA uses.
//!
//! Rounds and words are those of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

use super::work::times;
use super::{Assumption, Cost, Costing, OpKind, sizes};
use crate::{ElementType, Instruction};

/// Operations of one word of ThreeFry-2x32-20: twenty rounds of a sum, a rotation (two shifts and an `or`) and an
/// `xor`, and five injections of the key of three sums each and two at the start, make two words.
pub(super) const THREEFRY_PER_WORD: f64 = (20.0 * 5.0 + 5.0 * 3.0 + 2.0) / 2.0;

/// Operations of one word of Philox-4x32-10: ten rounds of two products of both halves and four `xor`s, and nine steps of
/// the key of two sums each, make four words.
const PHILOX_PER_WORD: f64 = (10.0 * 8.0 + 9.0 * 2.0) / 4.0;

/// Bytes of a word.
const WORD_BYTES: f64 = 4.0;

impl Costing<'_> {
    /// `rng-bit-generator` and `rng`: by the algorithm it names, Philox where it names none.
    pub(super) fn random(&self, instruction: &Instruction, cost: &mut Cost) -> Option<()> {
        // The bit generator returns its new state and then the bits.
        let bits = instruction.shape.tuple.last().unwrap_or(&instruction.shape);
        let words = sizes::bytes(bits) / WORD_BYTES;
        let is_threefry = instruction.attributes().rng_algorithm.as_deref().is_some_and(|name| name.contains("three"));
        let per_word = if is_threefry { THREEFRY_PER_WORD } else { PHILOX_PER_WORD };
        cost.work.add(OpKind::Integer, ElementType::U32, times(words, per_word));
        if instruction.attributes().distribution.as_deref() == Some("rng_normal") {
            // The inverse error function of a uniform number.
            cost.work.add(OpKind::Transcendental, bits.element_type, sizes::elements(bits));
        }
        cost.assumptions.add(Assumption::RandomModel);
        Some(())
    }
}
