//! Values made for one side of a choice that is made for each member of a batch, or once for a whole array: a condition under `vmap`, or
//! `where` around expensive work. How often the side is kept is not known.

use super::only::only_for;
use super::site::Site;
use ridge_hlo::InstructionId;
use std::collections::BTreeMap;

/// Elements below which a choice costs nothing.
const FEWEST: f64 = 512.0;
/// Elements for each condition from which on a side is worth a word without a loop.
const EACH: f64 = 8.0;

/// What the side of a choice takes.
pub(crate) struct Side {
    /// The choice, of the side's largest array.
    pub(crate) select: InstructionId,
    /// What ran for the side alone.
    pub(crate) made: Vec<InstructionId>,
    /// Members that choose each for itself.
    pub(crate) members: u64,
}

/// The side of a choice in a program that takes longest.
pub(super) fn longest(site: &Site<'_, '_>) -> Option<Side> {
    let selects = site.module.instruction_ids().filter(|id| site.instruction(*id).opcode == "select");
    let mut by_condition: BTreeMap<(InstructionId, bool), Vec<InstructionId>> = BTreeMap::new();
    for select in selects.filter(|id| site.ran(*id).is_some()) {
        if let Some(condition) = condition(site, select) {
            by_condition.entry((condition, true)).or_default().push(select);
            by_condition.entry((condition, false)).or_default().push(select);
        }
    }
    let sides = by_condition.into_iter().filter_map(|((condition, is_first), selects)| {
        let select = *selects.iter().max_by_key(|id| site.elements(**id) as u64)?;
        let branch = |id: &InstructionId| {
            Some(site.flow.source(*site.instruction(*id).operands.get(if is_first { 1 } else { 2 })?))
        };
        let firsts: Vec<InstructionId> = selects.iter().filter_map(branch).collect();
        let made = only_for(site, &selects, &firsts, site.flow.loop_around(select));
        // What chooses runs anyway.
        let chooses: Vec<InstructionId> = selects.iter().filter_map(|id| site.ran(*id)).collect();
        let made: Vec<InstructionId> = made.into_iter().filter(|id| !chooses.contains(id)).collect();
        // A choice for each number is arithmetic, unless a loop runs for one side of it.
        let is_each = site.elements(select) >= EACH * site.elements(condition);
        let has_loop = || made.iter().any(|id| site.instruction(*id).opcode == "while" || inner_of(site, *id, select));
        (is_each || has_loop()).then(|| Side { select, made: made.clone(), members: site.elements(condition) as u64 })
    });
    sides.max_by_key(|side| site.program.ns_of(&side.made)).filter(|side| !side.made.is_empty())
}

/// What decides a choice between arrays that are larger by far.
fn condition(site: &Site<'_, '_>, select: InstructionId) -> Option<InstructionId> {
    let elements = site.elements(select);
    let condition = site.spread_from(*site.instruction(select).operands.first()?);
    // A comparison of counters is a pattern of the array, which costs nothing to leave out.
    let is_value = !matches!(&*site.instruction(condition).opcode, "constant" | "iota");
    (is_value && elements >= FEWEST).then_some(condition)
}

/// Whether `id` runs in a loop that isn't around `select`.
fn inner_of(site: &Site<'_, '_>, id: InstructionId, select: InstructionId) -> bool {
    site.flow.loop_around(id) != site.flow.loop_around(select)
}
