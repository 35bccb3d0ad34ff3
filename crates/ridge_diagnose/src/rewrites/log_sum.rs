//! Sums of exponentials of all pairs in a loop, where scaled numbers and a product of matrices do.

use super::site::{Rewrite, Site, Slack};
use crate::pricing::Work;
use ridge_hlo::InstructionId;

/// Elements below which it is as good.
const FEWEST: f64 = 256.0;
/// Terms of an exponent.
const MOST: usize = 32;

pub(super) fn find(site: &Site<'_, '_>) -> Vec<Rewrite> {
    let exponentials = site.module.instruction_ids().filter(|id| site.instruction(*id).opcode == "exponential");
    exponentials.filter_map(|id| rewrite(site, id)).collect()
}

fn rewrite(site: &Site<'_, '_>, id: InstructionId) -> Option<Rewrite> {
    let elements = site.elements(id);
    site.ran(id).filter(|_| elements >= FEWEST)?;
    let around = site.flow.loop_around(id)?;
    let terms = terms(site, *site.instruction(id).operands.first()?)?;
    let (fixed, changing): (Vec<InstructionId>, Vec<InstructionId>) =
        terms.into_iter().partition(|term| site.flow.is_unchanged_in(*term, around));
    // A table that stays, and states that are given to its rows or columns.
    let table = fixed.iter().map(|term| site.elements(*term)).fold(0.0, f64::max);
    let states = changing.iter().map(|term| site.elements(*term)).fold(0.0, f64::max);
    if states < 2.0 || table < FEWEST || states * 2.0 > elements {
        return None;
    }
    let reader = site.flow.readers(id)?.into_iter().find(|reader| adds(site, *reader))?;
    let sums = site.elements(reader).min(elements / 2.0);
    let width = site.width(id);
    let one = Work {
        matrix: 2.0 * elements,
        functions: 2.0 * states,
        bytes: width * (table + 3.0 * states + sums),
        ..Work::default()
    };
    // Where its gradient is taken, the pairs are kept and read again.
    let old = of_pairs(site, id);
    let is_differentiated = old.iter().any(|id| site.flow.loop_around(*id).is_some_and(|other| other != around));
    let better = one.times(site.events(id) * if is_differentiated { 3.0 } else { 1.0 });
    Some(Rewrite {
        does: "goes to summing exponentials of all pairs in each iteration, to multiply by a table in logarithms",
        instead: "a product of matrices, scaled in each iteration",
        why: "log-sum-exp over pairs takes an exponential per pair, but with `exp(a + t) = exp(a) * exp(t)` and `exp(t)` computed before the loop, one per state is enough",
        help: "carry scaled probabilities: `alpha = (alpha @ table) * emission; scale = alpha.sum(); alpha = alpha / scale`, and sum the logarithms of the scales; keep logarithms if the table exceeds the exponent range of its type",
        at: id,
        old,
        better,
        slack: Slack::Alike,
    })
}

/// The terms of a sum, where each is an array of its own that is spread over the result.
fn terms(site: &Site<'_, '_>, id: InstructionId) -> Option<Vec<InstructionId>> {
    let (mut open, mut found) = (vec![site.flow.source(id)], Vec::new());
    while let Some(at) = open.pop() {
        let instruction = site.instruction(at);
        match &*instruction.opcode {
            "add" | "subtract" => open.extend(site.flow.inputs(at)),
            "broadcast" => found.push(site.flow.source(*instruction.operands.first()?)),
            // An array as it comes from the state or from before; one that was computed otherwise has other terms.
            "get-tuple-element" | "parameter" => found.push(at),
            _ => return None,
        }
        if open.len() + found.len() > MOST {
            return None;
        }
    }
    Some(found)
}

fn adds(site: &Site<'_, '_>, reader: InstructionId) -> bool {
    let instruction = site.instruction(reader);
    let root = instruction.called.first().and_then(|called| site.module.computation(*called).root);
    matches!(&*instruction.opcode, "reduce" | "reduce-window")
        && root.is_some_and(|root| site.instruction(root).opcode == "add")
}

/// What ran with arrays of all pairs: of the loop, and of what keeps them for a gradient.
fn of_pairs(site: &Site<'_, '_>, id: InstructionId) -> Vec<InstructionId> {
    let pairs = &site.instruction(id).shape.dimensions;
    let has_pairs = |id: InstructionId| {
        let leaves = site.instruction(id).shape.leaves();
        leaves.iter().any(|shape| shape.dimensions.ends_with(pairs))
    };
    let runs = |id: &InstructionId| {
        let instruction = site.instruction(*id);
        let is_work = !matches!(&*instruction.opcode, "while" | "conditional" | "call");
        is_work && (has_pairs(*id) || instruction.operands.iter().any(|operand| has_pairs(*operand)))
    };
    site.program.ran.keys().copied().filter(runs).collect()
}
