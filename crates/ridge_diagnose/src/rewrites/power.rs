//! Powers with a small whole exponent, which a few products give.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;
use std::collections::BTreeMap;

/// The largest exponent that is worth products.
const MOST: f64 = 64.0;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    // Powers that one fusion computes are one price: what is left of it is what it does besides.
    let mut by_carrier: BTreeMap<InstructionId, Vec<(InstructionId, f64)>> = BTreeMap::new();
    for id in site.module.instruction_ids() {
        if let Some((carrier, products)) = site.ran(id).zip(products(site, id)) {
            by_carrier.entry(carrier).or_default().push((id, products));
        }
    }
    by_carrier.into_iter().filter_map(|(carrier, powers)| rewrite(site, carrier, &powers)).collect()
}

/// How many products give the power `id`; `None` for what is no such power.
fn products(site: &Site<'_, '_>, id: InstructionId) -> Option<f64> {
    let power = site.instruction(id);
    let exponent = (power.opcode == "power").then(|| site.constant(*power.operands.get(1)?)).flatten()?.abs();
    let halves = exponent * 2.0;
    if !(1.0..=MOST).contains(&exponent) || halves.fract() != 0.0 {
        return None;
    }
    let whole = exponent.trunc() as u64;
    let squares = f64::from(63 - whole.leading_zeros() + whole.count_ones().saturating_sub(1));
    Some(squares + 2.0 * (halves - 2.0 * exponent.trunc()))
}

fn rewrite(site: &Site<'_, '_>, carrier: InstructionId, powers: &[(InstructionId, f64)]) -> Option<Rewrite> {
    let now = Work::of(site.cost(carrier)?)?;
    let functions: f64 = powers.iter().map(|(id, _)| site.elements(*id)).sum();
    let products: f64 = powers.iter().map(|(id, products)| products * site.elements(*id)).sum();
    let better = Work { functions: (now.functions - functions).max(0.0), plain: now.plain + products, ..now };
    let (id, _) = *powers.iter().max_by(|a, b| site.elements(a.0).total_cmp(&site.elements(b.0)))?;
    Some(Rewrite {
        does: "goes to computing powers with a small integer or half-integer exponent by the general `pow` function",
        instead: "products",
        why: "the general power function computes a logarithm, an exponential and special cases for each element",
        help: "write products (`s2 = s * s; s6 = s2 * s2 * s2`) or use an `int` as the exponent: `x**6` and `jnp.power(x, 6)` multiply, `jnp.power(x, 6.0)` does not",
        at: id,
        old: vec![carrier],
        better: better.times(site.program.events(carrier) as f64),
        slack: Slack::Alike,
    })
}
