//! All positions of a sequence computed in every iteration of a loop that reads one of them and writes one more, as sampling
//! without a cache does.

use super::only::only_for;
use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;
use rustc_hash::FxHashSet;

/// Positions from which on computing one of them is worth it.
const FEWEST: f64 = 16.0;
/// Iterations of the loop, as a part of the positions: one that runs a few times reads what it needs.
const COVERED: f64 = 0.25;
/// What one position takes of all, in parts of its share: it still reads what the others left.
const ONE: f64 = 2.0;
/// Values on the way from what is read to the sequence.
const MOST: usize = 4096;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let slices =
        site.module.instruction_ids().filter(|id| matches!(&*site.instruction(*id).opcode, "dynamic-slice" | "gather"));
    slices.filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let carrier = site.ran(id)?;
    let around = site.flow.loop_around(id)?;
    let whole = site.flow.source(*site.instruction(id).operands.first()?);
    let positions = (site.elements(whole) / site.elements(id).max(1.0)).round();
    let is_of_state = matches!(&*site.instruction(whole).opcode, "get-tuple-element" | "parameter" | "constant");
    if positions < FEWEST || is_of_state || site.flow.loop_around(whole) != Some(around) {
        return None;
    }
    sequence(site, around, whole, positions)?;
    let iterations = site.events(id) / site.program.events(around).max(1) as f64;
    if iterations < COVERED * positions {
        return None;
    }
    let readers = site.flow.readers(whole)?;
    if !readers.iter().all(|reader| *reader == id) {
        return None;
    }
    let old: Vec<InstructionId> =
        only_for(site, &readers, &[whole], around).into_iter().filter(|old| *old != carrier).collect();
    let work = old
        .iter()
        .filter(|id| site.instruction(**id).opcode != "while")
        .filter_map(|id| Some(Work::of(site.cost(*id)?)?.times(site.events(*id))));
    let better = work.fold(Work::default(), Work::plus).times(ONE / positions);
    let at = old.iter().copied().max_by_key(|id| site.program.ns(*id))?;
    // The line that asks for one position is the one to change, where the program has it.
    let at = if site.place(id).is_some() { id } else { at };
    Some(Rewrite {
        does: "computes the whole sequence again in every iteration of a loop that reads one position of the result",
        instead: "computing the new position alone",
        why: "an iteration changes one position of the sequence, and what the others lead to was computed before",
        help: "keep what earlier positions gave in the state of the loop (keys and values of attention in a cache, hidden states of a recurrence) and run only the newest position; in place of `f(xs)[i]`, compute what row `i` needs",
        at,
        old,
        better,
        slack: Slack::Alike,
    })
}

/// The array of the loop's state that `id` is made from and of which an iteration writes one position.
fn sequence(site: &Site<'_, '_>, around: InstructionId, id: InstructionId, positions: f64) -> Option<InstructionId> {
    let body = site.module.computation(*site.instruction(around).called.first()?);
    let root = site.instruction(body.root?);
    let (mut open, mut seen) = (vec![id], FxHashSet::default());
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        if seen.len() > MOST {
            return None;
        }
        let instruction = site.instruction(at);
        let index = instruction.tuple_index.and_then(|index| usize::try_from(index).ok());
        let is_state = instruction.opcode == "get-tuple-element" && instruction.computation == root.computation;
        if let Some(next) = index.filter(|_| is_state).and_then(|index| root.operands.get(index)) {
            let write = site.instruction(site.flow.content(*next));
            let part = match &*write.opcode {
                "dynamic-update-slice" => write.operands.get(1),
                "scatter" => write.operands.get(2),
                _ => None,
            };
            let is_own = write.operands.first().is_some_and(|array| site.flow.content(*array) == at);
            let is_one = part.is_some_and(|part| site.elements(*part) * positions <= site.elements(at) * 1.5);
            if is_own && is_one {
                return Some(at);
            }
            continue;
        }
        open.extend(site.flow.inputs(at));
    }
    None
}
