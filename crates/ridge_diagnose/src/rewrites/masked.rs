//! Sums over groups by a mask for each group: every element is looked at once for each of them.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;
use rustc_hash::FxHashSet;

/// Groups from which on one pass for all of them is worth it.
const FEWEST: f64 = 8.0;
/// Elements of a mask that costs little.
const SMALL: f64 = 65_536.0;
/// Steps from a choice to its mask, and from the choice to its sum.
const MOST: usize = 16;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let chooses = |id: &InstructionId| matches!(&*site.instruction(*id).opcode, "select" | "multiply" | "convert");
    site.module.instruction_ids().filter(chooses).filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let elements = site.elements(id);
    if elements < SMALL {
        return None;
    }
    let groups = site.instruction(id).operands.iter().find_map(|operand| groups(site, *operand))?;
    let readers = site.flow.readers(id).filter(|readers| !readers.is_empty())?;
    let is_sum = |reader: &InstructionId| matches!(&*site.instruction(*reader).opcode, "reduce" | "reduce-window");
    if groups < FEWEST || !readers.iter().all(is_sum) {
        return None;
    }
    // The sum of each group is far smaller than all the masked elements.
    let sums: f64 = readers.iter().map(|reader| site.elements(last_sum(site, *reader))).fold(0.0, f64::max);
    if sums * FEWEST > elements {
        return None;
    }
    let mut old: FxHashSet<InstructionId> = site.ran(id).into_iter().collect();
    old.extend(readers.iter().filter_map(|reader| site.ran(*reader)));
    let mut old: Vec<InstructionId> = old.into_iter().collect();
    old.sort_unstable();
    let each = elements / groups;
    let better = Work { plain: 2.0 * each, bytes: site.width(id) * (3.0 * each + 2.0 * sums), ..Work::default() };
    Some(Rewrite {
        does: "goes to reducing every group with a mask over all elements, once for each group",
        instead: "one pass with `segment_sum`",
        why: "with a mask for every group, each element is read, compared and added as often as there are groups, though it belongs to one",
        help: "use `jax.ops.segment_sum(values, groups, num_segments=n)` (`segment_max`, `jnp.bincount` for counts, `zeros.at[groups].add(values)`) instead of `jnp.where(groups == g, values, 0).sum()` for every group",
        at: id,
        old,
        better: better.times(site.events(id)),
        slack: Slack::Little,
    })
}

/// How many groups a mask tells apart: elements compared with the numbers of groups, each along a dimension of its own.
fn groups(site: &Site<'_, '_>, id: InstructionId) -> Option<f64> {
    let mut at = site.spread_from(site.flow.content(id));
    for _ in 0..MOST {
        let instruction = site.instruction(at);
        match &*instruction.opcode {
            "convert" | "broadcast" => at = site.spread_from(site.flow.content(*instruction.operands.first()?)),
            "compare" => break,
            _ => return None,
        }
    }
    let compare = site.instruction(at);
    let [one, other] = compare.operands[..] else { return None };
    if compare.attributes().comparison_direction.as_deref() != Some("EQ") {
        return None;
    }
    let counts = |side: InstructionId| {
        let from = site.spread_from(side);
        let iota = site.instruction(from);
        // Counted along one dimension only.
        (iota.opcode == "iota").then(|| match &iota.shape.dimensions[..] {
            [extent] => Some(*extent as f64),
            extents => extents.get(usize::try_from(*iota.dimensions.first()?).ok()?).map(|extent| *extent as f64),
        })?
    };
    let (count, indices) =
        counts(one).map(|count| (count, other)).or_else(|| counts(other).map(|count| (count, one)))?;
    let from = site.spread_from(indices);
    let is_apart =
        site.instruction(from).opcode != "iota" && (site.elements(at) / site.elements(from) - count).abs() < 0.5;
    is_apart.then_some(count)
}

/// The last of the steps that a long sum is split into.
fn last_sum(site: &Site<'_, '_>, reduce: InstructionId) -> InstructionId {
    let mut at = reduce;
    for _ in 0..MOST {
        match site.flow.readers(at).unwrap_or_default()[..] {
            [next] if matches!(&*site.instruction(next).opcode, "reduce" | "reduce-window") => at = next,
            _ => break,
        }
    }
    at
}
