//! One function is compiled again and again.

use crate::arguments::name_of;
use crate::calls::Call;
use crate::case::{Case, Framework};
use crate::finding::{Finding, Place};
use crate::fitness::{CannotTell, Question};
use crate::known::{Compiled, CompiledAgain};
use crate::rule::{Find, Group, Rule};
use crate::recurring::work_between;
use crate::words::{function_name, list, percent};
use ridge_analysis::{Activity, Life, Need, Per, is_primitive};
use ridge_hlo::{HloModule, Instruction, Literal};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{Module, ModuleRow, Trace};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) static RULE: Rule = Rule {
    id: "recompilation",
    group: Group::Host,
    summary: "Repeated recompilation",
    document: include_str!("recompilation.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["python-loop-of-eager-ops", "host-bound-dispatch", "host-pause"],
    needs: &[Need::of::<Life>()],
    find: Find::Causes(find),
};

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.01;
/// Programs of one name below which shapes are not said to keep changing: one for training and one for what is left over.
const LEAST_PROGRAMS: usize = 3;

/// The same where it can only be told, because no steps are marked: setting up compiles small functions a few times, too.
const LEAST_TOLD: usize = 5;
/// Programs of one function that are compiled until the types of its state have settled, at most.
const SETTLED: usize = 3;

/// The part of the recorded life from which on fewer count, too.
const MOST_OF_LIFE: f64 = 0.20;

/// The same of compiling again alone, long after the first time.
const MOST_OF_LIFE_AGAIN: f64 = 0.12;
/// The part of the life without all compiling that lies between the first and the last of them at least.
const LEAST_BETWEEN: f64 = 0.08;

/// Shapes that the layers of a program have at most.
const MOST_LAYERS: usize = 64;

/// The part of the work that lies between the first and the last compilation of a function that is compiled again and again. What sets up
/// compiles all that it needs before most of the work begins.
const LEAST_WORK: f64 = 0.25;

/// The part of marked steps that compiling takes, above which it counts even if it happens in few of them.
const MOST_OF_STEPS: f64 = 0.25;

/// Why a compiled program was not found again.
enum Reason {
    /// Shapes of its arguments differ: one line for each that does.
    Shapes(Vec<String>),
    /// Types of its arguments differ.
    Types(Vec<String>),
    /// Numbers of Python and arrays take turns.
    Weak,
    /// It has another number of arrays, as a list that grows has.
    Structure,
    /// Values that are compiled in differ.
    Values,
    /// Nothing differs: Python made the function anew.
    Anew,
}

impl Reason {
    fn words(&self) -> &'static str {
        match self {
            Reason::Shapes(_) => "for arguments of different shapes; padding to a few shapes would avoid it",
            Reason::Types(_) => "for arguments of different types; one type for all calls would avoid it",
            Reason::Weak => "because its arguments alternate between Python numbers and arrays; arrays in all calls would avoid it",
            Reason::Structure => "because lists or dictionaries in its arguments change length; a fixed structure would avoid it",
            Reason::Values => "for new values of static arguments or captured variables; passing them as arrays would avoid it",
            Reason::Anew => "each time to the same program; creating the jitted function once would avoid it",
        }
    }

    /// What is said of `name`: JAX compiles `lax.cond` and its like by themselves outside of `jax.jit`, with new functions each time.
    fn words_of(&self, name: &str) -> String {
        let is_by_function = matches!(self, Reason::Values | Reason::Anew);
        if is_by_function && matches!(name, "cond" | "while" | "scan" | "switch" | "fori_loop") {
            let name = if name == "while" { "while_loop" } else { name };
            return format!("because `lax.{name}` runs outside of `jax.jit`, with new functions each time; `jax.jit` around its caller, made once, would avoid it");
        }
        self.words().to_owned()
    }

    fn explained(&self, finding: Finding) -> Finding {
        match self {
            Reason::Shapes(_) => finding
                .why("a compiled program handles one shape and type of each argument, so every new shape or type causes a recompilation")
                .help("pad the changing arguments to a few fixed sizes, and pass changing numbers as arrays, not through `static_argnums`"),
            Reason::Types(_) => finding
                .why("a compiled program handles one type of each argument, so an array of another type causes a recompilation")
                .help("convert the arguments to one type before the call: `jnp.asarray(x, jnp.float32)`; look for NumPy float64 and integer arrays"),
            Reason::Weak => finding
                .why("a Python number has a weak type, which differs from the type of an array")
                .help("always pass numbers as arrays: `jnp.float32(x)` or `jnp.asarray(x, dtype)`"),
            Reason::Structure => finding
                .why("a compiled program handles one structure of its arguments, so a list with one more element causes a recompilation")
                .help("keep the structure fixed: use a full-length array with a count of the used elements, or `jnp.stack` the list once"),
            Reason::Values => finding
                .why("a static argument or captured number is a constant of the compiled program, so every new value causes a recompilation")
                .help("pass changing values as ordinary arguments, not through `static_argnums`, `static_argnames` or a closure; with `eqx.filter_jit`, pass numbers as arrays"),
            Reason::Anew => finding
                .why("`jax.jit` caches compiled programs by function object, and a `lambda`, inner function or `functools.partial` created in every call is a new object each time")
                .help("create the jitted function, or the solver, model or optimizer that contains it, once, outside of repeatedly called code, and pass changing values as arguments"),
        }
    }
}

