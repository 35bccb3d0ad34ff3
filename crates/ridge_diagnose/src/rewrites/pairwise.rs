//! Sums over products or squared differences of all pairs, written out as one large array where a product of matrices would do.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::{InstructionId, Opcode};

/// Terms of a sum below which writing it out is as good.
const FEWEST: f64 = 8.0;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    site.module.instruction_ids().filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let mut old = vec![site.ran(id)?];
    if site.instruction(id).opcode == "dot" {
        return of_product(site, id, old);
    }
    if site.instruction(id).opcode != "reduce" || !adds(site, id) {
        return None;
    }
    let mut summed = site.flow.content(*site.instruction(id).operands.first()?);
    // XLA splits long sums in two.
    if matches!(&*site.instruction(summed).opcode, "reduce" | "reduce-window") && adds(site, summed) {
        old.push(site.ran(summed)?);
        summed = site.flow.content(*site.instruction(summed).operands.first()?);
    }
    let pair = factors(site, summed)?;
    of_pairs(site, id, summed, pair, old)
}

/// The differences multiplied with themselves pair by pair: `einsum("ijk,ijk->ij", d, d)`.
fn of_product(site: &Site<'_, '_>, id: InstructionId, old: Vec<InstructionId>) -> Option<Rewrite> {
    let sides: Vec<InstructionId> = site.instruction(id).operands.iter().map(|side| site.flow.content(*side)).collect();
    let [left, right] = sides[..] else { return None };
    if left != right || site.instruction(left).opcode != "subtract" {
        return None;
    }
    let (one, two) = repeated(site, left)?;
    of_pairs(site, id, left, (one, two, true), old)
}

/// The sums `id` over `summed`, which has all pairs of two arrays.
fn of_pairs(
    site: &Site<'_, '_>,
    id: InstructionId,
    summed: InstructionId,
    (one, two, is_difference): (InstructionId, InstructionId, bool),
    mut old: Vec<InstructionId>,
) -> Option<Rewrite> {
    let (rows, columns, all) = (site.elements(one), site.elements(two), site.elements(summed));
    let terms = rows * columns / all;
    let results = site.elements(id);
    // Each result is the sum over what both have.
    let is_pairs = terms >= FEWEST && (results * terms - all).abs() < 0.5 && rows > terms && columns > terms;
    if !is_pairs {
        return None;
    }
    let carrier = site.ran(summed)?;
    let reads = site.flow.readers(carrier);
    if !old.contains(&carrier)
        && reads.is_some_and(|reads| reads.iter().all(|reader| old.contains(&site.flow.carrier(*reader))))
    {
        old.push(carrier);
    }
    let width = site.width(id);
    let better = Work {
        matrix: 2.0 * all,
        plain: if is_difference { 3.0 * results + 2.0 * (rows + columns) } else { 0.0 },
        bytes: width * (2.0 * (rows + columns) + results * if is_difference { 3.0 } else { 1.0 }),
        functions: 0.0,
    };
    let better = better.times(site.events(id));
    let at = summed;
    Some(if is_difference {
        Rewrite {
            does: "goes to broadcasting the differences of all pairs into one large array to sum their squares",
            instead: "a matrix product",
            why: "the array of all differences repeats each vector for every partner; |a - b|² = |a|² - 2 a·b + |b|² needs one matrix product",
            help: "compute `(a**2).sum(-1)[:, None] - 2 * a @ b.T + (b**2).sum(-1)` (first subtract a common mean from both if they are far from zero)",
            at,
            old,
            better,
            slack: Slack::Alike,
        }
    } else if site.module.op_name_in_fusion(summed).contains("vmap(transpose(") {
        Rewrite {
            does: "goes to gradients of every example (`vmap` of `grad`) that are then only averaged or summed",
            instead: "the gradient of the mean loss",
            why: "the gradients of every example have the size of the parameters times the batch, and the gradient of the mean needs only matrix products",
            help: "take `jax.grad` of a function that averages the losses of the batch, `lambda p: jax.vmap(loss, (None, 0))(p, batch).mean()`; keep `jax.vmap(jax.grad(loss))` only where each example's gradient is used, as for clipping",
            at,
            old,
            better,
            slack: Slack::Alike,
        }
    } else {
        Rewrite {
            does: "goes to broadcasting all pairs of vectors into one large array to sum their products",
            instead: "a matrix product",
            why: "the array of all products repeats each vector for every partner; a matrix product never writes it",
            help: "use `a @ b.T` or `jnp.einsum('ik,jk->ij', a, b)` instead of `(a[:, None] * b[None]).sum(-1)`",
            at,
            old,
            better,
            slack: Slack::Alike,
        }
    })
}

/// The two arrays whose elements are multiplied or subtracted and squared, each repeated for the other.
fn factors(site: &Site<'_, '_>, id: InstructionId) -> Option<(InstructionId, InstructionId, bool)> {
    let product = site.instruction(id);
    if product.opcode != "multiply" {
        return None;
    }
    let sides: Vec<InstructionId> = product.operands.iter().map(|side| site.flow.content(*side)).collect();
    let [left, right] = sides[..] else { return None };
    if left == right && site.instruction(left).opcode == "subtract" {
        let (one, two) = repeated(site, left)?;
        return Some((one, two, true));
    }
    let (one, two) = repeated(site, id)?;
    Some((one, two, false))
}

/// The arrays that the operands of `id` repeat.
fn repeated(site: &Site<'_, '_>, id: InstructionId) -> Option<(InstructionId, InstructionId)> {
    let of = |operand: &InstructionId| {
        let broadcast = site.instruction(site.flow.content(*operand));
        (broadcast.opcode == "broadcast").then(|| broadcast.operands.first().copied()).flatten()
    };
    let [one, two] = site.instruction(id).operands[..] else { return None };
    Some((of(&one)?, of(&two)?))
}

/// Whether a reduction adds.
fn adds(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let is_sum = || {
        let body = site.module.computation(*site.instruction(id).called.first()?);
        Some(site.instruction(body.root?).opcode == Opcode::new("add"))
    };
    is_sum().unwrap_or(false)
}
