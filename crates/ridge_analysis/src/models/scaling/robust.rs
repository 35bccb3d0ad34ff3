//! Medians and slopes that a few wild values do not move.

use statrs::distribution::{ContinuousCDF, Normal};

/// More values than this are thinned before their slopes are compared pair by pair.
const MOST_VALUES: usize = 1500;
/// Part of the interval of a slope that holds the true one.
const CONFIDENCE: f64 = 0.95;

/// The median of `values`; the mean of the two in the middle. `None` for none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The median of the distances from `center`: MAD where `center` is the median.
pub fn median_deviation(values: &[f64], center: f64) -> Option<f64> {
    median(&values.iter().map(|value| (value - center).abs()).collect::<Vec<_>>())
}

/// The slope of values in order, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TheilSen {
    /// Median of the slopes of all pairs, per place.
    pub slope: f64,
    /// Ends of the 95% interval.
    pub low: f64,
    /// Ends of the 95% interval.
    pub high: f64,
    /// Part of the pairs whose later value is the greater, 0 to 1.
    pub rising: f64,
    /// Values looked at.
    pub values: usize,
}

/// The Theil–Sen slope of `values` at places 0, 1, 2, … with Sen's interval; `None` for fewer than three.
///
/// Sen, *Estimates of the regression coefficient based on Kendall's tau*, J. Am. Stat. Assoc. 63 (1968), the normal approximation,
/// with the correction for tied values; `scipy.stats.theilslopes` computes the same.
/// Of more than 1500 values, every k-th is taken.
pub fn theil_sen(values: &[f64]) -> Option<TheilSen> {
    let step = values.len().div_ceil(MOST_VALUES).max(1);
    let thinned: Vec<(f64, f64)> =
        values.iter().enumerate().step_by(step).map(|(at, value)| (at as f64, *value)).collect();
    let count = thinned.len();
    if count < 3 {
        return None;
    }
    let mut slopes: Vec<f64> = Vec::with_capacity(count * (count - 1) / 2);
    for (at, (x, y)) in thinned.iter().enumerate() {
        slopes.extend(thinned[at + 1..].iter().map(|(later, value)| (value - y) / (later - x)));
    }
    slopes.sort_by(f64::total_cmp);
    let z = Normal::new(0.0, 1.0).ok()?.inverse_cdf(0.5 + CONFIDENCE / 2.0);
    let half = z * kendall_variance(&thinned).sqrt();
    let pairs = slopes.len() as f64;
    let upper = ((pairs + half) / 2.0).round_ties_even().min(pairs - 1.0) as usize;
    let lower = (((pairs - half) / 2.0).round_ties_even() - 1.0).max(0.0) as usize;
    let rising = (slopes.len() - slopes.partition_point(|slope| *slope <= 0.0)) as f64 / pairs;
    Some(TheilSen { slope: median(&slopes)?, low: slopes[lower], high: slopes[upper], rising, values: count })
}

/// Variance of Kendall's S, ties of values allowed for (Sen's equation 2.6).
fn kendall_variance(points: &[(f64, f64)]) -> f64 {
    let term = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let mut sorted: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|tied| term(tied.len() as f64)).sum();
    (term(sorted.len() as f64) - ties) / 18.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_even_and_none() {
        assert_eq!(
            (median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0]), median(&[])),
            (Some(2.0), Some(2.5), None)
        );
        assert_eq!(median_deviation(&[1.0, 2.0, 9.0], 2.0), Some(1.0));
    }

    #[test]
    fn a_slope_agrees_with_scipy() {
        // scipy 1.17.1: theilslopes gives 0.05, 0.02 and 0.075.
        let values = [10.2, 10.1, 10.3, 10.2, 10.4, 10.3, 18.0, 10.5, 10.4, 10.6];
        let found = theil_sen(&values).expect("ten values");
        for (found, expected) in [(found.slope, 0.05), (found.low, 0.02), (found.high, 0.075)] {
            assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
        }
        assert_eq!(theil_sen(&[1.0, 2.0]), None);
    }

    #[test]
    fn many_values_are_thinned_and_the_slope_stays_per_place() {
        let values: Vec<f64> = (0..10_000).map(|at| 5.0 + 0.25 * f64::from(at)).collect();
        let found = theil_sen(&values).expect("many values");
        assert_eq!((found.slope, found.low, found.high), (0.25, 0.25, 0.25));
    }
}
