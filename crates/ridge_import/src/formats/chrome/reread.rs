//! How much of a damaged file is read again, so that all work is bounded by the bytes of the file times a constant.
//!
//! An event that cannot be read is left out and the next one is looked for right behind its beginning, so bytes are
//! read again. Every byte that was passed pays for reading [`LAPS`] others again; where nothing is left, the search
//! goes on behind all that was looked at in vain, and at most [`SHORTEST`] bytes of sound events go with it.

/// Bytes read again for each byte that was passed.
const LAPS: usize = 4;
/// Bytes that may be read again however little was passed.
const FREE: usize = 4 << 20;
/// Events up to this length, in bytes, are read however much was read again.
const SHORTEST: usize = 64 << 10;
/// No event is longer, in bytes.
pub(super) const LONGEST: usize = 64 << 20;
/// Attempts in vain at events that seem to be longer than others.
const MOST_LONG: u8 = 2;

/// What may still be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RereadBudget {
    bytes: usize,
    long: u8,
}

impl RereadBudget {
    /// At the beginning of a file.
    pub(super) const AT_FIRST: RereadBudget = RereadBudget { bytes: FREE, long: MOST_LONG };

    /// `bytes` were passed for good.
    #[inline]
    pub(super) fn went_on(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes.saturating_mul(LAPS));
    }

    /// How far the end of an event is looked for, in bytes.
    #[inline]
    pub(super) fn longest(&self) -> usize {
        (self.bytes / 4).clamp(SHORTEST, LONGEST)
    }

    /// Whether an event that did not end so far may be looked at up to [`LONGEST`].
    pub(super) fn may_be_long(&self) -> bool {
        self.long > 0
    }

    /// An event was looked at up to [`LONGEST`] and could not be read. One that can is passed, and so pays for itself.
    pub(super) fn was_long_in_vain(&mut self) {
        self.long = self.long.saturating_sub(1);
    }

    /// Whether `bytes` may be read again; they are paid for then.
    pub(super) fn reads_again(&mut self, bytes: usize) -> bool {
        let left = self.bytes.checked_sub(bytes);
        self.bytes = left.unwrap_or(self.bytes);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_again_is_paid_for_by_what_was_passed() {
        let mut budget = RereadBudget::AT_FIRST;
        let mut again = 0;
        while budget.reads_again(budget.longest()) {
            again += budget.longest();
        }
        assert!(again <= FREE && budget.longest() == SHORTEST);
        budget.went_on(SHORTEST);
        assert!(budget.reads_again(SHORTEST * LAPS) && !budget.reads_again(SHORTEST));
    }
}
