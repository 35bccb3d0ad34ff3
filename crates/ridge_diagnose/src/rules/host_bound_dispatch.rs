//! The host launches work more slowly than the device does it.

use crate::calls::called;
use crate::case::{Case, Framework, IdleTime};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::pauses::{is_by_host, is_own_code, short_part};
use super::library_part::most_of_host;
use crate::rule::{Find, Group, Rule};
use crate::slack::Slack;
use crate::words::{function_name, list, percent, short};
use crate::recurring::LaunchingOnProcessors;
use crate::waits::DeviceWaits;
use ridge_analysis::{Cause, Life, Need, PythonLooks};
use ridge_hlo::HloModule;
use ridge_table::Subject;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "host-bound-dispatch",
    group: Group::Host,
    summary: "Launch-bound: host can't keep the device busy",
    document: include_str!("host_bound_dispatch.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["many-small-kernels"],
    needs: &[Need::of::<Slack>(), Need::of::<PythonLooks>(), Need::of::<LaunchingOnProcessors>(), Need::of::<DeviceWaits>(), Need::of::<Life>()],
    find: Find::Causes(find),
};

/// Below this part of the time, launching is not what holds a program back.
const LEAST: f64 = 0.10;
/// The part of looks that a loop has which most is launched from.
const MOST_OF: f64 = 0.5;
/// The same on a processor, where it shares cores with the work, and recording makes small work longer.
const LEAST_ON_PROCESSORS: f64 = 0.30;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let waits: Vec<IdleTime<'_>> = case.idle().filter(is_dispatch).filter(|idle| short_part(case, idle) > 0.0).collect();
    let on_processors = case.is_on_processors();
    // There what follows a call that waits is that call's, and what the host does meanwhile has causes of its own.
    let waited: FxHashMap<usize, f32> = if on_processors { case.waited_part() } else { FxHashMap::default() };
    let launching = case.launching_part();
    // What a rank then waits for a slower one in a collective, it loses anyway.
    let part = |idle: &IdleTime<'_>| {
        let own = (1.0 - waited.get(&idle.at).copied().unwrap_or(0.0)).min(1.0 - case.part_with_cause(idle.at));
        (short_part(case, idle) * case.part_that_counts(idle)).min(own.max(0.0)) * launching
    };
    let ns = waits.iter().map(|idle| (idle.row.ns as f64 * f64::from(part(idle))) as i64).sum();
    let share = case.share(ns);
    if share < if on_processors { LEAST_ON_PROCESSORS } else { LEAST } {
        return Ok(Vec::new());
    }
    let mut sums: FxHashMap<&str, i64> = FxHashMap::default();
    for idle in &waits {
        let Some(name) = idle.name else { continue };
        let sum = sums.entry(name).or_default();
        *sum = sum.saturating_add(idle.row.ns);
    }
    let mut by_name: Vec<(&str, i64)> = sums.into_iter().collect();
    by_name.sort_by_key(|(name, ns)| (std::cmp::Reverse(*ns), *name));
    let names: Vec<&str> = by_name.iter().map(|(name, _)| *name).collect();
    let longest = waits.iter().max_by_key(|idle| idle.row.ns).and_then(|idle| idle.row.example);
    let pieces = case.work().map(|work| work.row.events).sum();
    let claim: Vec<(usize, f32)> = waits.iter().map(|idle| (idle.at, part(idle))).collect();
    let seen = case.seen_in(&claim);
    let crowded = names.iter().take(NAMED).find_map(|name| crowded(case, name));
    let library = most_of_host(case);
    let message = match &crowded {
        Some(crowded) => format!(
            "the device waits {} of the time for the host, mostly to launch `{}` with {} arguments, most of them tiny arrays",
            percent(share),
            crowded.function,
            crowded.arrays
        ),
        None => {
            let part = library.and_then(|part| part.does.strip_prefix("is host time "));
            let part = part.map(|part| format!(", mostly {part}")).unwrap_or_default();
            let around = if part.is_empty() { in_loop(case) } else { String::new() };
            format!("the device waits {} of the time for the host to launch its next work{part}{around}", percent(share))
        }
    };
    let (why, help) = match (crowded, library) {
        (Some(_), _) => (
            "each array passed to or returned from a compiled function costs the host a few microseconds per call",
            "stack arrays of the same shape once, and use `jax.vmap` or the new axis instead of a loop over them",
        ),
        (None, Some(part)) => (part.why, part.help),
        (None, None) => (
            "Python or the framework launches each piece of work separately, and the launch takes longer than the work",
            advice(case.framework()),
        ),
    };
    let mut finding =
        Finding::new(message)
            .at(longest.and_then(|row| case.line_of_row(row.0)))
            .about(longest.map(Subject::Event))
            .number("idle while the host prepared the next launch", case.per_unit(ns))
            .number("kernels, copies and operations", case.count_per_unit(pieces))
            .why(why)
            .help(help)
            .claims(claim);
    if !names.is_empty() {
        finding = finding.fact(format!("most of it in {}", list(&names, NAMED)));
    }
    Ok(vec![case.unless_brief(case.unless_steered(finding.seen(seen.as_ref())))])
}

