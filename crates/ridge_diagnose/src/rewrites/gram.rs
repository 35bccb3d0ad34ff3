//! Products with a tall matrix and then with its transpose in every iteration of a loop, though only the small matrix of both is needed.

use super::site::{Product, Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// How many times as long as wide the matrix is, at least.
const LONGER: f64 = 8.0;
/// Elements of the matrix from which on it is worth it.
const FEWEST: f64 = 4096.0;
/// Iterations for each run of the loop that pay for the small matrix.
const ITERATIONS: f64 = 16.0;
/// Steps from one product to the other.
const MOST: usize = 24;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let products = site.products();
    products.iter().filter_map(|product| rewrite(site, product)).collect()
}

fn rewrite(site: &Site<'_, '_>, outer: &Product) -> Option<Rewrite> {
    let around = site.flow.loop_around(outer.at)?;
    let (matrix, residual) = tall(site, outer, around)?;
    let of_residual = || linear_product(site, residual, around);
    let inner = of_residual().filter(|inner| {
        tall(site, inner, around).is_some() && [inner.lhs, inner.rhs].iter().any(|side| same(site, *side, matrix))
    })?;
    let (p, n) = (outer.m * outer.n, outer.k);
    let events = site.events(outer.at);
    let runs = site.program.events(outermost(site, matrix, around)).max(1) as f64;
    if events < ITERATIONS * runs || n < LONGER * p {
        return None;
    }
    let mut old = vec![site.ran(outer.at)?];
    old.extend(site.ran(inner.at));
    old.sort_unstable();
    old.dedup();
    let width = site.width(outer.at);
    let once = Work { matrix: 2.0 * n * p * p, bytes: width * n * p, ..Work::default() };
    let each = Work { matrix: 2.0 * p * p, bytes: width * (p * p + 2.0 * p), ..Work::default() };
    Some(Rewrite {
        does: "goes to products with a tall constant matrix and its transpose in every iteration (`x.T @ (x @ b - y)`)",
        instead: "computing `x.T @ x` and `x.T @ y` once (sufficient statistics)",
        why: "a linear model's squared error depends on the data only through `x.T @ x`, `x.T @ y` and `y @ y`, which are as small as its parameters",
        help: "compute `g = x.T @ x` and `c = x.T @ y` before the loop; the gradient is `g @ b - c`, and the squared error is `b @ g @ b - 2 * b @ c + y @ y`",
        at: inner.at,
        old,
        better: each.times(events).plus(once.times(runs)),
        slack: Slack::Little,
    })
}

/// The outermost loop around a loop that doesn't change the matrix.
fn outermost(site: &Site<'_, '_>, matrix: InstructionId, around: InstructionId) -> InstructionId {
    const DEEPEST: usize = 16;
    let mut at = around;
    for _ in 0..DEEPEST {
        match site.flow.loop_around(at).filter(|outer| site.flow.is_unchanged_in(matrix, *outer)) {
            Some(outer) => at = outer,
            None => break,
        }
    }
    at
}

/// The tall matrix of a product with a vector that the loop doesn't change, and the vector.
fn tall(site: &Site<'_, '_>, product: &Product, around: InstructionId) -> Option<(InstructionId, InstructionId)> {
    let sides = [(product.lhs, product.rhs), (product.rhs, product.lhs)];
    sides.into_iter().find(|(matrix, vector)| {
        product.batch <= 1.0
            && site.elements(*matrix) >= FEWEST
            && site.elements(*vector) * LONGER <= site.elements(*matrix)
            && site.flow.is_unchanged_in(*matrix, around)
            && !site.flow.is_unchanged_in(*vector, around)
    })
}

/// The one product that a value is made of by steps that are linear in it.
fn linear_product(site: &Site<'_, '_>, id: InstructionId, around: InstructionId) -> Option<Product> {
    let mut at = site.flow.content(id);
    for _ in 0..MOST {
        if let Some(product) = site.product(at) {
            return Some(product);
        }
        let instruction = site.instruction(at);
        let unchanged = |operand: &InstructionId| site.flow.is_unchanged_in(*operand, around);
        let is_number = |operand: &InstructionId| site.elements(site.spread_from(*operand)) <= 1.0;
        at = match (&*instruction.opcode, &instruction.operands[..]) {
            ("add" | "subtract", [one, other]) if unchanged(other) => site.flow.content(*one),
            ("add" | "subtract", [one, other]) if unchanged(one) => site.flow.content(*other),
            ("multiply" | "divide", [one, other]) if unchanged(other) || is_number(other) => site.flow.content(*one),
            ("multiply", [one, other]) if unchanged(one) || is_number(one) => site.flow.content(*other),
            ("negate", [one]) => site.flow.content(*one),
            _ => return None,
        };
    }
    None
}

/// Whether two values are one matrix, or constants of the same extents that the compiler wrote twice.
fn same(site: &Site<'_, '_>, one: InstructionId, other: InstructionId) -> bool {
    let (one, other) = (site.flow.content(one), site.flow.content(other));
    let (left, right) = (site.instruction(one), site.instruction(other));
    let sorted = |dimensions: &[i64]| {
        let mut sorted = dimensions.to_vec();
        sorted.sort_unstable();
        sorted
    };
    one == other
        || left.opcode == "constant"
            && right.opcode == "constant"
            && sorted(&left.shape.dimensions) == sorted(&right.shape.dimensions)
}