/// The programs of one name.
struct Programs<'a> {
    name: &'a str,
    count: usize,
    reason: Reason,
    example: Option<ModuleRow>,
    /// Time in the compiler for all but the first, where the recorder knows it, nanoseconds.
    compile_ns: Option<i64>,
    /// The line that had most of them compiled, where the recorder knows it.
    place: Option<Place>,
    /// The calls that compiled it in the judged time, in order; none where the capture does not tell calls.
    calls: Vec<Call<'a>>,
    /// Whether it is a single operation, and each program of it is for other shapes, as initializers make for each layer.
    is_of_layers: bool,
}

impl Programs<'_> {
    /// Time in the compiler for all but the first, nanoseconds: as the calls show, else as the recorder says.
    fn again_ns(&self) -> i64 {
        // The first call of all has to compile; it may have been before the recording began.
        let first = usize::from(self.calls.len() >= self.count);
        let traced = self.calls.iter().skip(first).fold(0_i64, |sum, call| sum.saturating_add(call.compile_ns));
        if traced > 0 { traced } else { self.compile_ns.unwrap_or(0) }
    }
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() == Framework::Torch {
        return Ok(of_dynamo(case).into_iter().collect());
    }
    // Each capture of a benchmark is of one call after others, which its results tell more of.
    if let Some(again) = &case.known.compiled_again {
        return Ok(again.iter().map(|again| of_benchmark(case, again)).collect());
    }
    let waits: Vec<_> = case.idle().filter(|idle| idle.activity == Activity::Compiling).collect();
    let ns = waits.iter().fold(0_i64, |sum, idle| sum.saturating_add(idle.row.ns));
    // Without marked steps compilation is left out of what is judged, and can only be told.
    let is_left_out = case.analyzed().per == Per::Capture && case.analyzed().compilation_ns > 0;
    let compiling = compiling_calls(case);
    let is_told = is_left_out || case.share(ns) < LEAST && compiling.values().any(|compiling| compiling.takes_life);
    if !is_told && case.share(ns) < LEAST {
        return Ok(Vec::new());
    }
    let life_ns = case.analysis.get::<Life>().whole_ns;
    let is_enough = |programs: &Programs<'_>| {
        let is_own = !is_primitive(function_name(programs.name)) && !is_of_jax(function_name(programs.name));
        let takes_most = is_own && programs.again_ns() as f64 >= MOST_OF_LIFE * life_ns as f64;
        !is_told || programs.count >= LEAST_TOLD || takes_most
    };
    let programs = programs(case, compiling, LEAST_PROGRAMS, ns).into_iter().filter(is_enough);
    let Some(most) = programs.max_by_key(|programs| (!programs.is_of_layers, programs.again_ns(), programs.count)) else { return Ok(Vec::new()) };
    let function = function_name(most.name);
    let again = compiled_again(case, &most);
    let launching = case.idle_in(again.iter().flat_map(|(_, calls)| calls));
    let longest = waits.iter().max_by_key(|idle| idle.row.ns).and_then(|idle| idle.row.example);
    let message = match is_told {
        true => format!("`{function}` was compiled {} times, {}", most.count, most.reason.words_of(function)),
        false => format!(
            "the device waits {} of the time for compilation: `{function}` was compiled {} times, {}",
            percent(case.share(ns)),
            most.count,
            most.reason.words_of(function),
        ),
    };
    // Where the recorder did not say who had it compiled, looks at the program's Python may.
    let seen = case.seen_during(again.iter().flat_map(|(_, calls)| calls.iter().map(|call| call.row)));
    let mut finding = Finding::new(message)
        .at(most.place.clone().or_else(|| longest.and_then(|row| case.line_of_row(row.0))))
        .seen(seen.as_ref())
        .about(most.example.map(Subject::Module))
        .number("programs with this name", Quantity::new(most.count as f64, Unit::Count, Basis::Counted));
    if let Reason::Shapes(changes) | Reason::Types(changes) = &most.reason {
        finding = changes.iter().take(3).fold(finding, |finding, change| finding.fact(change.clone()));
    }
    finding = most.reason.explained(finding);
    if is_told {
        let spent = Quantity::nanos(case.analyzed().compilation_ns, Basis::Measured);
        let finding = finding.number("compiling after the first device work, all functions", spent);
        let traced_ns = again.iter().flat_map(|(_, calls)| calls).fold(0_i64, |sum, call| sum.saturating_add(call.compile_ns));
        // Ranks have a call each; the recorder's own times are of one.
        let ns = if traced_ns > 0 { Some(traced_ns) } else { most.compile_ns };
        let Some(ns) = ns.map(|ns| ns.min(case.analyzed().compilation_ns)) else { return Ok(vec![finding.information()]) };
        let others: Vec<&str> = again.iter().map(|(name, _)| *name).filter(|name| *name != function).collect();
        let verb = if others.len() == 1 { "makes or takes" } else { "make or take" };
        let with = if others.is_empty() { String::new() } else { format!(", and {} that {verb} its arrays", list(&others, 3)) };
        let finding = finding.number(format!("compiling `{function}` again{with}"), Quantity::nanos(ns, Basis::Measured));
        let held_ns = (case.share_of(launching.iter().copied()) * case.breakdown().whole_ns() as f64) as i64;
        let finding = match held_ns {
            0 => finding,
            _ => finding.number("additional idle time while Python traced and launched the programs", case.per_unit(held_ns)),
        };
        let finding = finding.beside(ns).claims(launching);
        // What a library compiles before the steady part is how it initializes.
        let is_of_library = is_primitive(function) || is_of_jax(function);
        let is_steady = |call: &Call<'_>| {
            case.analyzed().spans.get(call.process as usize).is_some_and(|spans| spans.contains(call.span.0))
        };
        let recurs = again.iter().flat_map(|(_, calls)| calls).any(is_steady);
        let is_set_up = is_of_library && (!recurs || most.place.as_ref().is_some_and(|place| case.is_run_once(place)));
        // Types that settle in the first steps cost the same however long the program runs.
        let settles = !recurs && most.count <= SETTLED;
        return Ok(vec![match (most.is_of_layers, is_set_up || settles) {
            (true, _) => of_layers(finding),
            (false, true) => finding.information(),
            (false, false) => finding,
        }]);
    }
    let finding = finding.number("idle while programs were compiled", case.per_unit(ns));
    Ok(vec![finding.claims(waits.iter().map(|idle| (idle.at, 1.0)).chain(launching))])
}

