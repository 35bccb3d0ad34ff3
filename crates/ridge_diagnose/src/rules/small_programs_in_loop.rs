//! A Python loop calls one small compiled function again and again, each call on the result of the last.

use crate::calls::{Call, MOST_LOOKED_AT};
use crate::case::Case;
use crate::finding::{Finding, Place};
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::waits::DeviceWaits;
use crate::words::{count, percent, short};
use ridge_analysis::models::idle::IdlePart;
use ridge_analysis::{Activity, Cause, IdleGaps, Life, Need, PythonLooks, Spans};
use ridge_hlo::{HloModule, Shape};
use ridge_trace::PythonStack;
use ridge_table::{Basis, Quantity, Subject, Unit};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "small-programs-in-loop",
    group: Group::Host,
    summary: "Python loop over a small compiled step",
    document: include_str!("small_programs_in_loop.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-bound-dispatch", "host-pause", "many-small-kernels", "defensive-copies"],
    needs: &[Need::of::<PythonLooks>(), Need::of::<IdleGaps>(), Need::of::<Life>(), Need::of::<DeviceWaits>()],
    find: Find::Causes(find),
};

/// Below this part of the time, launching is not what holds a program back.
const LEAST: f64 = 0.15;
/// Below this part, few would rewrite a loop for what it gives back.
const WORTH_A_WARNING: f64 = 0.25;
/// Calls of one function that make a loop which is worth compiling.
const FEWEST: u64 = 64;
/// What a call leaves the device to do at most, nanoseconds: of more the launch is a small part.
const SMALL_NS: i64 = 1_000_000;
/// What Python takes to dispatch a call, nanoseconds: device work that lasts longer hides it.
const DISPATCH_NS: i64 = 100_000;
/// What lies between two turns of such a loop at most, nanoseconds.
const BETWEEN_NS: i64 = 5_000_000;
/// Fewer looks tell nothing.
const FEWEST_LOOKS: u64 = 8;
/// The least part of the judged time from the first to the last of the turns.
const MOST_OF: f64 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let all = programs(case);
    let found = loops(case).into_iter().filter_map(|calls| finding(case, &all, &calls));
    let most = found.max_by(|a, b| a.0.total_cmp(&b.0));
    Ok(most.into_iter().map(|(_, finding)| finding).collect())
}

fn finding(case: &Case<'_>, all: &[Program<'_>], calls: &[Call<'_>]) -> Option<(f64, Finding)> {
    let function = calls.first()?.function;
    let of_it: Vec<&Program<'_>> = all.iter().filter(|program| program.function(case) == function).collect();
    let program = of_it.iter().copied().max_by_key(|program| program.ran.len())?;
    let work_ns = of_it.iter().fold(0_i64, |sum, program| {
        sum.saturating_add(program.ns_of(&program.ran.keys().copied().collect::<Vec<_>>()))
    });
    let each_ns = work_ns / i64::try_from(calls.len()).unwrap_or(i64::MAX).max(1);
    if each_ns > SMALL_NS || !feeds_itself(program.module) {
        return None;
    }
    // A turn is a call and what Python does before the next.
    let mut turns: Vec<(i64, i64)> = Vec::new();
    for (one, next) in calls.iter().zip(calls.iter().skip(1)).filter(|(one, next)| one.process == next.process) {
        let between = next.span.0.saturating_sub(one.span.1);
        if between <= BETWEEN_NS {
            turns.push((one.span.0, next.span.0));
        }
    }
    let turns = Spans::of(turns);
    let judged: i64 = case.analyzed().spans.iter().map(Spans::total_ns).sum();
    if (turns.total_ns() as f64) < MOST_OF * judged as f64 {
        return None;
    }
    let (waits, ns) = case.idle_within(&turns, is_dispatch);
    let share = case.share(ns);
    if share < LEAST {
        return None;
    }
    let claimed = waits;
    let rows = calls.iter().map(|call| call.row).step_by(calls.len() / MOST_LOOKED_AT + 1);
    let seen = case.seen_during(rows);
    // Where each call has a state of its own, all of them are one.
    let apart = case.loop_apart().filter(|apart| apart.share >= MOST_OF);
    let instead = match &apart {
        Some(apart) => format!("iterations over `{}` don't depend on each other: one call under `jax.vmap` would suffice", short(apart.over)),
        None => "`jax.lax.scan` would run it on the device".to_owned(),
    };
    let finding = Finding::new(format!(
        "the device waits {} of the time between {} of the small compiled function `{function}` in a Python loop; {instead}",
        percent(share),
        count(calls.len() as u64, "call", "calls"),
    ))
    .at(calls.first().and_then(|call| case.line_of_row(call.row)))
    .seen(seen.as_ref())
    .about(Subject::Module(program.row))
    .number("calls in the analyzed time", Quantity::new(calls.len() as f64, Unit::Count, Basis::Counted))
    .number("device work per call", Quantity::nanos(each_ns, Basis::Measured))
    .number("idle between and in the calls", case.per_unit(ns))
    .why("Python dispatches every call, which takes about as long as such a small step, and XLA can't fuse across calls")
    .help(if apart.is_some() { APART } else { "move the loop into the compiled function: use `jax.lax.scan` over the keys or inputs of the steps and return the values you keep, or `jax.lax.fori_loop`; if the host has to check results occasionally, scan over blocks of steps" })
    .claims(claimed.iter().copied());
    // A step long enough to be dispatched during the one before it waits for what blocks the host, which has a rule of its own.
    let blocked = case.waited_part();
    let of_blocking = claimed.iter().filter_map(|(at, part)| Some((*at, part.min(*blocked.get(at)?))));
    let is_blocked = each_ns > DISPATCH_NS && case.share_of(of_blocking) > 0.5 * share;
    let is_elsewhere = seen.as_ref().is_some_and(|seen| is_elsewhere(case, &claimed, &seen.place));
    let finding = if share < WORTH_A_WARNING || is_blocked || is_elsewhere { finding.information() } else { finding };
    Some((share, case.unless_brief(finding)))
}

