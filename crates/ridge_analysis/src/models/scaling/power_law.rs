//! A power law `y = a N^b` through points, by least squares of the logarithms, and how sure it is.
//!
//! Formulas: Draper and Smith, *Applied Regression Analysis*, 3rd edition (1998), section 1.4 for the interval of the slope and
//! section 3.1 for that of a new observation. The residuals of the logarithms are taken as normal and alike at every size.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Part of intervals that holds the true value.
const CONFIDENCE: f64 = 0.95;

/// An interval that holds the true value with a confidence of 95%.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// A power law through points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerLaw {
    /// Logarithm of `a`.
    pub log_factor: f64,
    /// The exponent `b`.
    pub exponent: f64,
    /// Points it goes through.
    pub points: usize,
    /// Sum of the squared residuals of the logarithms.
    pub(super) residual: f64,
    /// Mean of the logarithms of the sizes.
    mean: f64,
    /// Sum of the squared distances of the sizes' logarithms from their mean.
    spread: f64,
}

impl PowerLaw {
    /// Fits `points`, pairs of size and value; `None` for fewer than two different sizes.
    ///
    /// Points with a size or value that is not positive and finite are left out.
    pub fn fit(points: &[(f64, f64)]) -> Option<PowerLaw> {
        let logs = logarithms(points);
        let count = logs.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
        let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
        let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        if logs.len() < 2 || spread <= 0.0 {
            return None;
        }
        let exponent = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread;
        let log_factor = mean_y - exponent * mean_x;
        let residual = logs.iter().map(|(x, y)| (y - log_factor - exponent * x).powi(2)).sum();
        Some(PowerLaw { log_factor, exponent, points: logs.len(), residual, mean: mean_x, spread })
    }

    /// The value at `size`.
    pub fn at(&self, size: f64) -> f64 {
        (self.log_factor + self.exponent * size.ln()).exp()
    }

    /// The interval of the exponent; `None` for two points, which fit exactly and say nothing of errors.
    pub fn exponent_between(&self) -> Option<Between> {
        let half = self.quantile()? * self.deviation()? / self.spread.sqrt();
        Some(Between { low: self.exponent - half, high: self.exponent + half })
    }

    /// The interval of a new measurement at `size`; `None` for two points.
    pub fn at_between(&self, size: f64) -> Option<Between> {
        let leverage = 1.0 + 1.0 / self.points as f64 + (size.ln() - self.mean).powi(2) / self.spread;
        let half = self.quantile()? * self.deviation()? * leverage.sqrt();
        let middle = self.log_factor + self.exponent * size.ln();
        Some(Between { low: (middle - half).exp(), high: (middle + half).exp() })
    }

    fn freedom(&self) -> Option<f64> {
        (self.points > 2).then(|| (self.points - 2) as f64)
    }

    /// Standard deviation of the logarithms' residuals.
    fn deviation(&self) -> Option<f64> {
        Some((self.residual / self.freedom()?).sqrt())
    }

    fn quantile(&self) -> Option<f64> {
        let distribution = StudentsT::new(0.0, 1.0, self.freedom()?).ok()?;
        Some(distribution.inverse_cdf(0.5 + CONFIDENCE / 2.0))
    }
}

/// Logarithms of the points that have them.
pub(super) fn logarithms(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let logs = points.iter().map(|(size, value)| (size.ln(), value.ln()));
    logs.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of scipy 1.17.1: `linregress` of the logarithms, `t.ppf(0.975, 3)`.
    const POINTS: [(f64, f64); 5] = [(16.0, 0.0021), (32.0, 0.0125), (48.0, 0.0441), (64.0, 0.0930), (96.0, 0.331)];

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn agrees_with_scipy() {
        let law = PowerLaw::fit(&POINTS).expect("five points");
        near(law.exponent, 2.822741276972626);
        near(law.log_factor.exp(), 7.815500784518235e-07);
        let between = law.exponent_between().expect("three degrees of freedom");
        near((between.high - between.low) / 2.0, 0.20612168819682353);
        near(law.at(128.0), 0.6935301908539435);
        let between = law.at_between(128.0).expect("three degrees of freedom");
        near(between.low, 0.4733465112206156);
        near(between.high, 1.016135355863502);
    }

    #[test]
    fn two_points_fit_exactly_and_are_not_sure() {
        let law = PowerLaw::fit(&[(32.0, 1.0), (64.0, 8.0)]).expect("two points");
        near(law.exponent, 3.0);
        assert_eq!((law.exponent_between(), law.at_between(128.0)), (None, None));
    }

    #[test]
    fn what_has_no_logarithm_is_left_out() {
        for points in
            [vec![], vec![(8.0, 1.0)], vec![(8.0, 1.0), (8.0, 2.0)], vec![(8.0, 1.0), (0.0, 1.0), (9.0, f64::NAN)]]
        {
            assert_eq!(PowerLaw::fit(&points), None, "{points:?}");
        }
        assert_eq!(PowerLaw::fit(&[(1.0, 1.0), (2.0, 2.0), (4.0, -1.0)]).map(|law| law.points), Some(2));
    }
}
