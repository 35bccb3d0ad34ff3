//! A Python loop calls small operators of PyTorch for what one call does at once: steps of a recurrence, single channels, gradients of
//! single examples, masks of single groups.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::{NEEDS, OperatorCall, is_view};
use crate::pricing::Left;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::Spans;
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventKind, EventRow, NONE, StringId};
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;

pub(crate) static RULE: Rule = Rule {
    id: "small-calls-in-loop",
    group: Group::Host,
    summary: "PyTorch loop that one call could replace",
    document: include_str!("small_calls_in_loop.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &[
        "host-bound-dispatch",
        "host-pause",
        "many-small-kernels",
        "unfused-eager",
        "small-grid",
        "low-occupancy",
    ],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Below this part of the time a loop is not worth a change.
const LEAST: f64 = 0.10;
/// Fewer turns make no loop.
const FEWEST_TURNS: usize = 8;
/// Masks of fewer groups cost less than sorting would.
const FEWEST_MASKS: usize = 16;
/// Turns whose work is more than this part of their time are not small.
const MOST_PRICED: f64 = 0.3;
/// Calls between two masks of one loop at most.
const BETWEEN_MASKS: usize = 24;
/// Other calls between two cells of a recurrent network at most: what makes an output of each state.
const BETWEEN_CELLS: usize = 8;
/// All turns at once take the calls of this many turns, at least and at most, because operators with one more axis do more.
const TURNS_LEFT: (f64, f64) = (1.5, 14.0);
/// What one pass over all rows leaves of a pass for each group, at least and at most.
const MASKS_LEFT: (f64, f64) = (0.05, 0.4);

/// A loop of one form: what belongs to it.
#[derive(Debug, Default)]
struct Loops {
    /// Positions of the calls.
    calls: Vec<usize>,
    /// From the first call of each loop to the end of its last.
    spans: Vec<(i64, i64)>,
    /// Turns of all loops.
    turns: usize,
    /// Their number.
    count: usize,
    /// Rows at which the program stands in the loop.
    at: Vec<u32>,
}

impl Loops {
    fn add(&mut self, all: &[OperatorCall], range: Range<usize>, turns: usize) {
        let (Some(first), Some(last)) = (all.get(range.start), all.get(range.end.saturating_sub(1))) else { return };
        self.spans.push((first.span.0, last.span.1));
        self.calls.extend(range);
        self.turns += turns;
        self.count += 1;
    }

    fn turns_of_one(&self) -> f64 {
        self.turns as f64 / self.count.max(1) as f64
    }
}

/// What one form says.
struct Form {
    message: String,
    why: &'static str,
    help: &'static str,
    turns: &'static str,
    /// What is left of the claim, at least and at most.
    left: (f64, f64),
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() != Framework::Torch {
        return Ok(Vec::new());
    }
    Ok([cells(case), channels(case), examples(case), masks(case)].into_iter().flatten().collect())
}

fn finding(
    case: &Case<'_>,
    loops: &Loops,
    claim: Vec<(usize, f32)>,
    form: impl FnOnce(f64) -> Form,
) -> Option<Finding> {
    let share = case.share_of(claim.iter().copied());
    if share < LEAST {
        return None;
    }
    let form = form(share);
    let seen = case.seen_during(loops.at.iter().copied());
    let first = loops.at.first().copied().unwrap_or(NONE);
    Some(
        Finding::new(form.message)
            .at(case.line_of_row(first))
            .about(EventRow::known(first).map(Subject::Event))
            .seen(seen.as_ref())
            .number(form.turns, Quantity::new(loops.turns_of_one().round(), Unit::Count, Basis::Counted))
            .number("operator calls in these loops", case.count_per_unit(loops.calls.len() as u64))
            .why(form.why)
            .help(form.help)
            .claims(claim)
            .priced(share * (1.0 - form.left.1), share * (1.0 - form.left.0)),
    )
}

/// Both claims, the larger part of each row.
fn joined(one: Vec<(usize, f32)>, other: Vec<(usize, f32)>) -> Vec<(usize, f32)> {
    one.into_iter().chain(other).collect()
}

/// Calls of one operator with the same sizes, one after the other, between which nothing but views lies, and their gradients.
struct Repeated {
    loops: Loops,
    claim: Vec<(usize, f32)>,
    /// The operators.
    names: Vec<StringId>,
    /// What is left of the claim, by the price of the calls.
    left: (f64, f64),
    /// The part of the claim that is the price of the calls.
    priced: f64,
}

/// The calls of the operators that `is_it` says; where `is_cut`, each of a part that is cut out of an array. Up to `between` other calls
/// may lie between two of them, if the second is of such a part.
fn repeated(case: &Case<'_>, is_it: impl Fn(&str) -> bool, is_cut: bool, between: usize) -> Option<Repeated> {
    let all = &case.operator_calls().calls;
    let trace = case.trace();
    let name = |call: &OperatorCall| trace.strings.get(call.name);
    let mut loops = Loops::default();
    let mut called: FxHashSet<u32> = FxHashSet::default();
    let mut names: Vec<StringId> = Vec::new();
    let mut run: Option<(usize, usize, usize)> = None;
    let (mut is_new, mut others) = (false, 0);
    let mut end = |run: &mut Option<(usize, usize, usize)>| {
        let Some((first, last, turns)) = run.take().filter(|(.., turns)| *turns >= FEWEST_TURNS) else { return };
        loops.add(all, first..last + 1, turns);
        // What else is called in the loop has gradients of its own, but is no part of what goes.
        for call in all[first..=last].iter().filter(|call| is_it(name(call))) {
            loops.at.push(call.row);
            called.extend(call.rows());
            if !names.contains(&call.name) {
                names.push(call.name);
            }
        }
    };
    for (at, call) in all.iter().enumerate() {
        match (&mut run, is_it(name(call))) {
            (Some((_, last, turns)), true)
                if all[*last].key() == call.key()
                    && all[*last].process == call.process
                    && (is_new || !(is_cut || others > 0)) =>
            {
                (*last, *turns, is_new, others) = (at, *turns + 1, false, 0);
            }
            (_, true) => {
                end(&mut run);
                (run, is_new, others) = (Some((at, at, 1)), false, 0);
            }
            (Some(_), false) if !is_view(name(call)) => {
                others += 1;
                if others > between {
                    end(&mut run);
                }
            }
            _ => is_new |= matches!(name(call), "aten::select" | "aten::slice" | "aten::narrow"),
        }
    }
    end(&mut run);
    if loops.count == 0 {
        return None;
    }
    let gradients = gradients_of(case, &called);
    let (mut spans, mut last) = (loops.spans.clone(), None::<usize>);
    for at in gradients.iter().copied() {
        loops.calls.push(at);
        let joins = last.filter(|last| all[*last].process == all[at].process && at - last <= FEWEST_TURNS);
        spans.push((joins.map_or(all[at].span.0, |last| all[last].span.1), all[at].span.1));
        last = Some(at);
    }
    let claim =
        joined(case.claim_of_calls(loops.calls.iter().copied(), 1.0), case.claim_between(&Spans::of(spans), 1.0));
    let priced: f64 = all.iter().filter(|call| called.contains(&call.row)).map(|call| case.price_of_call(call)).sum();
    // A gradient takes twice the products of what it is the gradient of.
    let price = if gradients.is_empty() { priced } else { 3.0 * priced };
    let ns = case.share_of(claim.iter().copied()) * case.breakdown().whole_ns() as f64;
    let left = Left::of(ns, price, price).map_or((0.1, 0.5), |left| (left.least, left.most));
    Some(Repeated { loops, claim, names, left, priced: price / ns.max(1.0) })
}

/// Positions of the calls for the gradients of the calls at the rows `called`.
fn gradients_of(case: &Case<'_>, called: &FxHashSet<u32>) -> Vec<usize> {
    let links = case.trace().backwards.iter().filter(|link| called.contains(&link.forward));
    let backward: FxHashSet<u32> = links.map(|link| link.event).collect();
    let all = case.operator_calls().calls.iter().enumerate();
    all.filter(|(_, call)| call.is_backward && backward.contains(&call.row)).map(|(at, _)| at).collect()
}

/// Steps of a recurrence: its inputs are there before the loop begins.
fn cells(case: &Case<'_>) -> Option<Finding> {
    let Repeated { loops, claim, left, .. } = repeated(case, is_cell, false, BETWEEN_CELLS)?;
    finding(case, &loops, claim, |share| Form {
        message: format!(
            "{} of the time goes to a Python loop over single cells of a recurrent network",
            percent(share)
        ),
        why: "Python calls the small operators of every cell, and of its gradient, one by one",
        help: "use `torch.nn.LSTM`, `GRU` or `RNN` with the weights of the cell: one call processes the whole sequence and multiplies all inputs at once",
        turns: "cells in a row",
        left,
    })
}

/// Channels, heads or groups that each get a call of their own.
fn channels(case: &Case<'_>) -> Option<Finding> {
    let is_it = |name: &str| is_heavy(name) && name.starts_with("aten::") && !is_cell(name);
    let Repeated { loops, claim, names, left, priced } = repeated(case, is_it, true, 0)?;
    if priced > MOST_PRICED {
        return None;
    }
    let names: Vec<&str> = names.iter().map(|name| case.trace().strings.get(*name)).collect();
    finding(case, &loops, claim, |share| Form {
        message: format!(
            "{} of the time goes to a Python loop that calls {} separately for each channel, head or group of an array",
            percent(share),
            list(&names, 3)
        ),
        why: "each call is small, so call overhead dominates its time and that of its gradient",
        help: "replace the loop with one call: a convolution with `groups=` (depthwise if each channel has its own filter), `torch.bmm` or `torch.einsum` over stacked weights, otherwise `torch.func.vmap`",
        turns: "calls in a row",
        left,
    })
}

fn is_cell(name: &str) -> bool {
    matches!(name, "aten::lstm_cell" | "aten::gru_cell" | "aten::rnn_tanh_cell" | "aten::rnn_relu_cell")
}

/// One turn of the program and of autograd after it.
struct Turn {
    calls: Range<usize>,
    forward: u64,
}

/// Gradients of single examples or results, many between two steps of the optimizer, each of the same small operators.
fn examples(case: &Case<'_>) -> Option<Finding> {
    let all = &case.operator_calls().calls;
    let steps = optimizer_steps(case);
    if steps.is_empty() {
        return None; // What lies between two turns may be a step that the program writes out.
    }
    let turns = turns(all);
    let is_stepped = |one: &Turn, next: &Turn| {
        let (from, until) = (all[one.calls.start].span.0, all[next.calls.start].span.0);
        let first = steps.partition_point(|at| *at < from);
        steps.get(first).is_some_and(|at| *at < until)
    };
    let mut loops = Loops::default();
    let (mut price, mut ns) = (0.0, 0_i64);
    let is_same = |one: &Turn, next: &Turn| {
        let same_process = all[one.calls.start].process == all[next.calls.start].process;
        same_process && one.forward == next.forward && !is_stepped(one, next)
    };
    for run in turns.chunk_by(is_same).filter(|run| run.len() >= FEWEST_TURNS) {
        let (first, last) = (&run[0], &run[run.len() - 1]);
        let range = first.calls.start..last.calls.end;
        let span = (all[range.start].span.0, all[range.end - 1].span.1);
        // One of them shows what each does.
        price += run.len() as f64 * all[last.calls.clone()].iter().map(|call| case.price_of_call(call)).sum::<f64>();
        ns = ns.saturating_add(span.1.saturating_sub(span.0));
        loops.at.extend(all[range.clone()].iter().filter(|call| !call.is_backward).map(|call| call.row));
        loops.add(all, range, run.len());
    }
    if loops.count == 0 || price > MOST_PRICED * ns as f64 {
        return None;
    }
    let spans = Spans::of(loops.spans.iter().copied());
    let claim = joined(case.claim_of_calls(loops.calls.iter().copied(), 1.0), case.claim_between(&spans, 1.0));
    let part = price / ns.max(1) as f64;
    let left = |turns: f64| (turns / loops.turns_of_one().max(1.0) + part).min(0.9);
    let left = (left(TURNS_LEFT.0), left(TURNS_LEFT.1));
    finding(case, &loops, claim, |share| Form {
        message: format!(
            "{} of the time goes to gradients of single examples, one backward pass per example",
            percent(share)
        ),
        why: "each pass is small, so the overhead of calling operators dominates",
        help: "compute the gradients for the whole batch at once: `torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))` over `functional_call`; for rows of a Jacobian, use `torch.func.jacrev`",
        turns: "backward passes per optimizer step",
        left,
    })
}

/// When steps of optimizers began.
fn optimizer_steps(case: &Case<'_>) -> Vec<i64> {
    let rows = case.host_rows(|kind, name| kind == EventKind::Annotation && name.starts_with("Optimizer.step#"));
    let mut starts: Vec<i64> = rows.into_iter().map(|row| case.trace().events.start_ns[row as usize]).collect();
    starts.sort_unstable();
    starts
}

fn turns(all: &[OperatorCall]) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut from = 0;
    for (at, call) in all.iter().enumerate() {
        let ends =
            call.is_backward && all.get(at + 1).is_none_or(|next| !next.is_backward || next.process != call.process);
        if !ends {
            continue;
        }
        let mut hasher = FxHasher::default();
        let forward = all[from..=at].iter().filter(|call| !call.is_backward);
        forward.for_each(|call| call.key().hash(&mut hasher));
        turns.push(Turn { calls: from..at + 1, forward: hasher.finish() });
        from = at + 1;
    }
    turns
}

