//! What nobody knows before a design is built, drawn from what is thought of it.
//!
//! Draws are the same in every run and for every region and board, so that a difference between two predictions is never
//! a difference of luck.

use crate::{Constants, Parameter};

/// A value for each [`Parameter`], in the units of the formulas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw([f64; Parameter::ALL.len()]);

impl Draw {
    /// The value of `parameter`: Hz, seconds, or a part of 1.
    pub fn get(&self, parameter: Parameter) -> f64 {
        self.0[parameter as usize]
    }

    /// This with `parameter` at `value`.
    pub fn with(mut self, parameter: Parameter, value: f64) -> Draw {
        self.0[parameter as usize] = value;
        self
    }

    /// Each parameter at the value below which a part `share` of its distribution lies.
    pub fn at(constants: &Constants, share: f64) -> Draw {
        Draw(Parameter::ALL.map(|parameter| Draw::value(constants, parameter, share)))
    }

    /// The value of `parameter` below which a part `share` of its distribution lies.
    pub fn value(constants: &Constants, parameter: Parameter, share: f64) -> f64 {
        constants.prior(parameter).quantile(share) * parameter.scale()
    }

    /// `count` draws, the same whenever they are made.
    pub fn many(constants: &Constants, count: usize) -> Vec<Draw> {
        let mut random = SplitMix(SEED);
        (0..count).map(|_| Draw(Parameter::ALL.map(|at| Draw::value(constants, at, random.next_part())))).collect()
    }
}

/// Where the draws begin; any number would do.
const SEED: u64 = 0x5eed_0ff1_0ad5_0001;

/// SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1, 53 bits of it.
    fn next_part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants;

    #[test]
    fn the_generator_is_the_published_one() {
        // The first outputs of splitmix64 from seed 1234567, as its reference implementation gives them.
        let mut random = SplitMix(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn draws_are_the_same_every_time_and_follow_the_triangle() {
        let draws = Draw::many(constants(), 4000);
        assert_eq!(draws, Draw::many(constants(), 4000));
        for parameter in Parameter::ALL {
            let prior = constants().prior(parameter);
            let mean = draws.iter().map(|draw| draw.get(parameter)).sum::<f64>() / 4000.0;
            let expected = (prior.low + prior.mode + prior.high) / 3.0 * parameter.scale();
            assert!((mean / expected - 1.0).abs() < 0.03, "{}: {mean} {expected}", parameter.name());
        }
        assert_eq!(Draw::at(constants(), 0.0).get(Parameter::Clock), 150e6);
    }
}
