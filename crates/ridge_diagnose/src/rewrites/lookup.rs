//! Places in a sorted array found by comparing all pairs: a table of comparisons that is only counted, joined or searched for its
//! first true element.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// Elements of each side below which all pairs are as fast as a search.
const FEWEST: f64 = 64.0;
/// Steps from a reduction to its comparison.
const MOST: usize = 8;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let reductions = site.module.instruction_ids().filter(|id| site.instruction(*id).opcode == "reduce");
    reductions.filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let carrier = site.ran(id)?;
    let compare = compared(site, id)?;
    let sides = vectors(site, compare)?;
    let (rows, columns) = (site.elements(sides.0), site.elements(sides.1));
    let all = site.elements(compare);
    // All pairs of two vectors, of which one result for each element of one is left.
    if rows.min(columns) < FEWEST || (rows * columns - all).abs() > 0.5 || site.elements(id) > rows.max(columns) {
        return None;
    }
    let results = site.elements(id);
    let held = if (results - rows).abs() < 0.5 { columns } else { rows };
    let width = site.width(sides.0);
    // A binary search for each result, and a sort of what it looks in: steps of some operations each.
    let steps = 8.0 * (results + held) * held.max(2.0).log2();
    let better = Work { plain: steps, bytes: width * steps / 4.0, ..Work::default() }.times(site.events(id));
    let mut old = vec![carrier];
    let made = site.ran(compare).filter(|made| *made != carrier);
    old.extend(made);
    Some(Rewrite {
        does: "goes to comparing all pairs of two arrays (a quadratic table) to find the positions of one array's elements in the other",
        instead: "a binary search",
        why: "the comparison table has rows times columns elements, but only one number per row is kept",
        help: "use `jnp.searchsorted(edges, values)` on the sorted array (`method='sort'` for many values), `jnp.digitize`, or sort once and compare neighbors; `jnp.bincount` or `segment_sum` for counts of equal values",
        at: compare,
        old,
        better,
        slack: Slack::Alike,
    })
}

/// The comparison that a reduction counts, joins or searches.
fn compared(site: &Site<'_, '_>, id: InstructionId) -> Option<InstructionId> {
    let mut at = site.flow.content(*site.instruction(id).operands.first()?);
    for _ in 0..MOST {
        let instruction = site.instruction(at);
        match &*instruction.opcode {
            "compare" => {
                let direction = instruction.attributes().comparison_direction.as_deref();
                return matches!(direction, Some("LT" | "LE" | "GT" | "GE")).then_some(at);
            }
            // Long reductions are split in several.
            "reduce" | "reduce-window" | "not" => at = site.flow.content(*instruction.operands.first()?),
            _ => return None,
        }
    }
    None
}

/// The arrays of one dimension that a comparison repeats along two different ones.
fn vectors(site: &Site<'_, '_>, compare: InstructionId) -> Option<(InstructionId, InstructionId)> {
    let of = |operand: InstructionId| {
        let broadcast = site.instruction(site.flow.source(operand));
        let from = *broadcast.operands.first().filter(|_| broadcast.opcode == "broadcast")?;
        match broadcast.dimensions[..] {
            [along] => Some((from, along)),
            _ => None,
        }
    };
    let [left, right] = site.instruction(compare).operands[..] else { return None };
    let ((left, one), (right, other)) = (of(left)?, of(right)?);
    // An array compared with itself is a mask of positions; one that counts is a mask of lengths.
    let counts = |id: InstructionId| site.instruction(site.flow.content(id)).opcode == "iota";
    let is_table =
        one != other && site.flow.content(left) != site.flow.content(right) && !counts(left) && !counts(right);
    is_table.then_some((left, right))
}
