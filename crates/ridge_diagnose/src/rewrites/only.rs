//! What an iteration of a loop, or a call of the program, computes for certain readers and for nothing else.

use super::site::Site;
use crate::programs::reached;
use ridge_hlo::InstructionId;
use rustc_hash::FxHashSet;

/// Values that are followed.
const MOST: usize = 4096;

/// The instructions that ran in the loop `around`, or outside of loops, and in loops that are there, for the values `firsts` alone, where `readers` are the only
/// ones that may read them; none where others do.
pub(super) fn only_for(
    site: &Site<'_, '_>,
    readers: &[InstructionId],
    firsts: &[InstructionId],
    around: Option<InstructionId>,
) -> Vec<InstructionId> {
    let mut only: FxHashSet<InstructionId> = FxHashSet::default();
    // What loops run that are there for nothing else.
    let mut iterated: Vec<InstructionId> = Vec::new();
    let mut open = firsts.to_vec();
    while let Some(at) = open.pop() {
        if only.contains(&at) || only.len() > MOST || site.flow.loop_around(at) != around {
            continue;
        }
        let is_for_it = |id: &InstructionId, only: &FxHashSet<InstructionId>| {
            let found = site.flow.readers(*id).unwrap_or_default();
            !found.is_empty() && found.iter().all(|reader| readers.contains(reader) || only.contains(reader))
        };
        if let Some(inner) = site.loop_of(at) {
            let results = site.results_of_loop(inner);
            if results.iter().all(|result| is_for_it(result, &only)) {
                only.extend(results);
                iterated.push(inner);
                let inside = site.instruction(inner).called.iter().flat_map(|called| reached(site.module, *called));
                iterated.extend(inside.flat_map(|inside| site.module.computation(inside).instruction_ids()));
                open.extend(site.starts_of_loop(inner));
            }
            continue;
        }
        let makes = match &*site.instruction(at).opcode {
            "parameter" | "constant" | "while" => false,
            // One of the results of a library's call.
            "get-tuple-element" => {
                let of = site.instruction(at).operands.first();
                of.is_some_and(|of| site.instruction(*of).opcode == "custom-call")
            }
            _ => true,
        };
        if makes && is_for_it(&at, &only) {
            only.insert(at);
            open.extend(site.flow.inputs(at));
        }
    }
    // A fusion whose result is for them alone runs for nothing else.
    let is_whole = |id: &InstructionId| only.contains(&site.flow.source(*id));
    let mut ran: Vec<InstructionId> = only.iter().filter_map(|id| site.ran(*id)).filter(is_whole).collect();
    ran.extend(iterated.into_iter().filter(|id| site.program.ran.contains_key(id)));
    ran.sort_unstable();
    ran.dedup();
    ran
}