/// Initializing compiles operations once for each shape of a layer, and once again for the next model: no loop, though it takes time.
fn of_layers(finding: Finding) -> Finding {
    finding
        .fact("each program has different shapes; an initializer needs one per layer")
        .why("outside of `jax.jit`, each operation is a separate program, compiled once per shape")
        .help("jit the initialization function (`jax.jit(network.init)`), which compiles all of its operations as one program")
        .information()
}

/// What `torch.compile` compiled again, of the function that took longest, as the recorder noted it.
fn of_dynamo(case: &Case<'_>) -> Option<Finding> {
    let all = case.known.notes.iter().filter_map(|note| CompiledByDynamo::read(&note.message));
    let most = all.max_by(|a, b| a.seconds.total_cmp(&b.seconds)).filter(|most| most.times >= 2)?;
    let shapes = ["size", "shape", "stride", "rank"].iter().any(|word| most.guards.contains(word));
    let (fix, why) = match shapes {
        true => ("`dynamic=True`, or padding to a few shapes, would avoid it", "a compiled graph is guarded by the shapes it was made for"),
        false => ("a tensor in place of the Python value would avoid it", "a compiled graph is guarded by the Python values that it read, which became constants of it"),
    };
    let finding = Finding::new(format!(
        "`torch.compile` compiled `{}` again {} times, because {} was no longer true; {fix}",
        most.function, most.times, most.guards,
    ))
    .at(Some(Place { file: most.file.to_owned(), line: most.line, is_inferred: false }))
    .number("compiling it again", Quantity::nanos((most.seconds * 1e9) as i64, Basis::Measured))
    .why(why)
    .help("keep counters, schedules and temperatures in buffers of the module or pass them in as tensors, and mark changing sizes with `torch._dynamo.mark_dynamic`; after 8 compilations the function runs without being compiled (`TORCH_LOGS=recompiles` prints the reasons)")
    .beside((most.seconds * 1e9) as i64);
    Some(finding)
}

