//! Whether an operation's time grows faster than its work.

use super::bend::Growth;

/// Exponents that differ by less than this are alike: a tenth is a factor of 1.07 per doubling.
const ALIKE: f64 = 0.1;

/// How an operation's time grows beside its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Faster, and the interval of its exponent says so.
    Faster,
    /// Faster by the exponents, but the interval does not exclude that it is chance.
    PerhapsFaster,
    /// As its work, or slower: fixed costs are being outgrown.
    NotFaster,
    /// Time or work is known at too few sizes.
    Unknown,
}

impl Verdict {
    /// Compares the growth of time with that of work, the faster one of arithmetic and traffic.
    pub(super) fn of(time: Option<Growth>, work: Option<f64>) -> Verdict {
        let (Some(time), Some(work)) = (time, work) else { return Verdict::Unknown };
        if time.law.exponent - work <= ALIKE {
            return Verdict::NotFaster;
        }
        let is_sure = time.law.exponent_between().is_some_and(|between| between.low > work);
        if is_sure { Verdict::Faster } else { Verdict::PerhapsFaster }
    }

    /// The words in tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster than its work",
            Verdict::PerhapsFaster => "perhaps faster than its work",
            Verdict::NotFaster => "no faster than its work",
            Verdict::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(exponent: f64, noise: f64) -> Option<Growth> {
        let points: Vec<(f64, f64)> = [8.0, 16.0, 32.0, 64.0]
            .iter()
            .zip([1.0 + noise, 1.0, 1.0 - noise, 1.0 + noise])
            .map(|(size, wobble)| (*size, f64::powf(*size, exponent) * wobble))
            .collect();
        Growth::fit(&points)
    }

    #[test]
    fn only_a_sure_difference_is_called_one() {
        for (time, work, expected) in [
            (growth(4.0, 0.01), Some(3.0), Verdict::Faster),
            (growth(3.4, 0.6), Some(3.0), Verdict::PerhapsFaster),
            (growth(3.05, 0.0), Some(3.0), Verdict::NotFaster),
            (growth(2.0, 0.01), Some(3.0), Verdict::NotFaster),
            (growth(2.0, 0.01), None, Verdict::Unknown),
            (None, Some(3.0), Verdict::Unknown),
        ] {
            assert_eq!(Verdict::of(time, work), expected);
        }
    }
}
