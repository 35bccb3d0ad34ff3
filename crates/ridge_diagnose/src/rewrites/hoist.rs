//! Work in a loop that comes out the same in every iteration.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::{InstructionId, OpcodeClass};

/// Iterations for each run of a loop that are worth moving work out.
const FEWEST: f64 = 3.0;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    site.program.ran.keys().filter_map(|id| rewrite(site, *id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let instruction = site.instruction(id);
    let is_work = match instruction.opcode.class() {
        OpcodeClass::Runs
        | OpcodeClass::PassesBy
        | OpcodeClass::Makes
        | OpcodeClass::Async(_)
        | OpcodeClass::Collective(_) => false,
        // A value that is only written down again and again is what a loop's memory wants.
        OpcodeClass::Moves => false,
        _ => instruction.opcode != "copy",
    };
    let around = site.flow.loop_around(id).filter(|_| is_work)?;
    let iterations = site.program.events(id) as f64;
    let runs = match site.program.events(around) {
        0 => iterations / instruction_trips(site, around)?,
        runs => runs as f64,
    };
    if iterations < FEWEST * runs || !site.flow.is_unchanged_in(id, around) {
        return None;
    }
    let work = Work::of(site.cost(id)?)?;
    // Elements that are written without arithmetic are cheaper to make again than to keep.
    if work.matrix + work.plain + work.functions <= 0.0 {
        return None;
    }
    Some(Rewrite {
        does: "goes to recomputing the same values in every iteration of a loop",
        instead: "computing it once before the loop",
        why: "the inputs of this work don't change between iterations",
        help: "compute the values before `scan`, `while_loop` or `fori_loop` and pass them in",
        at: id,
        old: vec![id],
        better: work.times(runs),
        slack: Slack::Alike,
    })
}

fn instruction_trips(site: &Site<'_, '_>, around: InstructionId) -> Option<f64> {
    site.instruction(around).known_trip_count().map(|trips| trips as f64).filter(|trips| *trips > 0.0)
}
