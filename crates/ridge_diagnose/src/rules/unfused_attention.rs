//! Attention runs as two products with a softmax between them.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::kernels::{Kernel, kernels};
use crate::operator_calls::{NEEDS, is_view};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, percent};
use ridge_analysis::kernel_category;
use ridge_table::Subject;
use ridge_trace::EventRow;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "unfused-attention",
    group: Group::Compute,
    summary: "Attention is not fused",
    document: include_str!("unfused_attention.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// Kernels between a product and the softmax: scale, mask, dropout, conversions.
const BETWEEN: usize = 6;
/// Calls between them, views as well.
const BETWEEN_CALLS: usize = 16;
/// So many times it must be seen.
const FEWEST: usize = 2;
/// Below this part of the time it is not worth a change.
const LEAST: f64 = 0.02;

/// PyTorch's operators of it.
const SOFTMAX: [&str; 2] = ["aten::_softmax", "aten::_safe_softmax"];

/// What a kernel is in attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Batched,
    Softmax,
    Pointwise,
    Other,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    // A fused kernel says that the program knows how; what is left has its reasons.
    if case.work().any(|work| work.kind.is_compute() && kernel_category(work.name) == "attention") {
        return Ok(Vec::new());
    }
    if case.is_on_processors() {
        return Ok(in_calls(case).into_iter().collect());
    }
    // The texts of a capture are few beside its kernels, and most captures have no softmax.
    if !trace.strings.iter().any(|text| SOFTMAX.contains(&text)) {
        return Ok(Vec::new());
    }
    let all: Vec<Kernel<'_>> = kernels(case).collect();
    let mut between: FxHashSet<u32> = FxHashSet::default();
    let (mut times, mut example) = (0_usize, None);
    let roles: Vec<Role> = all.iter().map(|kernel| role(case, kernel.row)).collect();
    for (at, _) in roles.iter().enumerate().filter(|(_, role)| **role == Role::Softmax) {
        let before = reach(&roles, (at.saturating_sub(BETWEEN)..at).rev());
        let after = reach(&roles, at + 1..(at + 1 + BETWEEN).min(roles.len()));
        let (Some(first), Some(last)) = (before, after) else { continue };
        if all[first].device != all[last].device {
            continue;
        }
        times += 1;
        example = example.or(Some(all[at].row));
        between.extend(all[first + 1..last].iter().map(|kernel| kernel.row));
    }
    let held = case.parts_of_events(between.iter().map(|row| (*row, trace.events.dur_ns[*row as usize])));
    let share = case.share_of(held.iter().copied());
    let Some(row) = example.filter(|_| times >= FEWEST && share >= LEAST) else { return Ok(Vec::new()) };
    let work: Option<Work<'_>> = held
        .iter()
        .max_by(|one, other| one.1.total_cmp(&other.1))
        .and_then(|(at, _)| case.work().find(|work| work.at == *at));
    let line = work.and_then(|work| case.line_of(&work));
    Ok(vec![finding(share, times).at(line).about(EventRow::known(row).map(Subject::Event)).claims(held)])
}

fn finding(share: f64, times: usize) -> Finding {
    Finding::new(format!(
        "attention is not fused (`scaled_dot_product_attention`): the kernels between its two products take {} of the time",
        percent(share)
    ))
    .fact(format!(
        "{} between two batched products, including scaling, mask and dropout",
        count(times as u64, "softmax", "softmaxes")
    ))
    .why("each of these kernels reads and writes the scores of all position pairs in memory")
    .help("use `torch.nn.functional.scaled_dot_product_attention(query, key, value)`, which keeps the scores on chip; `torch.nn.MultiheadAttention` uses it with `need_weights=False`")
}

