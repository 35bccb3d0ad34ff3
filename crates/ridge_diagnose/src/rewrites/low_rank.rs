//! Matrices of low rank that are written out: added to a large one for a few rows, or factorized with a diagonal added.

use super::cone::Cone;
use super::site::{Product, Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::{InstructionId, OpcodeClass};

/// How many times the rank of a matrix of low rank its sides are, at least.
const LOWER: f64 = 4.0;
/// How many times as large as its rank a matrix is that is better not factorized.
const TALLER: f64 = 16.0;
/// The smallest side that is worth it.
const SMALLEST: f64 = 64.0;
/// Steps from a product to what it is part of.
const MOST: usize = 24;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let products = site.products();
    let mut found: Vec<Rewrite> = products.iter().filter_map(|product| merged(site, product)).collect();
    let is_cholesky = |id: &InstructionId| {
        let instruction = site.instruction(*id);
        let target = instruction.custom_call_target.as_deref().unwrap_or(&instruction.opcode);
        (target.contains("potrf") || target == "cholesky") && site.ran(*id).is_some()
    };
    found.extend(site.module.instruction_ids().filter(is_cholesky).filter_map(|id| factorized(site, id)));
    found
}

/// A product of a few rows with a matrix plus a product of low rank.
fn merged(site: &Site<'_, '_>, outer: &Product) -> Option<Rewrite> {
    let sides = [(outer.lhs, outer.n), (outer.rhs, outer.m)];
    let (sum, inner, rows) = sides.into_iter().find_map(|(side, rows)| {
        let sum = site.flow.content(side);
        (site.instruction(sum).opcode == "add").then_some(())?;
        let inner = site.flow.inputs(sum).find_map(|operand| scaled_product(site, operand))?;
        Some((sum, inner, rows))
    })?;
    let (m, n) = (inner.m, inner.n);
    if inner.batch > 1.0 || m.min(n) < SMALLEST || inner.k * LOWER > m.min(n) {
        return None;
    }
    let mut old = vec![site.ran(inner.at)?];
    old.extend(site.ran(sum));
    old.sort_unstable();
    old.dedup();
    let width = site.width(inner.at);
    let better = Work {
        matrix: 2.0 * rows * inner.k * (m + n),
        bytes: width * (inner.k * (m + n) + rows * (m + n + 2.0 * inner.k)),
        ..Work::default()
    };
    Some(Rewrite {
        does: "goes to adding a product of low rank to a large matrix, only to multiply a few rows by the sum",
        instead: "multiplying the rows by each factor in turn",
        why: "writing the product out costs as much as a pass over the large matrix for every factor, for each call",
        help: "use `x @ w + (x @ a) @ b` instead of `x @ (w + a @ b)`, as for LoRA adapters in training; merge the weights once, outside the step, if they don't change",
        at: sum,
        old,
        better: better.times(site.events(inner.at)),
        slack: Slack::Alike,
    })
}

/// The product that a value is, times numbers.
fn scaled_product(site: &Site<'_, '_>, id: InstructionId) -> Option<Product> {
    let mut at = site.flow.content(id);
    for _ in 0..MOST {
        if let Some(product) = site.product(at) {
            return Some(product);
        }
        let instruction = site.instruction(at);
        let is_number = |operand: &InstructionId| site.elements(site.spread_from(*operand)) <= 1.0;
        at = match (&*instruction.opcode, &instruction.operands[..]) {
            ("multiply", [one, other]) if is_number(one) => site.flow.content(*other),
            ("multiply" | "divide", [one, other]) if is_number(other) => site.flow.content(*one),
            _ => return None,
        };
    }
    None
}

/// A factorization of `w @ w.T` with something on the diagonal.
fn factorized(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let matrix = *site.instruction(id).operands.first()?;
    let product = tall_product(site, matrix)?;
    let (n, k) = (product.m, product.k);
    if product.batch > 1.0 || n < SMALLEST || k * TALLER > n {
        return None;
    }
    let width = site.width(id);
    // The factor's product with itself, a small factorization, and a solve.
    let better = Work { matrix: 4.0 * n * k * k + k * k * k, bytes: 4.0 * width * n * k, ..Work::default() };
    Some(Rewrite {
        does: "goes to factorizing a whole matrix that is a tall matrix times its transpose plus a diagonal (low rank)",
        instead: "a factorization of the small matrix",
        why: "by the Woodbury identity and the matrix determinant lemma, solves and determinants of such a matrix need only a factorization as large as its rank",
        help: "use `numpyro.distributions.LowRankMultivariateNormal(loc, cov_factor, cov_diag)` for a covariance `w @ w.T + diag(d)`; otherwise factorize `eye(k) + w.T @ (w / d[:, None])`, and apply the Woodbury identity",
        at: id,
        old: vec![site.ran(id)?],
        better: better.times(site.events(id)),
        slack: Slack::Little,
    })
}

/// The product of a tall matrix with itself that a matrix is, but for its diagonal.
fn tall_product(site: &Site<'_, '_>, matrix: InstructionId) -> Option<Product> {
    let (mut open, mut seen, mut found) = (vec![site.flow.content(matrix)], Vec::new(), None);
    while let Some(at) = open.pop() {
        if seen.contains(&at) {
            continue;
        }
        seen.push(at);
        if seen.len() > MOST {
            return None;
        }
        if let Some(product) = site.product(at) {
            let is_of_itself = site.flow.content(product.lhs) == site.flow.content(product.rhs);
            let is_square = (product.m - product.n).abs() < 0.5;
            match found {
                None if is_of_itself && is_square => found = Some(product),
                _ => return None,
            }
            continue;
        }
        let instruction = site.instruction(at);
        let is_elementwise = matches!(instruction.opcode.class(), OpcodeClass::Elementwise(_));
        match &*instruction.opcode {
            "constant" | "iota" => {}
            "broadcast" => {}
            _ if is_diagonal(site, at) => {}
            _ if is_elementwise => open.extend(site.flow.inputs(at).map(|operand| site.flow.content(operand))),
            _ => return None,
        }
    }
    found
}

/// Whether a value is zero but on its diagonal: a choice or product by rows that equal columns, or numbers written there.
fn is_diagonal(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let instruction = site.instruction(id);
    let is_mask = |operand: &InstructionId| {
        let mask = site.flow.content(*operand);
        let found = site.instruction(mask);
        site.identity(mask).is_some()
            || found.opcode == "and"
                && found.operands.iter().any(|one| site.identity(site.flow.content(*one)).is_some())
    };
    match &*instruction.opcode {
        "select" => instruction.operands.first().is_some_and(is_mask),
        "multiply" => instruction.operands.iter().any(is_mask),
        "scatter" => Cone::of(site, id).is_some(),
        _ => false,
    }
}
