//! What dominates at the next size: each operation's time extrapolated, with its interval.

use super::power_law::{Between, PowerLaw};
use super::series::Series;

/// Ends of an interval that are further apart than this factor tell nothing.
pub(crate) const WIDEST: f64 = 100.0;

/// One operation at the next size.
#[derive(Debug, Clone, PartialEq)]
pub struct NextRow {
    /// The operation.
    pub operation: String,
    /// Median time of a run at its largest size, seconds.
    pub now_s: f64,
    /// Time at the next size by its power law, seconds.
    pub then_s: f64,
    /// The 95% interval of a measurement there, seconds, where it tells something.
    pub between: Option<Between>,
    /// Peak memory at the next size by its power law, bytes.
    pub memory: Option<f64>,
}

/// Each operation at `size`, the longest there first.
pub fn next_rows(series: &[Series], size: f64) -> Vec<NextRow> {
    let mut rows: Vec<NextRow> = series.iter().filter_map(|series| row(series, size)).collect();
    rows.sort_by(|a, b| b.then_s.total_cmp(&a.then_s));
    rows
}

fn row(series: &Series, size: f64) -> Option<NextRow> {
    let law: PowerLaw = series.growth(|point| point.time_s)?.law;
    let (_, now_s) = series.last()?;
    let memory = series.growth(|point| point.peak_bytes).map(|growth| growth.law.at(size));
    let between = telling(&law, size);
    Some(NextRow { operation: series.operation.clone(), now_s, then_s: law.at(size), between, memory })
}

/// The interval of a measurement at `size`, where it is narrow enough to tell something.
pub(super) fn telling(law: &PowerLaw, size: f64) -> Option<Between> {
    law.at_between(size).filter(|between| between.high <= between.low * WIDEST)
}
