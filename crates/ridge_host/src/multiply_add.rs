//! The multiply-add rate: chains of `x = x m + b` in registers, wide as the processor's vectors, on all cores.
//!
//! A chain waits for its own last result, so a core needs as many chains as it has multiply-adds under way at once:
//! latency times units, 4 × 2 on Intel since Skylake and on AMD Zen (5 × 2 on Zen 1 and 2), 4 × 4 on Apple M1
//! (Agner Fog, *Instruction tables*; Dougall Johnson, *Apple M1 microarchitecture research*).

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

/// Times multiply-adds of 8-byte numbers on `cores`.
pub(crate) fn measure_f64(cores: usize, budget: Budget, stop: &AtomicBool) -> Rounds {
    let arch = Arch::new();
    let nanos = rounds(cores, budget, stop, |_| 0.0, |sum| *sum = arch.dispatch(DoubleChains { links: LINKS }));
    work(cores, arch.dispatch(Lanes).0, nanos)
}

/// Times multiply-adds of 4-byte numbers on `cores`.
pub(crate) fn measure_f32(cores: usize, budget: Budget, stop: &AtomicBool) -> Rounds {
    let arch = Arch::new();
    let nanos = rounds(cores, budget, stop, |_| 0.0, |sum| *sum = arch.dispatch(SingleChains { links: LINKS }));
    work(cores, arch.dispatch(Lanes).1, nanos)
}

fn work(cores: usize, lanes: usize, nanos: Vec<u64>) -> Rounds {
    Rounds { amount: OPERATIONS * (LINKS * (CHAINS * lanes * cores) as u64) as f64, nanos }
}

/// Numbers in a vector of this processor: of 8 bytes, of 4 bytes.
pub(crate) struct Lanes;

impl WithSimd for Lanes {
    type Output = (usize, usize);
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> (usize, usize) {
        (S::F64_LANES, S::F32_LANES)
    }
}

struct DoubleChains {
    links: u64,
}

impl WithSimd for DoubleChains {
    type Output = f64;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (factor, summand) = (simd.splat_f64s(black_box(0.5)), simd.splat_f64s(black_box(0.25)));
        let mut chains: [S::f64s; CHAINS] = std::array::from_fn(|chain| simd.splat_f64s(black_box(chain as f64)));
        for _ in 0..self.links {
            for chain in &mut chains {
                *chain = simd.mul_add_e_f64s(*chain, factor, summand);
            }
        }
        chains.iter().map(|chain| simd.reduce_sum_f64s(*chain)).sum()
    }
}

struct SingleChains {
    links: u64,
}

impl WithSimd for SingleChains {
    type Output = f32;
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f32 {
        let (factor, summand) = (simd.splat_f32s(black_box(0.5)), simd.splat_f32s(black_box(0.25)));
        let mut chains: [S::f32s; CHAINS] = std::array::from_fn(|chain| simd.splat_f32s(black_box(chain as f32)));
        for _ in 0..self.links {
            for chain in &mut chains {
                *chain = simd.mul_add_e_f32s(*chain, factor, summand);
            }
        }
        chains.iter().map(|chain| simd.reduce_sum_f32s(*chain)).sum()
    }
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
        let rounds = work(2, 8, vec![1_000_000_000]);
        assert_eq!(rounds.best_per_sec(), Some(2.0 * 500_000.0 * CHAINS as f64 * 8.0 * 2.0));
    }
}
