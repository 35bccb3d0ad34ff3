//! Products of matrices of which only the diagonal is read.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::{InstructionId, OpcodeClass};

/// The smallest product that is worth it.
const SMALLEST: f64 = 32.0;
/// Values made of the product, element by element, that are followed to their diagonals.
const MOST: usize = 64;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    site.products().into_iter().filter_map(|product| rewrite(site, product.at)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let product = site.product(id)?;
    let is_square = (product.m - product.n).abs() < 0.5 && product.m >= SMALLEST;
    let readers = is_square.then(|| readers_for_diagonal(site, id))??;
    let terms = product.batch * product.m * product.k;
    let mut old = vec![site.ran(id)?];
    old.extend(readers.iter().filter_map(|reader| site.ran(*reader)));
    old.sort_unstable();
    old.dedup();
    let better = Work { plain: 2.0 * terms, bytes: 2.0 * terms * site.width(id), ..Work::default() };
    Some(Rewrite {
        does: "goes to computing a whole product of two matrices to read only its diagonal",
        instead: "the sums on the diagonal",
        why: "each diagonal element is one sum over a row and a column, but the full product computes such a sum for every row and every column",
        help: "multiply elementwise and sum: `(a * b.T).sum(axis=1)` or `jnp.einsum('ij,ji->i', a, b)` instead of `jnp.diag(a @ b)`, `(a * b.T).sum()` instead of `jnp.trace(a @ b)`; for a sum or difference of matrices, take the diagonal of each, such as variances instead of the whole covariance",
        at: id,
        old,
        better: better.times(site.events(id)),
        slack: Slack::Little,
    })
}

/// What reads the square product `id`, through what combines it element by element with other matrices; `None` where anything but
/// the diagonal of it is read in the end.
fn readers_for_diagonal(site: &Site<'_, '_>, id: InstructionId) -> Option<Vec<InstructionId>> {
    let (mut open, mut found) = (vec![id], Vec::new());
    let mut seen = 0;
    while let Some(value) = open.pop() {
        let readers = site.flow.readers(value).filter(|readers| !readers.is_empty())?;
        for reader in readers {
            seen += 1;
            if seen > MOST {
                return None;
            }
            if !found.contains(&reader) {
                if !reads_diagonal(site, value, reader) {
                    // The diagonal of such a combination is that combination of the diagonals.
                    let instruction = site.instruction(reader);
                    let is_each = matches!(instruction.opcode.class(), OpcodeClass::Elementwise(_));
                    let is_alike = instruction.shape.dimensions == site.instruction(value).shape.dimensions;
                    if !is_each || !is_alike {
                        return None;
                    }
                    open.push(reader);
                }
                found.push(reader);
            }
        }
    }
    Some(found)
}

/// Whether `reader` takes nothing but the diagonal of the square matrix `id`.
fn reads_diagonal(site: &Site<'_, '_>, id: InstructionId, reader: InstructionId) -> bool {
    let instruction = site.instruction(reader);
    let operand = |at: usize| instruction.operands.get(at).copied();
    match &*instruction.opcode {
        // Rows and columns by the same counter.
        "gather" => {
            let is_single = instruction.attributes().slice_sizes.iter().all(|size| *size == 1);
            operand(1).is_some_and(|indices| is_single && is_counter_twice(site, indices))
        }
        "select" => {
            let [Some(condition), Some(yes), Some(no)] = [operand(0), operand(1), operand(2)] else { return false };
            site.flow.content(yes) == site.flow.content(id)
                && site.constant(no) == Some(0.0)
                && site.identity(site.flow.source(condition)).is_some()
        }
        _ => false,
    }
}

fn is_counter_twice(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let joined = site.instruction(site.flow.content(id));
    let counters: Vec<InstructionId> = joined.operands.iter().map(|operand| site.flow.content(*operand)).collect();
    let [one, other] = counters[..] else { return false };
    let [one, other] = [one, other].map(|id| site.instruction(id));
    let counts = |id: &ridge_hlo::Instruction| {
        id.opcode == "iota" && id.shape.dimensions.iter().filter(|extent| **extent > 1).count() == 1
    };
    joined.opcode == "concatenate" && counts(one) && counts(other)
}
