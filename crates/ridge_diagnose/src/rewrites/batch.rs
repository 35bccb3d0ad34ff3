//! Loops whose iterations have nothing to do with one another: `lax.map` over what could be a batch.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use crate::programs::reached;
use ridge_hlo::{ComputationId, InstructionId, OpcodeClass};

/// Iterations for each run of a loop that are worth doing at once.
const FEWEST: f64 = 8.0;
/// The longest iteration that leaves a device something to gain from more of them at once, nanoseconds.
const LONGEST_NS: f64 = 1e6;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let loops = site.module.instruction_ids().filter(|id| site.instruction(*id).opcode == "while");
    loops.filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let body = *site.instruction(id).called.first()?;
    let direct: Vec<InstructionId> =
        site.module.computation(body).instruction_ids().filter(|id| site.program.ran.contains_key(id)).collect();
    let inside = reached(site.module, body);
    let all = || inside.iter().flat_map(|inside| site.module.computation(*inside).instruction_ids());
    // Branches of a batch are all computed, loops of unequal lengths wait for the longest, and what devices exchange in each
    // iteration has a form of its own.
    let is_uneven = |id: InstructionId| {
        let instruction = site.instruction(id);
        if instruction.opcode.is_collective() {
            return true;
        }
        instruction.opcode.class() == OpcodeClass::Runs
            && instruction.opcode != "call"
            && (instruction.opcode != "while" || instruction.known_trip_count().is_none())
    };
    if direct.is_empty() || all().any(is_uneven) || !is_independent(site, body) {
        return None;
    }
    let iterations = direct.iter().map(|id| site.program.events(*id)).max()? as f64;
    let of_loop = match (site.program.events(id), site.instruction(id).known_trip_count()) {
        (events @ 1.., _) => iterations / events as f64,
        (0, Some(trips)) => trips as f64,
        _ => return None,
    };
    let mut old: Vec<InstructionId> = all().filter(|id| site.program.ran.contains_key(id)).collect();
    let ns = site.program.ns_of(&old).saturating_add(site.program.ns(id)) as f64;
    if of_loop < FEWEST || ns / iterations > LONGEST_NS {
        return None;
    }
    let mut better = Work::default();
    for id in old.iter().filter(|id| site.instruction(**id).opcode != "while") {
        // Counters and addresses are not needed for a batch.
        let is_number = site.elements(*id) <= 1.0;
        let work = site.cost(*id).and_then(Work::of)?;
        better = better.plus(if is_number { Work::default() } else { work.times(site.program.events(*id) as f64) });
    }
    better.bytes = (better.bytes - kept(site, id, iterations * (1.0 - 1.0 / of_loop))).max(0.0);
    let at = old.iter().copied().filter(|id| site.elements(*id) > 1.0).max_by_key(|id| site.program.ns(*id))?;
    // The line that asks for the loop is the one to change.
    let at = if site.place(id).is_some() { id } else { at };
    old.extend(Some(id).filter(|id| site.program.ran.contains_key(id)));
    Some(Rewrite {
        does: "goes to a loop with independent iterations",
        instead: "one batch of all of them",
        why: "each iteration runs its small operations one by one, though no iteration needs the result of another",
        help: "use `jax.vmap(f)(xs)` instead of `jax.lax.map(f, xs)` or of a `scan` without carry, or `jax.lax.map(f, xs, batch_size=…)` if the whole batch doesn't fit in memory",
        at,
        old,
        better,
        slack: Slack::Little,
    })
}

/// The outermost loop around `id` whose iterations are independent, where it has enough of them.
pub(super) fn outermost(site: &Site<'_, '_>, id: InstructionId) -> Option<InstructionId> {
    const DEEPEST: usize = 16;
    let mut loops: Vec<InstructionId> = Vec::new();
    let mut at = id;
    while let Some(around) = site.flow.loop_around(at).filter(|_| loops.len() < DEEPEST) {
        loops.push(around);
        at = around;
    }
    let is_batch = |around: &InstructionId| {
        let instruction = site.instruction(*around);
        let is_long = instruction.known_trip_count().is_some_and(|trips| trips as f64 >= FEWEST);
        is_long && instruction.called.first().is_some_and(|body| is_independent(site, *body))
    };
    loops.into_iter().rev().find(is_batch)
}

