//! A compiled program calls Python, and Python launches it.

use crate::calls::Call;
use crate::case::{Case, Framework, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{function_name, list, percent};
use ridge_analysis::{Lines, Need};
use ridge_table::Subject;
use ridge_trace::{EventRow, OpRow};
use std::collections::BTreeSet;

pub(crate) static RULE: Rule = Rule {
    id: "host-callback",
    group: Group::Host,
    summary: "Python callbacks in compiled code",
    document: include_str!("host_callback.md"),
    asks: &[Question::Device],
    explains: &["host-bound-dispatch", "host-pause", "opaque-custom-call"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.02;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() != Framework::Jax {
        return Ok(Vec::new());
    }
    let calls: Vec<Work<'_>> = case.work().filter(|work| calls_python(case, work)).collect();
    let waits: Vec<_> = case.idle().filter(|idle| idle.name.is_some_and(is_callback)).collect();
    let launched = case.idle_in(&launched_by_python(case, &calls));
    let own = || calls.iter().map(|work| (work.at, 1.0)).chain(waits.iter().map(|idle| (idle.at, 1.0)));
    let claim = || own().chain(launched.iter().copied());
    let share = case.share_of(own());
    if case.share_of(claim()) < LEAST {
        return Ok(Vec::new());
    }
    let ns = calls
        .iter()
        .map(|work| work.row.ns)
        .chain(waits.iter().map(|idle| idle.row.ns))
        .fold(0_i64, i64::saturating_add);
    let longest = calls.iter().max_by_key(|work| work.row.ns);
    let example: Option<EventRow> = waits.iter().max_by_key(|idle| idle.row.ns).and_then(|idle| idle.row.example);
    let kinds: BTreeSet<&str> = calls.iter().filter_map(|work| primitive(case, work)).collect();
    let kinds: Vec<&&str> = kinds.iter().collect();
    let mut finding = Finding::new(format!("Python callbacks from compiled programs take {} of the time; the same in `jax.numpy` would stay on the device", percent(share)))
        .at(longest.and_then(|work| case.line_of(work)).or_else(|| example.and_then(|row| case.line_of_row(row.0))))
        .about(longest.and_then(|work| OpRow::known(work.op)).map(Subject::Op).or(example.map(Subject::Event)))
        .number("in callbacks, or idle because of them", case.per_unit(ns))
        .why("each callback copies its arguments to the host and runs Python, and all dependent work waits")
        .help("move `jax.debug.print` out of the loop, write the function in `jax.numpy`, or return the values and inspect them after the step")
        .claims(claim());
    let launching = case.share_of(launched.iter().copied());
    if launching > 0.0 {
        let ns = (launching * case.breakdown().whole_ns() as f64) as i64;
        finding = finding.number("idle because Python launches the programs with callbacks", case.per_unit(ns));
    }
    if !calls.is_empty() {
        finding = finding.number("calls", case.count_per_unit(calls.iter().map(|work| work.row.events).sum()));
    }
    if !kinds.is_empty() {
        finding = finding.fact(format!("made by {}", list(&kinds, 3)));
    }
    Ok(vec![finding])
}

/// Calls of programs that call back, which JAX launches from Python each time: its dispatch in C++ takes none with callbacks.
fn launched_by_python<'a>(case: &Case<'a>, callbacks: &[Work<'a>]) -> Vec<Call<'a>> {
    let trace = case.trace();
    let module = |work: &Work<'_>| trace.modules.get(case.analysis.operation(work.op)?.module as usize);
    let functions: BTreeSet<&str> =
        callbacks.iter().filter_map(module).map(|module| function_name(trace.strings.get(module.name))).collect();
    if functions.is_empty() {
        return Vec::new();
    }
    case.calls().into_iter().filter(|call| call.is_by_python && functions.contains(call.function)).collect()
}

/// Whether it is the call of a Python function, as XLA's custom calls of JAX are named on every kind of device.
fn calls_python(case: &Case<'_>, work: &Work<'_>) -> bool {
    let instruction = case.instruction(work.op).map(|(_, _, instruction)| instruction);
    let target = instruction.and_then(|instruction| instruction.custom_call_target.as_deref());
    target.is_some_and(|target| target.contains("python") && target.contains("callback"))
}

/// JAX's primitive that made the call.
fn primitive<'a>(case: &Case<'a>, work: &Work<'_>) -> Option<&'a str> {
    let (_, _, instruction) = case.instruction(work.op)?;
    instruction.metadata.op_name.rsplit('/').next().filter(|name| !name.is_empty())
}

/// Whether the host's event is JAX's own function that calls back.
fn is_callback(name: &str) -> bool {
    ["pure_callback", "io_callback", "debug_callback"].iter().any(|word| name.contains(word))
}
