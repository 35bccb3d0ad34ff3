//! What the metrics of a profiled launch amount to: bytes at each level of memory, operations by type, occupancy.
//!
//! Metric names and formulas are those of Nsight Compute's own sections (`SpeedOfLight_HierarchicalSingleRooflineChart`
//! and its siblings, `MemoryWorkloadAnalysis`, `Occupancy`), and of the Kernel Profiling Guide's "Metrics Structure".
//! A number whose metrics were not collected is `None`: nothing is guessed, and nothing is a zero.
//! Launches of rocprofv3 have counters and formulas of their own (`rocprof.rs`).

mod rocprof;

pub(crate) use rocprof::ran as rocprof_ran;

use ridge_trace::{KernelProfiles, Strings};

/// Bytes of a sector, the unit in which L2 and DRAM move (Kernel Profiling Guide, "Memory Tables").
const SECTOR_BYTES: f64 = 32.0;

/// Operation counts of the tensor units by what they multiply, a multiply-add being two: a counter, then those that count
/// parts of the same by what they add up in.
///
/// Which of them a device has differs: the parts of `fp16` on compute capability 8, the whole on 9; the whole of `fp8` on
/// 8.9 and 9, the parts from 10. A report may hold both.
const TENSOR: [(&str, &[&str]); 5] = [
    (
        "sm__ops_path_tensor_src_fp16.sum",
        &["sm__ops_path_tensor_src_fp16_dst_fp16.sum", "sm__ops_path_tensor_src_fp16_dst_fp32.sum"],
    ),
    ("sm__ops_path_tensor_src_bf16_dst_fp32.sum", &[]),
    ("sm__ops_path_tensor_src_tf32_dst_fp32.sum", &[]),
    ("sm__ops_path_tensor_src_fp64.sum", &[]),
    (
        "sm__ops_path_tensor_src_fp8.sum",
        &["sm__ops_path_tensor_src_fp8_dst_fp16.sum", "sm__ops_path_tensor_src_fp8_dst_fp32.sum"],
    ),
];

/// The numbers of one launch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProfileNumbers {
    /// Duration under the profiler, nanoseconds.
    pub duration_ns: Option<f64>,
    /// Bytes between device memory and L2.
    pub dram_bytes: Option<f64>,
    /// Bytes through L2.
    pub l2_bytes: Option<f64>,
    /// Bytes through L1.
    pub l1_bytes: Option<f64>,
    /// Floating-point operations of the ordinary pipes, by width: 16, 32 and 64 bits. A multiply-add is two.
    pub flops: [Option<f64>; 3],
    /// Operations of the tensor units.
    pub tensor_flops: Option<f64>,
    /// Achieved occupancy: active warps as a part of the most that fit, 0 to 1.
    pub occupancy: Option<f64>,
    /// Theoretical occupancy, 0 to 1.
    pub theoretical_occupancy: Option<f64>,
    /// Compute throughput as a part of its peak, 0 to 1.
    pub compute_share: Option<f64>,
    /// Memory throughput, of the busiest of its units, as a part of its peak, 0 to 1.
    pub memory_share: Option<f64>,
    /// Device-memory throughput as a part of its peak, 0 to 1.
    pub dram_share: Option<f64>,
    /// Sectors per request of global loads and of global stores.
    pub sectors_per_request: [Option<f64>; 2],
    /// Part of the sectors of global accesses that ideal accesses would not have needed, 0 to 1.
    pub excess_sectors: Option<f64>,
    /// How often the grid fills the device.
    pub waves: Option<f64>,
    /// Registers per thread.
    pub registers: Option<f64>,
}

/// Lookups of one launch's metrics.
pub(crate) struct Metrics<'a> {
    strings: &'a Strings,
    numbers: rustc_hash::FxHashMap<ridge_trace::StringId, f64>,
}

impl<'a> Metrics<'a> {
    /// Those of the launch at row `profile`.
    pub(crate) fn of(profiles: &KernelProfiles, strings: &'a Strings, profile: u32) -> Metrics<'a> {
        Metrics { strings, numbers: profiles.numbers(profile) }
    }

    /// The metric of that name, where it was collected.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.numbers.get(&self.strings.find(name)?).copied()
    }

    /// A metric in percent as a part, 0 to 1.
    pub(crate) fn share(&self, name: &str) -> Option<f64> {
        self.get(name).map(|percent| percent / 100.0)
    }

