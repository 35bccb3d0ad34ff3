//! One core's copy of a large block: what a program gets from `memcpy`.

use crate::rounds::Rounds;
use crate::team::{Budget, rounds};
use crate::windows::Windows;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;

/// Bytes of one round's copy.
const WINDOW_BYTES: usize = 8 << 20;

/// Times one core's copies of `bytes`; the bytes copied count once, as callers of `memcpy` count them.
pub(crate) fn measure(bytes: u64, budget: Budget, stop: &AtomicBool) -> Rounds {
    let length = usize::try_from(bytes).unwrap_or(usize::MAX);
    let window = WINDOW_BYTES.min(length);
    // Nonzero, because pages of zeros may be one page.
    let prepare = |_| (vec![1_u8; length], vec![2_u8; length], Windows::over(length, window));
    let nanos = rounds(1, budget, stop, prepare, |(to, from, windows)| {
        let window = windows.advance();
        to[window.clone()].copy_from_slice(black_box(&from[window]));
        black_box(to);
    });
    Rounds { amount: window as f64, nanos }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn bytes_count_once() {
        let budget = Budget { least_rounds: 2, time: Duration::ZERO };
        let rounds = measure(1 << 12, budget, &AtomicBool::new(false));
        assert_eq!((rounds.amount, rounds.nanos.len()), (4096.0, 2));
    }
}
