//! What nobody knows before a design is built, drawn from what is thought of it.
//!
//! Draws are the same in every run and for every region and board, so that a difference between two predictions is never
//! a difference of luck.

use crate::Constants;

macro_rules! parameters {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $words:literal, $scale:expr;)*) => {
        /// Something that is not known before a design is built.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Parameter {
            $($(#[$doc])* $variant,)*
        }

        impl Parameter {
            /// All of them.
            pub const ALL: [Parameter; [$($name),*].len()] = [$(Parameter::$variant),*];

            /// The name in files and options.
            pub fn name(self) -> &'static str {
                match self {
                    $(Parameter::$variant => $name,)*
                }
            }

            /// It in words.
            pub fn words(self) -> &'static str {
                match self {
                    $(Parameter::$variant => $words,)*
                }
            }

            /// What turns the unit of the file into that of the formulas: Hz, s, 1.
            fn scale(self) -> f64 {
                match self {
                    $(Parameter::$variant => $scale,)*
                }
            }
        }
    };
}

parameters! {
    /// Clock of the kernel, Hz.
    Clock = "clock", "clock", 1e6;
    /// Part of the DSP slices that a design can use.
    DspUse = "dsp_use", "usable part of the DSP slices", 1.0;
    /// Part of the look-up tables that a design can use.
    LutUse = "lut_use", "usable part of the look-up tables", 1.0;
    /// Part of the memory on the chip that a design can use.
    OnchipUse = "onchip_use", "usable part of the memory on the chip", 1.0;
    /// Part of its clocks in which a pipeline works.
    Pipeline = "pipeline", "busy part of the pipeline's clocks", 1.0;
    /// Part of HBM's peak rate.
    HbmRate = "hbm_rate", "reached part of HBM's rate", 1.0;
    /// Part of DDR's peak rate.
    DdrRate = "ddr_rate", "reached part of DDR's rate", 1.0;
    /// A random access to HBM, seconds.
    HbmLatency = "hbm_latency", "latency of HBM", 1e-9;
    /// A random access to DDR, seconds.
    DdrLatency = "ddr_latency", "latency of DDR", 1e-9;
    /// Random accesses in flight on a channel.
    Outstanding = "outstanding", "accesses in flight", 1.0;
    /// Banks of a table on the chip.
    Banks = "banks", "banks of a table", 1.0;
    /// Accesses that find their bank taken.
    Conflict = "conflict", "conflicts between banks", 1.0;
    /// Records that a merger puts out each clock.
    MergeWidth = "merge_width", "width of a merger", 1.0;
    /// Depth of the pipeline over the latencies on its longest path.
    Depth = "depth", "depth of the pipeline", 1.0;
    /// Starting a kernel on the board, seconds.
    Launch = "launch", "launch on the board", 1e-6;
    /// Part of the link's rate.
    LinkRate = "link_rate", "reached part of the link's rate", 1.0;
    /// Part of the board's design power.
    BoardPower = "board_power", "power of the board", 1.0;
    /// Part of its roof that a GPU reaches where none was measured.
    GpuEfficiency = "gpu_efficiency", "reached part of the GPU's roof", 1.0;
    /// From one kernel of a GPU to the next where none was measured, seconds.
    GpuLaunch = "gpu_launch", "launch on the GPU", 1e-6;
    /// Part of the GPU's design power.
    GpuPower = "gpu_power", "power of the GPU", 1.0;
}

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
