//! How each operation grows with size: exponents of time, work and memory, and whether time outgrows work.

use super::bend::Growth;
use super::series::Series;
use super::verdict::Verdict;

/// One operation's fits.
#[derive(Debug, Clone, PartialEq)]
pub struct GrowthRow {
    /// The operation.
    pub operation: String,
    /// Sizes at which it was timed.
    pub sizes: u64,
    /// Median time of a run at its largest size, seconds.
    pub last_s: Option<f64>,
    /// How its time grows.
    pub time: Option<Growth>,
    /// Exponent of its floating-point operations.
    pub flops: Option<f64>,
    /// Exponent of the compulsory traffic.
    pub bytes: Option<f64>,
    /// Exponent of the peak memory.
    pub memory: Option<f64>,
}

impl GrowthRow {
    /// The exponent of the work that grows faster.
    pub fn work(&self) -> Option<f64> {
        self.flops.into_iter().chain(self.bytes).max_by(f64::total_cmp)
    }

    /// Whether its time grows faster than its work.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self.time, self.work())
    }
}

/// How each operation grows with size, the longest at its largest size first.
pub fn growth_rows(series: &[Series]) -> Vec<GrowthRow> {
    let mut rows: Vec<GrowthRow> = series.iter().map(row).collect();
    let last = |row: &GrowthRow| row.last_s.unwrap_or(0.0);
    rows.sort_by(|a, b| last(b).total_cmp(&last(a)));
    rows
}

fn row(series: &Series) -> GrowthRow {
    let exponent = |growth: Option<Growth>| growth.map(|growth| growth.law.exponent);
    GrowthRow {
        operation: series.operation.clone(),
        sizes: series.points.iter().filter(|point| point.time_s.is_some()).count() as u64,
        last_s: series.last().map(|(_, time)| time),
        time: series.growth(|point| point.time_s),
        flops: exponent(series.growth(|point| point.flops)),
        bytes: exponent(series.growth(|point| point.compulsory_bytes)),
        memory: exponent(series.growth(|point| point.peak_bytes)),
    }
}
