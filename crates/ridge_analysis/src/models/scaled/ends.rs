//! What a kernel's time is on another device, from the two ends that it may lie between: memory and arithmetic.

use super::waves::Waves;
use crate::{ComputeUnit, DeviceSheet, Limit, NumberType};
use ridge_trace::LaunchShape;

/// The two devices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) from: &'static DeviceSheet,
    pub(super) to: &'static DeviceSheet,
}

/// A time on the other device as a part of that on the captured one: at least and at most.
pub(super) type Range = (f64, f64);

/// The same time.
pub(super) const STAYS: Range = (1.0, 1.0);

/// What a kernel has to do, at the roofs of one device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roof {
    pub(super) compute_secs: f64,
    pub(super) memory_secs: f64,
}

impl Roof {
    pub(super) fn secs(self) -> f64 {
        self.compute_secs.max(self.memory_secs)
    }
}

/// The same at the roofs of both.
#[derive(Debug, Clone, Copy)]
pub(super) struct AtRoofs {
    pub(super) here: Roof,
    pub(super) there: Roof,
}

impl AtRoofs {
    pub(super) fn ratio(&self) -> f64 {
        self.there.secs() / self.here.secs()
    }

    /// How far memory decides, 1 where it alone does: the exponent that wave scaling calls gamma.
    ///
    /// With x the kernel's operations per byte and R those at which the other device's roofs meet: 1 - x / 2R up to R, and
    /// R / 2x above (Yu et al., "Habitat", USENIX ATC 2021; `_roofline_gamma` of its published code). x / R is the time of
    /// its arithmetic there over that of its traffic.
    fn memory_part(&self) -> f64 {
        let Roof { compute_secs, memory_secs } = self.there;
        if compute_secs <= memory_secs {
            1.0 - 0.5 * compute_secs / memory_secs
        } else {
            0.5 * memory_secs / compute_secs
        }
    }

    /// Time by the rates of the arithmetic that the kernel really does.
    fn arithmetic(&self) -> Option<f64> {
        (self.here.compute_secs > 0.0).then(|| self.there.compute_secs / self.here.compute_secs)
    }
}

/// Kinds of work whose time is that of the memory they move, where they fill the device.
const OF_MEMORY: [&str; 13] = [
    "elementwise",
    "normalization",
    "softmax",
    "data formatting",
    "copy kernel",
    "memset kernel",
    "optimizer",
    "pooling",
    "reduction",
    "loss",
    "quantization",
    "cache update",
    "rotary embedding",
];
/// Kinds of work that matrix units do.
const OF_MATRICES: [&str; 3] = ["matrix product", "convolution", "attention"];

impl Pair {
    /// Time by the bandwidth of memory.
    pub(super) fn memory(&self) -> Option<f64> {
        self.ratio(Limit::Memory)
    }

    /// Time by the link to the host.
    pub(super) fn link(&self, limit: Limit) -> Option<f64> {
        self.ratio(limit)
    }

    fn ratio(&self, limit: Limit) -> Option<f64> {
        Some(self.from.ceilings.value(limit)? / self.to.ceilings.value(limit)?)
    }

    /// Time by the rates of arithmetic that work of `category` and `name` may run at.
    fn arithmetic(&self, category: &str, name: &str) -> Option<Range> {
        let rates = rates_of(category, name);
        let ratios = rates.iter().filter_map(|(number, unit)| self.ratio(Limit::Rate(*number, *unit)));
        ratios.map(|ratio| (ratio, ratio)).reduce(around)
    }

    /// By memory and arithmetic alone; `shape` is that of the launch, where it is known.
    pub(super) fn by_ratio(&self, shape: Option<&LaunchShape>, category: &str, name: &str) -> Option<Range> {
        let memory = self.memory()?;
        let cores = self.from.cores.value.min(self.to.cores.value);
        if shape.is_some_and(|shape| (1.0..=cores).contains(&blocks(shape))) {
            // A multiprocessor for each block: it fills neither device, and only what each one does counts.
            let each = self.to.cores.value / self.from.cores.value;
            let (low, high) = self.arithmetic(category, name)?;
            return Some(around((1.0, 1.0), (low * each, high * each)));
        }
        if OF_MEMORY.contains(&category) {
            return Some((memory, memory));
        }
        Some(around((memory, memory), self.arithmetic(category, name)?))
    }

    /// By the waves that its blocks run in.
    ///
    /// Wave scaling of Yu et al., "Habitat: a runtime-based computational performance predictor for deep neural network
    /// training", USENIX ATC 2021, section 3, with multiprocessors in the place of resident blocks, as its published code
    /// has it. The exponent that divides time between memory and arithmetic follows from operations and bytes; where
    /// those are not known (no HLO), both ends are given.
    pub(super) fn by_waves(
        &self,
        shape: &LaunchShape,
        category: &str,
        name: &str,
        roofs: Option<&AtRoofs>,
    ) -> Option<Range> {
        let (before, after) = (Waves::of(shape, self.from)?, Waves::of(shape, self.to)?);
        let is_small = before.is_one() && after.is_one();
        let (low, high) = self.arithmetic_of_waves(category, name, roofs)?;
        let (memory, factor) = if is_small {
            // It fills neither: bandwidth is nothing to it, and each multiprocessor is as fast as it is.
            let cores = self.to.cores.value / self.from.cores.value;
            let share = |sheet: &DeviceSheet| (before.blocks / sheet.cores.value).ceil();
            (1.0, cores * share(self.to) / share(self.from))
        } else {
            let tail = after.tail() / before.tail();
            (self.memory()? * tail, tail)
        };
        let arithmetic = (low * factor, high * factor);
        if let Some(roofs) = roofs {
            let part = roofs.memory_part();
            let between = |arithmetic: f64| memory.powf(part) * arithmetic.powf(1.0 - part);
            return Some((between(arithmetic.0), between(arithmetic.1)));
        }
        let is_memory = !is_small && OF_MEMORY.contains(&category);
        Some(if is_memory { (memory, memory) } else { around((memory, memory), arithmetic) })
    }

