//! Products with a matrix that is made for the product: of zeros and ones, of one diagonal, of copies of a small array.

use super::cone::Cone;
use super::derivatives::is_pushed;
use super::site::{Product, Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;
use std::collections::BTreeMap;

/// How many times the bytes of what it is made from a made matrix has at least.
const EXPANSION: f64 = 4.0;
/// Elements below which a made matrix costs nothing.
const FEWEST: f64 = 1024.0;
/// Pieces of one array side by side that are patches of it.
const PIECES: usize = 4;

/// What a made matrix is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Ones where an index stands.
    OneHot,
    /// Numbers on the diagonal.
    Diagonal,
    /// Ones below or above the diagonal.
    Triangle,
    /// Patches of one array.
    Patches,
    /// The Kronecker product of two matrices.
    Kronecker,
    /// A column times a row.
    Outer,
}

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let mut by_matrix: BTreeMap<InstructionId, Vec<(Product, bool)>> = BTreeMap::new();
    for product in site.products() {
        for (side, is_left) in [(product.lhs, true), (product.rhs, false)] {
            if site.elements(side) >= FEWEST {
                by_matrix.entry(site.flow.content(side)).or_default().push((product, is_left));
            }
        }
    }
    by_matrix.into_iter().filter_map(|(matrix, products)| rewrite(site, matrix, &products)).collect()
}

fn rewrite(site: &Site<'_, '_>, matrix: InstructionId, products: &[(Product, bool)]) -> Option<Rewrite> {
    let cone = Cone::of(site, matrix)?;
    let kind = kind(site, matrix, &cone)?;
    // The first step of a whole matrix of derivatives: JAX multiplies by the identity, and no line of the program does.
    if kind == Kind::Diagonal && products.iter().all(|(product, _)| is_pushed(site, product.at)) {
        return None;
    }
    let width = products.first().map(|(product, _)| site.width(product.at))?;
    let positions: f64 = cone.leaves.iter().map(|leaf| site.elements(*leaf)).fold(0.0, f64::max);
    let mut better = Work::default();
    for (product, is_left) in products {
        let (rows, other) = if *is_left { (product.m, product.n) } else { (product.n, product.m) };
        let from: f64 = cone.leaves.iter().map(|leaf| site.bytes(*leaf)).sum();
        let (others, result) = (product.batch * product.k * other * width, product.batch * rows * other * width);
        let one = match kind {
            // As many rows of the result as indices: rows are taken; else they are added to where the indices say.
            Kind::OneHot if (positions - product.batch * rows).abs() < 0.5 => {
                Work { bytes: 2.0 * result + from, ..Work::default() }
            }
            Kind::OneHot => {
                Work { bytes: 2.0 * others + 2.0 * result + from, plain: others / width, ..Work::default() }
            }
            Kind::Diagonal => Work { bytes: others + result + from, plain: result / width, ..Work::default() },
            Kind::Triangle => Work { bytes: others + 2.0 * result, plain: 2.0 * result / width, ..Work::default() },
            Kind::Patches => Work { matrix: product.flops(), bytes: from + others + result, ..Work::default() },
            Kind::Kronecker => {
                let sizes: Vec<f64> = cone.leaves.iter().map(|leaf| site.elements(*leaf)).collect();
                let flops = sizes.iter().map(|size| size * rows.max(product.k) / size.sqrt()).sum::<f64>();
                Work { matrix: 2.0 * product.batch * other * flops, bytes: from + others + result, ..Work::default() }
            }
            Kind::Outer => {
                Work { plain: 2.0 * (others + result) / width, bytes: from + others + result, ..Work::default() }
            }
        };
        better = better.plus(one.times(site.events(product.at)));
    }
    let mut carriers: Vec<InstructionId> = products.iter().filter_map(|(product, _)| site.ran(product.at)).collect();
    carriers.dedup();
    let old = cone.made_for(site, &carriers);
    // The line that multiplies is where it is decided, unless it is the one of the patches.
    let at = products.iter().map(|(product, _)| product.at).max_by_key(|at| site.program.ns(site.flow.carrier(*at)))?;
    let at = if kind == Kind::Patches { matrix } else { at };
    let (does, instead, why, help) = words(kind);
    Some(Rewrite { does, instead, why, help, at, old, better, slack: Slack::Alike })
}

