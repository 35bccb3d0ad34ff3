//! Hardware counters of kernels over their launches under a profiler.

use crate::{Analysis, Shared};
use ridge_trace::StringId;
use rustc_hash::FxHashMap;

/// A counter of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricRow {
    /// The kernel's name.
    pub kernel: StringId,
    /// The counter's name, as the profiler writes it.
    pub metric: StringId,
    /// Its base unit, or the empty string.
    pub unit: StringId,
    /// Launches that it was counted for; at least one.
    pub launches: u64,
    /// Sum over these, in its unit, as are those that follow.
    pub sum: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

/// Counters by kernel, in the order in which they come.
#[derive(Debug)]
pub struct MetricRows(pub Vec<MetricRow>);

impl Shared for MetricRows {
    fn make(analysis: &Analysis<'_>) -> MetricRows {
        let profiles = &analysis.trace.profiles;
        let mut places: FxHashMap<(StringId, StringId), usize> = FxHashMap::default();
        let mut rows: Vec<MetricRow> = Vec::new();
        for (at, profile) in profiles.profile.iter().enumerate() {
            let (metric, value, unit) = (profiles.metric[at], profiles.value[at], profiles.unit[at]);
            let Some(launch) = profiles.launches.get(*profile as usize).filter(|_| !value.is_nan()) else { continue };
            let place = *places.entry((launch.name, metric)).or_insert(rows.len());
            if place == rows.len() {
                let kernel = launch.name;
                rows.push(MetricRow { kernel, metric, unit, launches: 0, sum: 0.0, min: value, max: value });
            }
            let row = &mut rows[place];
            row.launches += 1;
            row.sum += value;
            (row.min, row.max) = (row.min.min(value), row.max.max(value));
        }
        MetricRows(rows)
    }
}
