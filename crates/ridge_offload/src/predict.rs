//! A prediction: the time of a workload over many draws, and what it is made of.

use crate::draw::Draw;
use crate::time::{Parts, time};
use crate::{Board, BoundBy, Constants, Workload};
use std::cmp::Ordering;

/// Draws of a prediction; twice as many change the quantiles by less than 1%.
pub(crate) const DRAWS: usize = 1000;

/// What eight of ten cases lie between, and their middle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// A tenth lies below.
    pub p10: f64,
    /// Half lies below.
    pub p50: f64,
    /// A tenth lies above.
    pub p90: f64,
}

impl Interval {
    /// The quantiles of `values`; `None` of nothing.
    pub fn of(mut values: Vec<f64>) -> Option<Interval> {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = share * values.len().checked_sub(1)? as f64;
            let (low, high) = (values.get(place.floor() as usize)?, values.get(place.ceil() as usize)?);
            Some(low + (high - low) * place.fract())
        };
        Some(Interval { p10: at(0.1)?, p50: at(0.5)?, p90: at(0.9)? })
    }

    /// Whether `value` lies in it.
    pub fn holds(&self, value: f64) -> bool {
        (self.p10..=self.p90).contains(&value)
    }

    /// Everything times `factor`.
    pub fn times(&self, factor: f64) -> Interval {
        Interval { p10: self.p10 * factor, p50: self.p50 * factor, p90: self.p90 * factor }
    }

    /// `of` over this: a speed-up where this is the new time.
    pub fn under(&self, of: &Interval) -> Interval {
        Interval { p10: of.p10 / self.p90, p50: of.p50 / self.p50, p90: of.p90 / self.p10 }
    }

    /// A value that is known.
    pub fn sure(value: f64) -> Interval {
        Interval { p10: value, p50: value, p90: value }
    }
}

/// The predicted time of one call on one board.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The whole call, seconds.
    pub total_s: Interval,
    /// The kernel alone, with data on the board, seconds.
    pub resident_s: Interval,
    /// Transfers and launch, seconds.
    pub tax_s: Interval,
    /// What the call is made of whose time is the middle one; transfers and launch are those of one call.
    pub parts: Parts,
    /// What takes longest in most draws.
    pub bound: BoundBy,
    /// The whole call in each draw, seconds.
    pub draws_s: Vec<f64>,
}

/// Predicts one call of `workload` on `board` over `draws`; `None` where the model has no time for it.
///
/// Where data stay on the board for several calls, each pays its part of transfers and launch.
pub fn predict(
    workload: &Workload,
    board: &Board,
    draws: &[Draw],
    resident_calls: f64,
    constants: &Constants,
) -> Option<Prediction> {
    over(draws, resident_calls, |draw| time(workload, board, draw, constants))
}

/// The same of anything whose time is known in each draw.
pub(crate) fn over(draws: &[Draw], resident_calls: f64, time: impl Fn(&Draw) -> Option<Parts>) -> Option<Prediction> {
    let all: Vec<Parts> = draws.iter().map(time).collect::<Option<_>>()?;
    let total = |parts: &Parts| parts.resident_s() + parts.tax_s() / resident_calls.max(1.0);
    let draws_s: Vec<f64> = all.iter().map(total).collect();
    let middle = Interval::of(draws_s.clone())?.p50;
    // The draw whose time lies nearest to the middle is what the parts are shown of: they add up to it.
    let parts =
        all.iter().min_by(|one, other| (total(one) - middle).abs().total_cmp(&(total(other) - middle).abs()))?;
    Some(Prediction {
        total_s: Interval::of(draws_s.clone())?,
        resident_s: Interval::of(all.iter().map(Parts::resident_s).collect())?,
        tax_s: Interval::of(all.iter().map(Parts::tax_s).collect())?,
        parts: *parts,
        bound: most_common(all.iter().map(Parts::bound)).unwrap_or(BoundBy::Launch),
        draws_s,
    })
}

fn most_common(bounds: impl Iterator<Item = BoundBy>) -> Option<BoundBy> {
    let mut counts: Vec<(BoundBy, usize)> = Vec::new();
    for bound in bounds {
        match counts.iter_mut().find(|(known, _)| *known == bound) {
            Some((_, count)) => *count += 1,
            None => counts.push((bound, 1)),
        }
    }
    counts.into_iter().max_by(|one, other| one.1.cmp(&other.1).then(Ordering::Greater)).map(|(bound, _)| bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        let hundred = Interval::of((0..=100).map(f64::from).collect()).expect("values");
        assert_eq!(hundred, Interval { p10: 10.0, p50: 50.0, p90: 90.0 });
        assert_eq!(Interval::of(Vec::new()), None);
        assert_eq!(Interval::of(vec![3.0]), Some(Interval::sure(3.0)));
        let speed_up = Interval { p10: 1.0, p50: 2.0, p90: 4.0 }.under(&Interval::sure(8.0));
        assert_eq!(speed_up, Interval { p10: 2.0, p50: 4.0, p90: 8.0 });
    }
}