/// A note of the recorder: `` `NAME` (FILE:LINE) was compiled again N times, S s: no longer true was GUARDS ``.
#[derive(Debug, PartialEq)]
struct CompiledByDynamo<'n> {
    function: &'n str,
    file: &'n str,
    line: u32,
    times: u32,
    seconds: f64,
    guards: &'n str,
}

impl<'n> CompiledByDynamo<'n> {
    fn read(note: &'n str) -> Option<CompiledByDynamo<'n>> {
        let (function, rest) = note.strip_prefix('`')?.split_once("` (")?;
        let (place, rest) = rest.split_once(") was compiled again ")?;
        let (file, line) = place.rsplit_once(':')?;
        let (times, rest) = rest.split_once(", ")?;
        let times = if times == "once" { 1 } else { times.split(' ').next()?.parse().ok()? };
        let (seconds, guards) = rest.split_once(" s: no longer true was ")?;
        Some(CompiledByDynamo { function, file, line: line.parse().ok()?, times, seconds: seconds.parse().ok()?, guards })
    }
}

/// What a benchmark says of an operation that compiles in every call.
fn of_benchmark(case: &Case<'_>, again: &CompiledAgain) -> Finding {
    let trace = case.trace();
    let is_it = |module: &Module| again.module.as_deref() == Some(trace.strings.get(module.name));
    let module = (0..).zip(&trace.modules).find(|(_, module)| is_it(module)).map(|(row, _)| ModuleRow(row));
    // The captures' longest wait for the compiler may be another operation's, so no line is named.
    let finding = Finding::new(again.says.clone())
        .about(module.map(Subject::Module))
        .number("compilation per call", Quantity::nanos(again.compile_ns, Basis::Measured))
        .beside(again.compile_ns);
    Reason::Anew.explained(finding)
}

/// The calls that compiled `most` again, and between them those of functions that were compiled about as often: what makes or takes
/// arrays of new shapes is compiled for each of them, too. The first call of each has to compile in any case.
fn compiled_again<'a>(case: &Case<'a>, most: &Programs<'a>) -> Vec<(&'a str, Vec<Call<'a>>)> {
    let function = function_name(most.name);
    let mut by_function: BTreeMap<&'a str, Vec<Call<'a>>> = BTreeMap::new();
    let ends = most.calls.first().zip(most.calls.last()).map(|(first, last)| (first.span.0, last.span.1));
    let is_between = |call: &Call<'_>| ends.is_none_or(|(from, until)| (from..=until).contains(&call.span.0));
    for call in case.calls().into_iter().filter(|call| call.compile_ns > 0 && is_between(call)) {
        by_function.entry(call.function).or_default().push(call);
    }
    by_function.retain(|name, calls| *name == function || calls.len() > most.count / 2);
    by_function.values_mut().for_each(|calls| {
        calls.sort_by_key(|call| call.span);
        calls.remove(0);
    });
    by_function.into_iter().collect()
}

