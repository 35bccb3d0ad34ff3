//! What was measured of one operation, size by size.

use super::bend::Growth;

/// What is known of an operation at one size; `None` where it is not.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SizePoint {
    /// The size.
    pub size: f64,
    /// Median time of a run, seconds.
    pub time_s: Option<f64>,
    /// Floating-point operations of a run.
    pub flops: Option<f64>,
    /// Bytes that memory has to carry at least in a run.
    pub compulsory_bytes: Option<f64>,
    /// Peak memory, bytes.
    pub peak_bytes: Option<f64>,
}

/// An operation over sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its name.
    pub operation: String,
    /// Its sizes, ascending.
    pub points: Vec<SizePoint>,
}

impl Series {
    /// How a quantity grows; `None` where it is known at fewer than two sizes.
    pub(super) fn growth(&self, of: impl Fn(&SizePoint) -> Option<f64>) -> Option<Growth> {
        let known: Vec<(f64, f64)> = self.points.iter().filter_map(|point| Some((point.size, of(point)?))).collect();
        Growth::fit(&known)
    }

    /// The largest size with a time, and that time in seconds.
    pub(super) fn last(&self) -> Option<(f64, f64)> {
        self.points.iter().rev().find_map(|point| Some((point.size, point.time_s?)))
    }
}
