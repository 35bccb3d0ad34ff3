//! The roofs of a profiled launch that its report itself measures: each level of memory and each arithmetic pipe.
//!
//! A roof is what a counter can count in a cycle (`peak_sustained`) times the cycles per second that the same report
//! measured: the formulas of Nsight Compute's own `SpeedOfLight_Hierarchical*RooflineChart` sections.
//! What was not collected is `None`; nothing comes from a data sheet here.

use crate::context::profile_numbers::{Metrics, ProfileNumbers};
use ridge_trace::{KernelProfiles, Strings};

/// A counter of traffic.
struct Counter {
    metric: &'static str,
    /// Bytes that one count stands for.
    bytes: f64,
}

/// A level of memory and the counters that can stand for its traffic, best first.
struct Level {
    counters: &'static [Counter],
    /// Its clock, cycles per second.
    clock: &'static str,
}

/// L1, L2 and device memory. The levels' own counters come first, then those of the roofline sections: 128 bytes a cycle
/// of L1 write-back (`_mem_lg` before compute capability 9.0, `_mem_lgds` from there), 32 bytes a cycle from L2.
const LEVELS: [Level; 3] = [
    Level {
        counters: &[
            Counter { metric: "l1tex__t_bytes", bytes: 1.0 },
            Counter { metric: "l1tex__t_sectors", bytes: 32.0 },
            Counter { metric: "l1tex__lsu_writeback_active_mem_lg", bytes: 128.0 },
            Counter { metric: "l1tex__lsu_writeback_active_mem_lgds", bytes: 128.0 },
        ],
        clock: "l1tex__cycles_elapsed.avg.per_second",
    },
    Level {
        counters: &[
            Counter { metric: "lts__t_bytes", bytes: 1.0 },
            Counter { metric: "lts__t_sectors", bytes: 32.0 },
            Counter { metric: "lts__lts2xbar_cycles_active", bytes: 32.0 },
        ],
        clock: "lts__cycles_elapsed.avg.per_second",
    },
    Level { counters: &[Counter { metric: "dram__bytes", bytes: 1.0 }], clock: "dram__cycles_elapsed.avg.per_second" },
];

/// Names of the levels, in their order.
pub(crate) const LEVEL_NAMES: [&str; 3] = ["L1", "L2", "DRAM"];

/// The clock of the arithmetic pipes, cycles per second.
const PIPE_CLOCK: &str = "sm__cycles_elapsed.avg.per_second";

/// Ordinary pipes by width, in the order of [`ProfileNumbers::flops`]: name and what their multiply-adds count as.
const PIPES: [(&str, &str); 3] = [
    ("fp16", "sm__sass_thread_inst_executed_op_hfma_pred_on.sum.peak_sustained"),
    ("fp32", "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"),
    ("fp64", "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained"),
];

/// What one roof is and how much of it a launch reached.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Reached {
    /// Bytes, or operations.
    pub amount: Option<f64>,
    /// The same in a second.
    pub per_sec: Option<f64>,
    /// The most of it in a second.
    pub roof_per_sec: Option<f64>,
    /// Part of the roof that was reached, 0 to 1.
    pub share: Option<f64>,
}

impl Reached {
    fn new(amount: Option<f64>, roof_per_sec: Option<f64>, secs: Option<f64>) -> Reached {
        let per_sec = ratio(amount, secs);
        Reached { amount, per_sec, roof_per_sec, share: ratio(per_sec, roof_per_sec) }
    }
}

/// A profiled launch under its own roofs.
#[derive(Debug, Clone, PartialEq)]
pub struct Tiers {
    /// Duration under the profiler, seconds.
    pub secs: Option<f64>,
    /// L1, L2 and device memory.
    pub levels: [Reached; 3],
    /// The pipes with their names: 16, 32 and 64 bits, then what there is of the tensor units.
    pub pipes: Vec<(&'static str, Reached)>,
}

impl Tiers {
    /// The launch at row `profile`.
    pub(crate) fn of(profiles: &KernelProfiles, strings: &Strings, profile: u32) -> Tiers {
        let metrics = Metrics::of(profiles, strings, profile);
        let numbers = ProfileNumbers::of(profiles, strings, profile);
        let secs = numbers.duration_ns.map(|nanos| nanos / 1e9);
        let mut levels = LEVELS.each_ref().map(|level| level.reached(&metrics, secs));
        for (level, bytes) in levels.iter_mut().zip([numbers.l1_bytes, numbers.l2_bytes, numbers.dram_bytes]) {
            if level.amount.is_none() {
                // Reads and writes may have been collected apart, and other devices count requests.
                let share = level.share;
                *level = Reached::new(bytes, level.roof_per_sec, secs);
                level.share = level.share.or(share);
            }
        }
        Tiers { secs, levels, pipes: pipes(&metrics, &numbers, secs) }
    }

