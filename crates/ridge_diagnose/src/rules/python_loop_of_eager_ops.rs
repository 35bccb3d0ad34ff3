//! A Python loop calls one primitive of JAX after another, each a program of its own.

use crate::calls::{Call, called};
use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use ridge_analysis::is_primitive;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use crate::recurring::Recurring;
use crate::words::function_name;
use ridge_analysis::models::idle::IdlePart;
use ridge_analysis::{Activity, Cause, IdleGaps, Life, Need, PythonLooks, Spans};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::StringId;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "python-loop-of-eager-ops",
    group: Group::Host,
    summary: "Eager JAX ops in a Python loop",
    document: include_str!("python_loop_of_eager_ops.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-bound-dispatch", "host-pause", "many-small-kernels", "defensive-copies", "sequential-updates"],
    needs: &[Need::of::<PythonLooks>(), Need::of::<IdleGaps>(), Need::of::<Life>()],
    find: Find::Causes(find),
};

/// Below this part of the time, launching is not what holds a program back.
const LEAST: f64 = 0.05;
/// Fewer calls are what a program does besides its compiled step.
const LEAST_CALLS: u64 = 20;
/// A primitive that is called less often comes from what a program does once.
const FEWEST_OF_NAME: u64 = 4;
/// The part of the calls of compiled functions that are of primitives.
const MOST_OF_CALLS: f64 = 0.5;
/// Of what a primitive takes on a device, the part that a compiled function would not: alone it reads its arrays from memory and
/// writes its result there, and joined to its neighbors it does one of the two at most.
const FUSED_AWAY: f32 = 0.5;
/// What Python does between two operators at most, nanoseconds: functions of `jax.numpy` check and convert their arguments in it.
const MOST_BETWEEN_NS: i64 = 500_000;
/// Dispatches for each array that Python iterates over, from which on its elements are what the loop is about.
const MANY_EACH: u64 = 10;
/// Calls whose lines are looked at.
const MOST_LOOKED_AT: usize = 4096;
/// Programs of so few names may be functions of one's own that are called like a primitive.
const LEAST_NAMES: usize = 2;

/// How often compiled functions were called from Python.
#[derive(Default)]
struct Calls {
    all: u64,
    by_primitive: FxHashMap<StringId, u64>,
    rows: Vec<u32>,
    /// Each call of a primitive, with what Python does before it.
    spans: Vec<(i64, i64)>,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let calls = calls(case);
    let eager = calls.by_primitive.values().fold(0_u64, |sum, count| sum.saturating_add(*count));
    let part = eager as f64 / calls.all.max(1) as f64;
    if eager < LEAST_CALLS || part < MOST_OF_CALLS || calls.by_primitive.len() < LEAST_NAMES {
        return Ok(Vec::new());
    }
    let (waits, ns) = case.idle_within(&Spans::of(calls.spans.iter().copied()), is_dispatch);
    if case.share(ns) < LEAST {
        return Ok(Vec::new());
    }
    let alone: Vec<(usize, f32)> =
        case.work().filter(|work| is_of_primitive(case, work.op)).map(|work| (work.at, FUSED_AWAY)).collect();
    let alone_ns = (case.share_of(alone.iter().map(|(at, _)| (*at, 1.0))) * case.breakdown().whole_ns() as f64) as i64;
    let seen = case.seen_during(calls.rows.iter().copied().step_by(calls.rows.len() / MOST_LOOKED_AT + 1));
    let mut named: Vec<(u64, &str)> =
        calls.by_primitive.iter().map(|(name, count)| (*count, case.trace().strings.get(*name))).collect();
    named.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let names: Vec<&str> = named.iter().filter_map(|(_, name)| called(name)).collect();
    // Python's loop over an array of JAX has it unstacked.
    let unstacked: u64 = named.iter().filter(|(_, name)| matches!(called(name), Some("unstack" | "_unstack"))).map(|(count, _)| count).sum();
    let is_apart = unstacked >= FEWEST_OF_NAME && calls.rows.len() as u64 >= MANY_EACH * unstacked;
    let finding = Finding::new(format!(
        "{} of the calls dispatch single primitives, and the device waits {} of the time for the next dispatch; {}",
        percent(part),
        percent(case.share(ns)),
        if is_apart {
            "a Python loop takes arrays apart element by element, and each element is an array on the device, compared and fetched by itself"
        } else {
            "`jax.jit` would compile them into one program"
        },
    ))
    .at(calls.rows.first().and_then(|row| case.line_of_row(*row)))
    .seen(seen.as_ref())
    .about(named.first().and_then(|(_, name)| case.trace().strings.iter().position(|text| text == *name)).map(|id| Subject::Named(StringId(id as u32))))
    .number("dispatches of single primitives", Quantity::new(eager as f64, Unit::Count, Basis::Counted))
    .fact(format!("most often {}", list(&names, 4)))
    .why("outside `jax.jit`, every operator and `jax.numpy` function is a separate compiled program dispatched from Python")
    .help(if is_apart {
        "fetch the arrays once before the loop, as NumPy arrays or Python numbers: `labels, scores = jax.device_get((labels, scores))`, or `labels.tolist()`; then loop over those, or compute on whole arrays under `jax.jit`"
    } else {
        "apply `jax.jit` to the enclosing function, and replace its Python loop with `jax.lax.fori_loop` or `scan`"
    })
    .claims(waits)
    .claims(alone);
    let finding = match alone_ns {
        0 => finding,
        _ => finding.number("in single primitives, each of which reads and writes memory", case.per_unit(alone_ns)),
    };
    Ok(vec![case.unless_brief(finding)])
}

