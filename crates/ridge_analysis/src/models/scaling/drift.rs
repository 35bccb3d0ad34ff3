//! The course of equal steps: warm-up at the start, drift along the rest, outliers in it.
//!
//! Warm-up is the steps of the first half before the first that is within [`WARM`] of the median of the second half.
//! Drift is the Theil–Sen slope of the rest; outliers are those whose modified z-score, 0.6745 (x − median) / MAD, exceeds 3.5
//! (Iglewicz and Hoaglin, *How to Detect and Handle Outliers*, 1993), after the drift is taken away.

use super::robust::{TheilSen, median, median_deviation, theil_sen};

/// A step has warmed up when it takes at most this much longer than the median of the second half, as a part of it.
pub(crate) const WARM: f64 = 0.1;
/// Greatest modified z-score of an ordinary step.
pub(crate) const MOST_SCORE: f64 = 3.5;
/// The normal distribution's quartile: makes MAD comparable to a standard deviation.
const QUARTILE: f64 = 0.6745;
/// Deviations below this part of the median are no outliers, however alike the other steps are.
pub(crate) const LEAST_DEVIATION: f64 = 0.01;

/// The course of equal steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// Steps at the start that were still warming up.
    pub warm_up: usize,
    /// Time that they took beyond as many ordinary steps, in the unit of the durations.
    pub warm_up_cost: f64,
    /// Median of the rest.
    pub median: f64,
    /// Median distance of the rest from their median.
    pub deviation: f64,
    /// Slope of the rest, per step; `None` for fewer than three.
    pub slope: Option<TheilSen>,
    /// Places of outliers, the first step being 0.
    pub outliers: Vec<usize>,
}

/// The course of `durations`; `None` for none.
pub fn drift(durations: &[f64]) -> Option<Drift> {
    let (first, second) = durations.split_at(durations.len() / 2);
    let ordinary = median(second)?;
    let warm_up = first.iter().take_while(|duration| **duration > ordinary * (1.0 + WARM)).count();
    let rest = &durations[warm_up..];
    let middle = median(rest)?;
    let slope = theil_sen(rest);
    Some(Drift {
        warm_up,
        warm_up_cost: durations[..warm_up].iter().map(|duration| duration - middle).sum(),
        median: middle,
        deviation: median_deviation(rest, middle)?,
        slope,
        outliers: outliers(rest, slope).into_iter().map(|at| at + warm_up).collect(),
    })
}

/// Places in `rest` that lie far off its line.
fn outliers(rest: &[f64], slope: Option<TheilSen>) -> Vec<usize> {
    let along = slope.map_or(0.0, |found| found.slope);
    let leveled: Vec<f64> = rest.iter().enumerate().map(|(at, value)| value - along * at as f64).collect();
    let center = median(&leveled).unwrap_or(0.0);
    let deviation = median_deviation(&leveled, center).unwrap_or(0.0);
    let far = (MOST_SCORE * deviation / QUARTILE).max(center.abs() * LEAST_DEVIATION);
    let is_far = |value: &f64| (value - center).abs() > far;
    leveled.iter().enumerate().filter(|(_, value)| is_far(value)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_up_drift_and_outliers_are_told_apart() {
        let steps = [30.0, 12.0, 10.2, 10.1, 10.3, 10.2, 10.4, 10.3, 18.0, 10.5, 10.4, 10.6];
        let found = drift(&steps).expect("steps");
        assert_eq!((found.warm_up, found.outliers.as_slice()), (2, &[8][..]));
        // numpy: median 10.35, MAD 0.15, and 30 + 12 − 2 × 10.35.
        assert!((found.median - 10.35).abs() < 1e-9 && (found.deviation - 0.15).abs() < 1e-9, "{found:?}");
        assert!((found.warm_up_cost - 21.3).abs() < 1e-9, "{found:?}");
        assert!(found.slope.is_some_and(|slope| slope.low > 0.0), "{found:?}");
    }

    #[test]
    fn steps_that_are_all_alike_have_nothing_to_tell() {
        for steps in [vec![5.0; 9], vec![5.0], vec![5.0, 9.0], vec![5.0, 5.01, 4.99, 5.0, 5.02]] {
            let found = drift(&steps).expect("steps");
            assert_eq!((found.warm_up, found.outliers.len()), (0, 0), "{steps:?}");
        }
        assert_eq!(drift(&[]), None);
    }
}