    /// Time of full waves by arithmetic: clock and multiprocessors, of products the rates of their types.
    fn arithmetic_of_waves(&self, category: &str, name: &str, roofs: Option<&AtRoofs>) -> Option<Range> {
        if OF_MATRICES.contains(&category) {
            let exact = roofs.and_then(AtRoofs::arithmetic).map(|ratio| (ratio, ratio));
            return exact.or_else(|| self.arithmetic(category, name));
        }
        let clocks = self.from.clock_mhz.as_ref()?.value / self.to.clock_mhz.as_ref()?.value;
        let both = clocks * self.from.cores.value / self.to.cores.value;
        Some((both, both))
    }
}

/// Blocks of a launch.
fn blocks(shape: &LaunchShape) -> f64 {
    shape.grid.iter().map(|size| f64::from(*size)).product()
}

/// The range that holds both.
fn around(one: Range, other: Range) -> Range {
    (one.0.min(other.0), one.1.max(other.1))
}

/// The rates that work may run at: of a product whose types its name does not say, those of 16 and of 32 bits.
fn rates_of(category: &str, name: &str) -> Vec<(NumberType, ComputeUnit)> {
    if !OF_MATRICES.contains(&category) {
        return vec![(NumberType::F32, ComputeUnit::Plain)];
    }
    let name = name.to_ascii_lowercase();
    let says = |words: &str| words.split(' ').any(|word| name.contains(word));
    match () {
        () if says("e4m3 e5m2 fp8 f8f8") => vec![(NumberType::F8, ComputeUnit::Matrix)],
        () if says("tf32") => vec![(NumberType::Tf32, ComputeUnit::Matrix)],
        () if says("bf16 bfloat16 f16 half hgemm _hsh_ _bbs_ _hhs_ _bss_") => {
            vec![(NumberType::F16, ComputeUnit::Matrix)]
        }
        () if says("dgemm f64f64") => vec![(NumberType::F64, ComputeUnit::Plain)],
        () if says("sgemm ffma _sb_ _sss_") => vec![(NumberType::F32, ComputeUnit::Plain)],
        () => vec![(NumberType::F16, ComputeUnit::Matrix), (NumberType::F32, ComputeUnit::Plain)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheets_named;

    fn pair() -> Pair {
        Pair { from: sheets_named("a100 sxm4 80gb")[0], to: sheets_named("h100 sxm5")[0] }
    }

    #[track_caller]
    fn waves(grid: u32, category: &str) -> String {
        let shape = LaunchShape { grid: [grid, 1, 1], block: [256, 1, 1], ..LaunchShape::default() };
        let (low, high) = pair().by_waves(&shape, category, "k", None).expect("both are known");
        format!("{low:.3} to {high:.3}")
    }

    #[test]
    fn large_grids_go_by_memory_and_arithmetic_small_ones_by_the_clock() {
        // 2039 / 3352 GB/s; the last of 1894 waves is nothing.
        assert_eq!(waves(2_000_000, "elementwise"), "0.608 to 0.608");
        // One wave of each: 1410 / 1980 MHz at most helps.
        assert_eq!(waves(100, "elementwise"), "0.712 to 1.000");
        // 1408 blocks: two waves of 864 on the one, two of 1056 on the other, which is less full.
        assert_eq!(waves(1408, "elementwise"), "0.743 to 0.743");
        // 312 / 989 of 16 bits, 19.5 / 66.9 of 32; memory is the other end.
        assert_eq!(waves(2_000_000, "matrix product"), "0.291 to 0.608");
        assert_eq!(waves(2_000_000, "kernel, unknown"), "0.583 to 0.608");
    }

    #[test]
    fn operations_and_bytes_choose_between_the_ends() {
        let by = |grid: u32, category: &str, compute: f64, memory: f64| {
            let here = Roof { compute_secs: 2.0 * compute, memory_secs: memory / 0.608 };
            let roofs = AtRoofs { here, there: Roof { compute_secs: compute, memory_secs: memory } };
            let shape = LaunchShape { grid: [grid, 1, 1], block: [256, 1, 1], ..LaunchShape::default() };
            let (low, high) = pair().by_waves(&shape, category, "k", Some(&roofs)).expect("both are known");
            assert_eq!(low, high);
            format!("{low:.3}")
        };
        // gamma 1, 0.75, 0.5 and 0.25 between 0.608 of memory and 0.583 of clock and multiprocessors.
        assert_eq!(by(2_000_000, "kernel, unknown", 0.0, 1.0), "0.608");
        assert_eq!(by(2_000_000, "kernel, unknown", 0.5, 1.0), "0.602");
        assert_eq!(by(2_000_000, "kernel, unknown", 1.0, 1.0), "0.595");
        assert_eq!(by(2_000_000, "kernel, unknown", 2.0, 1.0), "0.589");
        // A product: the rates that it really runs at, 2 to 1, in the place of its name's.
        assert_eq!(by(2_000_000, "matrix product", 1e9, 1.0), "0.500");
        // One wave of each: 0.712 by the clock to the power of 1 - gamma.
        assert_eq!(by(100, "kernel, unknown", 1.0, 1.0), "0.844");
    }
}
