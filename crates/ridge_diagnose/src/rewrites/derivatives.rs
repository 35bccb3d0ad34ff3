//! Whole matrices of derivatives that are only multiplied by a vector, or taken along the longer side.
//!
//! JAX makes them by pushing every column of an identity matrix through a linear function, under names of its own.

use super::site::{Product, Rewrite, Site, Slack};
use crate::pricing::Work;
use crate::programs::reached;
use ridge_hlo::InstructionId;
use rustc_hash::{FxHashMap, FxHashSet};

/// The smallest identity matrix that is worth a word.
const SMALLEST: f64 = 16.0;
/// Columns of the identity for each product or row that would do.
const LARGER: f64 = 4.0;
/// One derivative along a direction takes about so many times what one column takes.
const ONE: f64 = 2.0;
/// Values that are looked at on the way from a result to an identity matrix.
const MOST: usize = 8192;

/// How JAX pushed an identity matrix through a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Forward,
    Reverse,
}

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let identities: FxHashMap<InstructionId, f64> = site
        .module
        .instruction_ids()
        .filter_map(|id| Some((id, site.identity(id).filter(|extent| *extent >= SMALLEST)?)))
        .collect();
    if identities.is_empty() {
        return Vec::new();
    }
    let by_product = site.products().into_iter().filter_map(|product| {
        let columns = [(product.lhs, product.n), (product.rhs, product.m)];
        let (matrix, _) = columns.into_iter().find(|(_, columns)| *columns <= 1.0)?;
        multiplied(site, &identities, &product, matrix)
    });
    by_product.chain(wrong_mode(site, &identities)).collect()
}

/// A matrix of derivatives that nothing but products with single vectors reads.
fn multiplied(
    site: &Site<'_, '_>,
    identities: &FxHashMap<InstructionId, f64>,
    product: &Product,
    matrix: InstructionId,
) -> Option<Rewrite> {
    let made = site.flow.content(matrix);
    let readers = site.flow.readers(made).filter(|readers| !readers.is_empty())?;
    let is_narrow =
        |reader: &InstructionId| site.product(*reader).is_some_and(|product| product.m.min(product.n) <= 1.0);
    let pushed = Pushed::to(site, identities, &[made])?;
    let products = readers.len() as f64;
    let is_side = [product.k, product.m.max(product.n)].contains(&pushed.extent);
    // Gauss–Newton takes the matrix times itself as well.
    let is_whole = |other: &Product| {
        let is_of_it = |side| {
            Pushed::to(site, identities, &[site.flow.content(side)]).is_some_and(|side| side.extent == pushed.extent)
        };
        other.m.min(other.n) > 1.0 && other.k == pushed.extent && is_of_it(other.lhs) && is_of_it(other.rhs)
    };
    if !is_side
        || !readers.iter().all(is_narrow)
        || pushed.extent < LARGER * ONE * products
        || site.products().iter().any(is_whole)
    {
        return None;
    }
    let mut rewrite = pushed.rewrite(site, ONE * products / pushed.extent)?;
    rewrite.old.extend(readers.iter().filter_map(|reader| site.ran(*reader)));
    rewrite.old.sort_unstable();
    rewrite.old.dedup();
    Some(Rewrite {
        does: "goes to forming a full Hessian or Jacobian only to multiply it by a vector",
        instead: "its product with the vector",
        why: "`jax.hessian`, `jacfwd` and `jacrev` push every column of an identity matrix through the function, but the product with one vector needs only one pass",
        help: "compute the product directly: `jax.jvp(jax.grad(f), (x,), (v,))[1]` for a Hessian, `jax.jvp(f, (x,), (v,))[1]` or `jax.vjp(f, x)[1](u)` for a Jacobian, and `jax.linearize` for several vectors",
        ..rewrite
    })
}

/// A matrix of derivatives with far more of what was pushed through than of what came out.
fn wrong_mode(site: &Site<'_, '_>, identities: &FxHashMap<InstructionId, f64>) -> Option<Rewrite> {
    // Results are where the names of the derivative end.
    let is_result = |id: &InstructionId| {
        mode(site, *id).is_some()
            && site.elements(*id) > 1.0
            && site.flow.readers(*id).is_none_or(|readers| readers.iter().any(|reader| !is_on_the_way(site, *reader)))
    };
    let results: Vec<InstructionId> =
        site.module.instruction_ids().filter(|id| site.ran(*id).is_some() && is_result(id)).collect();
    let pushed = Pushed::to(site, identities, &results)?;
    let of_result = results.iter().filter(|id| pushed.between.contains(id));
    let results: f64 = of_result.map(|id| (site.elements(*id) / pushed.extent).max(1.0)).sum();
    if results <= 0.0 || pushed.extent < LARGER * ONE * results {
        return None;
    }
    let rewrite = pushed.rewrite(site, ONE * results / pushed.extent)?;
    let (instead, help) = match pushed.mode {
        Mode::Forward => (
            "derivatives in reverse mode",
            "use `jax.jacrev` instead of `jax.jacfwd` if a function has fewer results than arguments, and `jax.grad` if it has one result",
        ),
        Mode::Reverse => (
            "derivatives in forward mode",
            "use `jax.jacfwd` instead of `jax.jacrev` if a function has fewer arguments than results",
        ),
    };
    Some(Rewrite {
        does: "goes to computing a Jacobian along its longer side, one pass per element",
        instead,
        why: "forward mode takes one pass per argument, reverse mode one per result",
        help,
        ..rewrite
    })
}

