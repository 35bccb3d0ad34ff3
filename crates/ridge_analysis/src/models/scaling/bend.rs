//! Where growth bends: one exponent up to a size, another from there on.
//!
//! The model is continuous: `ln y = c + b₁ x + (b₂ − b₁) max(0, x − x₀)` with `x = ln N` and `x₀` at one of the inner sizes.
//! It is taken where an F-test says that it explains more than two parameters should (Draper and Smith, *Applied Regression Analysis*,
//! 3rd edition, section 6.1; two parameters more, `n − 4` degrees of freedom left), at 5% divided by the number of sizes tried for
//! `x₀` (Bonferroni). Four points and fewer cannot tell. AICc was tried and left: its correction for five parameters outweighs any
//! bend in seven points.

use super::power_law::{PowerLaw, logarithms};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Chance of seeing a bend where there is none.
const SIGNIFICANCE: f64 = 0.05;
/// Fewest points that can show a bend.
const LEAST_POINTS: usize = 5;
/// Residuals below this are rounding: nothing is left to explain.
const NOTHING_LEFT: f64 = 1e-20;

/// How a value grows with size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// The law for all sizes, or from the bend on.
    pub law: PowerLaw,
    /// The bend, where there is one.
    pub bend: Option<Bend>,
}

/// A bend between two power laws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bend {
    /// The size from which the second law holds.
    pub size: f64,
    /// The exponent up to there.
    pub before: f64,
    /// The exponent from there on, of the joined fit.
    pub after: f64,
    /// The chance that points without a bend look like this, after Bonferroni's correction.
    pub chance: f64,
}

/// A hinge through points: where it is, and what it leaves.
struct Hinge {
    at: f64,
    before: f64,
    change: f64,
    residual: f64,
}

impl Growth {
    /// Fits `points`, pairs of size and value; `None` for fewer than two different sizes.
    pub fn fit(points: &[(f64, f64)]) -> Option<Growth> {
        let law = PowerLaw::fit(points)?;
        let Some(bend) = bend(points, &law) else { return Some(Growth { law, bend: None }) };
        let later: Vec<(f64, f64)> = points.iter().copied().filter(|(size, _)| *size >= bend.size).collect();
        Some(PowerLaw::fit(&later).map_or(Growth { law, bend: None }, |law| Growth { law, bend: Some(bend) }))
    }
}

fn bend(points: &[(f64, f64)], straight: &PowerLaw) -> Option<Bend> {
    let mut logs = logarithms(points);
    logs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut inner: Vec<f64> = logs.iter().map(|(x, _)| *x).collect();
    inner.dedup();
    if inner.len() < LEAST_POINTS || straight.residual < NOTHING_LEFT {
        return None;
    }
    let tried = &inner[1..inner.len() - 1];
    let best = tried.iter().filter_map(|at| hinge(&logs, *at)).min_by(|a, b| a.residual.total_cmp(&b.residual))?;
    let left = (logs.len() - 4) as f64;
    let ratio = ((straight.residual - best.residual) / 2.0) / (best.residual.max(NOTHING_LEFT) / left);
    let chance = FisherSnedecor::new(2.0, left).ok()?.sf(ratio.max(0.0)) * tried.len() as f64;
    let bend = Bend { size: best.at.exp().round(), before: best.before, after: best.before + best.change, chance };
    (chance < SIGNIFICANCE).then_some(bend)
}

/// Least squares of the hinge at `at`, by its normal equations around the means.
fn hinge(logs: &[(f64, f64)], at: f64) -> Option<Hinge> {
    let rows: Vec<[f64; 3]> = logs.iter().map(|(x, y)| [*x, (x - at).max(0.0), *y]).collect();
    let mean: [f64; 3] = std::array::from_fn(|k| rows.iter().map(|row| row[k]).sum::<f64>() / rows.len() as f64);
    let product = |i: usize, j: usize| rows.iter().map(|row| (row[i] - mean[i]) * (row[j] - mean[j])).sum::<f64>();
    let (xx, xh, hh, xy, hy) = (product(0, 0), product(0, 1), product(1, 1), product(0, 2), product(1, 2));
    let determinant = xx * hh - xh * xh;
    if determinant <= f64::EPSILON * xx * hh {
        return None;
    }
    let before = (xy * hh - hy * xh) / determinant;
    let change = (hy * xx - xy * xh) / determinant;
    let left = |row: &[f64; 3]| row[2] - mean[2] - before * (row[0] - mean[0]) - change * (row[1] - mean[1]);
    Some(Hinge { at, before, change, residual: rows.iter().map(|row| left(row).powi(2)).sum() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch that costs a millisecond until the work outgrows it.
    const BENT: [(f64, f64); 7] = [
        (8.0, 1.0e-3),
        (16.0, 1.05e-3),
        (32.0, 0.98e-3),
        (64.0, 1.02e-3),
        (128.0, 8.3e-3),
        (256.0, 63e-3),
        (512.0, 0.52),
    ];

    #[test]
    fn agrees_with_numpy_and_scipy() {
        let bend = Growth::fit(&BENT).and_then(|growth| growth.bend).expect("a bend");
        let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-6, "{found}, {expected}");
        assert_eq!(bend.size, 64.0);
        // numpy's lstsq gives the exponents, scipy's f.sf(3049.239659, 2, 3) the chance, times five sizes tried.
        assert!((bend.before - 0.001876076).abs() < 1e-6, "{}", bend.before);
        near(bend.after, 2.9954912317011515);
        near(bend.chance, 5.0 * 1.0902577106002604e-05);
    }

    #[test]
    fn the_law_is_that_of_the_sizes_after_the_bend() {
        let growth = Growth::fit(&BENT).expect("seven points");
        assert_eq!(growth.law, PowerLaw::fit(&BENT[3..]).expect("four points"));
    }

    #[test]
    fn straight_growth_has_no_bend() {
        let exact: Vec<(f64, f64)> = (3..12).map(|power| (f64::powi(2.0, power), f64::powi(8.0, power))).collect();
        let rough: Vec<(f64, f64)> =
            exact.iter().enumerate().map(|(at, (size, value))| (*size, value * [1.0, 1.1, 0.95][at % 3])).collect();
        for points in [&exact[..], &rough[..], &BENT[..4], &BENT[2..6]] {
            assert_eq!(Growth::fit(points).and_then(|growth| growth.bend), None, "{points:?}");
        }
    }
}
