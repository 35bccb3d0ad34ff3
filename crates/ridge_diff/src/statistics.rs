//! How sure a difference is.
//!
//! **Several runs on both sides** are samples of what a run takes, whatever makes runs differ: the interval is Welch's
//! (B. L. Welch, *Biometrika* 34, 1947) with the degrees of freedom of Satterthwaite (*Biometrics Bulletin* 2, 1946).
//!
//! **One run on a side** cannot show how much runs differ. Its steps show how much a run wavers, but successive steps are alike
//! (caches, clocks, neighbors on the machine), so neither are they independent samples nor does their mean get surer with
//! their number. Two assumptions take the place of what is not known, and both are said wherever they matter:
//! - a run differs from another by as much as stretches of successive steps of one run differ from each other. So the
//!   variance of the run is that of its stretches and is *not* divided by their number, as it would be if they were
//!   independent; this is what noise with equal power in every octave of frequency gives, as that of machines has;
//! - and by [`BetweenRuns`] beside that, for what is the same all through a run and not in the next: where memory lies, which
//!   cores, which clock, who else uses the machine (Mytkowicz et al., *Producing wrong data without doing anything obviously
//!   wrong*, ASPLOS 2009, find several per cent from the first two alone).
//!
//! **A run that marks no steps** shows by its operations how it wavers: how much longer than usual those take that run often, in
//! each eighth of its time. That takes the place of its stretches, and the second assumption is made as if the host decided all of
//! it: only a change that is far beyond what runs differ by is called one.
//!
//! A rank test of single steps (Mann–Whitney) must agree where there are enough of them, so that one stretch with an outlier
//! makes no change. Distributions and the test are `statrs`'.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// Steps of a side from which on ranks are near enough to normal: below, the test is not asked. The exact distribution of `statrs`
/// 0.19 gives the chance of the other tail where both sides have as many, so it is not used.
const LEAST_RANKED: usize = 8;
/// Steps of a side that the rank test sees at most, spread over all: it compares every pair.
const MOST_RANKED: usize = 400;

/// Stretches of equal time that a capture without steps is cut into, to see how much its speed wavers.
pub(crate) const WAVERING: usize = 8;

/// Standard deviation of runs of the same program beside what their steps show, where a side has one run: parts of the time.
///
/// Measured, not known of the machine at hand; `docs/diff.md` has the captures and the commands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetweenRuns {
    /// Of time in which an accelerator works.
    ///
    /// Two pairs of runs of ResNet-50 on a V100 (kineto's samples of 2021) kept their busy time to 0.19% and 0.22%, which are
    /// standard deviations of 0.13% and 0.16%; two pairs leave room up to 0.66% (χ², 95%).
    pub device: f64,
    /// Of time in which the host decides: work of its processors, and accelerators waiting for it.
    ///
    /// Idle time of the same two pairs: 38% and 14% apart, which are standard deviations of 27% and 10%. Of 24 runs of one
    /// program on two crowded cores, 0.3 is the least with which fewer than one pair in twenty is called a change: 4 of 276.
    pub host: f64,
}

/// What is taken where nothing of the machine at hand is known.
pub const BETWEEN_RUNS: BetweenRuns = BetweenRuns { device: 0.0066, host: 0.3 };

/// What is known of one side.
#[derive(Debug, Clone, Copy)]
pub struct Samples<'s> {
    /// Times per unit: of each run, or of each stretch of the one run.
    pub values: &'s [f64],
    /// The side's time per unit.
    pub mean: f64,
    /// What the values are.
    pub of: SampleOf,
}

/// What samples are of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SampleOf {
    /// Runs of the program.
    Runs,
    /// Stretches of one run, with [`BetweenRuns`].
    Stretches {
        /// Standard deviation of runs beside what stretches show, in the unit of the values.
        between_runs: f64,
    },
    /// One run as a whole, with [`BetweenRuns`].
    Alone {
        /// Standard deviation of runs beside what the run shows, in the unit of the value.
        between_runs: f64,
        /// By how much the speed of like work differed between stretches of the run, in the unit of the value.
        seen: f64,
    },
}

/// An interval that holds the difference with the confidence that was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Whether it leaves zero out.
    pub fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