    /// The operation counts of the tensor units that were collected, name and value, none of which counts what another does.
    pub(crate) fn tensor(&self) -> Vec<(&'static str, f64)> {
        let found = |name: &'static str| Some((name, self.get(name)?));
        let of_type = |(whole, parts): &(&'static str, &'static [&'static str])| match found(whole) {
            Some(whole) => vec![whole],
            None => parts.iter().filter_map(|part| found(part)).collect(),
        };
        TENSOR.iter().flat_map(of_type).collect()
    }

    /// A rate times the duration, where the count itself was not collected.
    pub(crate) fn rate_times_duration(&self, name: &str) -> Option<f64> {
        Some(self.get(name)? * self.get("gpu__time_duration.sum")? / 1e9)
    }

    /// Operations of one width: additions and multiplications once, fused ones twice.
    fn flops(&self, add: &str, multiply: &str, fused: &str) -> Option<f64> {
        let count = |op: &str| {
            let name = format!("smsp__sass_thread_inst_executed_op_{op}_pred_on.sum");
            self.get(&name).or_else(|| {
                // The sections of the roofline collect a rate: per cycle, times cycles.
                let cycles = self.get("smsp__cycles_elapsed.avg.per_second")?;
                let duration_ns = self.get("gpu__time_duration.sum")?;
                Some(self.get(&format!("{name}.per_cycle_elapsed"))? * cycles * duration_ns / 1e9)
            })
        };
        Some(count(add)? + count(multiply)? + 2.0 * count(fused)?)
    }
}

impl ProfileNumbers {
    /// The numbers of the launch at row `profile`.
    pub fn of(profiles: &KernelProfiles, strings: &Strings, profile: u32) -> ProfileNumbers {
        let metrics = Metrics::of(profiles, strings, profile);
        if let Some(counted) = rocprof::numbers(&|name| metrics.get(name)) {
            return counted.into();
        }
        let sectors = |name: &str| metrics.get(name).map(|sectors| sectors * SECTOR_BYTES);
        let per_request =
            |op: &str| metrics.get(&format!("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_{op}.ratio"));
        let dram_parts = || Some(metrics.get("dram__bytes_read.sum")? + metrics.get("dram__bytes_write.sum")?);
        ProfileNumbers {
            duration_ns: metrics.get("gpu__time_duration.sum"),
            dram_bytes: metrics
                .get("dram__bytes.sum")
                .or_else(dram_parts)
                .or_else(|| metrics.rate_times_duration("dram__bytes.sum.per_second")),
            l2_bytes: metrics
                .get("lts__t_bytes.sum")
                .or_else(|| sectors("lts__t_sectors.sum"))
                .or_else(|| sectors("lts__lts2xbar_cycles_active.sum")),
            l1_bytes: metrics.get("l1tex__t_bytes.sum").or_else(|| sectors("l1tex__t_sectors.sum")),
            flops: [
                metrics.flops("hadd", "hmul", "hfma"),
                metrics.flops("fadd", "fmul", "ffma"),
                metrics.flops("dadd", "dmul", "dfma"),
            ],
            tensor_flops: metrics.tensor().into_iter().map(|(_, count)| count).reduce(|sum, count| sum + count),
            occupancy: metrics.share("sm__warps_active.avg.pct_of_peak_sustained_active"),
            theoretical_occupancy: metrics.share("sm__maximum_warps_per_active_cycle_pct"),
            compute_share: metrics.share("sm__throughput.avg.pct_of_peak_sustained_elapsed"),
            memory_share: metrics.share("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"),
            dram_share: metrics.share("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
            sectors_per_request: [per_request("ld"), per_request("st")],
            excess_sectors: excess(&metrics),
            waves: metrics.get("launch__waves_per_multiprocessor"),
            registers: metrics.get("launch__registers_per_thread"),
        }
    }

    /// What the throughputs say, by the thresholds of the tool's own `SOLBottleneck` rule: what bounds the kernel.
    ///
    /// Both below 60% of their peak: latency. Within ten points of each other: both. Else the larger.
    pub fn bound(&self) -> Option<&'static str> {
        let (compute, memory) = (self.compute_share?, self.memory_share?);
        Some(match compute - memory {
            _ if compute < 0.6 && memory < 0.6 => "latency",
            lead if lead >= 0.1 => "compute",
            lead if lead <= -0.1 => "memory",
            _ => "compute and memory",
        })
    }
}

impl From<rocprof::Counted> for ProfileNumbers {
    fn from(counted: rocprof::Counted) -> ProfileNumbers {
        let rocprof::Counted { duration_ns, dram_bytes, l2_bytes, l1_bytes, flops, tensor_flops, occupancy } = counted;
        let duration_ns = Some(duration_ns);
        let none = ProfileNumbers::default();
        ProfileNumbers { duration_ns, dram_bytes, l2_bytes, l1_bytes, flops, tensor_flops, occupancy, ..none }
    }
}

/// Sectors of global accesses beyond the ideal, as a part of all of them (`UncoalescedGlobalAccess`).
fn excess(metrics: &Metrics<'_>) -> Option<f64> {
    let all = metrics.get("memory_l2_theoretical_sectors_global")?;
    let ideal = metrics.get("memory_l2_theoretical_sectors_global_ideal")?;
    (all > 0.0).then(|| ((all - ideal) / all).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_trace::StringId;

    fn numbers(metrics: &[(&str, f64)]) -> ProfileNumbers {
        let (mut profiles, mut strings) = (KernelProfiles::default(), Strings::default());
        for (name, value) in metrics {
            profiles.push(0, strings.intern(name), *value, StringId::default(), StringId::default());
        }
        ProfileNumbers::of(&profiles, &strings, 0)
    }

    #[test]
    fn what_was_not_collected_is_no_number() {
        assert_eq!(numbers(&[]), ProfileNumbers::default());
        assert_eq!(numbers(&[("dram__bytes.sum", 0.0)]).dram_bytes, Some(0.0));
    }

    #[test]
    fn operations_are_counted_or_follow_from_a_rate() {
        let op = |op: &str, end: &str| format!("smsp__sass_thread_inst_executed_op_{op}_pred_on.sum{end}");
        let (add, multiply, fused) = (op("fadd", ""), op("fmul", ""), op("ffma", ""));
        let counted = [(add.as_str(), 10.0), (&multiply, 20.0), (&fused, 30.0)];
        assert_eq!(numbers(&counted).flops, [None, Some(90.0), None]);
        // 2 fused a cycle at 1 GHz for 1000 ns are 2000 fused, 4000 operations.
        let (add, multiply, fused) =
            (op("dadd", ".per_cycle_elapsed"), op("dmul", ".per_cycle_elapsed"), op("dfma", ".per_cycle_elapsed"));
        let rates = [
            (add.as_str(), 0.0),
            (&multiply, 0.0),
            (&fused, 2.0),
            ("smsp__cycles_elapsed.avg.per_second", 1e9),
            ("gpu__time_duration.sum", 1000.0),
        ];
        assert_eq!(numbers(&rates).flops, [None, None, Some(4000.0)]);
    }

    #[test]
    fn operations_of_the_tensor_units_count_once() {
        let name = |end: &str| format!("sm__ops_path_tensor_src_{end}.sum");
        for (collected, expected) in [
            (&[("fp16", 6.0), ("fp16_dst_fp16", 2.0), ("fp16_dst_fp32", 4.0)] as &[(&str, f64)], Some(6.0)),
            (&[("fp16_dst_fp16", 2.0), ("fp16_dst_fp32", 4.0)], Some(6.0)),
            (&[("fp8", 3.0), ("fp8_dst_fp32", 3.0), ("bf16_dst_fp32", 1.0), ("fp16_dst_fp32", 4.0)], Some(8.0)),
            (&[("fp64", 0.0)], Some(0.0)),
            (&[("int8", 5.0)], None),
        ] {
            let metrics: Vec<(String, f64)> = collected.iter().map(|(end, count)| (name(end), *count)).collect();
            let metrics: Vec<(&str, f64)> = metrics.iter().map(|(name, count)| (name.as_str(), *count)).collect();
            assert_eq!(numbers(&metrics).tensor_flops, expected, "{collected:?}");
        }
    }

    #[test]
    fn bytes_come_from_what_there_is() {
        let by = |metrics: &[(&str, f64)]| numbers(metrics).dram_bytes;
        assert_eq!(by(&[("dram__bytes_read.sum", 3.0), ("dram__bytes_write.sum", 4.0)]), Some(7.0));
        assert_eq!(by(&[("dram__bytes_read.sum", 3.0)]), None);
        let rate = [("dram__bytes.sum.per_second", 2e9), ("gpu__time_duration.sum", 500.0)];
        assert_eq!(by(&rate), Some(1000.0));
        assert_eq!(numbers(&[("lts__t_sectors.sum", 2.0)]).l2_bytes, Some(64.0));
    }

    #[test]
    fn the_bound_follows_the_tools_own_thresholds() {
        let bound = |compute, memory| {
            ProfileNumbers { compute_share: Some(compute), memory_share: Some(memory), ..ProfileNumbers::default() }
                .bound()
        };
        for (compute, memory, expected) in
            [(0.37, 0.88, "memory"), (0.9, 0.3, "compute"), (0.59, 0.1, "latency"), (0.8, 0.75, "compute and memory")]
        {
            assert_eq!(bound(compute, memory), Some(expected));
        }
        assert_eq!(ProfileNumbers::default().bound(), None);
    }
}
