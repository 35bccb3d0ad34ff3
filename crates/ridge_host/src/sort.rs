//! The rate of comparisons in a sort: blocks of random numbers, sorted on all cores at once.
//!
//! n numbers count n log₂ n comparisons, as the cost model counts them, however few an algorithm needs.

use crate::rounds::Rounds;
use crate::team::{Budget, rounds};
use std::cmp::Ordering;
use std::sync::atomic::AtomicBool;

/// Numbers of a block: the processor's caches hold it, and its sort takes a millisecond or so.
const NUMBERS: usize = 1 << 15;

/// Times sorts of 8-byte numbers on `cores`.
pub(crate) fn measure_f64(cores: usize, budget: Budget, stop: &AtomicBool) -> Rounds {
    measure(cores, budget, stop, |random| random as f64, f64::total_cmp)
}

/// Times sorts of 4-byte numbers on `cores`.
pub(crate) fn measure_f32(cores: usize, budget: Budget, stop: &AtomicBool) -> Rounds {
    measure(cores, budget, stop, |random| random as f32, f32::total_cmp)
}

fn measure<T: Copy + Send>(
    cores: usize,
    budget: Budget,
    stop: &AtomicBool,
    number: impl Fn(u64) -> T + Sync,
    order: impl Fn(&T, &T) -> Ordering + Sync,
) -> Rounds {
    let prepare = |core: usize| {
        let random: Vec<T> = numbers(core as u64).map(&number).collect();
        (random.clone(), random)
    };
    let nanos = rounds(cores, budget, stop, prepare, |(block, random)| {
        block.copy_from_slice(random);
        block.sort_unstable_by(&order);
    });
    Rounds { amount: (NUMBERS * cores) as f64 * (NUMBERS as f64).log2(), nanos }
}

/// The same numbers at every run: xorshift64 (G. Marsaglia, *Xorshift RNGs*, 2003).
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let next = |state: &u64| {
        let state = state ^ (state << 13);
        let state = state ^ (state >> 7);
        Some(state ^ (state << 17))
    };
    std::iter::successors(Some(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)), next).take(NUMBERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn n_log_n_comparisons_are_counted() {
        let budget = Budget { least_rounds: 2, time: Duration::ZERO };
        for rounds in [measure_f64(2, budget, &AtomicBool::new(false)), measure_f32(2, budget, &AtomicBool::new(false))]
        {
            assert_eq!((rounds.amount, rounds.nanos.len()), (2.0 * 32_768.0 * 15.0, 2));
        }
    }

    #[test]
    fn the_numbers_are_in_no_order() {
        let numbers: Vec<u64> = numbers(3).collect();
        let rises = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!(rises.abs_diff(NUMBERS / 2) < NUMBERS / 50, "{rises}");
    }
}