impl Samples<'_> {
    /// Variance of the side's mean, and its degrees of freedom; `None` for fewer than two values.
    fn variance(&self) -> Option<(f64, f64)> {
        let count = self.values.len() as f64;
        if let SampleOf::Alone { seen, .. } = self.of {
            return Some((seen.powi(2), WAVERING as f64 - 1.0));
        }
        if self.values.len() < 2 {
            return None;
        }
        let mean = self.values.iter().sum::<f64>() / count;
        let variance = self.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
        Some(match self.of {
            SampleOf::Runs => (variance / count, count - 1.0),
            SampleOf::Stretches { .. } | SampleOf::Alone { .. } => (variance, count - 1.0),
        })
    }

    /// Variance of runs that is assumed rather than seen.
    fn assumed(&self) -> f64 {
        match self.of {
            SampleOf::Runs => 0.0,
            SampleOf::Stretches { between_runs } | SampleOf::Alone { between_runs, .. } => between_runs.powi(2),
        }
    }
}

/// Standard deviation of single runs of a side; `None` for fewer than two values.
pub(crate) fn spread(side: &Samples<'_>) -> Option<f64> {
    let (variance, freedom) = side.variance()?;
    let of_one = match side.of {
        SampleOf::Runs => variance * (freedom + 1.0),
        SampleOf::Stretches { .. } | SampleOf::Alone { .. } => variance,
    };
    Some((of_one + side.assumed()).sqrt())
}

/// Runs of each side with which half the interval is `half` where runs of the sides spread like that; `None` above `most`.
pub(crate) fn runs_for(half: f64, spreads: (f64, f64), confidence: f64, most: u32) -> Option<u32> {
    let variance = spreads.0.powi(2) + spreads.1.powi(2);
    (2..=most).find(|count| {
        let count = f64::from(*count);
        let quantile = StudentsT::new(0.0, 1.0, 2.0 * (count - 1.0)).map(|of| of.inverse_cdf(0.5 + confidence / 2.0));
        quantile.is_ok_and(|quantile| quantile * (variance / count).sqrt() <= half)
    })
}

/// The interval of `after.mean - before.mean`; `None` where a side has fewer than two values.
pub fn difference(before: &Samples<'_>, after: &Samples<'_>, confidence: f64) -> Option<Interval> {
    let ((seen_before, free_before), (seen_after, free_after)) = (before.variance()?, after.variance()?);
    let seen = seen_before + seen_after;
    let assumed = before.assumed() + after.assumed();
    // Satterthwaite: an assumed variance is known, so it adds none to the denominator.
    let spread = seen_before.powi(2) / free_before + seen_after.powi(2) / free_after;
    let freedom = if spread > 0.0 { ((seen + assumed).powi(2) / spread).min(1e6) } else { 1e6 };
    let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let half = quantile * (seen + assumed).sqrt();
    let middle = after.mean - before.mean;
    Some(Interval { low: middle - half, high: middle + half })
}

/// The interval of `after.mean - before.mean` where a side has one run, by the ratio of the sides rather than their difference.
///
/// What disturbs a run makes it so many times slower, and not slower by so much: on a crowded machine one stretch of a run takes
/// several times as long as another, and differences of such times go below nothing. So stretches are compared by their
/// logarithms, whose assumed deviation is the part that runs differ by. Where they differ little the two are the same.
pub(crate) fn ratio(before: &Samples<'_>, after: &Samples<'_>, confidence: f64) -> Option<Interval> {
    let (logs_before, logs_after) = (before.logs()?, after.logs()?);
    let found = difference(&logs_before.samples(), &logs_after.samples(), confidence)?;
    let change = |log: f64| before.mean * log.exp_m1();
    Some(Interval { low: change(found.low), high: change(found.high) })
}

/// The interval of `after.mean - before.mean` of several runs a side, taken to differ by as much on one side as on the other: by
/// ratios as [`ratio`], Student's with pooled variance.
///
/// Three runs hardly show how much runs of one side differ, and six show it better. A change may change that, too, so this tells what
/// runs would have shown and not what changed.
pub(crate) fn pooled(before: &Samples<'_>, after: &Samples<'_>, confidence: f64) -> Option<Interval> {
    let (logs_before, logs_after) = (before.logs()?, after.logs()?);
    let (count_before, count_after) = (before.values.len() as f64, after.values.len() as f64);
    let freedom = count_before + count_after - 2.0;
    let squares = |logs: &Logs| {
        let mean = logs.values.iter().sum::<f64>() / logs.values.len() as f64;
        logs.values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let variance = (squares(&logs_before) + squares(&logs_after)) / freedom * (1.0 / count_before + 1.0 / count_after);
    let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    let (middle, half) = (logs_after.mean - logs_before.mean, quantile * variance.sqrt());
    let change = |log: f64| before.mean * log.exp_m1();
    Some(Interval { low: change(middle - half), high: change(middle + half) }).filter(|found| found.high.is_finite())
}

/// Samples of logarithms.
struct Logs {
    values: Vec<f64>,
    mean: f64,
    of: SampleOf,
}

impl Logs {
    fn samples(&self) -> Samples<'_> {
        Samples { values: &self.values, mean: self.mean, of: self.of }
    }
}