/// The calls of one function that compiled in the judged time, in order, and the windows of the process that made them.
#[derive(Default)]
struct Compiling<'a> {
    calls: Vec<Call<'a>>,
    /// How many compiled in all, outside of the judged time, too.
    all: usize,
    windows: Vec<u32>,
    /// Whether that took much of the recorded life.
    takes_life: bool,
}

/// The calls that compiled in the judged time, by function, of the process with most of them.
fn compiling_calls<'a>(case: &Case<'a>) -> BTreeMap<&'a str, Compiling<'a>> {
    let windows = case.windows();
    let mut found: BTreeMap<&'a str, BTreeMap<usize, Vec<Call<'a>>>> = BTreeMap::new();
    for call in case.calls().into_iter().filter(|call| call.compile_ns > 0) {
        let of = windows.iter().position(|windows| windows.contains(&call.process)).unwrap_or(0);
        found.entry(call.function).or_default().entry(of).or_default().push(call);
    }
    let of_function = |(function, by_process): (&'a str, BTreeMap<usize, Vec<Call<'a>>>)| {
        let (of, mut calls) = by_process.into_iter().max_by_key(|(_, calls)| calls.len())?;
        let (windows, all) = (windows.get(of)?.clone(), calls.len());
        let (from, until) = case.judged_of(&windows)?;
        calls.sort_by_key(|call| call.span);
        if takes_life(case, function, &calls) {
            return Some((function, Compiling { calls, all, windows, takes_life: true }));
        }
        calls.retain(|call| call.span.1 >= from && call.span.0 <= until);
        Some((function, Compiling { calls, all, windows, takes_life: false }))
    };
    found.into_iter().filter_map(of_function).collect()
}

/// Whether compiling a function of the program's own again took much of the recorded life, long after the first call: what is judged may
/// begin only behind the last of them.
fn takes_life(case: &Case<'_>, function: &str, calls: &[Call<'_>]) -> bool {
    let (Some(first), Some(last)) = (calls.first(), calls.last()) else { return false };
    if is_primitive(function) || is_of_jax(function) || calls.len() < 2 {
        return false;
    }
    let again: i64 = calls.iter().skip(1).fold(0, |sum, call| sum.saturating_add(call.compile_ns));
    let life_ns = case.analysis.get::<Life>().whole_ns;
    // What all compile before they begin lies close together.
    let inner: i64 = calls[1..calls.len() - 1].iter().fold(0, |sum, call| sum.saturating_add(call.compile_ns));
    let between = last.span.0.saturating_sub(first.span.1).saturating_sub(inner);
    let compiling_s: f64 = case.known.compilations.iter().map(|compiled| compiled.compile_s).sum();
    let other = (life_ns as f64 - compiling_s * 1e9).max(0.0);
    again as f64 >= MOST_OF_LIFE_AGAIN * life_ns as f64 && between as f64 >= LEAST_BETWEEN * other
}

/// Whether a function of the program's own is what the program compiles most, always from one line and mostly while nothing was captured.
fn is_mostly_unseen(case: &Case<'_>, recorded: &Compiled, known: &Compiling<'_>, least: usize) -> bool {
    let all_s: f64 = case.known.compilations.iter().map(|compiled| compiled.compile_s).sum();
    let is_of_one_line = recorded.calls.first().is_some_and(|call| call.count >= least as u64 && call.count * 2 > recorded.count);
    is_of_one_line
        && !is_primitive(function_name(&recorded.module))
        && recorded.compile_s * 2.0 > all_s
        && (known.all as u64).saturating_mul(2) < recorded.count
}

