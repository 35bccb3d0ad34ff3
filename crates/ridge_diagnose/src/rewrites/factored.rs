//! One matrix that is factorized twice by different methods, though one factor gives what the other is for.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::{Instruction, InstructionId};
use rustc_hash::FxHashSet;

/// Pairs of values that are compared on the way from two matrices to what they are made of.
const MOST: usize = 512;
/// The smallest matrix that is worth it.
const SMALLEST: i64 = 32;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let of = |name: &str| -> Vec<InstructionId> {
        let is_it = |id: &InstructionId| {
            let instruction = site.instruction(*id);
            let target = instruction.custom_call_target.as_deref().unwrap_or(&instruction.opcode);
            target.contains(name) && site.ran(*id).is_some()
        };
        site.module.instruction_ids().filter(is_it).collect()
    };
    let mut cholesky = of("potrf");
    cholesky.extend(of("cholesky"));
    of("getrf").into_iter().filter_map(|lu| rewrite(site, lu, &cholesky)).collect()
}

fn rewrite(site: &Site<'_, '_>, lu: InstructionId, cholesky: &[InstructionId]) -> Option<Rewrite> {
    let matrix = *site.instruction(lu).operands.first()?;
    let is_of_it = |other: &&InstructionId| {
        let of = site.instruction(**other).operands.first();
        of.is_some_and(|of| is_same(site, matrix, *of)) && site.flow.loop_around(lu) == site.flow.loop_around(**other)
    };
    cholesky.iter().find(is_of_it)?;
    let shape = &site.instruction(matrix).shape.dimensions;
    if shape.last().is_none_or(|extent| *extent < SMALLEST) {
        return None;
    }
    Some(Rewrite {
        does: "goes to factorizing a matrix by LU that the same program also factorizes by Cholesky",
        instead: "reusing the Cholesky factor",
        why: "either factorization provides solutions and the determinant, and the compiler doesn't know that both factorize the same matrix",
        help: "reuse the Cholesky factor: replace `jnp.linalg.slogdet(k)` or `det` with the log determinant `2 * jnp.log(jnp.diagonal(factor)).sum()`, and `jnp.linalg.solve(k, b)` with `cho_solve((factor, True), b)`",
        at: lu,
        old: vec![site.ran(lu)?],
        better: Work { bytes: site.bytes(matrix), ..Work::default() }.times(site.events(lu)),
        slack: Slack::Alike,
    })
}

/// Whether two values are computed alike from the same values, up to the order of their elements in memory and transposition: matrices
/// with a Cholesky factor are symmetric.
fn is_same(site: &Site<'_, '_>, one: InstructionId, other: InstructionId) -> bool {
    let mut open = vec![(one, other)];
    let mut seen: FxHashSet<(InstructionId, InstructionId)> = FxHashSet::default();
    let mut is_first = true;
    while let Some((one, other)) = open.pop() {
        // Further in a transposition matters.
        let (one, other) = match is_first {
            true => (site.flow.content(one), site.flow.content(other)),
            false => (site.flow.source(one), site.flow.source(other)),
        };
        is_first = false;
        if one == other || !seen.insert((one, other)) {
            continue;
        }
        let (a, b) = (site.instruction(one), site.instruction(other));
        let is_pure = !matches!(
            &*a.opcode,
            "parameter" | "get-tuple-element" | "while" | "custom-call" | "rng" | "fusion" | "call" | "scatter"
        );
        let is_alike = is_pure
            && a.opcode == b.opcode
            && a.shape.dimensions == b.shape.dimensions
            && a.shape.element_type == b.shape.element_type
            && a.dimensions == b.dimensions
            && a.literal == b.literal
            && a.operands.len() == b.operands.len()
            && is_same_sum(site, a, b)
            && a.attributes().comparison_direction == b.attributes().comparison_direction;
        // Of others the attributes would have to be compared, too.
        let is_known = matches!(
            &*a.opcode,
            "add"
                | "subtract"
                | "multiply"
                | "divide"
                | "select"
                | "compare"
                | "iota"
                | "constant"
                | "broadcast"
                | "convert"
                | "exponential"
                | "negate"
                | "sqrt"
                | "maximum"
                | "minimum"
                | "power"
                | "log"
                | "tanh"
                | "abs"
                | "reshape"
                | "reduce"
        );
        if !is_alike || !is_known || seen.len() > MOST {
            return false;
        }
        open.extend(a.operands.iter().copied().zip(b.operands.iter().copied()));
    }
    true
}

/// Whether two instructions call nothing, or each one computation of a single operation, which is the same.
fn is_same_sum(site: &Site<'_, '_>, one: &Instruction, other: &Instruction) -> bool {
    let operation = |of: &Instruction| {
        let [called] = of.called[..] else { return None };
        let computation = site.module.computation(called);
        let is_single = computation.instruction_ids().len() == 3;
        Some(&site.module.instruction(computation.root?).opcode).filter(|_| is_single)
    };
    match (one.called.is_empty(), other.called.is_empty()) {
        (true, true) => true,
        (false, false) => operation(one).is_some() && operation(one) == operation(other),
        _ => false,
    }
}