    /// Operations of all pipes that were counted.
    pub fn flops(&self) -> Option<f64> {
        self.pipes.iter().filter_map(|(_, pipe)| pipe.amount).reduce(|sum, flops| sum + flops)
    }

    /// The same in a second.
    pub fn flops_per_sec(&self) -> Option<f64> {
        ratio(self.flops(), self.secs)
    }

    /// Operations per byte at the level of that number.
    pub fn intensity(&self, level: usize) -> Option<f64> {
        ratio(self.flops(), self.levels[level].amount)
    }

    /// The pipe that is nearest to its roof.
    pub fn busiest_pipe(&self) -> Option<(&'static str, Reached)> {
        self.pipes.iter().filter(|(_, pipe)| pipe.share.is_some()).copied().reduce(nearer)
    }

    /// The roof that is nearest; `None` unless the shares of a pipe and of a level of memory are known.
    pub fn binding(&self) -> Option<&'static str> {
        let levels = LEVEL_NAMES.into_iter().zip(self.levels);
        let level = levels.filter(|(_, level)| level.share.is_some()).reduce(nearer)?;
        let (name, roof) = nearer(level, self.busiest_pipe()?);
        (roof.share? > 0.0).then_some(name)
    }
}

impl Level {
    /// By the first counter with a roof; without any, the first that was collected.
    fn reached(&self, metrics: &Metrics<'_>, secs: Option<f64>) -> Reached {
        let found = self.counters.iter().map(|counter| counter.reached(metrics, self.clock, secs));
        // The last of equal ones is the largest, so the best comes last.
        found
            .rev()
            .max_by_key(|level| {
                (level.amount.is_some() && level.share.is_some(), level.amount.is_some(), level.share.is_some())
            })
            .unwrap_or_default()
    }
}

impl Counter {
    fn reached(&self, metrics: &Metrics<'_>, clock: &str, secs: Option<f64>) -> Reached {
        let metric = self.metric;
        let count = metrics
            .get(&format!("{metric}.sum"))
            .or_else(|| metrics.rate_times_duration(&format!("{metric}.sum.per_second")));
        let roof = roof(metrics, &format!("{metric}.sum.peak_sustained"), clock);
        let scaled = |value: Option<f64>| value.map(|value| value * self.bytes);
        let mut reached = Reached::new(scaled(count), scaled(roof), secs);
        // A sum and an average over units are the same part of their peaks.
        reached.share = reached
            .share
            .or_else(|| metrics.share(&format!("{metric}.sum.pct_of_peak_sustained_elapsed")))
            .or_else(|| metrics.share(&format!("{metric}.avg.pct_of_peak_sustained_elapsed")));
        reached
    }
}

fn pipes(metrics: &Metrics<'_>, numbers: &ProfileNumbers, secs: Option<f64>) -> Vec<(&'static str, Reached)> {
    let ordinary = PIPES.into_iter().zip(numbers.flops).map(|((name, peak), flops)| {
        // Each multiply-add is two operations.
        let roof = roof(metrics, peak, PIPE_CLOCK).map(|fused| 2.0 * fused);
        (name, Reached::new(flops, roof, secs))
    });
    let named = metrics.tensor();
    // Other devices' counters have no names of their own here, and no roof.
    let unnamed = numbers.tensor_flops.filter(|_| named.is_empty());
    let unnamed = unnamed.map(|flops| ("tensor", Reached::new(Some(flops), None, secs)));
    let tensor = named.into_iter().map(|(metric, count)| {
        let roof = roof(metrics, &format!("{metric}.peak_sustained"), PIPE_CLOCK);
        ("tensor", Reached::new(Some(count), roof, secs))
    });
    ordinary.chain(tensor).chain(unnamed).collect()
}

/// A peak per cycle times cycles per second.
fn roof(metrics: &Metrics<'_>, peak: &str, clock: &str) -> Option<f64> {
    Some(metrics.get(peak)? * metrics.get(clock)?)
}

/// `part` of `whole`; `None` where either is unknown or nothing can be divided by it.
fn ratio(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    let ratio = part? / whole.filter(|whole| *whole > 0.0)?;
    ratio.is_finite().then_some(ratio)
}

/// The one of which more was reached; the first of equal ones.
fn nearer(one: (&'static str, Reached), other: (&'static str, Reached)) -> (&'static str, Reached) {
    if other.1.share > one.1.share { other } else { one }
}
