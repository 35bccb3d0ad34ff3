//! Several backward passes go through the same operators: losses taken one by one, or a Jacobian row by row.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::OperatorCalls;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Need, PythonLooks};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventRow, PythonStack};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

pub(crate) static RULE: Rule = Rule {
    id: "repeated-backward",
    group: Group::Structure,
    summary: "Several backward passes through one graph",
    document: include_str!("repeated_backward.md"),
    asks: &[Question::Device],
    explains: &["small-operators", "unfused-eager", "host-bound-dispatch", "small-calls-in-loop"],
    needs: &[Need::of::<OperatorCalls>(), Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// Below this part of the time, one pass in place of several is not worth a change.
const LEAST: f64 = 0.08;
/// So many passes through one operator are the rows of a Jacobian rather than losses.
const ROWS: u32 = 8;
/// Of what all passes but one take, this part goes at least: what lies before the shared part stays as it is.
const LOW: f64 = 0.6;

/// Whether the passes that looks found were called as `loss.backward()`, whose gradients add up in `.grad`: rows of a Jacobian are asked
/// for one by one.
fn are_losses(case: &Case<'_>) -> bool {
    let calls = |stack: &PythonStack, function: &str| case.trace().strings.get(stack.calls).starts_with(function);
    let count = |function: &str| case.looks_with(|stack| calls(stack, function)).values().sum::<u64>();
    count("torch/_tensor.py:Tensor.backward") > count("torch/autograd/__init__.py:grad")
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    if case.framework() != Framework::Torch || trace.backwards.is_empty() {
        return Ok(Vec::new());
    }
    let forward_of: FxHashMap<u32, u32> = trace.backwards.iter().map(|link| (link.event, link.forward)).collect();
    let differentiated: FxHashSet<u32> = forward_of.values().copied().collect();
    let calls = case.operator_calls();
    // Calls of the engine alone: what one calls has a link of its own, so links would count each pass twice.
    let backward = calls.calls.iter().enumerate().filter(|(_, call)| call.is_backward);
    let gradients: Vec<(usize, u32)> = backward
        .filter_map(|(at, call)| Some((at, call.rows().find_map(|row| forward_of.get(&row).copied())?)))
        .collect();
    let mut passes: FxHashMap<u32, u32> = FxHashMap::default();
    gradients.iter().for_each(|(_, forward)| *passes.entry(*forward).or_default() += 1);
    // A pass whose own operators are differentiated, as for the penalty of a gradient, is needed as it is.
    for (at, forward) in &gradients {
        if calls.calls[*at].rows().any(|row| differentiated.contains(&row)) {
            passes.remove(forward);
        }
    }
    let repeated: Vec<(usize, u32)> = gradients
        .iter()
        .filter_map(|(at, forward)| Some((*at, passes.get(forward).copied().filter(|times| *times > 1)?)))
        .collect();
    let mut gone: BTreeMap<u32, f64> = BTreeMap::new();
    let held = repeated.iter().flat_map(|(at, times)| calls.work_of(*at).map(move |work| (*times, work)));
    let held = held.map(|(times, (at, ns))| {
        let ns = ns as f64 * (1.0 - 1.0 / f64::from(times));
        *gone.entry(times).or_default() += ns;
        (at, ns)
    });
    let claim = case.parts_of(held);
    let share = case.share_of(claim.iter().copied());
    let most = gone.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
    let Some((times, _)) = most.filter(|_| share >= LEAST) else { return Ok(Vec::new()) };
    let rows = || repeated.iter().map(|(at, _)| calls.calls[*at].row);
    let Some(first) = rows().next() else { return Ok(Vec::new()) };
    let seen = case.seen_during(rows());
    let is_jacobian = times >= ROWS && !are_losses(case);
    let (why, help) = match is_jacobian {
        true => (
            "each row of the Jacobian is a separate backward pass through the whole network, launched from Python",
            "compute all rows in one batch: `torch.func.vmap` of `torch.func.jacrev`, or `is_grads_batched=True` in `torch.autograd.grad`; with few inputs and many outputs, forward mode (`torch.func.jacfwd`) needs only one pass per input",
        ),
        false => (
            "with `retain_graph=True`, every loss runs its own backward pass through the shared part of the network",
            "call `backward()` once on the (weighted) sum of the losses; the gradients are the same",
        ),
    };
    let share_of_time = percent(share);
    let finding = Finding::new(match is_jacobian {
        true => format!("{share_of_time} of the time goes to computing a Jacobian row by row: {times} backward passes through the same operators; `torch.func.jacrev` or `vmap` takes all rows at once"),
        false => format!("{share_of_time} of the time goes to repeating the backward pass through the same operators: {times} backward passes through one graph (`retain_graph=True`); one pass for the sum of the losses would suffice"),
    })
    .at(case.line_of_row(first))
    .about(EventRow::known(first).map(Subject::Event))
    .seen(seen.as_ref())
    .number("backward passes through one operator", Quantity::new(f64::from(times), Unit::Count, Basis::Counted))
    .number("operator gradients computed again", case.count_per_unit(repeated.len() as u64))
    .why(why)
    .help(help)
    .claims(claim)
    .priced(LOW * share, share);
    Ok(vec![finding])
}
