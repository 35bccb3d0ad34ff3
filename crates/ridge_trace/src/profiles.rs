//! Kernels under a hardware profiler: one row per profiled launch, with every metric that was collected.
//!
//! A profiler runs a kernel many times to count everything, so these rows have no place on the trace clock; analyses
//! join them to the kernels of a trace by name and launch order.
//! A metric that was not collected has no row: absence is never a zero.

use crate::strings::StringId;
use rustc_hash::FxHashMap;

/// One profiled launch of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelProfile {
    /// Row of the processes table.
    pub process: u32,
    /// The kernel's name with its parameters, as the report has it.
    pub name: StringId,
    /// Position among the profiled launches of its report, from 0.
    pub launch: u32,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Number of the device in its process, where known.
    pub device: Option<u32>,
    /// Number of the stream in its context, where known.
    pub stream: Option<u64>,
}

/// How grave what a rule found is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// Good to know.
    Info,
    /// Something to look into.
    Warning,
    /// The rule could not judge.
    Error,
}

impl RuleKind {
    /// The word in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            RuleKind::Info => "info",
            RuleKind::Warning => "warning",
            RuleKind::Error => "error",
        }
    }
}

/// What one of the profiler's own rules said of a launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileRule {
    /// Row of the profiles.
    pub profile: u32,
    /// The rule's id (`SOLBottleneck`).
    pub rule: StringId,
    /// How grave it is.
    pub kind: RuleKind,
    /// What it said.
    pub message: StringId,
    /// Speedup that the profiler estimates, percent, where the report has it.
    pub speedup_pct: Option<f64>,
}

/// Profiled launches with their metrics, in columns of equal length, and the rules' results.
#[derive(Debug, Clone, Default)]
pub struct KernelProfiles {
    /// The launches, in the order of their reports.
    pub launches: Vec<KernelProfile>,
    /// Row of `launches` of each metric; ascending.
    pub profile: Vec<u32>,
    /// The metric's name (`dram__bytes.sum`).
    pub metric: Vec<StringId>,
    /// Its value in base units (bytes, nanoseconds, per second); not a number where it is a text.
    pub value: Vec<f64>,
    /// Its value where that is a text; the empty string for a number.
    pub text: Vec<StringId>,
    /// Its base unit (`byte`, `nsecond`, `byte/second`, `%`), where the report or the name says it.
    pub unit: Vec<StringId>,
    /// What the profiler's rules said.
    pub rules: Vec<ProfileRule>,
}

impl KernelProfiles {
    /// Whether nothing was profiled.
    pub fn is_empty(&self) -> bool {
        self.launches.is_empty()
    }

    /// Adds a metric of the launch at row `profile`.
    pub fn push(&mut self, profile: u32, metric: StringId, value: f64, text: StringId, unit: StringId) {
        self.profile.push(profile);
        self.metric.push(metric);
        self.value.push(value);
        self.text.push(text);
        self.unit.push(unit);
    }

    /// The numbers of the launch at row `profile` by metric; texts are left out.
    pub fn numbers(&self, profile: u32) -> FxHashMap<StringId, f64> {
        let first = self.profile.partition_point(|row| *row < profile);
        let rows = (first..self.profile.len()).take_while(|row| self.profile[*row] == profile);
        rows.filter(|row| !self.value[*row].is_nan()).map(|row| (self.metric[row], self.value[row])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_has_its_own_numbers_and_no_others() {
        let mut profiles = KernelProfiles::default();
        let (bytes, name) = (StringId(1), StringId(2));
        profiles.push(0, bytes, 64.0, StringId(0), StringId(0));
        profiles.push(1, bytes, 0.0, StringId(0), StringId(0));
        profiles.push(1, name, f64::NAN, StringId(3), StringId(0));
        assert_eq!(profiles.numbers(0), FxHashMap::from_iter([(bytes, 64.0)]));
        assert_eq!(profiles.numbers(1), FxHashMap::from_iter([(bytes, 0.0)]));
        assert!(profiles.numbers(2).is_empty());
    }
}
