//! Fourier transforms of a length with a large prime factor.

use super::site::{Rewrite, Site, Slack};
use crate::lengths::{FEWEST_POINTS, is_short, left_of, next_short};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

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
    let slow = lengths.filter(|length| *length >= FEWEST_POINTS && !is_short(*length)).max()?;
    let left = left_of(slow);
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
