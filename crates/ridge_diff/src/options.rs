//! How captures are compared: which differences count, how certain they must be, what fails.

/// How to compare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Differences below this part of the time before do not count.
    pub min_change: f64,
    /// Confidence of intervals, 0 to 1.
    pub confidence: f64,
    /// The gate: slower by this part of the time before fails.
    pub fail_on: Option<f64>,
    /// With several runs of each side and nothing certain, it is no change if a change by this factor would have shown; `None`
    /// where only what is within the tolerance is none.
    pub shown_factor: Option<f64>,
}

impl Default for Options {
    fn default() -> Options {
        Options { min_change: 0.02, confidence: 0.95, fail_on: None, shown_factor: None }
    }
}

impl Options {
    /// Differences below this part do not count: a gate that is finer is what matters.
    pub(crate) fn min_change(&self) -> f64 {
        self.fail_on.map_or(self.min_change, |bar| bar.min(self.min_change))
    }

    /// An interval inside this part of the time before, on both sides of zero, is that of no change.
    pub(crate) fn tolerance(&self) -> f64 {
        self.fail_on.unwrap_or(0.0).max(2.0 * self.min_change())
    }
}