/// A mask over all rows for each of many groups.
fn masks(case: &Case<'_>) -> Option<Finding> {
    let all = &case.operator_calls().calls;
    let trace = case.trace();
    let nonzero = trace.strings.find("aten::nonzero")?;
    // What numbers it looks through, by the shapes of the search for true ones inside.
    let mask = |call: &OperatorCall| {
        let is_indexing = matches!(
            trace.strings.get(call.name),
            "aten::index" | "aten::index_put_" | "aten::masked_select" | "aten::nonzero"
        );
        let mut rows = call.rows().filter(|_| is_indexing);
        rows.find(|row| trace.events.name[*row as usize] == nonzero.0)
            .map(|row| (call.name, trace.events.detail[row as usize]))
    };
    let found: Vec<(usize, (StringId, u32))> =
        all.iter().enumerate().filter_map(|(at, call)| Some((at, mask(call).filter(|_| !call.is_backward)?))).collect();
    let follows = |one: &(usize, (StringId, u32)), next: &(usize, (StringId, u32))| {
        one.1 == next.1 && next.0 - one.0 <= BETWEEN_MASKS && all[one.0].process == all[next.0].process
    };
    let mut loops = Loops::default();
    let mut claimed: Vec<usize> = Vec::new();
    // Each group has a mask of its own: what selects by one that is there already is no loop over groups.
    let compares = |at: usize| matches!(trace.strings.get(all[at].name), "aten::eq" | "aten::isin" | "aten::__eq__" | "aten::ge" | "aten::bitwise_and" | "aten::__and__" | "aten::logical_and");
    let is_over_groups = |run: &&[(usize, (StringId, u32))]| {
        let range = run[0].0..run[run.len() - 1].0;
        2 * range.filter(|at| compares(*at)).count() >= run.len()
    };
    for run in found.chunk_by(follows).filter(|run| run.len() >= FEWEST_MASKS).filter(is_over_groups) {
        let range = run[0].0..run[run.len() - 1].0 + 1;
        let inside = range.clone().filter(|at| *at > range.start);
        // Products and their like are work of each group, which no other way of choosing rows saves.
        let is_small = |at: &usize| !is_heavy(trace.strings.get(all[*at].name));
        claimed.extend(inside.filter(is_small));
        loops.at.extend(run.iter().map(|(at, _)| all[*at].row));
        loops.add(all, range, run.len());
    }
    if loops.count == 0 {
        return None;
    }
    // The gradient of each selection is an array of all rows.
    let called: FxHashSet<u32> = claimed.iter().flat_map(|at| all[*at].rows()).collect();
    claimed.extend(gradients_of(case, &called));
    let spans = Spans::of(loops.spans.iter().copied());
    let claim = joined(case.claim_of_calls(claimed, 1.0), case.claim_between(&spans, 1.0));
    finding(case, &loops, claim, |share| Form {
        message: format!(
            "{} of the time goes to a Python loop that masks all rows once per group",
            percent(share)
        ),
        why: "a Boolean mask reads every row to find the few rows of one group, so the work is rows times groups",
        help: "process all groups in one pass: `torch.zeros(...).index_add_(0, group, rows)` divided by `torch.bincount(group)`, or `scatter_reduce_`; or sort the rows by group once and split them",
        turns: "masks in a row",
        left: MASKS_LEFT,
    })
}

/// Whether an operator is work of its own, and no part of choosing rows.
fn is_heavy(name: &str) -> bool {
    let heavy =
        ["mm", "linear", "matmul", "bmm", "conv", "lstm", "gru", "attention", "einsum", "linalg", "cdist", "sort"];
    name.strip_prefix("aten::").is_none_or(|name| heavy.iter().any(|word| name.contains(word)))
}
