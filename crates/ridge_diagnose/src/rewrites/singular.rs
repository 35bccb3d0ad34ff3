//! Singular value decompositions of which only the values are read, or the first columns of a square matrix of vectors.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// The fewest columns that are worth it.
const SMALLEST: f64 = 8.0;
/// How many times as long as wide a matrix is for which square factors are a waste.
const LONGER: f64 = 2.0;
/// How much slower than products of matrices libraries decompose: of matrices of 300 × 300 to 2000 × 60 on one core 3 to 20 times.
const SLOWER: f64 = 10.0;
/// Instructions between the vectors and what takes some of them.
const MOST: usize = 32;
/// Places of the vectors among the results of a decomposition by LAPACK and cuSOLVER.
const LEFT: i64 = 2;
const RIGHT: i64 = 3;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let is_it = |id: &InstructionId| {
        let target = site.instruction(*id).custom_call_target.as_deref();
        target.is_some_and(|target| target.contains("gesdd") || target.contains("gesvd")) && site.ran(*id).is_some()
    };
    site.module.instruction_ids().filter(is_it).filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let matrices = &site.instruction(id).shape;
    let leaves = matrices.leaves();
    let sides = |index: i64| {
        let shape = &leaves.get(usize::try_from(index).ok()?)?.dimensions;
        let [.., rows, columns] = shape[..] else { return None };
        Some((rows as f64, columns as f64))
    };
    // Where no vectors are asked for there are none among the results, or empty ones.
    let ((rows, left), (right, columns)) = (sides(LEFT)?, sides(RIGHT)?);
    let (long, short) = (rows.max(columns), rows.min(columns));
    if short < SMALLEST || left < 1.0 || right < 1.0 {
        return None;
    }
    let vectors = site.elements_of(id, LEFT)?;
    let batch = (vectors / (rows * left)).max(1.0);
    let bytes = site.width(id) * batch * long * short;
    let is_square = (if rows >= columns { left } else { right }) >= long && long >= LONGER * short;
    let square = if rows >= columns { LEFT } else { RIGHT };
    let (does, instead, why, help, flops) = match () {
        () if is_unread(site, id, LEFT) && is_unread(site, id, RIGHT) => (
            "goes to decomposing matrices into singular values and vectors, although only the values are read",
            "the values alone",
            "the vectors take most of the decomposition time, and the compiler can't skip part of a library call",
            "compute only the values: `jnp.linalg.svd(a, compute_uv=False)`, or `jnp.linalg.svdvals(a)`",
            4.0 * long * short * short,
        ),
        () if is_square && takes_first(site, id, square, short) => (
            "goes to computing a square matrix of singular vectors (`full_matrices=True`), although at most the first columns are read",
            "the vectors with a singular value",
            "by default `jnp.linalg.svd` extends the vectors to a square matrix, which is most of the work for a tall matrix",
            "use the reduced form: `jnp.linalg.svd(a, full_matrices=False)`",
            14.0 * long * short * short + 8.0 * short.powi(3),
        ),
        () => return None,
    };
    let better = Work { matrix: SLOWER * batch * flops, bytes, ..Work::default() };
    Some(Rewrite {
        does,
        instead,
        why,
        help,
        at: id,
        old: vec![site.ran(id)?],
        better: better.times(site.events(id)),
        slack: Slack::Little,
    })
}

/// The values of one of the results.
fn values(site: &Site<'_, '_>, id: InstructionId, index: i64) -> Vec<InstructionId> {
    let is_it = |value: &InstructionId| {
        let instruction = site.instruction(*value);
        instruction.opcode == "get-tuple-element"
            && instruction.tuple_index == Some(index)
            && instruction.operands.first() == Some(&id)
    };
    site.module.instruction_ids().filter(is_it).collect()
}

/// Whether nothing reads one of the results, and the results as a whole go nowhere else.
pub(super) fn is_unread(site: &Site<'_, '_>, id: InstructionId, index: i64) -> bool {
    !site.module.is_root(id)
        && values(site, id, index).into_iter().all(|value| site.flow.readers(value).is_some_and(|all| all.is_empty()))
}

/// Whether nothing but slices of at most `most` rows or columns reads one of the results, through what is done to each element.
fn takes_first(site: &Site<'_, '_>, id: InstructionId, index: i64, most: f64) -> bool {
    columns_read(site, id, index, false).is_some_and(|read| read <= most)
}

/// How many rows or columns of one of the results the largest slice has, where nothing but slices reads it, through what is done to
/// each element; of a vector for each matrix, how many numbers.
pub(super) fn columns_read(site: &Site<'_, '_>, id: InstructionId, index: i64, is_vector: bool) -> Option<f64> {
    if site.module.is_root(id) {
        return None;
    }
    let mut open = values(site, id, index);
    let (mut seen, mut most) = (0, 0.0_f64);
    while let Some(value) = open.pop() {
        for reader in site.flow.readers(value)? {
            seen += 1;
            let instruction = site.instruction(reader);
            let read = match (is_vector, &instruction.shape.dimensions[..]) {
                (true, [.., numbers]) => *numbers,
                (false, [.., rows, columns]) => *rows.min(columns),
                _ => return None,
            };
            match &*instruction.opcode {
                "slice" => most = most.max(read as f64),
                // A decomposition that failed is made of no numbers.
                "select" | "reverse" => open.push(reader),
                _ => return None,
            }
            if seen > MOST {
                return None;
            }
        }
    }
    Some(most)
}