fn words(kind: Kind) -> (&'static str, &'static str, &'static str, &'static str) {
    match kind {
        Kind::OneHot => (
            "goes to multiplying by a one-hot matrix, which only selects or sums rows",
            "taking the rows",
            "the program writes, reads and multiplies every zero of the one-hot matrix, though each row has only one nonzero element",
            "index the table: use `table[words]` or `jnp.take(table, words, axis=0)` instead of `jax.nn.one_hot(words, n) @ table`, and `jax.ops.segment_sum` instead of `one_hot.T @ values`",
        ),
        Kind::Diagonal => (
            "goes to multiplying by a diagonal matrix",
            "scaling rows or columns",
            "the program writes, reads and multiplies all the off-diagonal zeros",
            "multiply by the vector: `d[:, None] * a` instead of `jnp.diag(d) @ a`, `a * d` instead of `a @ jnp.diag(d)`; drop products with `jnp.eye`",
        ),
        Kind::Triangle => (
            "goes to multiplying by a triangular matrix of ones, which only computes running sums",
            "a running sum",
            "a product with a triangular matrix of ones adds every element again for each sum that contains it",
            "use `jnp.cumsum` (and `[::-1]` before and after it for sums from the end)",
        ),
        Kind::Patches => (
            "goes to materializing overlapping patches of an array to multiply them, which a convolution avoids",
            "a convolution",
            "the patches repeat each element of the array once per window, and all of them go through memory",
            "use `jax.lax.conv_general_dilated` (or `jnp.convolve`, `jax.scipy.signal.convolve`), which reads the array itself",
        ),
        Kind::Kronecker => (
            "goes to multiplying by a materialized Kronecker product",
            "two small products",
            "a Kronecker product has as many elements as both factors multiplied, but only applies one factor along each dimension",
            "multiply along each dimension: `a @ x.reshape(m, n) @ b.T` instead of `jnp.kron(a, b) @ x`",
        ),
        Kind::Outer => (
            "goes to multiplying by a materialized outer product",
            "two products with vectors",
            "an outer product has rank one, so its product with a matrix is the column times a single row",
            "multiply by the row first: `u * (v @ x)` instead of `jnp.outer(u, v) @ x`",
        ),
    }
}

fn kind(site: &Site<'_, '_>, matrix: InstructionId, cone: &Cone) -> Option<Kind> {
    if let Some(kind) = of_comparison(site, cone) {
        return (cone.expansion(site, matrix) >= EXPANSION).then_some(kind);
    }
    if cone.expansion(site, matrix) < EXPANSION {
        return None;
    }
    let slices = |id: &InstructionId| site.instruction(*id).opcode == "concatenate" && is_of_slices(site, *id);
    if cone.leaves.len() == 1 && cone.steps.iter().any(slices) {
        return Some(Kind::Patches);
    }
    // Whatever else is done to the pieces, the factors must be what is multiplied last.
    let last = site.instruction(site.flow.content(matrix));
    let factors: Vec<InstructionId> = last.operands.iter().map(|operand| site.flow.content(*operand)).collect();
    let is_broadcast = |id: &InstructionId| site.instruction(*id).opcode == "broadcast";
    if last.opcode != "multiply" || !factors.iter().all(is_broadcast) || factors.len() != 2 {
        return None;
    }
    let from: Vec<InstructionId> =
        factors.iter().filter_map(|factor| site.instruction(*factor).operands.first().copied()).collect();
    let [one, two] = from[..] else { return None };
    let is_whole = (site.elements(one) * site.elements(two) - site.elements(matrix)).abs() < 0.5;
    let rank = |id: InstructionId| site.instruction(id).shape.dimensions.iter().filter(|extent| **extent > 1).count();
    match (is_whole, rank(one), rank(two)) {
        (true, 1, 1) => Some(Kind::Outer),
        (true, 2, 2) => Some(Kind::Kronecker),
        _ => None,
    }
}

