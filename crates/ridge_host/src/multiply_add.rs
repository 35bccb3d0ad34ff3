//! The multiply-add rate: chains of `x = x m + b` in registers, wide as the processor's vectors, on all cores.
//!
//! A chain waits for its own last result, so a core needs as many chains as it has multiply-adds under way at once:
//! latency times units, 4 × 2 on Intel since Skylake and on AMD Zen (5 × 2 on Zen 1 and 2), 4 × 4 on Apple M1
//! (Agner Fog, *Instruction tables*; Dougall Johnson, *Apple M1 microarchitecture research*).

use crate::chains::{Lanes, chains, work};
use crate::rounds::Rounds;
use crate::team::{Budget, rounds};
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;
use std::sync::atomic::AtomicBool;

/// Chains of each core: enough for every unit, and with the two constants no more than the registers (16 under AVX2, else 32).
const CHAINS: usize = if cfg!(target_arch = "aarch64") { 20 } else { 12 };
/// Links of each chain in one round: a millisecond or two, shorter than the time slice of a busy system.
const LINKS: u64 = 500_000;
/// Operations of a multiply-add.
const OPERATIONS: f64 = 2.0;

chains! {
    /// Times multiply-adds of 8-byte numbers on `cores`.
    measure_f64 with DoubleChains: f64 in f64s by splat_f64s and reduce_sum_f64s, lanes 0;
    from 1.0; |simd, x| given (factor, summand) = (simd.splat_f64s(black_box(0.5)), simd.splat_f64s(black_box(0.25)));
    simd.mul_add_e_f64s(x, factor, summand)
}

chains! {
    /// Times multiply-adds of 4-byte numbers on `cores`.
    measure_f32 with SingleChains: f32 in f32s by splat_f32s and reduce_sum_f32s, lanes 1;
    from 1.0; |simd, x| given (factor, summand) = (simd.splat_f32s(black_box(0.5)), simd.splat_f32s(black_box(0.25)));
    simd.mul_add_e_f32s(x, factor, summand)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x ← x / 2 + 1/4 from `x`, `links` times: (x − 1/2) / 2^links + 1/2.
    fn closed_form(links: i32, lanes: usize) -> f64 {
        let chain = |start: usize| (start as f64 - 0.5) / f64::powi(2.0, links) + 0.5;
        (0..CHAINS).map(chain).sum::<f64>() * lanes as f64
    }

    #[test]
    fn every_link_of_every_chain_is_computed() {
        let arch = Arch::new();
        let (doubles, singles) = arch.dispatch(Lanes);
        for links in [0, 1, 5] {
            let expected = |lanes| closed_form(links, lanes);
            let links = u64::try_from(links).expect("not negative");
            assert_eq!(arch.dispatch(DoubleChains { links }), expected(doubles));
            assert_eq!(f64::from(arch.dispatch(SingleChains { links })), expected(singles));
        }
    }

    #[test]
    fn a_multiply_add_is_two_operations() {
        let rounds = work(OPERATIONS, LINKS, CHAINS * 8 * 2, vec![1_000_000_000]);
        assert_eq!(rounds.best_per_sec(), Some(2.0 * 500_000.0 * CHAINS as f64 * 8.0 * 2.0));
    }
}
