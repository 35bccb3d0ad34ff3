//! Time spans: nanoseconds, the unit of every trace table, and picoseconds, the unit of some formats.

use crate::digits::scaled;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// Units of time, largest first, by their nanoseconds.
pub(crate) const SCALES: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];

/// A span or a point of time in nanoseconds; points are on the trace clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub i64);

/// A span of time in picoseconds, as XPlane writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Picos(pub i64);

impl Nanos {
    /// Zero nanoseconds.
    pub const ZERO: Nanos = Nanos(0);

    /// The span in seconds.
    pub fn secs(self) -> f64 {
        self.0 as f64 * 1e-9
    }
}

impl From<Picos> for Nanos {
    /// Rounds half away from zero to whole nanoseconds.
    fn from(span: Picos) -> Nanos {
        let half = if span.0 < 0 { -500 } else { 500 };
        Nanos(span.0.saturating_add(half) / 1000)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&scaled(self.0 as f64, &SCALES))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(spans: I) -> Nanos {
        Nanos(spans.map(|span| span.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_three_digits_and_the_unit() {
        for (nanos, text) in [
            (0, "0 ns"),
            (1, "1 ns"),
            (999, "999 ns"),
            (1_000, "1 µs"),
            (12_543, "12.5 µs"),
            (999_960, "1 ms"),
            (14_344_140, "14.3 ms"),
            (-2_500_000_000, "-2.5 s"),
            (3_600_000_000_000, "3,600 s"),
        ] {
            assert_eq!(Nanos(nanos).to_string(), text);
        }
    }

    #[test]
    fn picoseconds_round_half_away_from_zero() {
        for (picos, nanos) in [(0, 0), (499, 0), (500, 1), (-500, -1), (-499, 0), (1_499, 1)] {
            assert_eq!(Nanos::from(Picos(picos)), Nanos(nanos));
        }
    }
}