impl Samples<'_> {
    /// The logarithms of the values; `None` where one is nothing.
    fn logs(&self) -> Option<Logs> {
        let is_some = self.mean > 0.0 && self.values.iter().all(|value| *value > 0.0);
        let part = |ns: f64| ns / self.mean;
        let of = match self.of {
            SampleOf::Runs => SampleOf::Runs,
            SampleOf::Stretches { between_runs } => SampleOf::Stretches { between_runs: part(between_runs) },
            SampleOf::Alone { between_runs, seen } => {
                SampleOf::Alone { between_runs: part(between_runs), seen: part(seen) }
            }
        };
        is_some.then(|| Logs { values: self.values.iter().map(|value| value.ln()).collect(), mean: self.mean.ln(), of })
    }
}

/// The chance that single steps of two like runs are ranked as differently as these; `None` for fewer than eight on a side.
pub fn rank_test(before: &[i64], after: &[i64]) -> Option<f64> {
    let (before, after) = (spread_out(before), spread_out(after));
    if before.len().min(after.len()) < LEAST_RANKED {
        return None;
    }
    if before.iter().chain(&after).all(|value| *value == before[0]) {
        return Some(1.0);
    }
    let method = MannWhitneyUMethod::AsymptoticInclContinuityCorrection;
    let found = mannwhitneyu(&before, &after, method, Alternative::TwoSided);
    found.ok().map(|(_, chance)| chance).filter(|chance| chance.is_finite())
}