/// What a matrix that a comparison of counters makes is: the comparison decides where it is zero.
fn of_comparison(site: &Site<'_, '_>, cone: &Cone) -> Option<Kind> {
    let compares = cone.steps.iter().copied().filter(|id| site.instruction(*id).opcode == "compare");
    let mut found = None;
    for compare in compares {
        let sides: Vec<InstructionId> = site.flow.inputs(compare).collect();
        let counts = |id: &InstructionId| counts(site, *id);
        let direction = site.instruction(compare).attributes().comparison_direction.as_deref();
        let kind = match (sides.iter().filter(|side| counts(side)).count(), direction?) {
            (2, "EQ") => Kind::Diagonal,
            (2, "GE" | "GT" | "LE" | "LT") => Kind::Triangle,
            (1, "EQ") => Kind::OneHot,
            // Bounds of indices.
            _ => continue,
        };
        let is_large = site.elements(compare) >= FEWEST;
        if is_large && found.replace(kind).is_some_and(|other| other != kind) {
            return None;
        }
    }
    let kind = found?;
    // Zeros elsewhere: a choice or a product with the comparison, made a number.
    let makes = |id: &InstructionId| matches!(&*site.instruction(*id).opcode, "convert" | "select" | "multiply");
    let is_plain = |id: &InstructionId| {
        matches!(
            &*site.instruction(*id).opcode,
            "compare"
                | "iota"
                | "broadcast"
                | "convert"
                | "select"
                | "multiply"
                | "constant"
                | "bitcast"
                | "reshape"
                | "transpose"
                | "copy"
                | "add"
                | "subtract"
                | "and"
                | "gather"
                | "negate"
                | "slice"
        )
    };
    let has_numbers = !cone.leaves.is_empty();
    // The comparison itself, where only its type was changed on the way to the product.
    let is_bare = cone.steps.first().is_some_and(|first| site.instruction(*first).opcode == "compare");
    // Whatever makes the few numbers that are spread out.
    let whole = cone.steps.first().map_or(0.0, |first| site.elements(*first));
    let is_small = |id: &InstructionId| site.elements(*id) * EXPANSION <= whole;
    let is_simple =
        cone.steps.iter().all(|id| is_plain(id) || is_small(id)) && (is_bare || cone.steps.iter().any(makes));
    let is_kind = match kind {
        Kind::OneHot => has_numbers,
        Kind::Triangle => !has_numbers,
        _ => true,
    };
    (is_simple && is_kind && zero_elsewhere(site, cone)).then_some(kind)
}

/// Whether choices of the cone put zeros in: a mask that puts other numbers in is no matrix of zeros.
fn zero_elsewhere(site: &Site<'_, '_>, cone: &Cone) -> bool {
    let selects = cone.steps.iter().filter(|id| site.instruction(**id).opcode == "select");
    selects.copied().all(|id| {
        let sides: Vec<InstructionId> = site.flow.inputs(id).skip(1).collect();
        site.elements(id) < FEWEST || sides.iter().any(|side| site.constant(*side) == Some(0.0))
    })
}

/// Whether a value counts along a dimension, whatever is added to it.
fn counts(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let mut at = site.flow.content(id);
    for _ in 0..8 {
        let instruction = site.instruction(at);
        match &*instruction.opcode {
            "iota" => return true,
            "broadcast" => match instruction.operands.first() {
                Some(operand) => at = site.flow.content(*operand),
                None => return false,
            },
            "add" | "subtract" => {
                let sides: Vec<InstructionId> = site.flow.inputs(at).collect();
                let others = sides.iter().filter(|side| site.constant(**side).is_none());
                match others.copied().collect::<Vec<_>>()[..] {
                    [one] => at = site.flow.content(one),
                    _ => return false,
                }
            }
            _ => return false,
        }
    }
    false
}

/// Whether an array is put together of several windows onto one other that overlap.
fn is_of_slices(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let pieces: Vec<InstructionId> =
        site.instruction(id).operands.iter().map(|piece| site.flow.content(*piece)).collect();
    let of_slice = |piece: &InstructionId| {
        let slice = site.instruction(*piece);
        (slice.opcode == "slice").then(|| site.flow.content(*slice.operands.first()?).into()).flatten()
    };
    let of: Vec<Option<InstructionId>> = pieces.iter().map(of_slice).collect();
    pieces.len() >= PIECES && of.iter().all(|one| one.is_some() && *one == of[0])
}
