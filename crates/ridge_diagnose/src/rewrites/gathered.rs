//! Products of rows that were gathered or expanded before, many times each: the product of each row once, gathered after, is the same.

use super::backward::gradients;
use super::site::{Product, Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// Times that a row is gathered, on average, from which on its own product is worth keeping.
const OFTEN: f64 = 2.0;
/// Copies of a row of a joined part from which on that is worth a word.
const COPIES: f64 = 4.0;
/// Rows below which a product costs little.
const FEWEST: f64 = 256.0;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let of_product = |product: Product| rewrite(site, &product).or_else(|| of_joined(site, &product));
    site.products().into_iter().filter_map(of_product).collect()
}

/// A product of rows that are joined of parts, some of which repeat the same rows.
fn of_joined(site: &Site<'_, '_>, product: &Product) -> Option<Rewrite> {
    let sides = [(product.lhs, product.m, product.n), (product.rhs, product.n, product.m)];
    let (joined, parts, rows, outputs) = sides.into_iter().find_map(|(side, rows, outputs)| {
        Some((site.flow.content(side), parts_of(site, side, product.k)?, rows, outputs))
    })?;
    if product.batch > 1.0 || rows < FEWEST || !parts.iter().any(|(_, copies)| *copies >= COPIES) {
        return None;
    }
    let carrier = site.ran(product.at)?;
    let width = site.width(product.at);
    let each: f64 = parts.iter().map(|(width, copies)| width / copies).sum();
    let better = Work {
        matrix: 2.0 * rows * each * outputs,
        plain: rows * outputs * parts.len() as f64,
        bytes: width * (rows * each + 2.0 * rows * outputs),
        ..Work::default()
    };
    let (mut old, better) = with_gradients(site, product, carrier, better);
    // The join goes where nothing else reads it.
    let is_for_them =
        |readers: Vec<InstructionId>| readers.iter().all(|reader| old.contains(&site.flow.carrier(*reader)));
    if site.flow.readers(joined).is_some_and(is_for_them) {
        old.extend(site.ran(joined).filter(|id| !old.contains(id)));
    }
    Some(Rewrite {
        does: "goes to multiplying rows that were expanded to all pairs and joined first",
        instead: "multiplying each part before expanding it",
        why: "a product is linear in the joined parts, and each repeated row has the same product in all of its copies",
        help: "split the weights by their input rows: `(x @ wa)[:, None] + (x @ wb)[None] + pairs @ wc` instead of `concatenate([xi, xj, pairs], -1) @ w`, which broadcasts small products instead of copying rows",
        at: product.at,
        old,
        better,
        slack: Slack::Alike,
    })
}

/// A product and its gradients, and what takes their place: of each about the same part.
fn with_gradients(
    site: &Site<'_, '_>,
    product: &Product,
    carrier: InstructionId,
    better: Work,
) -> (Vec<InstructionId>, Work) {
    let mut old = vec![carrier];
    let mut all = better.times(site.events(carrier));
    let part = better.matrix / product.flops().max(1.0);
    for (id, part) in gradients(site, &[(carrier, part)]) {
        if let Some(work) = site.cost(id).and_then(Work::of) {
            all = all.plus(work.times(part * site.events(id)));
            old.push(id);
        }
    }
    (old, all)
}

/// The parts of an array that is joined along what a product sums over: how wide each is, and how often its rows are repeated.
fn parts_of(site: &Site<'_, '_>, side: InstructionId, summed: f64) -> Option<Vec<(f64, f64)>> {
    let joined = site.instruction(site.flow.content(side));
    let dimension = usize::try_from(*joined.dimensions.first().filter(|_| joined.opcode == "concatenate")?).ok()?;
    let is_last = dimension + 1 == joined.shape.dimensions.len();
    let width = joined
        .shape
        .dimensions
        .last()
        .map(|width| *width as f64)
        .filter(|width| is_last && (*width - summed).abs() < 0.5)?;
    let part = |id: &InstructionId| {
        let own = site.instruction(*id).shape.dimensions.last().map_or(width, |width| *width as f64);
        // Spread along a new axis, or along one that had one row.
        let from = site.elements(site.spread_from(*id)).max(1.0);
        (own, site.elements(*id) / from)
    };
    Some(joined.operands.iter().map(part).collect())
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
    let (old, better) = with_gradients(site, product, carrier, work.times(rows / gathered).plus(moved));
    Some(Rewrite {
        does: "goes to multiplying gathered rows, most of which are copies of the same rows",
        instead: "multiplying each row once and gathering the products",
        why: "a row that is gathered several times gets the same product each time",
        help: "apply the linear layer before the lookup: `(nodes @ w)[senders]` instead of `nodes[senders] @ w`; of a concatenation, multiply each part by its own rows of the weights and add the results",
        at: product.at,
        old,
        better,
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
