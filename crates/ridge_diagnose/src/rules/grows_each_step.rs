//! Work of PyTorch that grows from step to step: arrays that are joined with all that came before, and backward passes through the
//! graphs of all earlier steps.

use super::grown_input::growth;
use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::{OperatorCall, OperatorCalls, extents};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::{Need, PythonLooks};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventRow, NONE};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "grows-each-step",
    group: Group::Structure,
    summary: "PyTorch work that grows with each step",
    document: include_str!("grows_each_step.md"),
    asks: &[Question::Device],
    explains: &[
        "library-part",
        "kernel-hotspot",
        "unfused-eager",
        "small-operators",
        "repeated-backward",
        "unread-gradients",
        "memory-growth",
    ],
    needs: &[Need::of::<OperatorCalls>(), Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// Below this part of the time it is not worth a change.
const LEAST: f64 = 0.10;
/// What joins to a cache of a few numbers per step may have its reasons: below this part of the time it only informs.
const LEAST_OF_JOINS: f64 = 0.25;
/// So many times the operators of the first pass the last one has at least.
const GROWN: f64 = 1.5;

/// A process, an operator, and the sizes of its first array without the first of them.
type Site = (u32, u32, Vec<i64>);

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() != Framework::Torch {
        return Ok(Vec::new());
    }
    Ok(graphs(case).into_iter().chain(joins(case)).chain(calls(case)).collect())
}

/// Backward passes that each go through more operators than the one before.
fn graphs(case: &Case<'_>) -> Option<Finding> {
    let all = &case.operator_calls().calls;
    let mut passes: Vec<(usize, i64)> = Vec::new();
    let mut positions: Vec<usize> = Vec::new();
    for run in all.chunk_by(|one, next| one.process == next.process && one.is_backward == next.is_backward) {
        let first = all.partition_point(|call| (call.process, call.span) < (run[0].process, run[0].span));
        if run[0].is_backward {
            passes.push((first, run.len() as i64));
            positions.extend(first..first + run.len());
        }
    }
    let by = growth(&passes)?;
    let sizes = || passes.iter().map(|(_, size)| *size);
    let (least, most) = (sizes().min()?, sizes().max()?);
    let claim = case.claim_of_calls(positions.iter().copied(), 1.0);
    let share = case.share_of(claim.iter().copied());
    if share < LEAST || (most as f64) < GROWN * least as f64 {
        return None;
    }
    let row = positions.first().map_or(NONE, |at| all[*at].row);
    let seen = case.seen_about(positions.iter().map(|at| all[*at].row).collect::<Vec<_>>());
    Some(
        Finding::new(format!(
            "{} of the time goes to backward passes that grow with each step, from {least} to {most} operators: the graph of earlier steps is still attached; detaching the state would suffice",
            percent(share)
        ))
        .at(case.line_of_row(row))
        .about(EventRow::known(row).map(Subject::Event))
        .seen(seen.as_ref())
        .number("more operators in each pass", Quantity::new(by as f64, Unit::Count, Basis::Counted))
        .why("a state that one step hands to the next keeps its graph, so each backward pass goes back to the first step (`retain_graph=True` lets it)")
        .help("detach what is carried from step to step: `state = state.detach()` (or `.detach_()`), append `loss.item()` or `loss.detach()` to lists, and leave out `retain_graph=True`; backpropagate through a fixed number of steps")
        .claims(claim)
        .unknown_amount(),
    )
}

/// Forward passes that each call more operators than the one before, by the same number.
fn calls(case: &Case<'_>) -> Option<Finding> {
    let all = &case.operator_calls().calls;
    let mut turns: Vec<(usize, i64)> = Vec::new();
    let mut first = 0;
    for run in all.chunk_by(|one, next| one.process == next.process && one.is_backward == next.is_backward) {
        if !run[0].is_backward {
            turns.push((first, run.len() as i64));
        }
        first += run.len();
    }
    let by = growth(&turns)?;
    let (least, most) = (turns.iter().map(|(_, size)| *size).min()?, turns.iter().map(|(_, size)| *size).max()?);
    if (most as f64) < GROWN * least as f64 {
        return None;
    }
    // What was called the last time and not the first time.
    let (at, size) = *turns.last()?;
    let rows: Vec<u32> = all[at..at + size as usize].iter().map(|call| call.row).collect();
    let seen = case.seen_about(rows.clone());
    let row = rows.first().copied().unwrap_or(NONE);
    Some(
        Finding::new(format!(
            "each step calls more operators than the one before, from {least} to {most}: something is added in every step and never removed"
        ))
        .at(case.line_of_row(row))
        .about(EventRow::known(row).map(Subject::Event))
        .seen(seen.as_ref())
        .number("more operators in each step", Quantity::new(by as f64, Unit::Count, Basis::Counted))
        .why("a hook that is registered again in each step, or a list of modules, tensors or losses that grows, makes every step longer than the last")
        .help("register hooks once (`handle = module.register_forward_hook(…)`) and call `handle.remove()`; clear lists of losses or outputs after each step")
        .unknown_amount(),
    )
}

