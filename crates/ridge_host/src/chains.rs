//! Chains of one operation in registers, wide as the processor's vectors, on all cores: what loops that measure arithmetic
//! have in common.
//!
//! It is a macro, so that each loop is compiled as one piece for the processor that it runs on.

use crate::rounds::Rounds;
use pulp::{Simd, WithSimd};

/// Defines a loop over `CHAINS` chains of `LINKS` links each, of `OPERATIONS` operations, and the function that times it.
macro_rules! chains {
    (
        $(#[$doc:meta])*
        $measure:ident with $chains:ident: $number:ident in $vector:ident by $splat:ident and $sum:ident, lanes $lanes:tt;
        from $step:literal; |$simd:ident, $x:ident| given $given:pat = $value:expr; $link:expr
    ) => {
        $(#[$doc])*
        pub(crate) fn $measure(cores: usize, budget: Budget, stop: &AtomicBool) -> Rounds {
            let arch = Arch::new();
            let nanos = rounds(cores, budget, stop, |_| 0.0, |sum| *sum = arch.dispatch($chains { links: LINKS }));
            work(OPERATIONS, LINKS, CHAINS * arch.dispatch(Lanes).$lanes * cores, nanos)
        }

        struct $chains {
            links: u64,
        }

        impl WithSimd for $chains {
            type Output = $number;
            #[inline(always)]
            fn with_simd<S: Simd>(self, $simd: S) -> $number {
                let $given = $value;
                let start = |chain: usize| $simd.$splat(black_box($step * chain as $number));
                let mut chains: [S::$vector; CHAINS] = std::array::from_fn(start);
                for _ in 0..self.links {
                    for chain in &mut chains {
                        let $x = *chain;
                        *chain = $link;
                    }
                }
                chains.iter().map(|chain| $simd.$sum(*chain)).sum()
            }
        }
    };
}

pub(crate) use chains;

/// Rounds of `links` links of `operations` operations each, in as many `numbers` at once.
pub(crate) fn work(operations: f64, links: u64, numbers: usize, nanos: Vec<u64>) -> Rounds {
    Rounds { amount: operations * (links * numbers as u64) as f64, nanos }
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