/// Whether they compile all through the judged work: those that all lie before or after most of it do not.
fn recurs(case: &Case<'_>, Compiling { calls, windows, .. }: &Compiling<'_>) -> bool {
    let ends = calls.first().zip(calls.last());
    ends.is_some_and(|(first, last)| work_between(case, windows, first.span.0, last.span.1) >= LEAST_WORK)
}

/// Names with several programs: what the recorder wrote of them, else what their HLO shows. Devices waited `waited_ns` for compilation.
fn programs<'a>(
    case: &Case<'a>,
    mut compiling: BTreeMap<&'a str, Compiling<'a>>,
    least: usize,
    waited_ns: i64,
) -> Vec<Programs<'a>> {
    let trace = case.trace();
    // A capture whose calls are known tells when each compiled.
    let tells_calls = !compiling.is_empty();
    let mut by_name: BTreeMap<&'a str, Vec<u32>> = BTreeMap::new();
    let mut known: BTreeSet<(u32, u32, u64)> = BTreeSet::new();
    for (row, module) in (0..).zip(&trace.modules) {
        // Ranks of one program compile it once each.
        if known.insert((module.process, module.name.0, module.program_id)) {
            by_name.entry(trace.strings.get(module.name)).or_default().push(row);
        }
    }
    let mut found = Vec::new();
    for (name, rows) in by_name {
        let recorded = case.known.compilations.iter().find(|compiled| compiled.module == name);
        let per_process = rows.len() / processes(trace, &rows).max(1);
        let count =
            recorded.map_or(0, |compiled| usize::try_from(compiled.count).unwrap_or(usize::MAX)).max(per_process);
        if count < least {
            continue;
        }
        let known = compiling.remove(function_name(name)).unwrap_or_default();
        // The first step, in which most is compiled, is not judged.
        let fewest = if case.analyzed().per == Per::Step { least - 1 } else { least };
        let is_unseen = known.takes_life || recorded.is_some_and(|recorded| is_mostly_unseen(case, recorded, &known, least));
        if tells_calls && known.calls.len() < fewest && !is_unseen {
            continue;
        }
        let call = recorded.and_then(|compiled| compiled.calls.first()).filter(|call| call.count >= LEAST_PROGRAMS as u64);
        // A single operation is compiled once for every shape that it is ever called with: one line has to do so again and again.
        if is_primitive(function_name(name)) && (known.calls.is_empty() || call.is_none_or(|call| call.count < least as u64)) {
            continue;
        }
        // Asked last, because it looks at all work.
        let is_most_of_steps = case.analyzed().per == Per::Step && case.share(waited_ns) >= MOST_OF_STEPS;
        if tells_calls && !is_unseen && !is_most_of_steps && !recurs(case, &known) {
            continue;
        }
        let calls = known.calls;
        let changes = match recorded.filter(|compiled| compiled.parameters.len() > 1) {
            Some(compiled) => vec![format!("called with {}", list(&compiled.parameters, 4))],
            None => changes(case, &rows),
        };
        let by_types = call.and_then(|call| by_types(&call.types, &changes));
        let reason = match by_types {
            Some(reason) => reason,
            None if !changes.is_empty() => Reason::Shapes(changes),
            // One line calls one function: what differs is compiled in. A lambda is made at that line each time.
            None if call.is_some() && !name.contains("_lambda") && differ_in_values(case, &rows) => Reason::Values,
            None if are_the_same(case, &rows) => Reason::Anew,
            None if call.is_some() => Reason::Values,
            None => continue,
        };
        let place = call.map(|call| Place { file: call.file.clone(), line: call.line, is_inferred: false });
        let again = |compiled: &Compiled| {
            let part = (compiled.count.saturating_sub(1)) as f64 / compiled.count.max(1) as f64;
            (1e9 * compiled.compile_s * part) as i64
        };
        let compile_ns = recorded.map(again).filter(|ns| *ns > 0);
        let example = rows.first().map(|row| ModuleRow(*row));
        let count = if calls.is_empty() || is_unseen || case.analyzed().per == Per::Step { count } else { calls.len() };
        let is_single = is_primitive(function_name(name)) || is_of_jax(function_name(name));
        let is_of_layers = is_single && is_once_per_shape(case, &rows);
        found.push(Programs { name, count, reason, example, compile_ns, place, calls, is_of_layers });
    }
    found
}

