//! The columns that every summary of calls and copies has.

use crate::models::spread::Spread;
use crate::view::columns;

columns! {
    /// Mean, median, extremes and deviation of durations.
    pub(crate) SPREAD: Spread {
        mean_ns: nanos Measured "Mean", "mean duration", |_, row| row.mean_ns;
        median_ns: nanos Measured "Median", "duration that half of them do not exceed", |_, row| row.median_ns;
        min_ns: nanos Detail Measured "Min", "shortest duration", |_, row| row.min_ns;
        max_ns: nanos Measured "Max", "longest duration", |_, row| row.max_ns;
        deviation_ns: nanos Detail Measured "Std dev", "standard deviation of a sample", |_, row| row.deviation_ns;
    }
}
