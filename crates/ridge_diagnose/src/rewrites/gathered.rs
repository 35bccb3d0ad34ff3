//! Products of rows that were gathered before, many times each: the product of each row once, gathered after, is the same.

use super::site::{Product, Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// Times that a row is gathered, on average, from which on its own product is worth keeping.
const OFTEN: f64 = 2.0;
/// Rows below which a product costs little.
const FEWEST: f64 = 256.0;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    site.products().into_iter().filter_map(|product| rewrite(site, &product)).collect()
}

fn rewrite(site: &Site<'_, '_>, product: &Product) -> Option<Rewrite> {
    let sides = [(product.lhs, product.m), (product.rhs, product.n)];
    let (rows, gathered) =
        sides.into_iter().find_map(|(side, gathered)| Some((rows_behind(site, side, gathered)?, gathered)))?;
    if product.batch > 1.0 || gathered < FEWEST || gathered < OFTEN * rows {
        return None;
    }
    let carrier = site.ran(product.at)?;
    let work = Work::of(site.cost(carrier)?)?;
    // What the product makes is gathered instead of what it reads.
    let others = product.m * product.n / gathered;
    let moved = Work { bytes: 2.0 * gathered * others * site.width(product.at), ..Work::default() };
    let better = work.times(rows / gathered).plus(moved);
    Some(Rewrite {
        does: "goes to multiplying gathered rows, most of which are copies of the same rows",
        instead: "multiplying each row once and gathering the products",
        why: "a row that is gathered several times gets the same product each time",
        help: "apply the linear layer before the lookup: `(nodes @ w)[senders]` instead of `nodes[senders] @ w`; of a concatenation, multiply each part by its own rows of the weights and add the results",
        at: product.at,
        old: vec![carrier],
        better: better.times(site.events(carrier)),
        slack: Slack::Alike,
    })
}

/// How many rows the array has from which all rows of a side were gathered, whole.
fn rows_behind(site: &Site<'_, '_>, side: InstructionId, gathered: f64) -> Option<f64> {
    let made = site.flow.content(side);
    let gather = site.instruction(made);
    let extents = |id: InstructionId| -> Vec<i64> {
        site.instruction(id).shape.dimensions.iter().copied().filter(|extent| *extent != 1).collect()
    };
    let from = gather.operands.first().filter(|_| gather.opcode == "gather").map(|from| extents(*from))?;
    match (&from[..], &extents(made)[..]) {
        ([rows, one], [all, other]) if one == other && (*all as f64 - gathered).abs() < 0.5 => Some(*rows as f64),
        _ => None,
    }
}
