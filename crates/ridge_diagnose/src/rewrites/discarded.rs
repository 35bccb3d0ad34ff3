//! Results of a loop that only some iterations keep, by a counter, while every iteration computes them: a condition that `vmap`
//! or `where` turned into a choice between two finished results.

use super::only::only_for;
use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The largest part of the iterations that keep a result which is worth a branch.
const RARE: f64 = 0.5;
/// The part of the iterations below which what they need of a library's call is left out.
const SELDOM: f64 = 0.25;
/// Elements below which a choice costs nothing.
const FEWEST: f64 = 512.0;
/// Counts that a condition is tried with.
const COUNTS: i64 = 2048;
/// Steps of a condition.
const MOST: usize = 512;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let selects = site.module.instruction_ids().filter(|id| site.instruction(*id).opcode == "select");
    let mut by_condition: BTreeMap<(InstructionId, InstructionId, bool), Vec<Choice>> = BTreeMap::new();
    for choice in selects.filter_map(|id| choice(site, id)) {
        by_condition.entry((choice.around, choice.condition, choice.is_first)).or_default().push(choice);
    }
    by_condition.into_values().filter_map(|choices| rewrite(site, &choices)).collect()
}

/// A choice in a loop between two results, one of which is kept rarely.
struct Choice {
    select: InstructionId,
    carrier: InstructionId,
    around: InstructionId,
    condition: InstructionId,
    /// What is kept rarely, and whether that is the first of the two.
    branch: InstructionId,
    is_first: bool,
    /// The part of the iterations that keep it.
    kept: f64,
}

fn choice(site: &Site<'_, '_>, select: InstructionId) -> Option<Choice> {
    let carrier = site.ran(select).filter(|_| site.elements(select) >= FEWEST)?;
    let around = site.flow.loop_around(select)?;
    let [condition, yes, no] = site.instruction(select).operands[..] else { return None };
    let part = Condition { site, around }.part(condition)?;
    let is_first = part <= RARE;
    let (kept, branch) = if is_first { (part, yes) } else { (1.0 - part, no) };
    let condition = site.spread_from(condition);
    (kept > 0.0 && kept <= RARE).then_some(Choice { select, carrier, around, condition, branch, is_first, kept })
}

fn rewrite(site: &Site<'_, '_>, choices: &[Choice]) -> Option<Rewrite> {
    let first = choices.iter().max_by_key(|choice| (site.elements(choice.select) as u64, Reverse(choice.select)))?;
    let old = made_for(site, choices, first.around);
    // A loop costs what its iterations do, which are in the list themselves.
    let priced = old.iter().filter(|id| site.instruction(**id).opcode != "while");
    let mut work = Work::default();
    for id in priced {
        match site.cost(*id).and_then(Work::of) {
            Some(cost) => work = work.plus(cost.times(site.events(*id))),
            // A library's call has no price; where it is seldom needed, that is little of it.
            None if first.kept <= SELDOM => {}
            None => return None,
        }
    }
    let is_within = |other: &InstructionId| choices.iter().all(|choice| *other != choice.carrier);
    // Choosing between two arrays that are there anyway is no work of a branch.
    let at = old.iter().copied().filter(is_within).max_by_key(|id| site.program.ns(*id))?;
    // The line of the condition is the one to change.
    let at = if site.place(first.select).is_some() { first.select } else { at };
    Some(Rewrite {
        does: "goes to computing both branches of a condition in every iteration, though a counter rarely selects one of them",
        instead: "computing it only in those iterations",
        why: "`jnp.where`, and under `vmap` also a condition on a mapped value, computes both branches and then selects one, so the discarded branch costs as much",
        help: "use `lax.cond` on a counter shared by all members (not mapped), or run the iterations in between in an inner `fori_loop` and do the rare part after it",
        at,
        old,
        better: work.times(first.kept),
        slack: Slack::Alike,
    })
}

/// What ran of the loop for nothing but the branches that are kept rarely, and the choices themselves.
fn made_for(site: &Site<'_, '_>, choices: &[Choice], around: InstructionId) -> Vec<InstructionId> {
    let selects: Vec<InstructionId> = choices.iter().map(|choice| choice.select).collect();
    let is_alone = |choice: &&Choice| {
        let branch = site.flow.source(choice.branch);
        let operands = site.instruction(choice.select).operands.iter().map(|id| site.flow.source(*id));
        operands.filter(|operand| *operand == branch).count() == 1
    };
    let firsts: Vec<InstructionId> =
        choices.iter().filter(is_alone).map(|choice| site.flow.source(choice.branch)).collect();
    let mut old = only_for(site, &selects, &firsts, Some(around));
    old.extend(choices.iter().map(|choice| choice.carrier));
    old.sort_unstable();
    old.dedup();
    old
}

/// A condition in a loop.
struct Condition<'s, 'a, 'p> {
    site: &'s Site<'a, 'p>,
    around: InstructionId,
}

