//! Autograd keeps what gradients would need, and nobody asks for any.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::NEEDS;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::Subject;
use ridge_trace::{EventKind, EventRow, NONE};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    id: "unused-gradients",
    group: Group::Compute,
    summary: "Gradients recorded but never used",
    document: include_str!("unused_gradients.md"),
    asks: &[Question::Device],
    explains: &["host-bound-dispatch", "unfused-eager"],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Fewer operators are what a program does once.
const FEWEST: usize = 50;
/// What one record costs, at least and at most, nanoseconds: an object with its fields, and memory that cannot be used again before the
/// result is gone. Measured with torch 2.15 on a processor, for layers of 32 to 1024 numbers: 3.2 to 11 µs.
const EACH_NS: (f64, f64) = (1.5e3, 12e3);
/// The part of the time of such operators that can go at most: 0.45 was measured for a program of small networks.
const MOST: f64 = 0.55;
/// Below this part of the time, at most, it is not worth a change.
const LEAST_GONE: f64 = 0.05;
/// From this part of the time on, it is worth a word whatever the records cost.
const MOST_OF_TIME: f64 = 0.5;

/// Whether a look found the program in a backward pass, at any time.
fn goes_backward(case: &Case<'_>) -> bool {
    let python = &case.trace().python;
    let is_backward = |row: &u32| {
        let stack = python.stacks.get(*row as usize);
        stack.is_some_and(|stack| case.is_in_backward(stack))
    };
    python.threads.iter().flat_map(|thread| &thread.stack).any(is_backward)
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    if case.framework() != Framework::Torch || trace.recorded.is_empty() {
        return Ok(Vec::new());
    }
    let used: FxHashSet<u32> = trace.backwards.iter().map(|link| link.forward).collect();
    // What is recorded after the last backward pass of a window may be asked for after its end.
    let mut last_backward: FxHashMap<u32, i64> = FxHashMap::default();
    let all = &case.operator_calls().calls;
    for call in all.iter().filter(|call| call.is_backward) {
        let last = last_backward.entry(call.process).or_insert(i64::MIN);
        *last = (*last).max(call.span.0);
    }
    let has_backward = all.iter().any(|call| call.is_backward) || !trace.backwards.is_empty();
    // A program that trains has its backward passes outside of what was recorded.
    let trains =
        || !case.host_rows(|kind, name| kind == EventKind::Annotation && name.starts_with("Optimizer.")).is_empty();
    if !has_backward && (trains() || goes_backward(case)) {
        return Ok(Vec::new());
    }
    let may_be_used =
        |process: u32, start: i64| has_backward && last_backward.get(&process).is_none_or(|last| start > *last);
    let is_unused = |row: u32| trace.recorded.binary_search(&row).is_ok() && !used.contains(&row);
    let unused: Vec<usize> = all
        .iter()
        .enumerate()
        .filter(|(_, call)| !call.is_backward && !may_be_used(call.process, call.span.0))
        .filter(|(_, call)| call.rows().any(is_unused))
        .map(|(at, _)| at)
        .collect();
    let claim = case.claim_of_calls(unused.iter().copied(), 1.0);
    let share = case.share_of(claim.iter().copied());
    let records: usize = unused.iter().map(|at| all[*at].rows().filter(|row| is_unused(*row)).count()).sum();
    let part = |each_ns: f64| (records as f64 * each_ns / case.breakdown().whole_ns().max(1) as f64).min(MOST * share);
    // What the arrays that are kept cost, which cannot be used again, is not counted: it may be most of it.
    let is_most = share >= MOST_OF_TIME;
    if records < FEWEST || (part(EACH_NS.1) < LEAST_GONE && !is_most) {
        return Ok(Vec::new());
    }
    let first = unused.first().map_or(NONE, |at| all[*at].row);
    let seen = case.seen_during(unused.iter().map(|at| all[*at].row));
    let words = if has_backward { "no backward pass reaches them" } else { "no backward pass follows" };
    let finding = Finding::new(format!(
        "{} of the time is in operators that autograd records for unused gradients; `torch.no_grad()` or `inference_mode()` would suffice",
        percent(share)
    ))
    .at(case.line_of_row(first))
    .about(EventRow::known(first).map(Subject::Event))
    .seen(seen.as_ref())
    .number("operators recorded", case.count_per_unit(records as u64))
    .fact(words)
    .why("autograd creates a graph node for each operator and keeps its arrays alive until the result is freed")
    .help("run code that doesn't need gradients under `torch.no_grad()` or `torch.inference_mode()`")
    .claims(claim);
    let finding = if part(EACH_NS.1) < LEAST_GONE { finding.unknown_amount() } else { finding.priced(part(EACH_NS.0), part(EACH_NS.1)) };
    // Gradients by `torch.func` leave records of the same kind, and a GPU goes on working.
    Ok(vec![finding.information()])
}