/// Whether a function of that name is one of JAX's own that makes or sums arrays: initializers call it for each layer.
fn is_of_jax(function: &str) -> bool {
    const NAMES: [&str; 18] = [
        "_truncated_normal",
        "_normal",
        "_normal_real",
        "_uniform",
        "_randint",
        "_bernoulli",
        "_gamma",
        "_qr",
        "_orthogonal",
        "_where",
        "_mean",
        "_var",
        "_std",
        "_pad",
        "_take",
        "_roll",
        "_linspace",
        "_broadcast_arrays",
    ];
    NAMES.contains(&function) || function.starts_with("_reduce_") || function.starts_with("_threefry_")
}

/// Whether each of the programs at `rows`, few enough to be of layers, takes or makes arrays of shapes of its own, so that none was
/// compiled twice for the same.
fn is_once_per_shape(case: &Case<'_>, rows: &[u32]) -> bool {
    let shapes_of = |row: &u32| {
        let of = |one: &Instruction| (one.opcode.to_string(), one.shape.dimensions.clone(), one.dimensions.clone());
        Some(hlo(case, *row)?.instructions.iter().map(of).collect::<Vec<_>>())
    };
    let shapes: Vec<_> = rows.iter().filter_map(shapes_of).collect();
    let different: BTreeSet<_> = shapes.iter().collect();
    !shapes.is_empty() && different.len() == shapes.len() && shapes.len() <= MOST_LAYERS
}

/// How the lists of types of one call differ; `None` where they are one.
fn by_types(types: &[Vec<String>], changes: &[String]) -> Option<Reason> {
    let (first, others) = types.split_first()?;
    if others.is_empty() || types.iter().any(Vec::is_empty) {
        return None;
    }
    if others.iter().any(|other| other.len() != first.len()) {
        return Some(Reason::Structure);
    }
    let pairs = || others.iter().flat_map(|other| first.iter().zip(other));
    let shape = |text: &str| text.find('[').map(|at| text[at..].split(']').next().unwrap_or_default().to_owned());
    let element = |text: &str| text.split('[').next().unwrap_or_default().to_owned();
    Some(match () {
        () if pairs().any(|(a, b)| shape(a) != shape(b)) => Reason::Shapes(changes.to_vec()),
        () if pairs().any(|(a, b)| element(a) != element(b)) => Reason::Types(changes.to_vec()),
        () if pairs().any(|(a, b)| a != b) => Reason::Weak,
        () => return None,
    })
}

fn processes(trace: &Trace, rows: &[u32]) -> usize {
    let of = |row: &u32| trace.modules.get(*row as usize).map(|module| module.process);
    rows.iter().filter_map(of).collect::<BTreeSet<u32>>().len()
}

/// The instructions of the program at `row`, where they were recorded.
fn hlo<'a>(case: &Case<'a>, row: u32) -> Option<&'a HloModule> {
    case.analysis.hlo.get(case.trace().modules.get(row as usize)?.hlo? as usize)
}

/// How the parameters of the programs differ; nothing where they have other parameters, and so are other functions.
fn changes(case: &Case<'_>, rows: &[u32]) -> Vec<String> {
    let mut shapes: BTreeMap<i64, (String, Vec<String>)> = BTreeMap::new();
    let mut count = None;
    for module in rows.iter().filter_map(|row| hlo(case, *row)) {
        let found = parameters(module);
        if *count.get_or_insert(found.len()) != found.len() {
            return Vec::new();
        }
        for (number, name, shape) in found {
            let (_, known) = shapes.entry(number).or_insert_with(|| (name, Vec::new()));
            if !known.contains(&shape) {
                known.push(shape);
            }
        }
    }
    let changed = shapes.into_values().filter(|(_, shapes)| shapes.len() > 1);
    changed.map(|(name, shapes)| format!("`{name}` was {}", list(&shapes, 4))).collect()
}