/// What helps where no call needs the result of another.
const APART: &str = "stack the arguments of all calls (`jax.tree.map(lambda *x: jnp.stack(x), *members)`; `eqx.filter_vmap` for Equinox modules), and call the function once under `jax.vmap`";

/// Whether looks in the waiting found the host mostly in other code of the program than the call: an environment or a memory of samples
/// in Python can't move into the compiled function with it.
fn is_elsewhere(case: &Case<'_>, claim: &[(usize, f32)], place: &Place) -> bool {
    let trace = case.trace();
    let is_at = |stack: &PythonStack| {
        let innermost = stack.places.first().and_then(|place| trace.python.places.get(*place as usize));
        innermost.is_some_and(|found| found.line == place.line && trace.strings.get(found.file) == place.file)
    };
    let count = |wanted: &dyn Fn(&PythonStack) -> bool| case.looks_in(claim, wanted).values().sum::<u64>();
    let (all, at) = (count(&|_| true), count(&is_at));
    all >= FEWEST_LOOKS && 2 * at < all
}

/// The calls of each of the program's own functions that is called again and again without compiling, in order.
fn loops<'a>(case: &Case<'a>) -> Vec<Vec<Call<'a>>> {
    let mut by_function: FxHashMap<&'a str, Vec<Call<'a>>> = FxHashMap::default();
    for call in case.recurring_calls(FEWEST, |call| call.compile_ns == 0) {
        by_function.entry(call.function).or_default().push(call);
    }
    let mut found: Vec<Vec<Call<'a>>> = by_function.into_values().collect();
    found.iter_mut().for_each(|calls| calls.sort_by_key(|call| (call.process, call.span)));
    found.sort_by_key(|calls| calls.first().map(|call| call.function));
    found
}

/// Whether a program returns arrays of the shapes of its arguments, as a step that goes on from its state does.
fn feeds_itself(module: &HloModule) -> bool {
    let Some(entry) = module.entry.map(|entry| module.computation(entry)) else { return false };
    let Some(root) = entry.root.map(|root| module.instruction(root)) else { return false };
    let is_array = |shape: &&Shape| shape.element_count().is_ok_and(|count| count > 1);
    let parameters: Vec<&Shape> = entry
        .instruction_ids()
        .map(|id| module.instruction(id))
        .filter(|instruction| instruction.parameter_number.is_some())
        .map(|parameter| &parameter.shape)
        .collect();
    let is_argument = |shape: &Shape| {
        let same = |known: &&Shape| known.dimensions == shape.dimensions && known.element_type == shape.element_type;
        parameters.iter().any(same)
    };
    root.shape.leaves().into_iter().filter(is_array).any(is_argument)
}

/// Time in which the host had not launched the next program.
fn is_dispatch(part: &IdlePart) -> bool {
    let by_host = matches!(part.cause, Cause::HostLate | Cause::LaunchCall | Cause::LaunchLatency);
    by_host && !matches!(part.activity, Activity::Loading | Activity::Compiling | Activity::Profiler)
}