/// Calls that join all that came before with what is new.
fn joins(case: &Case<'_>) -> Option<Finding> {
    let trace = case.trace();
    let all = &case.operator_calls().calls;
    let is_join = |call: &OperatorCall| {
        !call.is_backward
            && call.detail != NONE
            && matches!(trace.strings.get(call.name), "aten::cat" | "aten::stack" | "aten::concat" | "aten::vstack" | "aten::hstack")
    };
    let mut totals: FxHashMap<u32, (i64, Vec<i64>)> = FxHashMap::default();
    // What joins rows of other sizes is another place.
    let mut places: FxHashMap<Site, Vec<(usize, i64)>> = FxHashMap::default();
    for (at, call) in all.iter().enumerate().filter(|(_, call)| is_join(call)) {
        let (total, rest) = totals.entry(call.detail).or_insert_with(|| {
            let dims = trace.operator_shapes.get(call.detail as usize).map_or("", |shape| trace.strings.get(shape.dims));
            total_of(dims)
        });
        places.entry((call.process, call.name.0, rest.clone())).or_default().push((at, *total));
    }
    let growing = places.into_values().filter_map(|calls| Some((growth(&calls)?, calls)));
    let held = growing.map(|(by, calls)| (case.share_of(case.claim_of_calls(calls.iter().map(|(at, _)| *at), 1.0)), by, calls));
    let (held, by, calls) = held.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let seen = case.seen_about(calls.iter().map(|(at, _)| all[*at].row).collect::<Vec<_>>());
    // What grows takes more of the time after a window than in it.
    let during = case.seen_during(calls.iter().map(|(at, _)| all[*at].row));
    let share = during.and_then(|seen| case.part_at(&seen.place)).unwrap_or(0.0).max(held);
    if share < LEAST {
        return None;
    }
    let (least, most) = (calls.iter().map(|(_, size)| *size).min()?, calls.iter().map(|(_, size)| *size).max()?);
    let longest = calls.iter().max_by_key(|(_, size)| *size).map_or(NONE, |(at, _)| all[*at].row);
    let claim = match share > held {
        true => case.claim_of_all(share),
        false => case.claim_of_calls(calls.iter().map(|(at, _)| *at), 1.0),
    };
    let finding = Finding::new(format!(
        "{} of the time goes to joining an array that grows with each step (`{}`), from {least} to {most} elements; writing into one array of the full size, or joining a list once, would suffice",
        percent(share),
        trace.strings.get(all[calls[0].0].name).trim_start_matches("aten::").split('.').next().unwrap_or_default(),
    ))
    .at(case.line_of_row(longest))
    .about(EventRow::known(longest).map(Subject::Event))
    .seen(seen.as_ref())
    .number("new elements in each call", Quantity::new(by as f64, Unit::Count, Basis::Counted))
    .why("each call copies everything that is already there into a new array, so the work grows with the square of the number of steps")
    .help("allocate an array of the full size once and write into it (`buffer[i:i + n] = x`; a ring buffer for a window), keep running sums instead of a history, or collect the pieces in a list and join them once after the loop")
    .claims(claim)
    .priced(share * 0.7, share);
    Some(if share < LEAST_OF_JOINS { finding.information() } else { finding })
}

/// The elements of all arrays of a call together, and the sizes of the first without its first extent.
fn total_of(dims: &str) -> (i64, Vec<i64>) {
    // A list of arrays stands in brackets of its own.
    let plain = dims.replace("[[[", "[[").replace("]]]", "]]").replace("]], ", "], ").replace("]],", "],");
    let arrays = extents(&plain);
    let total = arrays.iter().filter(|array| !array.is_empty()).map(|array| array.iter().product::<i64>()).fold(0, i64::saturating_add);
    // Numbers have no extents, and a list of them is as long as it has members.
    let numbers = arrays.iter().filter(|array| array.is_empty()).count() as i64;
    let rest = arrays.first().map_or_else(Vec::new, |first| first.iter().skip(1).copied().collect());
    (if total > 0 { total } else { numbers }, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_what_is_joined() {
        assert_eq!(total_of("[[[12, 3], [1, 3]], []]"), (39, vec![3]));
        assert_eq!(total_of("[[[], [], []], []]").0, 4);
        assert_eq!(total_of(""), (0, Vec::new()));
    }
}
