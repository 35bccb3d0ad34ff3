//! Decompositions of symmetric matrices of which only a few vectors are read: the first or last ones.

use super::singular::{columns_read, is_unread};
use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// The smallest matrix for which an iterative method pays.
const SMALLEST: f64 = 64.0;
/// The largest part of the vectors that an iterative method takes less for than a whole decomposition.
const FEW: f64 = 1.0 / 16.0;
/// Iterations, and products of the matrix with a vector in each of them for each vector that is wanted, of a method like LOBPCG.
const ITERATIONS: f64 = 30.0;
const PRODUCTS: f64 = 3.0;
/// Places of the vectors and of the values among the results.
const VECTORS: i64 = 0;
const VALUES: i64 = 1;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let is_it = |id: &InstructionId| {
        let target = site.instruction(*id).custom_call_target.as_deref();
        target.is_some_and(|target| target.contains("syevd") || target.contains("heevd")) && site.ran(*id).is_some()
    };
    site.module.instruction_ids().filter(is_it).filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let [.., rows, columns] = site.instruction(id).shape.leaves().first()?.dimensions[..] else { return None };
    let n = rows as f64;
    if rows != columns || n < SMALLEST {
        return None;
    }
    let vectors = columns_read(site, id, VECTORS, false)?;
    let values = if is_unread(site, id, VALUES) { 0.0 } else { columns_read(site, id, VALUES, true)? };
    let few = vectors.max(values);
    if vectors < 1.0 || few > FEW * n {
        return None;
    }
    let batch = (site.elements_of(id, VECTORS)? / (n * n)).max(1.0);
    let better = Work {
        matrix: batch * ITERATIONS * PRODUCTS * few * 2.0 * n * n,
        bytes: batch * ITERATIONS * site.width(id) * n * n,
        ..Work::default()
    };
    Some(Rewrite {
        does: "goes to computing all eigenvectors of symmetric matrices, of which only a few are read",
        instead: "an iterative method for those few",
        why: "`eigh` takes about 9 n³ operations, an iteration for k vectors a few n² k",
        help: "use `jax.experimental.sparse.linalg.lobpcg_standard(a, x0)` for the largest, power iteration (or `scipy.sparse.linalg.eigsh`) for one; in a loop, start from the vectors found before",
        at: id,
        old: vec![site.ran(id)?],
        better: better.times(site.events(id)),
        slack: Slack::Little,
    })
}