/// Bytes that a batch reads once where each of `iterations` reads them again: matrices that products have in common.
fn kept(site: &Site<'_, '_>, around: InstructionId, iterations: f64) -> f64 {
    let inside = site.products().into_iter().filter(|product| site.flow.loop_around(product.at) == Some(around));
    let shared =
        inside.flat_map(|product| [product.lhs, product.rhs]).filter(|id| site.flow.is_unchanged_in(*id, around));
    shared.map(|id| site.bytes(id)).sum::<f64>() * iterations
}

/// Whether an iteration of the loop reads nothing that another wrote: its state counts, stays as it is, is a sum to which each
/// iteration adds, or is an array of which each iteration writes a part that no iteration reads.
fn is_independent(site: &Site<'_, '_>, body: ComputationId) -> bool {
    let ids: Vec<InstructionId> = site.module.computation(body).instruction_ids().collect();
    let Some(state) = ids.iter().copied().find(|id| site.instruction(*id).opcode == "parameter") else { return false };
    let Some(root) = site.module.computation(body).root.map(|root| site.instruction(root)) else { return false };
    if root.opcode != "tuple" {
        return false;
    }
    let element = |index: usize| -> Vec<InstructionId> {
        let takes = |id: &InstructionId| {
            let one = site.instruction(*id);
            one.opcode == "get-tuple-element"
                && one.operands.first() == Some(&state)
                && one.tuple_index == i64::try_from(index).ok()
        };
        ids.iter().copied().filter(takes).collect()
    };
    // The arrays that are written, and the parts that are put into them.
    let (mut arrays, mut parts): (Vec<InstructionId>, Vec<InstructionId>) = (Vec::new(), Vec::new());
    for (index, next) in root.operands.iter().enumerate() {
        let (next, taken) = (site.flow.source(*next), element(index));
        // What is handed on as it is.
        if taken.iter().any(|id| site.flow.source(*id) == next) || taken.iter().all(|id| site.flow.source(*id) != *id) {
            continue;
        }
        let update = site.instruction(next);
        let is_own = |operand: &InstructionId| taken.contains(&site.flow.source(*operand));
        // What only gathers what the iterations give may be gathered at the end.
        if matches!(&*update.opcode, "add" | "maximum" | "minimum") && !site.number(next).is_integer() {
            let [one, other] = update.operands[..] else { return false };
            match (is_own(&one), is_own(&other)) {
                (true, false) => parts.push(other),
                (false, true) => parts.push(one),
                _ => return false,
            }
            arrays.extend(taken);
            continue;
        }
        if site.elements(next) <= 1.0 {
            // Counters only.
            if site.number(next).is_integer() {
                continue;
            }
            return false;
        }
        let is_write = update.opcode == "dynamic-update-slice"
            && update.operands.first().is_some_and(|array| taken.contains(&site.flow.source(*array)));
        let Some(part) = update.operands.get(1).filter(|_| is_write) else { return false };
        arrays.extend(taken);
        parts.push(*part);
    }
    // A part that is made from what an iteration before wrote would be a state; the arrays may only be written.
    !parts.is_empty() && parts.iter().all(|part| !depends_on(site, *part, &arrays))
}

/// Whether the value of `id` is made from one of `those`.
fn depends_on(site: &Site<'_, '_>, id: InstructionId, those: &[InstructionId]) -> bool {
    const MOST: usize = 2048;
    let (mut open, mut seen) = (vec![site.flow.source(id)], rustc_hash::FxHashSet::default());
    while let Some(at) = open.pop() {
        if !seen.insert(at) {
            continue;
        }
        if those.contains(&at) || seen.len() > MOST {
            return true;
        }
        open.extend(site.flow.inputs(at));
    }
    false
}
