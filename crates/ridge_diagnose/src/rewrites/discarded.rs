//! Results of a loop that only some iterations keep, by a counter, while every iteration computes them: a condition that `vmap`
//! or `where` turned into a choice between two finished results.

use super::only::only_for;
use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;
use rustc_hash::{FxHashMap, FxHashSet};

/// The largest part of the iterations that keep a result which is worth a branch.
const RARE: f64 = 0.5;
/// Elements below which a choice costs nothing.
const FEWEST: f64 = 512.0;
/// Counts that a condition is tried with.
const COUNTS: i64 = 2048;
/// Steps of a condition.
const MOST: usize = 512;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let selects = site.module.instruction_ids().filter(|id| site.instruction(*id).opcode == "select");
    selects.filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let carrier = site.ran(id).filter(|_| site.elements(id) >= FEWEST)?;
    let around = site.flow.loop_around(id)?;
    let [condition, yes, no] = site.instruction(id).operands[..] else { return None };
    let part = Condition { site, around }.part(condition)?;
    let (kept, branch) = if part <= RARE { (part, yes) } else { (1.0 - part, no) };
    if kept > RARE || kept <= 0.0 {
        return None;
    }
    let old = made_for(site, id, carrier, around, branch);
    // A loop costs what its iterations do, which are in the list themselves.
    let priced = old.iter().filter(|id| site.instruction(**id).opcode != "while");
    let work: Option<Vec<Work>> = priced.map(|id| Some(Work::of(site.cost(*id)?)?.times(site.events(*id)))).collect();
    let better = work?.into_iter().fold(Work::default(), Work::plus).times(kept);
    let is_within = |other: &InstructionId| *other != carrier;
    // Choosing between two arrays that are there anyway is no work of a branch.
    let at = old.iter().copied().filter(is_within).max_by_key(|id| site.program.ns(*id))?;
    // The line of the condition is the one to change.
    let at = if site.place(id).is_some() { id } else { at };
    Some(Rewrite {
        does: "computes both branches of a condition in every iteration, though a counter chooses one of them rarely",
        instead: "computing it in those iterations alone",
        why: "under `vmap` a condition that each member carries, and `jnp.where` always, becomes a choice between results that are both there, so the one that is thrown away is computed as well",
        help: "let a counter that all members share decide (`lax.cond` on a number that is not mapped), or run the iterations between in an inner `fori_loop` and do the rare part after it",
        at,
        old,
        better,
        slack: Slack::Alike,
    })
}

/// What ran of the loop for nothing but the branch `branch` of the choice `select`, and the choice itself.
fn made_for(
    site: &Site<'_, '_>,
    select: InstructionId,
    carrier: InstructionId,
    around: InstructionId,
    branch: InstructionId,
) -> Vec<InstructionId> {
    let operands: Vec<InstructionId> =
        site.instruction(select).operands.iter().map(|id| site.flow.source(*id)).collect();
    let first = site.flow.source(branch);
    if operands.iter().filter(|operand| **operand == first).count() > 1 {
        return vec![carrier];
    }
    let mut old = only_for(site, &[select], first, around);
    old.push(carrier);
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
                "get-tuple-element" if counter.is_none_or(|known| known == at) && self.counts(at) => counter = Some(at),
                opcode if is_known(opcode) => open.extend(self.site.flow.inputs(at)),
                _ => return None,
            }
        }
        let counter = counter?;
        let mut taken = 0;
        for count in 0..COUNTS {
            let mut values = FxHashMap::from_iter([(counter, count)]);
            taken += i64::from(self.value(id, &mut values)? != 0);
        }
        Some(taken as f64 / COUNTS as f64)
    }

    /// Whether an element of the loop's state is one more in each iteration.
    fn counts(&self, id: InstructionId) -> bool {
        let (site, module) = (self.site, self.site.module);
        let next = || {
            let index = usize::try_from(site.instruction(id).tuple_index?).ok()?;
            let body = module.computation(*module.instruction(self.around).called.first()?);
            let root = module.instruction(body.root?);
            let next = site.flow.source(*root.operands.get(index).filter(|_| root.opcode == "tuple")?);
            let adds = site.instruction(next);
            let [one, other] = adds.operands[..] else { return None };
            let by = site.constant(other).or_else(|| site.constant(one));
            let is_own = |at: InstructionId| {
                site.instruction(site.flow.source(at)).tuple_index == site.instruction(id).tuple_index
            };
            Some(adds.opcode == "add" && by == Some(1.0) && (is_own(one) || is_own(other)))
        };
        site.number(id).is_integer() && next().unwrap_or(false)
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