/// Whether the programs at `rows`, two or more, are one and the same, instruction by instruction; values of constants aside, which
/// may be what the function was made of.
fn are_the_same(case: &Case<'_>, rows: &[u32]) -> bool {
    let all: Option<Vec<&HloModule>> = rows.iter().map(|row| hlo(case, *row)).collect();
    let same = |a: &Instruction, b: &Instruction| {
        (&a.opcode, &a.shape, &a.operands, &a.called) == (&b.opcode, &b.shape, &b.operands, &b.called)
            && a.metadata.op_name == b.metadata.op_name
    };
    let Some((first, others)) = all.as_deref().and_then(|all| all.split_first()) else { return false };
    let is_like_first = |other: &&HloModule| {
        other.instructions.len() == first.instructions.len()
            && first.instructions.iter().zip(&other.instructions).all(|(a, b)| same(a, b))
    };
    !others.is_empty() && others.iter().all(is_like_first)
}

/// Whether the programs at `rows`, two or more, differ although their parameters do not: in constants, or in what was made of them.
fn differ_in_values(case: &Case<'_>, rows: &[u32]) -> bool {
    let all: Vec<&HloModule> = rows.iter().filter_map(|row| hlo(case, *row)).collect();
    let Some((first, others)) = all.split_first() else { return false };
    let literals = |module: &'_ HloModule| -> Vec<Option<Literal>> {
        module.instructions.iter().map(|instruction| instruction.literal.as_deref().cloned()).collect()
    };
    let known = literals(first);
    others.iter().any(|other| other.instructions.len() != first.instructions.len() || literals(other) != known)
}

/// Number, name and shape of each parameter of a program.
fn parameters(module: &HloModule) -> Vec<(i64, String, String)> {
    let of_entry =
        (0..).zip(&module.instructions).filter(|(_, instruction)| Some(instruction.computation) == module.entry);
    let parameters = of_entry.filter_map(|(at, instruction)| {
        let id = ridge_hlo::InstructionId(at);
        Some((instruction.parameter_number?, name_of(module, id), shape_words(instruction)))
    });
    parameters.collect()
}

fn shape_words(instruction: &ridge_hlo::Instruction) -> String {
    let dimensions: Vec<String> = instruction.shape.dimensions.iter().map(ToString::to_string).collect();
    format!("[{}]", dimensions.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_the_recorder_are_read() {
        let note = "`forward` (net.py:59) was compiled again 7 times, 7.4 s: no longer true was `self.updates == 0`";
        let read = CompiledByDynamo::read(note).expect("a note");
        assert_eq!((read.function, read.file, read.line, read.times, read.seconds), ("forward", "net.py", 59, 7, 7.4));
        assert_eq!(read.guards, "`self.updates == 0`");
        assert_eq!(CompiledByDynamo::read("`forward` broke the graph"), None);
        assert_eq!(CompiledByDynamo::read("`f` (None) was compiled again x, y"), None);
    }

    #[test]
    fn types_tell_why_a_program_was_not_found_again() {
        let said = |lists: &[&[&str]]| {
            let types: Vec<Vec<String>> =
                lists.iter().map(|list| list.iter().map(|text| (*text).to_owned()).collect()).collect();
            by_types(&types, &[]).map_or("-", |reason| reason.words())
        };
        assert_eq!(said(&[&["float32[8]", "int32[]"]]), "-");
        assert_eq!(said(&[&["float32[8]"], &["float32[9]"]]), "for arguments of different shapes; padding to a few shapes would avoid it");
        assert_eq!(said(&[&["float32[8]"], &["float64[8]"]]), "for arguments of different types; one type for all calls would avoid it");
        assert_eq!(
            said(&[&["float32[]"], &["float32[] weak"]]),
            "because its arguments alternate between Python numbers and arrays; arrays in all calls would avoid it"
        );
        assert_eq!(
            said(&[&["float32[8]"], &["float32[8]", "float32[8]"]]),
            "because lists or dictionaries in its arguments change length; a fixed structure would avoid it"
        );
        assert_eq!(said(&[&[], &["float32[8]"]]), "-");
    }
}
