//! Autograd checks every gradient for NaN and keeps the Python stack of every operator.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::NEEDS;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventKind, EventRow};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "anomaly-detection",
    group: Group::Host,
    summary: "Autograd anomaly detection enabled",
    document: include_str!("anomaly_detection.md"),
    asks: &[Question::Device],
    explains: &["host-bound-dispatch", "unfused-eager", "small-operators"],
    needs: NEEDS,
    find: Find::Causes(find),
};

/// What the mode calls for each gradient; nothing else of PyTorch does.
const CHECK: &str = "aten::_is_any_true";
/// Fewer checks may be a program's own.
const FEWEST: usize = 16;
/// Parts of backward passes with such a check, at least.
const MOST_CHECKED: f64 = 0.5;
/// Below this part of the time, at most, it is not worth a word.
const LEAST_GONE: f64 = 0.03;
/// What one operator's stack costs, at least and at most, nanoseconds: it grows with the depth of the program's calls.
const EACH_NS: (f64, f64) = (20e3, 300e3);
/// The part of the time that can go at most.
const MOST: f64 = 0.9;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    let Some(check) = trace.strings.find(CHECK).filter(|_| case.framework() == Framework::Torch) else {
        return Ok(Vec::new());
    };
    let all = &case.operator_calls().calls;
    let is_check = |row: &u32| trace.events.name[*row as usize] == check.0;
    let backward = || all.iter().filter(|call| call.is_backward);
    let checked = backward().filter(|call| call.rows().any(|row| is_check(&row))).count();
    if checked < FEWEST || (checked as f64) < MOST_CHECKED * backward().count() as f64 {
        return Ok(Vec::new());
    }
    // The check and what is inside of it: looking for NaN is a call before it, of the same length.
    let names = ["aten::isnan", CHECK];
    let ids: FxHashSet<u32> = names.iter().filter_map(|name| Some(trace.strings.find(name)?.0)).collect();
    let is_of_check = |row: u32| {
        let row = row as usize;
        trace.events.kind(row) == EventKind::Operator && ids.contains(&trace.events.name[row])
    };
    let rows = backward().flat_map(|call| call.rows()).filter(|row| is_of_check(*row));
    let checks_ns: i64 = rows.map(|row| trace.events.dur_ns[row as usize].max(0)).sum();
    // Whatever is recorded for a gradient, those of gradients included.
    let is_stacked = |row: &u32| trace.recorded.binary_search(row).is_ok();
    let stacked = all.iter().flat_map(|call| call.rows()).filter(is_stacked).count();
    let whole = case.breakdown().whole_ns().max(1) as f64;
    let part = |each: f64| ((checks_ns as f64 + stacked as f64 * each) / whole).min(MOST);
    if part(EACH_NS.1) < LEAST_GONE {
        return Ok(Vec::new());
    }
    let claimed: Vec<usize> = (0..all.len()).collect();
    let claim = case.claim_of_calls(claimed, ((part(EACH_NS.0) + part(EACH_NS.1)) / 2.0).min(1.0));
    let first = backward().next().map(|call| call.row);
    let seen = case.seen_during(backward().map(|call| call.row));
    Ok(vec![
        Finding::new(format!(
            "autograd's anomaly detection is on: it takes up to {} of the time to check gradients for NaN and store Python stacks",
            percent(part(EACH_NS.1))
        ))
        .at(first.and_then(|row| case.line_of_row(row)))
        .about(first.and_then(EventRow::known).map(Subject::Event))
        .seen(seen.as_ref())
        .number("gradients checked", case.count_per_unit(checked as u64))
        .number("operators with a stored Python stack", Quantity::new(stacked as f64, Unit::Count, Basis::Counted))
        .why("in this mode, every forward operator stores its Python stack, and every gradient is checked for NaN and the result read back to the host")
        .help("remove `torch.autograd.set_detect_anomaly(True)` and `detect_anomaly()`; use them to debug, not to train")
        .claims(claim)
        .priced(part(EACH_NS.0), part(EACH_NS.1)),
    ])
}