impl Condition<'_, '_, '_> {
    /// The part of the counts for which it is true; `None` where it is not of a counter alone.
    fn part(&self, id: InstructionId) -> Option<f64> {
        let mut counter = None;
        let (mut open, mut seen) = (vec![self.site.flow.source(id)], FxHashSet::default());
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            if seen.len() > MOST {
                return None;
            }
            let instruction = self.site.instruction(at);
            match &*instruction.opcode {
                "constant" => {}
                "get-tuple-element" if counter.is_none_or(|known| known == at) && self.next_of(at).is_some() => {
                    counter = Some(at);
                }
                opcode if is_known(opcode) => open.extend(self.site.flow.inputs(at)),
                _ => return None,
            }
        }
        let counter = counter?;
        let next = self.next_of(counter)?;
        let (mut taken, mut count) = (0, self.first_of(counter).unwrap_or(0));
        let mut seen = FxHashSet::default();
        for _ in 0..COUNTS {
            let mut values = FxHashMap::from_iter([(counter, count)]);
            taken += i64::from(self.value(id, &mut values)? != 0);
            seen.insert(count);
            count = self.value(next, &mut values)?;
        }
        // What stays as it is counts nothing.
        (seen.len() > 1).then_some(taken as f64 / COUNTS as f64)
    }

    /// The next value of a whole number of the loop's state, or of an array of them that go through the same.
    fn next_of(&self, id: InstructionId) -> Option<InstructionId> {
        let (site, module) = (self.site, self.site.module);
        let instruction = site.instruction(id);
        let of = site.instruction(*instruction.operands.first()?);
        let index = usize::try_from(instruction.tuple_index?).ok()?;
        let body = module.computation(*module.instruction(self.around).called.first()?);
        let root = module.instruction(body.root?);
        let is_of_state = of.opcode == "parameter" && instruction.computation == root.computation;
        let next = site.flow.source(*root.operands.get(index).filter(|_| root.opcode == "tuple")?);
        (is_of_state && site.number(id).is_integer()).then_some(next)
    }

    /// The value that an element of the loop's state begins with, where that is a constant.
    fn first_of(&self, id: InstructionId) -> Option<i64> {
        let index = usize::try_from(self.site.instruction(id).tuple_index?).ok()?;
        let first = self.site.starts_of_loop(self.around).nth(index)?;
        self.site.constant(first).map(|first| first as i64)
    }

    /// What a whole number comes to where the counter has the value that is known.
    fn value(&self, id: InstructionId, values: &mut FxHashMap<InstructionId, i64>) -> Option<i64> {
        let at = self.site.flow.source(id);
        if let Some(known) = values.get(&at) {
            return Some(*known);
        }
        let instruction = self.site.instruction(at);
        let mut of = |place: usize| self.value(*instruction.operands.get(place)?, values);
        let found = match &*instruction.opcode {
            "constant" => self.site.constant(at)? as i64,
            "broadcast" | "convert" | "reshape" | "copy" => of(0)?,
            "negate" => of(0)?.checked_neg()?,
            "abs" => of(0)?.checked_abs()?,
            "not" => i64::from(of(0)? == 0),
            "sign" => of(0)?.signum(),
            "add" => of(0)?.checked_add(of(1)?)?,
            "subtract" => of(0)?.checked_sub(of(1)?)?,
            "multiply" => of(0)?.checked_mul(of(1)?)?,
            "divide" => of(0)?.checked_div(of(1)?)?,
            "remainder" => of(0)?.checked_rem(of(1)?)?,
            "and" => of(0)? & of(1)?,
            "or" => of(0)? | of(1)?,
            "xor" => of(0)? ^ of(1)?,
            "maximum" => of(0)?.max(of(1)?),
            "minimum" => of(0)?.min(of(1)?),
            "select" => {
                let place = if of(0)? != 0 { 1 } else { 2 };
                of(place)?
            }
            "compare" => {
                let order = of(0)?.cmp(&of(1)?);
                i64::from(match instruction.attributes().comparison_direction.as_deref()? {
                    "EQ" => order.is_eq(),
                    "NE" => order.is_ne(),
                    "LT" => order.is_lt(),
                    "LE" => order.is_le(),
                    "GT" => order.is_gt(),
                    _ => order.is_ge(),
                })
            }
            _ => return None,
        };
        values.insert(at, found);
        Some(found)
    }
}

fn is_known(opcode: &str) -> bool {
    matches!(
        opcode,
        "broadcast"
            | "convert"
            | "reshape"
            | "copy"
            | "negate"
            | "abs"
            | "not"
            | "sign"
            | "add"
            | "subtract"
            | "multiply"
            | "divide"
            | "remainder"
            | "and"
            | "or"
            | "xor"
            | "maximum"
            | "minimum"
            | "select"
            | "compare"
    )
}
