//! Several backward passes go through the same operators: losses taken one by one, or a Jacobian row by row.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::NEEDS;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::EventRow;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    id: "repeated-backward",
    group: Group::Structure,
    summary: "Several backward passes through one graph",
    document: include_str!("repeated_backward.md"),
    asks: &[Question::Device],
    explains: &["small-operators", "unfused-eager", "host-bound-dispatch", "small-calls-in-loop"],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Below this part of the time, one pass in place of several is not worth a change.
const LEAST: f64 = 0.08;
/// So many passes through one operator are the rows of a Jacobian rather than losses.
const ROWS: u32 = 8;
/// Of what all passes but one take, this part goes at least: what lies before the shared part stays as it is.
const LOW: f64 = 0.6;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    if case.framework() != Framework::Torch || trace.backwards.is_empty() {
        return Ok(Vec::new());
    }
    let of_event: FxHashMap<u32, u32> = trace.backwards.iter().map(|link| (link.event, link.forward)).collect();
    let all = &case.operator_calls().calls;
    let forward = |at: usize| all[at].rows().find_map(|row| of_event.get(&row).copied());
    // A pass whose own operators are differentiated, as for the penalty of a gradient, is needed as it is.
    let has_gradients: FxHashSet<u32> = trace.backwards.iter().map(|link| link.forward).collect();
    let is_differentiated = |at: usize| all[at].rows().any(|row| has_gradients.contains(&row));
    let backward: Vec<(usize, u32)> =
        (0..all.len()).filter(|at| all[*at].is_backward).filter_map(|at| Some((at, forward(at)?))).collect();
    // What the engine calls for a gradient has a link of its own inside, so links alone would count each pass twice.
    let mut passes: FxHashMap<u32, u32> = FxHashMap::default();
    backward.iter().for_each(|(_, forward)| *passes.entry(*forward).or_default() += 1);
    let excluded: FxHashSet<u32> =
        backward.iter().filter(|(at, _)| is_differentiated(*at)).map(|(_, forward)| *forward).collect();
    let mut by_times: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (at, forward) in backward.iter().filter(|(_, forward)| !excluded.contains(forward)) {
        let times = passes.get(forward).copied().unwrap_or(1);
        if times > 1 {
            by_times.entry(times).or_default().push(*at);
        }
    }
    let mut claim: Vec<(usize, f32)> = Vec::new();
    let mut most: Option<(f64, u32)> = None;
    let mut groups: Vec<(u32, Vec<usize>)> = by_times.into_iter().collect();
    groups.sort_by_key(|(times, _)| *times);
    for (times, calls) in &groups {
        let of_these = case.claim_of_calls(calls.iter().copied(), 1.0 - 1.0 / f64::from(*times));
        let share = case.share_of(of_these.iter().copied());
        if most.is_none_or(|(known, _)| share > known) {
            most = Some((share, *times));
        }
        claim.extend(of_these);
    }
    let claim = case.parts_of(claim.into_iter().map(|(at, part)| (at, f64::from(part) * case.wall().rows[at].ns as f64)));
    let share = case.share_of(claim.iter().copied());
    let Some((_, times)) = most.filter(|_| share >= LEAST) else { return Ok(Vec::new()) };
    let calls = || groups.iter().flat_map(|(_, calls)| calls.iter().copied());
    let Some(first) = calls().min().map(|at| all[at].row) else { return Ok(Vec::new()) };
    let seen = case.seen_during(calls().map(|at| all[at].row));
    let is_jacobian = times >= ROWS;
    let (why, help) = match is_jacobian {
        true => (
            "each row of a Jacobian is a backward pass through the whole network, launched from Python",
            "take all rows at once: `torch.func.vmap` of `torch.func.jacrev`, or `is_grads_batched=True` in `torch.autograd.grad`; with few inputs and many outputs forward mode (`torch.func.jacfwd`) needs one pass for each input",
        ),
        false => (
            "with `retain_graph=True` every loss walks the part of the network that they share on its own",
            "add the losses, weighted as you like, and call `backward()` once on the sum: the gradients are the same",
        ),
    };
    let share_of_time = percent(share);
    let finding = Finding::new(match is_jacobian {
        true => format!("{share_of_time} of the time takes a Jacobian row by row: {times} backward passes through the same operators"),
        false => format!("{share_of_time} of the time goes backward again through the same operators: {times} backward passes through one graph (`retain_graph=True`)"),
    })
    .at(case.line_of_row(first))
    .about(EventRow::known(first).map(Subject::Event))
    .seen(seen.as_ref())
    .number("backward passes through one operator", Quantity::new(f64::from(times), Unit::Count, Basis::Counted))
    .number("operators' gradients computed again", case.count_per_unit(calls().count() as u64))
    .why(why)
    .help(help)
    .claims(claim)
    .priced(LOW * share, share);
    Ok(vec![finding])
}
