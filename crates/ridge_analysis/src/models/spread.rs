//! How like durations are spread.

use crate::context::quantiles::quantile;

/// Sum, mean, median, extremes and deviation of durations, nanoseconds; zeros where there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spread {
    /// How many there are.
    pub count: u64,
    /// Their sum.
    pub total_ns: i64,
    /// Their mean.
    pub mean_ns: i64,
    /// What half of them do not exceed.
    pub median_ns: i64,
    /// The shortest.
    pub min_ns: i64,
    /// The longest.
    pub max_ns: i64,
    /// Standard deviation of a sample, dividing by one less than the count, as `nsys stats` does.
    pub deviation_ns: Option<i64>,
}

impl Spread {
    pub(crate) fn of(mut durations: Vec<i64>) -> Spread {
        durations.sort_unstable();
        let total_ns = durations.iter().fold(0_i64, |sum, dur| sum.saturating_add(*dur));
        let mean = if durations.is_empty() { 0.0 } else { total_ns as f64 / durations.len() as f64 };
        let at = |share: f64| quantile(&[&durations], share).unwrap_or(0);
        let degrees = durations.len().checked_sub(1).filter(|degrees| *degrees > 0);
        let squares: f64 = durations.iter().map(|dur| (*dur as f64 - mean).powi(2)).sum();
        Spread {
            count: durations.len() as u64,
            total_ns,
            mean_ns: mean.round() as i64,
            median_ns: at(0.5),
            min_ns: at(0.0),
            max_ns: at(1.0),
            deviation_ns: degrees.map(|degrees| (squares / degrees as f64).sqrt().round() as i64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_deviates_as_by_hand() {
        let spread = Spread::of(vec![9, 4, 4, 4, 5, 5, 7, 2]);
        // The squares add up to 32; 32 / 7 has the root 2.138.
        assert_eq!((spread.mean_ns, spread.median_ns, spread.deviation_ns), (5, 4, Some(2)));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