/// At most [`MOST_RANKED`] of them, at equal distances.
fn spread_out(all: &[i64]) -> Vec<i64> {
    let count = all.len().min(MOST_RANKED);
    (0..count).map(|at| all[at * all.len() / count]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-4, "{found} instead of {expected}");
    }

    fn samples(values: &[f64], of: SampleOf) -> Samples<'_> {
        Samples { values, mean: values.iter().sum::<f64>() / values.len() as f64, of }
    }

    #[test]
    fn runs_agree_with_scipy() {
        let (before, after) = ([10.1, 10.4, 9.9, 10.2], [11.0, 11.6, 10.8]);
        let found = difference(&samples(&before, SampleOf::Runs), &samples(&after, SampleOf::Runs), 0.95);
        // scipy 1.17.1: ttest_ind(after, before, equal_var=False).confidence_interval(0.95)
        let found = found.expect("several runs");
        near(found.low, 0.106_329_671_3);
        near(found.high, 1.860_336_995_4);
    }

    #[test]
    fn stretches_of_one_run_are_not_made_surer_by_their_number() {
        let few = [10.0, 11.0, 10.0, 11.0];
        let many = few.repeat(16);
        let width = |values: &[f64]| {
            let of = SampleOf::Stretches { between_runs: 0.0 };
            let found = difference(&samples(values, of), &samples(values, of), 0.95).expect("several");
            found.high - found.low
        };
        assert!(width(&many) > 0.5 * width(&few), "{} {}", width(&many), width(&few));
    }

    #[test]
    fn steady_steps_are_not_surer_than_runs_are_alike() {
        let steady = [10.0; 8];
        let of = SampleOf::Stretches { between_runs: 0.3 };
        let found = difference(&samples(&steady, of), &samples(&steady, of), 0.95).expect("several");
        // scipy 1.17.1: t.ppf(0.975, 1e6) standard deviations of a difference of two.
        near(found.high, 1.959_966_357 * 0.3 * 2.0_f64.sqrt());
    }

    #[test]
    fn a_run_as_a_whole_is_as_unsure_as_runs_are_taken_to_be() {
        let of = |between_runs: f64, seen: f64| SampleOf::Alone { between_runs, seen };
        let change = |seen: f64| {
            let (before, after) = ([100.0], [20.0]);
            let (before, after) = (samples(&before, of(30.0, 100.0 * seen)), samples(&after, of(6.0, 20.0 * seen)));
            ratio(&before, &after, 0.95).expect("assumed")
        };
        // A fifth, and 1.96 times the root of 0.3² + 0.3² as a power of e.
        near(change(0.0).high, 100.0 * (0.2 * (1.959_966_357 * 0.18_f64.sqrt()).exp() - 1.0));
        assert!(change(0.0).excludes_zero() && change(0.2).excludes_zero());
        assert!(!change(0.6).excludes_zero(), "a run whose like operations take twice as long at times tells nothing");
    }

    #[test]
    fn a_run_whose_stretches_differ_manyfold_is_judged_by_ratios() {
        let of = SampleOf::Stretches { between_runs: 0.0 };
        let (slow, fast) = ([20.0, 80.0, 20.0, 80.0], [1.0, 2.0, 1.0, 2.0]);
        let (slow, fast) = (samples(&slow, of), samples(&fast, of));
        assert!(!difference(&slow, &fast, 0.95).expect("several").excludes_zero());
        let found = ratio(&slow, &fast, 0.95).expect("several");
        assert!(found.excludes_zero() && found.low > -50.0, "{found:?}");
        let steady = [100.0, 101.0, 99.0, 100.0];
        let other = [103.0, 104.0, 102.0, 103.0];
        let (steady, other) = (samples(&steady, of), samples(&other, of));
        let (by_ratio, by_difference) = (ratio(&steady, &other, 0.95), difference(&steady, &other, 0.95));
        let (by_ratio, by_difference) = (by_ratio.expect("several"), by_difference.expect("several"));
        assert!((by_ratio.low - by_difference.low).abs() < 0.05, "{by_ratio:?} {by_difference:?}");
        assert_eq!(ratio(&samples(&[0.0, 1.0], of), &other, 0.95), None);
    }

    #[test]
    fn what_runs_would_have_shown_is_told_by_those_of_both_sides() {
        let (before, after) = ([1.0, 2.0, 4.0], [1.0, 2.0, 4.0]);
        let of = SampleOf::Runs;
        let found = pooled(&samples(&before, of), &samples(&after, of), 0.95).expect("several runs");
        // Student's 2.776445 at four degrees, times ln 2 and the root of 2 / 3, as a power of e.
        let factor = (2.776_445_105 * 2_f64.ln() * (2.0_f64 / 3.0).sqrt()).exp();
        near(found.high, (factor - 1.0) * 7.0 / 3.0);
        near(found.low, (1.0 / factor - 1.0) * 7.0 / 3.0);
        assert_eq!(pooled(&samples(&[1.0], of), &samples(&[2.0], of), 0.95), None);
    }

    #[test]
    fn noisier_runs_need_more_of_them() {
        // scipy 1.17.1: t.ppf(0.975, 2 * (n - 1)) * sqrt(2 / n) is 2.27 for 3 runs, 1.73 for 4 and 1.0 or less from 9 on.
        assert_eq!(runs_for(2.0, (1.0, 1.0), 0.95, 99), Some(4));
        assert_eq!(runs_for(1.0, (1.0, 1.0), 0.95, 99), Some(9));
        assert_eq!(runs_for(0.01, (1.0, 1.0), 0.95, 99), None);
    }

    #[test]
    fn one_value_tells_nothing() {
        let one = samples(&[10.0], SampleOf::Runs);
        assert_eq!(difference(&one, &samples(&[9.0, 9.1], SampleOf::Runs), 0.95), None);
    }

    #[test]
    fn ranks_tell_where_there_are_enough() {
        assert_eq!(rank_test(&[1, 2, 3], &[4, 5, 6]), None);
        let eight = |from: i64| (from..from + 8).collect::<Vec<i64>>();
        // scipy 1.17.1: mannwhitneyu(range(1, 9), range(9, 17), method="asymptotic")
        near(rank_test(&eight(1), &eight(9)).expect("eight of each"), 0.000_939_105_7);
        assert_eq!(rank_test(&[5; 9], &[5; 9]), Some(1.0));
        // An outlier alone moves a mean and no rank.
        let with_outlier = [&eight(10)[..7], &[900]].concat();
        assert!(rank_test(&eight(10), &with_outlier).is_some_and(|chance| chance > 0.5));
    }
}