/// The same where operators are the work: by what the program calls, and with the gradients of that.
fn in_calls(case: &Case<'_>) -> Option<Finding> {
    let (trace, calls) = (case.trace(), case.operator_calls());
    let forward: Vec<usize> =
        calls.calls.iter().enumerate().filter(|(_, call)| !call.is_backward).map(|(at, _)| at).collect();
    let roles: Vec<Role> = forward.iter().map(|at| role_of_call(trace.strings.get(calls.calls[*at].name))).collect();
    let (mut times, mut rows) = (0_usize, Vec::new());
    let mut between: FxHashSet<usize> = FxHashSet::default();
    for (at, _) in roles.iter().enumerate().filter(|(_, role)| **role == Role::Softmax) {
        let before = reach(&roles, (at.saturating_sub(BETWEEN_CALLS)..at).rev());
        let after = reach(&roles, at + 1..(at + 1 + BETWEEN_CALLS).min(roles.len()));
        let (Some(first), Some(last)) = (before, after) else { continue };
        times += 1;
        rows.push(calls.calls[forward[at]].row);
        between.extend(forward[first + 1..last].iter().copied());
    }
    let inside: FxHashSet<u32> = between.iter().flat_map(|at| calls.calls[*at].rows()).collect();
    let links = trace.backwards.iter().filter(|link| inside.contains(&link.forward));
    let gradients: FxHashSet<u32> = links.map(|link| link.event).collect();
    let of_gradients =
        calls.calls.iter().enumerate().filter(|(_, call)| gradients.contains(&call.row)).map(|(at, _)| at);
    let claim = case.claim_of_calls(between.iter().copied().chain(of_gradients), 1.0);
    let share = case.share_of(claim.iter().copied());
    let first = rows.first().copied().filter(|_| times >= FEWEST && share >= LEAST)?;
    let seen = case.seen_during(between.iter().map(|at| calls.calls[*at].row));
    Some(
        finding(share, times)
            .at(case.line_of_row(first))
            .about(EventRow::known(first).map(Subject::Event))
            .seen(seen.as_ref())
            .claims(claim),
    )
}

fn role_of_call(name: &str) -> Role {
    match name.strip_prefix("aten::").unwrap_or(name) {
        "matmul" | "bmm" | "baddbmm" | "einsum" => Role::Batched,
        "softmax" | "_softmax" | "_safe_softmax" => Role::Softmax,
        "div" | "div_" | "mul" | "mul_" | "add" | "add_" | "masked_fill" | "masked_fill_" | "where" | "dropout"
        | "bitwise_not" | "logical_not" | "to" | "contiguous" | "tril" | "triu" | "type_as" | "eq" | "ones" | "zeros"
        | "full" | "arange" | "ones_like" | "zeros_like" | "lift_fresh" | "item" => Role::Pointwise,
        _ if is_view(name) => Role::Pointwise,
        _ => Role::Other,
    }
}

/// The nearest batched product in that direction with nothing but pointwise work before it.
fn reach(roles: &[Role], places: impl Iterator<Item = usize>) -> Option<usize> {
    for at in places {
        match roles[at] {
            Role::Batched => return Some(at),
            Role::Pointwise => {}
            Role::Softmax | Role::Other => return None,
        }
    }
    None
}

fn role(case: &Case<'_>, row: u32) -> Role {
    let trace = case.trace();
    let operator = trace.operation(row as usize).map_or("", |operation| trace.strings.get(operation.name));
    match operator {
        "aten::bmm" | "aten::baddbmm" => Role::Batched,
        _ if SOFTMAX.contains(&operator) => Role::Softmax,
        "aten::div"
        | "aten::div_"
        | "aten::mul"
        | "aten::mul_"
        | "aten::add"
        | "aten::add_"
        | "aten::masked_fill"
        | "aten::masked_fill_"
        | "aten::where"
        | "aten::copy_"
        | "aten::native_dropout"
        | "aten::fill_" => Role::Pointwise,
        _ if operator.starts_with("aten::") && kernel_category(trace.name(row as usize)) == "elementwise" => {
            Role::Pointwise
        }
        _ => Role::Other,
    }
}