/// The loop of the program's Python that launches most, and what would take its place in JAX.
fn in_loop(case: &Case<'_>) -> String {
    let found = if case.framework() == Framework::Jax { case.inner_loop() } else { None };
    let Some(found) = found.filter(|found| found.share >= MOST_OF) else { return String::new() };
    let over = short(found.over);
    match found.is_apart {
        true => format!(", mostly in a Python loop over `{over}` with iterations that don't depend on each other; one call under `jax.vmap` would suffice"),
        false => format!(", mostly in a Python loop over `{over}`; `jax.lax.scan` would run it in one call"),
    }
}

/// A function with so many arguments that passing them is what its launch takes.
struct Crowded<'a> {
    function: &'a str,
    arrays: usize,
}

/// Whether the call `name` launches a program with many arguments, most of them tiny.
fn crowded<'a>(case: &Case<'a>, name: &'a str) -> Option<Crowded<'a>> {
    let (function, trace) = (called(name)?, case.trace());
    let of_function = trace.modules.iter().filter(|module| function_name(trace.strings.get(module.name)) == function);
    let sizes = |module: &HloModule| -> Vec<u64> {
        let of_entry = module.instructions.iter().filter(|instruction| Some(instruction.computation) == module.entry);
        let parameters = of_entry.filter(|instruction| instruction.parameter_number.is_some());
        parameters.map(|instruction| instruction.shape.dimensions.iter().fold(1_u64, |size, extent| size.saturating_mul(extent.unsigned_abs()))).collect()
    };
    let programs = of_function.filter_map(|module| case.analysis.hlo.get(module.hlo? as usize)).map(sizes);
    let arguments = programs.max_by_key(Vec::len)?;
    let tiny = arguments.iter().filter(|size| **size <= TINY).count();
    (arguments.len() >= MANY_ARRAYS && tiny * 2 > arguments.len()).then_some(Crowded { function, arrays: arguments.len() })
}

/// Arguments of one program that take the host longer to pass than a small program runs: over 1 µs each.
const MANY_ARRAYS: usize = 200;
/// What the host did in most of the idle time, so many of it.
const NAMED: usize = 3;
/// An array of so few elements could be one of many in another.
const TINY: u64 = 64;

/// Time that the host took to launch, and not to wait, load, compile or allocate.
fn is_dispatch(idle: &IdleTime<'_>) -> bool {
    is_by_host(idle) || matches!(idle.cause, Cause::LaunchCall | Cause::LaunchLatency) && is_own_code(idle.activity)
}

fn advice(framework: Framework) -> &'static str {
    match framework {
        Framework::Jax => {
            "compile more at once: one `jax.jit` around the whole step, and `jax.lax.fori_loop` or `scan` instead of a Python loop"
        }
        Framework::Torch => {
            "launch more at once: `torch.compile(model, mode=\"reduce-overhead\")`, CUDA graphs, larger batches, fused optimizers"
        }
        Framework::Other => "launch more at once: CUDA graphs, fused kernels, larger batches",
    }
}
