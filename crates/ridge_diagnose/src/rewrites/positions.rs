//! All positions of a sequence computed in every iteration of a loop, or call of the program, that reads one of them and writes one
//! more, as sampling without a cache does.

use super::only::only_for;
use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Positions from which on computing one of them is worth it.
const FEWEST: f64 = 16.0;
/// Iterations of the loop, as a part of the positions: one that runs a few times reads what it needs.
const COVERED: f64 = 0.25;
/// What one position takes of all, in parts of its share: it still reads what the others left.
const ONE: f64 = 2.0;
/// Values on the way from what is read to the sequence.
const MOST: usize = 4096;

/// What reads one position of a sequence, by the loop that it is in, if any, and the sizes of both.
type Reads = BTreeMap<(Option<InstructionId>, u64, u64), Vec<InstructionId>>;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let mut reads = Reads::new();
    for id in site.module.instruction_ids() {
        let instruction = site.instruction(id);
        if !matches!(&*instruction.opcode, "dynamic-slice" | "gather") || site.ran(id).is_none() {
            continue;
        }
        // Several fusions may each read the same position for themselves.
        let sizes = instruction.operands.first().map(|whole| (site.elements(*whole) as u64, site.elements(id) as u64));
        if let Some((whole, one)) = sizes {
            reads.entry((site.flow.loop_around(id), whole, one)).or_default().push(id);
        }
    }
    reads.into_iter().filter_map(|((around, ..), ids)| rewrite(site, around, &ids)).collect()
}

fn rewrite(site: &Site<'_, '_>, around: Option<InstructionId>, ids: &[InstructionId]) -> Option<Rewrite> {
    let id = *ids.first()?;
    let carriers: Vec<InstructionId> = ids.iter().filter_map(|id| site.ran(*id)).collect();
    let wholes: Vec<InstructionId> =
        ids.iter().filter_map(|id| Some(site.flow.source(*site.instruction(*id).operands.first()?))).collect();
    let positions = (site.elements(*wholes.first()?) / site.elements(id).max(1.0)).round();
    // What an inner loop computed is no state.
    let is_of_state = |whole: &InstructionId| {
        let of_tuple = site.instruction(*whole).opcode == "get-tuple-element" && site.loop_of(*whole).is_none();
        of_tuple || matches!(&*site.instruction(*whole).opcode, "parameter" | "constant")
    };
    let is_elsewhere = |whole: &InstructionId| is_of_state(whole) || site.flow.loop_around(*whole) != around;
    if positions < FEWEST || wholes.iter().any(is_elsewhere) {
        return None;
    }
    sequence(site, around, *wholes.first()?, positions)?;
    // A program that is called for each position is the body of a loop in Python.
    let runs = around.map_or(1, |around| site.program.events(around).max(1));
    if site.events(id) / (runs as f64) < COVERED * positions {
        return None;
    }
    for whole in &wholes {
        if !site.flow.readers(*whole)?.iter().all(|reader| ids.contains(reader)) {
            return None;
        }
    }
    let old: Vec<InstructionId> =
        only_for(site, ids, &wholes, around).into_iter().filter(|old| !carriers.contains(old)).collect();
    let work = old
        .iter()
        .filter(|id| site.instruction(**id).opcode != "while")
        .filter_map(|id| Some(Work::of(site.cost(*id)?)?.times(site.events(*id))));
    let better = work.fold(Work::default(), Work::plus).times(ONE / positions);
    let at = old.iter().copied().max_by_key(|id| site.program.ns(*id))?;
    // The line that asks for one position is the one to change, where the program has it.
    let at = if site.place(id).is_some() { id } else { at };
    let (does, why) = match around {
        Some(_) => (
            "goes to recomputing the whole sequence in every iteration of a loop that reads one position of the result",
            "an iteration changes one position of the sequence, and earlier iterations already computed the results of the other positions",
        ),
        None => (
            "goes to recomputing the whole sequence in every call, though the call reads one position of the result",
            "a call changes one position of the sequence, and earlier calls already computed the results of the other positions",
        ),
    };
    Some(Rewrite {
        does,
        instead: "computing only the new position",
        why,
        help: "keep the results of earlier positions in the state (attention keys and values in a cache, such as flax's `decode=True`; hidden states of a recurrence) and run only the newest position; instead of `f(xs)[i]`, compute only row `i`",
        at,
        old,
        better,
        slack: Slack::Alike,
    })
}

/// The array of the state of the loop, or of the program, that `id` is made from and of which an iteration writes one position.
fn sequence(
    site: &Site<'_, '_>,
    around: Option<InstructionId>,
    id: InstructionId,
    positions: f64,
) -> Option<InstructionId> {
    let body = match around {
        Some(around) => *site.instruction(around).called.first()?,
        None => site.module.entry?,
    };
    let root = site.instruction(site.module.computation(body).root?);
    // Whether `next`, an element of the next state, is `at` with one position written.
    let is_written = |at: InstructionId, next: InstructionId| {
        let write = site.instruction(site.flow.content(next));
        let part = match &*write.opcode {
            "dynamic-update-slice" => write.operands.get(1),
            "scatter" => write.operands.get(2),
            _ => None,
        };
        let is_own = write.operands.first().is_some_and(|array| site.flow.content(*array) == at);
        is_own && part.is_some_and(|part| site.elements(*part) * positions <= site.elements(at) * 1.5)
    };
    let (mut open, mut seen) = (vec![id], FxHashSet::default());
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        if seen.len() > MOST {
            return None;
        }
        let instruction = site.instruction(at);
        if let Some(inner) = site.loop_of(at) {
            open.extend(site.starts_of_loop(inner));
            continue;
        }
        let is_here = instruction.computation == root.computation;
        let nexts: &[InstructionId] = match (&*instruction.opcode, around) {
            ("get-tuple-element", Some(_)) if is_here => {
                let index = instruction.tuple_index.and_then(|index| usize::try_from(index).ok());
                index.and_then(|index| root.operands.get(index)).map_or(&[], std::slice::from_ref)
            }
            // Which result the caller gives back as an argument is not known: one that is it but for one position.
            ("parameter", None) if is_here => &root.operands,
            _ => &[],
        };
        if nexts.iter().any(|next| is_written(at, *next)) {
            return Some(at);
        }
        if !nexts.is_empty() {
            continue;
        }
        open.extend(site.flow.inputs(at));
    }
    None
}
