//! Arrays that a program turns when it begins and turns back when it ends, though they come back in the next call.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::work_of;
use ridge_hlo::{InstructionId, Shape};

/// Elements below which turning an array costs nothing.
const FEWEST: f64 = 4096.0;
/// Steps from a result to what turned it.
const MOST: usize = 16;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    rewrite(site).into_iter().collect()
}

fn rewrite(site: &Site<'_, '_>) -> Option<Rewrite> {
    let entry = site.module.computation(site.module.entry?);
    let turned: Vec<(InstructionId, InstructionId)> = site
        .module
        .instruction_ids()
        .filter(|id| site.instruction(*id).opcode == "transpose" && site.elements(*id) >= FEWEST)
        .filter_map(|id| Some((id, site.flow.source(*site.instruction(id).operands.first()?))))
        .filter(|(id, from)| {
            let of = site.instruction(*from);
            of.opcode == "parameter" && site.module.entry == Some(of.computation) && moves_bytes(site, *id)
        })
        .collect();
    let root = entry.root?;
    let results: Vec<InstructionId> = match &*site.instruction(root).opcode {
        "tuple" => site.instruction(root).operands.clone(),
        _ => vec![root],
    };
    let backs: Vec<(InstructionId, &Shape)> = results
        .iter()
        .filter_map(|result| Some((turned_last(site, *result)?, &site.instruction(*result).shape)))
        .collect();
    let (back, _) = backs.iter().find(|(_, shape)| {
        let comes_back = |from: InstructionId| site.instruction(from).shape.dimensions == shape.dimensions;
        turned.iter().any(|(_, from)| comes_back(*from))
    })?;
    let mut old: Vec<InstructionId> =
        turned.iter().map(|(id, _)| *id).chain(Some(*back)).filter_map(|id| site.ran(id)).collect();
    old.sort_unstable();
    old.dedup();
    let better = work_of(site.case, site.program, &old)?;
    Some(Rewrite {
        does: "is in operations that transpose arrays when the program begins and transpose them back when it ends",
        instead: "the same work on arrays that stay transposed",
        why: "reading an array against its memory order fetches it element by element, and each call does so in both directions",
        help: "keep the array in the computation's layout between calls: transpose (`jnp.moveaxis`, `.T`) once before the loop and once after it, or write the computation for the array's own layout",
        at: *back,
        old,
        better,
        slack: Slack::Little,
    })
}

/// Whether a transpose changes where the elements lie, here or in the copy that follows it.
fn moves_bytes(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let (from, to) = (site.instruction(id).operands.first(), site.instruction(id));
    let order = |shape: &Shape| shape.layout.as_ref().map(|layout| layout.minor_to_major.clone());
    let Some((Some(before), Some(after))) = from.map(|from| (order(&site.instruction(*from).shape), order(&to.shape)))
    else {
        return false;
    };
    // As the dimensions are numbered before the transpose.
    let renamed = |dimension: &i64| usize::try_from(*dimension).ok().and_then(|at| to.dimensions.get(at)).copied();
    let kept = after.iter().map(renamed).collect::<Option<Vec<i64>>>().is_some_and(|after| after == before);
    !kept || {
        let copies = |reader: &InstructionId| {
            site.instruction(*reader).operands.contains(&id) && site.instruction(*reader).opcode == "copy"
        };
        let computation = site.module.computation(to.computation);
        computation
            .instruction_ids()
            .any(|reader| copies(&reader) && order(&site.instruction(reader).shape) != Some(after.clone()))
    }
}

/// The transpose that made a result, where only its order in memory changed after it.
fn turned_last(site: &Site<'_, '_>, result: InstructionId) -> Option<InstructionId> {
    let mut at = result;
    for _ in 0..MOST {
        at = site.flow.source(at);
        let instruction = site.instruction(at);
        match &*instruction.opcode {
            "transpose" => return (site.elements(at) >= FEWEST && moves_bytes(site, at)).then_some(at),
            "reshape" | "convert" => at = *instruction.operands.first()?,
            _ => return None,
        }
    }
    None
}
