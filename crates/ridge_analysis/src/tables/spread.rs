//! How like durations are spread: the columns that every summary of calls, copies and launches has.

use crate::context::quantiles::quantile;
use ridge_table::{Basis, Column, Rank};

/// Some durations, nanoseconds, sorted when they are all there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spread {
    durations: Vec<i64>,
}

impl Spread {
    pub(crate) fn push(&mut self, dur_ns: i64) {
        self.durations.push(dur_ns);
    }

    pub(crate) fn sort(&mut self) {
        self.durations.sort_unstable();
    }

    pub(crate) fn count(&self) -> u64 {
        self.durations.len() as u64
    }

    pub(crate) fn total_ns(&self) -> i64 {
        self.durations.iter().fold(0_i64, |sum, dur| sum.saturating_add(*dur))
    }

    pub(crate) fn mean_ns(&self) -> Option<i64> {
        (!self.durations.is_empty()).then(|| (self.total_ns() as f64 / self.durations.len() as f64).round() as i64)
    }

    pub(crate) fn at(&self, share: f64) -> Option<i64> {
        quantile(&[&self.durations], share)
    }

    /// Standard deviation of a sample, dividing by one less than the count, as `nsys stats` does.
    fn deviation_ns(&self) -> Option<i64> {
        let degrees = self.durations.len().checked_sub(1).filter(|degrees| *degrees > 0)? as f64;
        let mean = self.total_ns() as f64 / self.durations.len() as f64;
        let squares: f64 = self.durations.iter().map(|dur| (*dur as f64 - mean).powi(2)).sum();
        Some((squares / degrees).sqrt().round() as i64)
    }
}

/// Mean, median, extremes and deviation of each row's durations.
pub(crate) fn columns<'a>(rows: impl Iterator<Item = &'a Spread> + Clone) -> [Column; 5] {
    let nanos = |key, title, definition, value: fn(&Spread) -> Option<i64>| {
        Column::nanos(key, title, definition, rows.clone().map(value)).basis(Basis::Measured)
    };
    [
        nanos("mean_ns", "Mean", "mean duration", Spread::mean_ns),
        nanos("median_ns", "Median", "duration that half of them do not exceed", |spread| spread.at(0.5)),
        nanos("min_ns", "Min", "shortest duration", |spread| spread.at(0.0)).ranked(Rank::Detail),
        nanos("max_ns", "Max", "longest duration", |spread| spread.at(1.0)),
        nanos("deviation_ns", "Std dev", "standard deviation of a sample", Spread::deviation_ns).ranked(Rank::Detail),
    ]
}

/// What `part` is of `whole`; 0 where there is nothing.
pub(crate) fn share(part: i64, whole: i64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_deviates_as_by_hand() {
        let mut spread = Spread::default();
        [2, 4, 4, 4, 5, 5, 7, 9].into_iter().for_each(|dur| spread.push(dur));
        spread.sort();
        // The squares add up to 32; 32 / 7 has the root 2.138.
        assert_eq!((spread.mean_ns(), spread.at(0.5), spread.deviation_ns()), (Some(5), Some(4), Some(2)));
        assert_eq!(Spread::default().deviation_ns(), None);
    }
}
