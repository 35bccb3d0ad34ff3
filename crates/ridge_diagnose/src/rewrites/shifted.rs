//! Buffers in the state of a loop that each iteration copies as a whole to move every row along by a few places.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// The part of a buffer that is moved, at least.
const MOVED: f64 = 0.5;
/// Bytes below which a copy costs no more than an operation.
const FEWEST: f64 = 16_384.0;
/// Updates of the buffer after it was shifted.
const MOST: usize = 8;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let loops = site.module.instruction_ids().filter(|id| site.instruction(*id).opcode == "while");
    loops.flat_map(|id| of_loop(site, id)).collect()
}

fn of_loop(site: &Site<'_, '_>, around: InstructionId) -> Vec<Rewrite> {
    let body = site.instruction(around).called.first().map(|body| site.module.computation(*body));
    let Some(root) = body.and_then(|body| body.root).map(|root| site.instruction(root)) else { return Vec::new() };
    let elements = root.operands.iter().enumerate().filter(|_| root.opcode == "tuple");
    elements.filter_map(|(index, next)| rewrite(site, around, index, *next)).collect()
}

fn rewrite(site: &Site<'_, '_>, around: InstructionId, index: usize, next: InstructionId) -> Option<Rewrite> {
    let joined = shifted(site, next)?;
    let bytes = site.bytes(joined);
    let own: Vec<InstructionId> = slices(site, joined).filter(|id| is_state(site, around, index, *id)).collect();
    let moved = own.iter().map(|id| site.bytes(*id)).sum::<f64>();
    let carrier = site.ran(joined)?;
    if bytes < FEWEST || moved < MOVED * bytes {
        return None;
    }
    let mut old = vec![carrier];
    old.extend(own.iter().filter_map(|id| site.ran(*id)));
    old.sort_unstable();
    old.dedup();
    // What comes in at the end is written either way; of a buffer that turns round, one row.
    let rows = site.instruction(joined).shape.dimensions.iter().max().map_or(1.0, |rows| (*rows as f64).max(1.0));
    let new = (bytes - moved).max(bytes / rows);
    Some(Rewrite {
        does: "goes to shifting a buffer along by copying all of it in every iteration of a loop",
        instead: "overwriting the oldest row of a ring buffer",
        why: "`roll`, or `concatenate` of all rows but one with the new one, moves the whole buffer to add one row",
        help: "keep a position in the carry and write `buffer.at[position % size].set(row)`; read with indices taken modulo the size, or process the whole sequence at once with windows cut out of it",
        at: joined,
        old,
        better: Work { bytes: 2.0 * new, ..Work::default() }.times(site.events(carrier)),
        slack: Slack::Alike,
    })
}

/// The join that the next value of an element of a loop's state is made by, before parts of it are overwritten.
fn shifted(site: &Site<'_, '_>, next: InstructionId) -> Option<InstructionId> {
    let mut at = site.flow.source(next);
    for _ in 0..MOST {
        let instruction = site.instruction(at);
        match &*instruction.opcode {
            "concatenate" => return Some(at),
            "dynamic-update-slice" | "scatter" => at = site.flow.source(*instruction.operands.first()?),
            _ => return None,
        }
    }
    None
}

/// The slices that are joined.
fn slices<'s>(site: &'s Site<'_, '_>, joined: InstructionId) -> impl Iterator<Item = InstructionId> + 's {
    site.flow.inputs(joined).filter(|id| site.instruction(*id).opcode == "slice")
}

/// Whether a slice is of the element `index` of the state of the loop `around`, as an iteration finds it.
fn is_state(site: &Site<'_, '_>, around: InstructionId, index: usize, slice: InstructionId) -> bool {
    let of = site.instruction(slice).operands.first().map(|of| site.instruction(site.flow.source(*of)));
    let is_element =
        |of: &&ridge_hlo::Instruction| of.opcode == "get-tuple-element" && of.tuple_index == i64::try_from(index).ok();
    of.filter(is_element).is_some_and(|of| {
        let state = of.operands.first().map(|state| site.instruction(*state));
        state.is_some_and(|state| state.opcode == "parameter")
            && site.instruction(around).called.first() == Some(&of.computation)
    })
}
