//! How much one part of the time changed.

pub use crate::partition::What;
use crate::place::Place;
use crate::statistics::Interval;

/// Whether a difference is more than chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// The interval leaves zero out.
    Certain,
    /// The interval holds zero.
    Unsure,
    /// There is no interval: nothing repeats.
    Unknown,
}

impl Certainty {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Certainty::Certain => "certain",
            Certainty::Unsure => "unsure",
            Certainty::Unknown => "unknown",
        }
    }
}

/// One row of a division: what it took before and takes now.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What it is about.
    pub what: What,
    /// Its name, of the side after where it is there.
    pub subject: String,
    /// Its name before, where that is another.
    pub subject_before: Option<String>,
    /// The line that it came from.
    pub place: Option<Place>,
    /// Time over all units before, nanoseconds.
    pub before_total_ns: i64,
    /// Time over all units after, nanoseconds.
    pub after_total_ns: i64,
    /// Time per unit before, nanoseconds; those of all rows add up to the whole.
    pub before_ns: i64,
    /// Time per unit after, nanoseconds.
    pub after_ns: i64,
    /// The interval of the difference per unit, nanoseconds; `None` where nothing repeats.
    pub interval: Option<Interval>,
    /// Events per unit before and after.
    pub counts: (f64, f64),
    /// Whether it is on the side before, and on that after.
    pub is_in: (bool, bool),
    /// What explains it, a few words each.
    pub why: Vec<String>,
}

impl Change {
    /// Time per unit that it takes more, nanoseconds.
    pub fn difference_ns(&self) -> i64 {
        self.after_ns.saturating_sub(self.before_ns)
    }

    /// Whether the difference is more than chance.
    pub fn certainty(&self) -> Certainty {
        match self.interval {
            None => Certainty::Unknown,
            Some(interval) if interval.excludes_zero() => Certainty::Certain,
            Some(_) => Certainty::Unsure,
        }
    }

    /// `appeared`, `vanished`, or `both`.
    pub fn presence(&self) -> &'static str {
        match self.is_in {
            (false, true) => "appeared",
            (true, false) => "vanished",
            _ => "both",
        }
    }
}

/// Each of `totals` divided by `units`, rounded so that they add up to their sum divided by it: what is left goes to those that
/// lost most by rounding.
pub(crate) fn per_unit(totals: &[i64], units: u64) -> Vec<i64> {
    let units = i128::from(units.max(1));
    let whole: i128 = totals.iter().map(|total| i128::from(*total)).sum();
    let mut shares: Vec<i128> = totals.iter().map(|total| i128::from(*total).div_euclid(units)).collect();
    let left = whole.div_euclid(units) - shares.iter().sum::<i128>();
    let mut order: Vec<usize> = (0..totals.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(i128::from(totals[*at]).rem_euclid(units)));
    for at in order.into_iter().take(usize::try_from(left).unwrap_or(0)) {
        shares[at] += 1;
    }
    // A share is no more than its total, which fits.
    shares.into_iter().map(|share| i64::try_from(share).unwrap_or(i64::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_share_of_the_whole() {
        for (totals, units, expected) in [
            (&[10, 10, 10][..], 3, &[4, 3, 3][..]),
            (&[1, 1, 1], 2, &[1, 0, 0]),
            (&[7, 0], 7, &[1, 0]),
            (&[], 3, &[]),
            (&[5], 0, &[5]),
            (&[-3, 10], 2, &[-2, 5]),
        ] {
            let found = per_unit(totals, units);
            assert_eq!(found, expected);
            assert_eq!(found.iter().sum::<i64>(), totals.iter().sum::<i64>().div_euclid(units.max(1) as i64));
        }
    }
}
