//! Work of a program that goes back to none of its arguments, so that every call computes the same.

use super::site::{Rewrite, Site, Slack};
use crate::arguments::behind_each;
use crate::pricing::Work;
use crate::programs::reached;
use ridge_hlo::{ComputationId, InstructionId};
use rustc_hash::FxHashSet;

/// Calls from which on keeping the result is worth it.
const RUNS: u64 = 5;
/// Instructions of a program that is looked at.
const MOST: usize = 1 << 14;

pub(super) fn find(site: &Site<'_, '_>) -> Option<Rewrite> {
    let entry = site.module.entry?;
    let all: Vec<InstructionId> = site.module.computation(entry).instruction_ids().collect();
    // A program without arguments is a whole that somebody may want to run again.
    let has_arguments = all.iter().any(|id| site.instruction(*id).opcode == "parameter");
    if all.len() > MOST || !has_arguments {
        return None;
    }
    let arguments = behind_each(site.module, entry);
    let fixed: FxHashSet<InstructionId> = all
        .iter()
        .copied()
        .filter(|id| arguments.get(id).is_some_and(|of| of.is_empty()) && !differs(site, *id))
        .collect();
    // What reads something that differs by itself differs as well.
    let is_fixed = |id: &InstructionId| {
        fixed.contains(id) && site.instruction(*id).operands.iter().all(|operand| fixed.contains(operand))
    };
    let mut old: Vec<InstructionId> = Vec::new();
    for id in all.iter().filter(|id| is_fixed(id)) {
        old.push(*id);
        if !site.instruction(*id).is_fusion() {
            let inside = site.instruction(*id).called.iter().flat_map(|called| reached(site.module, *called));
            let inside: Vec<ComputationId> = inside.collect();
            old.extend(inside.into_iter().flat_map(|inside| site.module.computation(inside).instruction_ids()));
        }
    }
    old.retain(|id| site.program.ran.contains_key(id) && computes(site, *id));
    old.sort_unstable();
    old.dedup();
    let at = old.iter().copied().max_by_key(|id| site.program.ns(*id))?;
    // Loops run what is in them more often than they are called.
    if old.iter().map(|id| site.program.events(*id)).min()? < RUNS {
        return None;
    }
    Some(Rewrite {
        does: "goes to computing values in every call that don't depend on the function's arguments",
        instead: "computing it once and passing it in",
        why: "a compiled function keeps nothing between calls, and the compiler folds only small arrays into constants",
        help: "compute it once outside of the compiled function and pass the result as an argument",
        at,
        old,
        better: Work::default(),
        slack: Slack::Little,
    })
}

/// Whether an instruction does more than fill an array or copy it: what is filled in each call is written over there.
fn computes(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let fills = |opcode: &str| {
        matches!(
            opcode,
            "parameter"
                | "constant"
                | "iota"
                | "broadcast"
                | "copy"
                | "reshape"
                | "bitcast"
                | "transpose"
                | "tuple"
                | "get-tuple-element"
                | "call"
        )
    };
    let instruction = site.instruction(id);
    let mut inside = instruction.called.iter().flat_map(|called| reached(site.module, *called));
    match instruction.is_fusion() || instruction.opcode == "call" {
        true => inside.any(|inside| {
            let mut all = site.module.computation(inside).instruction_ids();
            all.any(|id| !fills(&site.module.instruction(id).opcode))
        }),
        false => !fills(&instruction.opcode),
    }
}

/// Whether two runs of an instruction may differ although they read the same.
fn differs(site: &Site<'_, '_>, id: InstructionId) -> bool {
    let instruction = site.instruction(id);
    let calls_out = instruction.custom_call_target.as_deref().is_some_and(|target| target.contains("callback"));
    calls_out
        || instruction.attributes().custom_call_has_side_effect
        || matches!(
            &*instruction.opcode,
            "rng" | "rng-get-and-update-state" | "infeed" | "recv" | "recv-done" | "partition-id" | "replica-id"
        )
}
