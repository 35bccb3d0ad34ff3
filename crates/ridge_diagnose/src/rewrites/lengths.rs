//! Fourier transforms of a length with a large prime factor.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// Prime factors up to this have steps of their own in the libraries, or nearly.
const LARGEST: u64 = 31;
/// Shorter transforms cost little in any form.
const FEWEST: u64 = 128;
/// Measured with XLA on a CPU: transforms of 257 to 1021 points, prime, take 2.0 to 2.4 times as long as those of the next short
/// factors, and of 3593 to 10007 points 13 to 38 times. So much at most is left of each.
const LEFT: f64 = 0.5;
const LEFT_OF_LONG: f64 = 0.15;
/// A prime factor that is a long one.
const LONG: u64 = 2048;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    site.module.instruction_ids().filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let transform = site.instruction(id);
    if transform.opcode != "fft" {
        return None;
    }
    let carrier = site.ran(id)?;
    let lengths = transform.attributes().fft_length.iter().filter_map(|length| u64::try_from(*length).ok());
    let slow = lengths.filter(|length| *length >= FEWEST && has_large_factor(*length)).max()?;
    let left = if without(slow, 2..=LARGEST) >= LONG { LEFT_OF_LONG } else { LEFT };
    let longer = next_short(slow)? as f64 / slow as f64;
    let better = Work::of(site.cost(carrier)?)?.times(left * longer * site.program.events(carrier) as f64);
    Some(Rewrite {
        does: "goes to Fourier transforms of a length with a large prime factor",
        instead: "transforms of the next length that is a product of small primes",
        why: "the fast Fourier transform splits a length into its factors; a large prime factor needs a longer transform or a quadratic pass",
        help: "if the result allows it, as in convolutions and correlations, zero-pad to a length with small prime factors (`n = scipy.fft.next_fast_len(n)`, or a power of two); otherwise choose a grid of such a size",
        at: id,
        old: vec![carrier],
        better,
        slack: Slack::Alike,
    })
}

/// Whether what is left of a length after its small factors is more than 1.
fn has_large_factor(length: u64) -> bool {
    without(length, 2..=LARGEST) > 1
}

/// The next length of the factors 2, 3, 5 and 7 alone; there is one below the next power of two.
fn next_short(length: u64) -> Option<u64> {
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
        assert!(has_large_factor(4019) && has_large_factor(1018));
        assert!(!has_large_factor(4096) && !has_large_factor(3600) && !has_large_factor(31 * 32));
        assert_eq!(next_short(4019), Some(4032));
        assert_eq!(next_short(257), Some(270));
        assert_eq!(next_short(509), Some(512));
    }
}
