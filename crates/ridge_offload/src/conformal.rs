//! Intervals that are widened by how far off the model was where the answer is known.
//!
//! Conformalized quantile regression (Romano, Patterson and Candès, NeurIPS 2019) on logarithms, each side for itself: how
//! far a published time lies outside of the predicted interval is a score, and the interval is widened until nine in ten
//! scores of each side would lie inside.
//! With n scores the (n + 1) · 0.9th is taken. Below nine scores that is beyond the last, so that nothing could be promised
//! of the class: there the scores of all classes are taken.

use crate::predict::{Interval, predict};
use crate::published::{Number, Published, published};
use crate::{Class, Constants, Draw};
use std::sync::LazyLock;

/// The fewest scores of which the (n + 1) · 0.9th is one; below, those of all classes are taken.
const FEWEST: usize = 9;

/// The part of the scores of each side that an interval must hold.
const INSIDE: f64 = 0.9;

/// How far an interval is widened: factors of at least 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Widening {
    /// What the lower end is divided by.
    pub below: f64,
    /// What the upper end is multiplied by.
    pub above: f64,
    /// Scores that it rests on.
    pub scores: usize,
    /// Whether too few kernels of the class are published, so that those of all classes were taken.
    pub of_all_classes: bool,
}

impl Widening {
    /// `interval` widened.
    pub fn widen(&self, interval: &Interval) -> Interval {
        Interval { p10: interval.p10 / self.below, p50: interval.p50, p90: interval.p90 * self.above }
    }
}

/// How far off the model was on one published kernel.
#[derive(Debug, Clone)]
pub(crate) struct Score {
    pub(crate) kernel: &'static Published,
    pub(crate) number: &'static Number,
    pub(crate) predicted: Interval,
}

impl Score {
    /// ln of how far below the interval the truth lies; negative inside.
    fn below(&self) -> f64 {
        (self.predicted.p10 / self.number.seconds).ln()
    }

    fn above(&self) -> f64 {
        (self.number.seconds / self.predicted.p90).ln()
    }
}

/// The scores of all published kernels.
#[derive(Debug, Clone)]
pub struct Calibration {
    scores: Vec<Score>,
}

/// What the model alone says of `kernel`, seconds. Published times are those of kernels: data is on the board.
fn resident(kernel: &Published, draws: &[Draw], constants: &Constants) -> Option<Interval> {
    Some(predict(&kernel.workload, kernel.board, draws, 1.0, constants)?.resident_s)
}

/// The same with the constants of this version.
pub(crate) fn predicted(kernel: &Published) -> Option<Interval> {
    resident(kernel, &Draw::many(crate::constants(), crate::predict::DRAWS), crate::constants())
}

static CALIBRATION: LazyLock<Calibration> = LazyLock::new(|| {
    Calibration::new(published(), &Draw::many(crate::constants(), crate::predict::DRAWS), crate::constants())
});

impl Calibration {
    /// That of this version's constants and kernels.
    pub fn of_this_version() -> &'static Calibration {
        &CALIBRATION
    }

    fn new(kernels: &'static [Published], draws: &[Draw], constants: &Constants) -> Calibration {
        let score = |kernel: &'static Published| {
            let predicted = resident(kernel, draws, constants)?;
            Some(Score { kernel, number: kernel.number.as_ref()?, predicted })
        };
        Calibration { scores: kernels.iter().filter_map(score).collect() }
    }

    pub(crate) fn scores(&self) -> &[Score] {
        &self.scores
    }

    /// How far intervals of `class` are widened, without what `paper` says where one is left out.
    pub fn widening(&self, class: Class, without: Option<&str>) -> Widening {
        let others = || self.scores.iter().filter(|score| without.is_none_or(|paper| score.kernel.paper != paper));
        let alike: Vec<&Score> = others().filter(|score| score.kernel.workload.class == class).collect();
        let of_all_classes = alike.len() < FEWEST;
        let scores: Vec<&Score> = if of_all_classes { others().collect() } else { alike };
        Widening {
            below: factor(scores.iter().map(|score| score.below())),
            above: factor(scores.iter().map(|score| score.above())),
            scores: scores.len(),
            of_all_classes,
        }
    }
}

/// The factor that holds nine in ten scores; at least 1.
fn factor(scores: impl Iterator<Item = f64>) -> f64 {
    let mut scores: Vec<f64> = scores.collect();
    scores.sort_by(f64::total_cmp);
    let rank = ((scores.len() + 1) as f64 * INSIDE).ceil() as usize;
    let score = scores.get(rank.min(scores.len()).saturating_sub(1)).copied().unwrap_or(0.0);
    score.max(0.0).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_that_of_the_tenth_of_ten_and_never_narrows() {
        let scores = |last: f64| factor((0..9).map(|_| -0.5).chain([last]));
        assert_eq!(scores(2_f64.ln()), 2.0);
        assert_eq!(scores(-0.1), 1.0);
        // Of nineteen the eighteenth: one may lie outside.
        assert_eq!(factor((0..18).map(|_| 3_f64.ln()).chain([9_f64.ln()])).round(), 3.0);
        assert_eq!(factor(std::iter::empty()), 1.0);
    }

    #[test]
    fn a_paper_never_widens_its_own_interval() {
        let calibration = Calibration::of_this_version();
        let of = |without| calibration.widening(Class::Gather, without);
        assert!(!calibration.widening(Class::Contraction, None).of_all_classes, "nine products are published");
        let left_out = of(Some("hpcc"));
        assert!(left_out.of_all_classes, "no other paper has random accesses");
        assert_eq!(left_out.scores, calibration.scores.iter().filter(|score| score.kernel.paper != "hpcc").count());
    }
}
