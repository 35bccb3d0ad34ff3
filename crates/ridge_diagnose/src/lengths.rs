//! Lengths of Fourier transforms: those of small factors are fast.

/// Prime factors up to this have steps of their own in the libraries, or nearly.
const LARGEST: u64 = 31;
/// Shorter transforms cost little in any form.
pub(crate) const FEWEST_POINTS: u64 = 128;
/// Measured with XLA on a CPU: transforms of 257 to 1021 points, prime, take 2.0 to 2.4 times as long as those of the next short
/// factors, and of 3593 to 10007 points 13 to 38 times. So much at most is left of each.
const LEFT: f64 = 0.5;
const LEFT_OF_LONG: f64 = 0.15;
/// A prime factor that is a long one.
const LONG: u64 = 2048;

/// Whether a length has small factors alone.
pub(crate) fn is_short(length: u64) -> bool {
    without(length, 2..=LARGEST) <= 1
}

/// What is left of the time of a transform of such a length where it has small factors, at most.
pub(crate) fn left_of(length: u64) -> f64 {
    if without(length, 2..=LARGEST) >= LONG { LEFT_OF_LONG } else { LEFT }
}

/// The next length of the factors 2, 3, 5 and 7 alone; there is one below the next power of two.
pub(crate) fn next_short(length: u64) -> Option<u64> {
    (length..=length.checked_next_power_of_two()?.min(length.saturating_mul(2)))
        .find(|length| without(*length, 2..=7) == 1)
}

fn without(mut length: u64, factors: std::ops::RangeInclusive<u64>) -> u64 {
    for factor in factors {
        while length > 1 && length.is_multiple_of(factor) {
            length /= factor;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_with_large_factors() {
        assert!(!is_short(4019) && !is_short(1018));
        assert!(is_short(4096) && is_short(3600) && is_short(31 * 32));
        assert_eq!(next_short(4019), Some(4032));
        assert_eq!(next_short(257), Some(270));
        assert_eq!(next_short(509), Some(512));
    }
}