/// Calls of compiled functions in the judged time; of primitives those that come again and again, because setting up calls some, too.
/// What sets up calls each but once, which compiles it: only what is called for long without compiling counts.
fn calls(case: &Case<'_>) -> Calls {
    let (trace, frame) = (case.trace(), case.analyzed());
    let windows = case.windows();
    let judged = |process: u32| case.judged_of(windows.iter().find(|windows| windows.contains(&process))?);
    let in_frame = |call: &Call<'_>| frame.spans.get(call.process as usize).is_some_and(|spans| spans.contains(call.span.0));
    let mut all: Vec<Call<'_>> = case.calls().into_iter().filter(in_frame).collect();
    all.sort_by_key(|call| (call.process, call.span));
    let name = |call: &Call<'_>| StringId(trace.events.name[call.row as usize]);
    let mut recurring = Recurring::default();
    for call in &all {
        if let Some(judged) = judged(call.process) {
            recurring.met(name(call), call.span.0, judged);
        }
    }
    let mut calls = Calls::default();
    for stretch in all.chunk_by(|a, b| a.process == b.process && b.compile_ns == 0) {
        let counted = || stretch.iter().filter(|call| recurring.has(&name(call), FEWEST_OF_NAME));
        let eager = || counted().filter(|call| is_primitive(call.function));
        if (eager().count() as u64) < LEAST_CALLS {
            continue;
        }
        calls.all += counted().count() as u64;
        for call in eager() {
            *calls.by_primitive.entry(name(call)).or_default() += 1;
            calls.rows.push(call.row);
        }
        for (before, call) in stretch.iter().zip(stretch.iter().skip(1)) {
            if is_primitive(call.function) && recurring.has(&name(call), FEWEST_OF_NAME) {
                calls.spans.push((call.span.0.saturating_sub(python_before(before, call)), call.span.1));
            }
        }
    }
    calls
}

/// The time between two calls that is Python's work for the second, nanoseconds: between operators of one expression all of it, after
/// a compiled function no more than the call takes, because the program may do anything there.
fn python_before(before: &Call<'_>, call: &Call<'_>) -> i64 {
    let most = if is_primitive(before.function) { MOST_BETWEEN_NS } else { call.span.1.saturating_sub(call.span.0) };
    call.span.0.saturating_sub(before.span.1).clamp(0, most)
}

/// Whether the operation at row `op` is of a program that is one primitive.
fn is_of_primitive(case: &Case<'_>, op: u32) -> bool {
    let trace = case.trace();
    let module = case.analysis.operation(op).and_then(|op| trace.modules.get(op.module as usize));
    module.is_some_and(|module| is_primitive(function_name(trace.strings.get(module.name))))
}

/// Time in which the host had not launched the next program.
fn is_dispatch(part: &IdlePart) -> bool {
    let by_host = matches!(part.cause, Cause::HostLate | Cause::LaunchCall | Cause::LaunchLatency);
    by_host
        && !matches!(part.activity, Activity::Blocking | Activity::Loading | Activity::Compiling | Activity::Profiler)
}
