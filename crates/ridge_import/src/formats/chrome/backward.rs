//! Which operator of the backward pass computes whose gradient.
//!
//! Autograd numbers the calls of the forward pass, and a backward operator has the number of its forward one. Several
//! operators that call each other have one number; the innermost, which began last, is the one that autograd recorded.
//! Source: `torch/csrc/autograd/function.h` (`sequence_nr`) and `profiler_kineto.cpp` (`Sequence number`, `Fwd thread id`).
//!
//! A number that is followed by a higher one on its thread was used up: autograd kept something for the gradient of that operator.
//! Without gradients (`torch.no_grad`) operators have no number, and those of constants do not use theirs up.
//!
//! Threads count by themselves: where several run forward passes at once, the last call of a number wins.

use super::decimal::whole;
use super::placed::Placed;
use super::row::Row;
use crate::import::Import;
use ridge_trace::{Backward, EventKind};
use rustc_hash::FxHashMap;

/// Set in the place of an operator of the backward pass.
const IS_BACKWARD: u32 = 1 << 31;

/// An operator's place in autograd's order as 32 bits, 0 where it has none.
pub(super) fn autograd_place(sequence: &[u8], forward_thread: &[u8]) -> u32 {
    let number =
        whole(sequence).and_then(|number| u32::try_from(number).ok()).filter(|number| *number < IS_BACKWARD - 1);
    let is_backward = whole(forward_thread).is_some_and(|thread| thread != 0);
    number.map_or(0, |number| (number + 1) | if is_backward { IS_BACKWARD } else { 0 })
}

/// Adds the operators that autograd recorded to the trace, and its backward operators, each with its forward one.
pub(super) fn link_backwards(placed: &Placed, import: &mut Import) {
    for track in placed.threads() {
        let is_forward = |stored: &Row| {
            stored.kind == EventKind::Operator as u8 && stored.correlation != 0 && stored.correlation & IS_BACKWARD == 0
        };
        let mut forward: Vec<(i64, u32, u32)> = track
            .rows
            .clone()
            .zip(&track.stored)
            .filter(|(_, stored)| is_forward(stored))
            .map(|(row, stored)| (stored.start_ns, row, stored.correlation))
            .collect();
        forward.sort_unstable();
        let used_up = forward.windows(2).filter(|pair| pair[1].2 > pair[0].2);
        import.builder.recorded.extend(used_up.map(|pair| pair[0].1));
    }
    let operators = || {
        let rows = placed.threads().flat_map(|track| track.rows.clone().zip(&track.stored));
        rows.filter(|(_, stored)| stored.kind == EventKind::Operator as u8 && stored.correlation != 0)
    };
    if !operators().any(|(_, stored)| stored.correlation & IS_BACKWARD != 0) {
        return;
    }
    let mut forward: FxHashMap<u32, (i64, u32)> = FxHashMap::default();
    for (row, stored) in operators().filter(|(_, stored)| stored.correlation & IS_BACKWARD == 0) {
        let last = forward.entry(stored.correlation).or_insert((stored.start_ns, row));
        if stored.start_ns >= last.0 {
            *last = (stored.start_ns, row);
        }
    }
    let backwards = operators().filter_map(|(event, stored)| {
        let number = stored.correlation.checked_sub(IS_BACKWARD)?;
        let (_, forward) = *forward.get(&number)?;
        Some(Backward { event, forward })
    });
    import.builder.backwards.extend(backwards);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_tell_the_passes_apart() {
        for (sequence, thread, expected) in [
            ("6", "0", 7),
            ("6", "", 7),
            ("6", "1", 7 | IS_BACKWARD),
            ("0", "0", 1),
            ("", "1", 0),
            ("-1", "0", 0),
            ("4294967295", "0", 0),
        ] {
            assert_eq!(autograd_place(sequence.as_bytes(), thread.as_bytes()), expected, "{sequence} {thread}");
        }
    }
}
