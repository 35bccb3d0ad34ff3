//! A Python loop calls one primitive of JAX after another, each a program of its own.

use crate::calls::called;
use crate::case::{Case, IdleTime};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use ridge_analysis::is_primitive;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Activity, Cause};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::StringId;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "python-loop-of-eager-ops",
    group: Group::Host,
    summary: "JAX runs one primitive after another from Python, each as a program of its own",
    document: include_str!("python_loop_of_eager_ops.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-bound-dispatch", "host-pause", "many-small-kernels"],
    needs: &[],
    find: Find::Causes(find),
};

/// Below this part of the time, launching is not what holds a program back.
const LEAST: f64 = 0.05;
/// Fewer calls are what a program does besides its compiled step.
const LEAST_CALLS: u64 = 20;
/// The part of the calls of compiled functions that are of primitives.
const MOST_OF_CALLS: f64 = 0.5;
/// Programs of so few names may be functions of one's own that are called like a primitive.
const LEAST_NAMES: usize = 2;

/// How often compiled functions were called from Python.
#[derive(Default)]
struct Calls {
    all: u64,
    by_primitive: FxHashMap<StringId, u64>,
    first: Option<u32>,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let calls = calls(case);
    let eager = calls.by_primitive.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let part = eager as f64 / calls.all.max(1) as f64;
    if eager < LEAST_CALLS || part < MOST_OF_CALLS || calls.by_primitive.len() < LEAST_NAMES {
        return Ok(Vec::new());
    }
    let waits: Vec<IdleTime<'_>> = case.idle().filter(is_dispatch).collect();
    let ns = waits.iter().fold(0_i64, |sum, idle| sum.saturating_add(idle.row.ns));
    if case.share(ns) * part < LEAST {
        return Ok(Vec::new());
    }
    let mut named: Vec<(u64, &str)> =
        calls.by_primitive.iter().map(|(name, count)| (*count, case.trace().strings.get(*name))).collect();
    named.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let names: Vec<&str> = named.iter().filter_map(|(_, name)| called(name)).collect();
    let finding = Finding::new(format!(
        "{} of the calls are of single primitives, and the device waits {} of the time for the next",
        percent(part),
        percent(case.share(ns) * part),
    ))
    .at(calls.first.and_then(|row| case.line_of_row(row)))
    .about(named.first().and_then(|(_, name)| case.trace().strings.iter().position(|text| text == *name)).map(|id| Subject::Named(StringId(id as u32))))
    .number("calls of single primitives in the time", Quantity::new(eager as f64, Unit::Count, Basis::Counted))
    .fact(format!("most often {}", list(&names, 4)))
    .why("outside `jax.jit` every operator and every function of `jax.numpy` is a compiled program of its own, launched from Python")
    .help("put `jax.jit` on the function round them, and `jax.lax.fori_loop` or `scan` in place of its Python loop")
    .claims(waits.iter().map(|idle| (idle.at, part as f32)));
    Ok(vec![finding])
}

/// Calls of compiled functions in the judged time.
fn calls(case: &Case<'_>) -> Calls {
    let (trace, frame) = (case.trace(), case.frame());
    let mut calls = Calls::default();
    for call in case.calls() {
        if !frame.spans.iter().any(|spans| spans.contains(call.span.0)) {
            continue;
        }
        calls.all += 1;
        if is_primitive(call.function) {
            *calls.by_primitive.entry(StringId(trace.events.name[call.row as usize])).or_default() += 1;
            calls.first = calls.first.or(Some(call.row));
        }
    }
    calls
}

/// Time in which the host had not launched the next program.
fn is_dispatch(idle: &IdleTime<'_>) -> bool {
    let by_host = matches!(idle.cause, Cause::HostLate | Cause::LaunchCall | Cause::LaunchLatency);
    by_host
        && !matches!(idle.activity, Activity::Blocking | Activity::Loading | Activity::Compiling | Activity::Profiler)
}