/// What an identity matrix was pushed through on the way to some results.
struct Pushed {
    /// The identity matrix.
    identity: InstructionId,
    extent: f64,
    mode: Mode,
    /// What depends on it and leads to the results.
    between: FxHashSet<InstructionId>,
}

impl Pushed {
    fn to(
        site: &Site<'_, '_>,
        identities: &FxHashMap<InstructionId, f64>,
        results: &[InstructionId],
    ) -> Option<Pushed> {
        let mut open: Vec<InstructionId> = results.iter().map(|id| site.flow.source(*id)).collect();
        let mut seen: FxHashSet<InstructionId> = open.iter().copied().collect();
        let mut readers: FxHashMap<InstructionId, Vec<InstructionId>> = FxHashMap::default();
        while let Some(at) = open.pop() {
            if seen.len() > MOST {
                return None;
            }
            for input in site.flow.inputs(at) {
                readers.entry(input).or_default().push(at);
                if seen.insert(input) {
                    open.push(input);
                }
            }
        }
        // Each fusion that reads the identity matrix makes it anew.
        let largest =
            identities.iter().filter(|(id, _)| seen.contains(id)).max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
        let (identity, extent) = largest.map(|(id, extent)| (*id, *extent))?;
        let mut open: Vec<InstructionId> =
            identities.iter().filter(|(id, of)| seen.contains(id) && **of == extent).map(|(id, _)| *id).collect();
        let mut between: FxHashSet<InstructionId> = open.iter().copied().collect();
        while let Some(at) = open.pop() {
            let next = readers.get(&at).into_iter().flatten().copied();
            // A matrix that is only added to another, as `k + 1e-3 * jnp.eye(n)` does, is no start of a derivative.
            let next = next.filter(|reader| is_on_the_way(site, *reader));
            open.extend(next.filter(|reader| between.insert(*reader)));
        }
        // Without a path from the one to the other there is no derivative.
        if !results.iter().any(|id| between.contains(&site.flow.source(*id))) {
            return None;
        }
        let modes: Vec<Mode> = between.iter().filter_map(|id| mode(site, *id)).collect();
        // The derivative of a gradient is pushed through in forward mode, whatever is inside of it.
        let mode = if modes.contains(&Mode::Forward) { Mode::Forward } else { *modes.first()? };
        Some(Pushed { identity, extent, mode, between })
    }

    /// What ran of it, with the part of its work that would be left.
    fn rewrite(&self, site: &Site<'_, '_>, part: f64) -> Option<Rewrite> {
        let mut old: Vec<InstructionId> = self.between.iter().filter_map(|id| site.ran(*id)).collect();
        for id in self.between.iter().filter(|id| site.instruction(**id).opcode == "while") {
            let inside = site.instruction(*id).called.iter().flat_map(|called| reached(site.module, *called));
            let inside = inside.flat_map(|inside| site.module.computation(inside).instruction_ids());
            old.extend(inside.filter(|id| site.program.ran.contains_key(id)));
        }
        old.sort_unstable();
        old.dedup();
        let work = old
            .iter()
            .filter(|id| site.instruction(**id).opcode != "while")
            .filter_map(|id| Some(Work::of(site.cost(*id)?)?.times(site.events(*id))));
        let better = work.fold(Work::default(), Work::plus).times(part);
        old.first()?;
        Some(Rewrite { does: "", instead: "", why: "", help: "", at: self.identity, old, better, slack: Slack::Alike })
    }
}

/// Whether an instruction hands on what was pushed through a function: as a part of that, as it is, or as a sum that the compiler
/// takes in several steps, of which it names the last alone.
fn is_on_the_way(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let instruction = site.instruction(id);
    let is_of_compiler =
        instruction.metadata.op_name.is_empty() && matches!(&*instruction.opcode, "reduce" | "reduce-window" | "pad");
    mode(site, id).is_some() || moves(site, id) || is_of_compiler
}

/// Whether an instruction gives the numbers that it reads, in another order or type.
fn moves(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let moving = [
        "convert",
        "reshape",
        "transpose",
        "slice",
        "broadcast",
        "copy",
        "bitcast",
        "concatenate",
        "select",
        "tuple",
        "get-tuple-element",
    ];
    moving.contains(&&*site.instruction(id).opcode)
}

/// Whether an instruction pushes an identity matrix through a function, which nobody wrote as a product.
pub(super) fn is_pushed(site: &Site<'_, '_>, id: InstructionId) -> bool {
    mode(site, id).is_some()
}

/// How an instruction's name says that it is pushed through, as `vmap(jvp(f))` and `vmap(transpose(jvp(f)))` do.
fn mode(site: &Site<'_, '_>, id: InstructionId) -> Option<Mode> {
    let name = &site.instruction(id).metadata.op_name;
    let forward = name.find("vmap(jvp(");
    let reverse = name.find("vmap(transpose(jvp(");
    match (forward, reverse) {
        (Some(forward), Some(reverse)) if reverse < forward => Some(Mode::Reverse),
        (Some(_), _) => Some(Mode::Forward),
        (None, Some(_)) => Some(Mode::Reverse),
        (None, None) => None,
    }
}
