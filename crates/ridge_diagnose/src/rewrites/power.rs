//! Powers with a small whole exponent, which a few products give.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// The largest exponent that is worth products.
const MOST: f64 = 64.0;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    site.module.instruction_ids().filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let power = site.instruction(id);
    let exponent = (power.opcode == "power").then(|| site.constant(*power.operands.get(1)?)).flatten()?.abs();
    let halves = exponent * 2.0;
    if !(1.0..=MOST).contains(&exponent) || halves.fract() != 0.0 {
        return None;
    }
    let carrier = site.ran(id)?;
    let whole = exponent.trunc() as u64;
    let products = f64::from(63 - whole.leading_zeros() + whole.count_ones().saturating_sub(1))
        + 2.0 * (halves - 2.0 * exponent.trunc());
    let elements = site.elements(id);
    let now = Work::of(site.cost(carrier)?)?;
    let better = Work { functions: (now.functions - elements).max(0.0), plain: now.plain + products * elements, ..now };
    Some(Rewrite {
        does: "computes powers with a small whole or half exponent by the general function",
        instead: "products",
        why: "the general power is a logarithm, an exponential and the cases between them for each element",
        help: "write products (`s2 = s * s; s6 = s2 * s2 * s2`) or use an `int` as the exponent: `x**6` and `jnp.power(x, 6)` multiply, `jnp.power(x, 6.0)` does not",
        at: id,
        old: vec![carrier],
        better: better.times(site.program.events(carrier) as f64),
        slack: Slack::Alike,
    })
}
