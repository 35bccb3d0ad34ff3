//! Updates of one array that wait for one another.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::pricing::{Rates, Work};
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::updates::{behind_copies, update};
use crate::words::{count, list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{ElementType, HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Unit};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    id: "sequential-updates",
    group: Group::Structure,
    summary: "Serialized updates of one array",
    document: include_str!("sequential_updates.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["defensive-copies", "loop-state-copies"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// Two updates in a row are ordinary.
const FEWEST: usize = 3;
/// Below this part of the time a chain is not what holds a program back.
const LEAST: f64 = 0.05;

/// From this part on an array is written by its updates in any case.
const MOST_OF_IT: f64 = 0.5;

/// Updates of which each writes into the result of the one before.
#[derive(Debug)]
struct Chain {
    /// In the order in which they run.
    updates: Vec<InstructionId>,
    /// Copies from one update to the next.
    copies: Vec<InstructionId>,
    /// Bytes that the updates write together.
    written: u64,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let mut findings = Vec::new();
    for program in programs(case) {
        let chains = chains(program.module);
        findings.extend(chains.iter().filter_map(|chain| finding(case, &program, chain)));
    }
    Ok(findings)
}

/// The longest chain that begins with each first update.
fn chains(module: &HloModule) -> Vec<Chain> {
    let mut before: FxHashMap<InstructionId, InstructionId> = FxHashMap::default();
    // First update and length of the chain that ends with each.
    let mut ends: FxHashMap<InstructionId, (InstructionId, usize)> = FxHashMap::default();
    let mut longest: FxHashMap<InstructionId, (usize, InstructionId)> = FxHashMap::default();
    for id in module.instruction_ids().filter(|id| !module.computation(module.instruction(*id).computation).is_fusion) {
        let Some(found) = update(module, id) else { continue };
        let previous = behind_copies(module, found.base, &mut Vec::new());
        let end = match ends.get(&previous) {
            Some((first, length)) => (*first, length + 1),
            None => (id, 1),
        };
        if end.1 > 1 {
            before.insert(id, previous);
        }
        ends.insert(id, end);
        let known = longest.entry(end.0).or_insert((0, id));
        *known = if end.1 > known.0 { (end.1, id) } else { *known };
    }
    let mut long: Vec<(InstructionId, InstructionId)> = longest
        .into_iter()
        .filter(|(_, (length, _))| *length >= FEWEST)
        .map(|(first, (_, last))| (first, last))
        .collect();
    long.sort_unstable();
    long.into_iter().map(|(_, last)| chain(module, last, &before)).collect()
}

fn chain(module: &HloModule, last: InstructionId, before: &FxHashMap<InstructionId, InstructionId>) -> Chain {
    let mut chain = Chain { updates: vec![last], copies: Vec::new(), written: 0 };
    let mut at = last;
    loop {
        let found = update(module, at);
        chain.written = chain.written.saturating_add(found.map_or(0, |found| found.bytes));
        let Some((previous, found)) = before.get(&at).copied().zip(found) else { break };
        behind_copies(module, found.base, &mut chain.copies);
        chain.updates.push(previous);
        at = previous;
    }
    chain.updates.reverse();
    chain
}

fn finding(case: &Case<'_>, program: &Program<'_>, chain: &Chain) -> Option<Finding> {
    let whole = program.module.instruction(*chain.updates.first()?).shape.byte_size().unwrap_or(0);
    // One write of everything takes as long as one update, and longer the more of the array it writes.
    let covered = if whole > 0 { (chain.written as f64 / whole as f64).min(1.0) } else { 1.0 };
    let part = (1.0 - 1.0 / chain.updates.len() as f64) * (1.0 - covered);
    let part_left = 1.0 - part_of_one_write(case, program, chain, whole, covered);
    let mut claim = program.claim(&chain.updates, (part * part_left) as f32);
    claim.extend(program.claim(&chain.copies, part_left as f32));
    let share = case.share_of(claim.iter().copied());
    if share < LEAST {
        return None;
    }
    let updates = program.longest_first(&chain.updates);
    let copies = program.longest_first(&chain.copies);
    let shape = &program.module.instruction(chain.updates[0]).shape;
    let of_all = program.ns_of(&updates).saturating_add(program.ns_of(&copies));
    let found = Finding::new(format!(
        "{} serialized updates of one `{}` take {} of the time; one update with all new values would suffice",
        chain.updates.len(),
        shape.without_layout(),
        percent(case.share(of_all)),
    ));
    let mut found = program.located(case, found, updates.first().copied()).number(
        format!("in the updates: {}", list(&program.names(&updates), 3)),
        case.per_unit(program.ns_of(&updates)),
    );
    if !copies.is_empty() {
        let copied = count(copies.len() as u64, "copy", "copies");
        let says = format!("in {copied} of the whole array between them: {}", list(&program.names(&copies), 3));
        let rows: FxHashSet<usize> = program.claim(&copies, 1.0).into_iter().map(|(at, _)| at).collect();
        found = found.number(says, case.per_unit(program.ns_of(&copies))).edit(case.without(rows));
    }
    let bytes = Quantity::new(chain.written as f64, Unit::Bytes, Basis::Counted);
    Some(
        found
            .number(format!("written by all updates, {} of the array", percent(covered)), bytes)
            .why("each update writes into the previous result; if an older version is still read, XLA copies the whole array first")
            .help("compute all new values first and write once, with `jnp.concatenate` or one `.at[indices].set(values)`")
            .claims(claim),
    )
}

/// What writing the whole array once would take of the time of all updates and copies, 0 to 1: edges alone may be written for less.
/// Where most of the array is written in any case, that costs nothing more.
fn part_of_one_write(case: &Case<'_>, program: &Program<'_>, chain: &Chain, whole: u64, covered: f64) -> f64 {
    let known = || {
        let first = *chain.updates.first()?;
        let device = program.work(first).first()?.row.device;
        let rates = Rates::of(case, device, ElementType::F32)?;
        let once = rates.ns(Work { bytes: 2.0 * whole as f64, ..Work::default() }) * program.events(first) as f64;
        let all = program.ns_of(&chain.updates).saturating_add(program.ns_of(&chain.copies));
        (all > 0).then(|| (once / all as f64).min(1.0))
    };
    if covered < MOST_OF_IT { known().unwrap_or(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_are_one_chain_with_its_copies() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cost/panels.txt");
        let text = std::fs::read_to_string(path).expect("a fixture");
        let chains = chains(&HloModule::from_text(&text).expect("text of a module"));
        let found: Vec<(usize, usize)> = chains.iter().map(|chain| (chain.updates.len(), chain.copies.len())).collect();
        // The first of its 23 copies is of the argument.
        assert_eq!(found, [(24, 22)]);
        assert_eq!(chains[0].written, 24 * 96 * 8);
    }
}
