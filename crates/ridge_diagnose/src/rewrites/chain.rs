//! Products and solutions in an order that makes a large matrix where a narrow one would do: `A.T @ A @ x`, `inv(M) @ b`.
//!
//! A product and the solution of a triangular system are linear in the matrix that they act on, so what multiplies their result
//! may as well multiply that matrix first.

use super::cone::Cone;
use super::site::{Product, Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;
use std::collections::BTreeMap;

/// So many times the operations of the other order a product has at least.
const LARGER: f64 = 3.0;

/// Factors that a chain is followed through.
const LONGEST: usize = 8;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let products = site.products();
    // What makes an operand of a product, with the products that read it and on which side.
    let mut readers: BTreeMap<InstructionId, Vec<(Product, bool)>> = BTreeMap::new();
    for product in &products {
        for (side, is_left) in [(product.lhs, true), (product.rhs, false)] {
            readers.entry(site.flow.content(side)).or_default().push((*product, is_left));
        }
    }
    readers.into_iter().filter_map(|(inner, outer)| rewrite(site, inner, &outer)).collect()
}

fn rewrite(site: &Site<'_, '_>, inner: InstructionId, outer: &[(Product, bool)]) -> Option<Rewrite> {
    let runs = Some(site.events(inner)).filter(|runs| *runs > 0.0)?;
    let reads = site.flow.readers(inner)?;
    if !reads.iter().all(|reader| outer.iter().any(|(product, _)| product.at == *reader)) {
        return None;
    }
    // Columns that the result is multiplied by, for each time that it is made.
    let columns: f64 = outer
        .iter()
        .map(|(product, is_left)| {
            product.batch * if *is_left { product.n } else { product.m } * site.events(product.at) / runs
        })
        .sum();
    let (summed, kept) = outer.first().map(|(one, is_left)| (one.k, if *is_left { one.m } else { one.n }))?;
    let at = outer.iter().map(|(product, _)| product.at).max_by_key(|at| site.program.ns(site.flow.carrier(*at)))?;
    let mut old: Vec<InstructionId> = outer.iter().filter_map(|(product, _)| site.ran(product.at)).collect();
    let (better, is_inverse) = if let Some(product) = site.product(inner) {
        old.push(site.ran(inner)?);
        let sizes = [product.m, product.n];
        if product.batch > 1.0 || !sizes.contains(&summed) {
            return None;
        }
        // Small factors make no large product in either order, and where their dimensions lie decides more than their sizes.
        if product.flops() < LARGER * 2.0 * product.k * columns * (product.m + product.n) {
            return None;
        }
        let (width, k) = (site.width(inner), product.k);
        let bytes = width * (site.elements(product.lhs) + site.elements(product.rhs) + columns * (summed + k + kept));
        (Work { matrix: 2.0 * k * columns * (product.m + product.n), bytes, ..Work::default() }, false)
    } else {
        let (work, solved, is_inverse) = solution(site, inner, columns, 0)?;
        old.extend(solved);
        (work, is_inverse)
    };
    old.sort_unstable();
    old.dedup();
    let (does, instead, why, help) = if is_inverse { INVERSE } else { ORDER };
    Some(Rewrite { does, instead, why, help, at, old, better: better.times(runs), slack: Slack::Alike })
}

const INVERSE: (&str, &str, &str, &str) = (
    "goes to inverting a matrix only to multiply by the inverse",
    "solving for the right-hand side directly",
    "an inverse solves one right-hand side per column of the matrix, and is less accurate",
    "use `jnp.linalg.solve(m, b)` (`jax.scipy.linalg.cho_solve` if `m` is symmetric and positive) instead of `jnp.linalg.inv(m) @ b`; factorize once if `m` stays the same",
);

const ORDER: (&str, &str, &str, &str) = (
    "goes to multiplying matrices in an order that creates a large one first",
    "the other order",
    "Python multiplies from left to right, so it forms a product of two matrices although two products with a narrower array are enough",
    "add parentheses: `a.T @ (a @ x)` instead of `a.T @ a @ x`, or pass all factors to `jnp.linalg.multi_dot`; if the product is used very often, compute it once outside",
);

/// What solving a triangular system for `columns` right-hand sides takes, in place of those that it is solved for; the
/// instructions that do it now; whether those are the columns of a matrix of zeros and ones, so that an inverse is made.
fn solution(
    site: &Site<'_, '_>,
    id: InstructionId,
    columns: f64,
    depth: usize,
) -> Option<(Work, Vec<InstructionId>, bool)> {
    let instruction = site.instruction(id);
    let is_solve = instruction.opcode == "triangular-solve"
        || instruction.custom_call_target.as_deref().is_some_and(|target| target.contains("trsm"));
    let [matrix, right, ..] = instruction.operands[..] else { return None };
    if !is_solve || depth > LONGEST {
        return None;
    }
    let n = site.instruction(matrix).shape.dimensions.last().copied().unwrap_or(0) as f64;
    let batch = (site.elements(matrix) / (n * n).max(1.0)).max(1.0);
    let width = site.width(id);
    let own = Work {
        matrix: batch * n * n * columns,
        bytes: batch * width * (n * n / 2.0 + 2.0 * n * columns),
        ..Work::default()
    };
    let mut old = vec![site.ran(id)?];
    let before = site.flow.content(right);
    let is_alone = site.flow.readers(before).is_some_and(|readers| readers == [id]);
    if is_alone && let Some((work, more, is_inverse)) = solution(site, before, columns, depth + 1) {
        old.extend(more);
        return Some((own.plus(work), old, is_inverse));
    }
    let elements = site.elements(right);
    let made = Cone::of(site, before).filter(|cone| cone.expansion(site, before) >= 4.0);
    let is_made =
        made.as_ref().is_some_and(|cone| cone.steps.iter().any(|step| site.instruction(*step).opcode == "compare"));
    if let Some(cone) = made.filter(|_| is_made) {
        let carrier = old.clone();
        old.extend(cone.made_for(site, &carrier).into_iter().filter(|id| !carrier.contains(id)));
        return Some((own, old, true));
    }
    let product = Work { matrix: 2.0 * elements * columns, bytes: width * elements, ..Work::default() };
    Some((own.plus(product), old, false))
}
