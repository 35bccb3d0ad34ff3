//! The rate of a transcendental function: chains of `x = exp(-x)` in registers, wide as the processor's vectors, on all cores.
//!
//! Vector libraries and compilers compute the function in this way: the argument is split into a multiple of ln 2 and a rest, the
//! rest goes into a polynomial, and the multiple is added to the exponent's bits (W. J. Cody and W. Waite, *Software Manual for
//! the Elementary Functions*, 1980).
//! Logarithms, sines and hyperbolic tangents take about as many steps.

use crate::chains::{Lanes, chains, work};
use crate::rounds::Rounds;
use crate::team::{Budget, rounds};
use bytemuck::cast;
use pulp::{Arch, Simd, WithSimd};
use std::f32::consts as singles;
use std::f64::consts as doubles;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;

/// Chains of each core: a chain takes some 60 cycles from link to link and keeps a unit busy for ten of them.
const CHAINS: usize = 8;
/// Links of each chain in one round: a millisecond or two.
const LINKS: u64 = 25_000;
/// An exponential counts as one operation.
const OPERATIONS: f64 = 1.0;

/// 1/k!, the polynomial of e^r for |r| ≤ ln 2 / 2: the next term of eight is below the last bit of an `f32`, of 14 of an `f64`.
const INVERSE_FACTORIALS: [f64; 14] = {
    let mut found = [1.0; 14];
    let mut k = 1;
    while k < found.len() {
        found[k] = found[k - 1] / k as f64;
        k += 1;
    }
    found
};
const SINGLE_TERMS: usize = 8;
const DOUBLE_TERMS: usize = INVERSE_FACTORIALS.len();

/// ln 2 in two parts, of which the first has so few bits that its product with a small whole number is exact.
const LN2_SINGLE: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
const LN2_DOUBLE: (f64, f64) = (0.693_145_751_953_125, 1.428_606_820_309_417_2e-6);

/// Added to a small number, it leaves the number's whole part in the lowest bits of the fraction; as f64 in bit 32 and above.
const ROUNDING_SINGLE: f32 = 12_582_912.0;
const ROUNDING_DOUBLE: f64 = 1_572_864.0;

chains! {
    /// Times exponentials of 8-byte numbers on `cores`.
    measure_f64 with DoubleChains: f64 in f64s by splat_f64s and reduce_sum_f64s, lanes 0;
    from 0.1; |simd, x| given () = ();
    exp_neg_f64(simd, x)
}

chains! {
    /// Times exponentials of 4-byte numbers on `cores`.
    measure_f32 with SingleChains: f32 in f32s by splat_f32s and reduce_sum_f32s, lanes 1;
    from 0.1; |simd, x| given () = ();
    exp_neg_f32(simd, x)
}

/// e^-x for |x| < 80.
#[inline(always)]
fn exp_neg_f32<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let shifted = simd.mul_add_e_f32s(x, simd.splat_f32s(-singles::LOG2_E), simd.splat_f32s(ROUNDING_SINGLE));
    let whole = simd.sub_f32s(shifted, simd.splat_f32s(ROUNDING_SINGLE));
    let rest = simd.neg_f32s(simd.mul_add_e_f32s(whole, simd.splat_f32s(LN2_SINGLE.0), x));
    let rest = simd.mul_add_e_f32s(whole, simd.splat_f32s(-LN2_SINGLE.1), rest);
    let mut sum = simd.splat_f32s(INVERSE_FACTORIALS[SINGLE_TERMS - 1] as f32);
    for k in (0..SINGLE_TERMS - 1).rev() {
        sum = simd.mul_add_e_f32s(sum, rest, simd.splat_f32s(INVERSE_FACTORIALS[k] as f32));
    }
    let exponent = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(23));
    simd.transmute_f32s_u32s(simd.add_u32s(simd.transmute_u32s_f32s(sum), exponent))
}

/// e^-x for |x| < 700.
#[inline(always)]
fn exp_neg_f64<S: Simd>(simd: S, x: S::f64s) -> S::f64s {
    // 1.5 * 2^52 rounds to whole numbers.
    let nearest = simd.splat_f64s(6_755_399_441_055_744.0);
    let whole = simd.sub_f64s(simd.mul_add_e_f64s(x, simd.splat_f64s(-doubles::LOG2_E), nearest), nearest);
    let rest = simd.neg_f64s(simd.mul_add_e_f64s(whole, simd.splat_f64s(LN2_DOUBLE.0), x));
    let rest = simd.mul_add_e_f64s(whole, simd.splat_f64s(-LN2_DOUBLE.1), rest);
    let mut sum = simd.splat_f64s(INVERSE_FACTORIALS[DOUBLE_TERMS - 1]);
    for k in (0..DOUBLE_TERMS - 1).rev() {
        sum = simd.mul_add_e_f64s(sum, rest, simd.splat_f64s(INVERSE_FACTORIALS[k]));
    }
    // The upper half of each number holds the whole part; the lower half is zero.
    let halves: S::u32s = cast(simd.add_f64s(whole, simd.splat_f64s(ROUNDING_DOUBLE)));
    let exponent: S::u64s = cast(simd.wrapping_dyn_shl_u32s(halves, simd.splat_u32s(20)));
    simd.transmute_f64s_u64s(simd.add_u64s(simd.transmute_u64s_f64s(sum), exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One number through a vector, in both widths.
    struct Once(f64);

    impl WithSimd for Once {
        type Output = (f64, f32);
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> (f64, f32) {
            let double = simd.reduce_max_f64s(exp_neg_f64(simd, simd.splat_f64s(self.0)));
            (double, simd.reduce_max_f32s(exp_neg_f32(simd, simd.splat_f32s(self.0 as f32))))
        }
    }

    #[test]
    fn the_function_is_the_exponential() {
        for x in [-60.0, -3.7, -0.5, 0.0, 0.1, 0.346, 1.0, 2.5, 42.0, 79.0] {
            let (double, single) = Arch::new().dispatch(Once(x));
            let expected = (-x).exp();
            assert!((double / expected - 1.0).abs() < 1e-15 * 4.0, "{x}: {double} {expected}");
            let expected = (-(x as f32)).exp();
            assert!((single / expected - 1.0).abs() < 4e-7, "{x}: {single} {expected}");
        }
    }

    #[test]
    fn every_link_of_every_chain_is_computed() {
        let arch = Arch::new();
        let (doubles, singles) = arch.dispatch(Lanes);
        for links in [0, 1, 5] {
            let chain = |start: usize| (0..links).fold(0.1 * start as f64, |x: f64, _| (-x).exp());
            let sum: f64 = (0..CHAINS).map(chain).sum();
            let found = arch.dispatch(DoubleChains { links });
            assert!((found - sum * doubles as f64).abs() < 1e-12, "{links}: {found}");
            let found = f64::from(arch.dispatch(SingleChains { links }));
            assert!((found - sum * singles as f64).abs() < 1e-4, "{links}: {found}");
        }
    }
}
