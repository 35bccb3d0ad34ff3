//! A function that measures how good the state is runs as often as the step that improves it, each time on the same data.

use super::frozen_work::{results_of, updated};
use crate::arguments::{behind_each, name_of};
use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::OperatorCalls;
use crate::programs::{Program, programs, take_turns};
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Looks, Need, PythonLooks};
use ridge_hlo::{HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventKind, PythonPlace, StringId};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "evaluated-each-step",
    group: Group::Structure,
    summary: "Evaluation in every training step",
    document: include_str!("evaluated_each_step.md"),
    asks: &[Question::Device],
    explains: &["hot-line", "kernel-hotspot", "unfused-eager", "small-operators", "unused-gradients", "unexplained-work"],
    needs: &[Need::of::<Lines>(), Need::of::<OperatorCalls>(), Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.25;
/// Runs from which on it is no chance that both run as often.
const RUNS: u64 = 8;
/// Numbers that a measure of quality has at most.
const MOST_RESULTS: u64 = 64;
/// Instructions of a program that is looked at.
const MOST: usize = 1 << 14;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() == Framework::Torch {
        return Ok(of_torch(case).into_iter().collect());
    }
    case.needs_hlo()?;
    // Few captures have looks at Python, and all arguments of all programs are many.
    if case.trace().python.watched.iter().all(|watched| watched.steady.is_empty()) {
        return Ok(Vec::new());
    }
    let often = programs(case).into_iter().map(|program| (program.runs(), program)).filter(|(runs, _)| *runs >= RUNS);
    let (steps, others): (Vec<_>, Vec<_>) = often.partition(|(_, program)| updates(program));
    let of_program = |(runs, program): &(u64, Program<'_>)| {
        let (_, step) = steps.iter().find(|(times, _)| take_turns(*runs, *times))?;
        finding(case, program, *runs, step)
    };
    Ok(others.iter().filter_map(of_program).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>, runs: u64, step: &Program<'_>) -> Option<Finding> {
    let module = program.module;
    let entry = module.entry?;
    let ran: Vec<InstructionId> = program.ran.keys().copied().collect();
    let share = case.share(program.ns_of(&ran));
    let is_small = |id: &InstructionId| module.instruction(*id).shape.element_count().is_ok_and(|count| count <= MOST_RESULTS);
    if share < LEAST || !results_of(module, entry).iter().all(is_small) {
        return None;
    }
    // The data are the same each time, and the state is not.
    let (steady, looks) = case.steady(program).filter(|(steady, _)| !steady.is_empty())?;
    let is_new = |id: &InstructionId| module.instruction(*id).opcode == "parameter" && !steady.contains(id);
    module.computation(entry).instruction_ids().find(is_new)?;
    let (function, step) = (program.function(case), step.function(case));
    let names: Vec<String> = steady.iter().take(2).map(|id| name_of(module, *id)).collect();
    let message = format!(
        "{} of the time goes to `{function}`, called in every step like `{step}` and always on the same {}; evaluating every N steps would suffice for a log",
        percent(share),
        list(&names, 2),
    );
    let first = program.longest_first(&ran).first().copied()?;
    Some(
        Finding::new(message)
            .at(case.line_of_calls(function).or_else(|| place_of(case, program, first)))
            .about(Subject::Module(program.row))
            .number("runs in the analyzed time", Quantity::new(runs as f64, Unit::Count, Basis::Counted))
            .fact(format!("it returns a few numbers only; all {looks} looks at the program found the same arrays"))
            .why("an evaluation on a whole data set takes longer than a step on a batch, and tells little more in each step than in some of them")
            .help("call it only when its result is used (`if step % log_every == 0`), on a part of the data, or once per epoch")
            .claims(program.claim(&ran, 1.0))
            .information(),
    )
}

/// How functions that measure how good a model is are called.
const WORDS: [&str; 6] = ["eval", "valid", "accuracy", "metric", "perplexity", "test_"];
/// Evaluations that must be seen, and steps between two of them at most.
const FEWEST: usize = 3;
const MOST_STEPS: usize = 20;
/// Of the looks at an evaluation that fell into an operator, the part that autograd may record: what trains is no evaluation.
const MOST_RECORDED: f64 = 0.2;

/// The same of a PyTorch program: by the names of its functions, between steps of its optimizers, and without gradients.
fn of_torch(case: &Case<'_>) -> Option<Finding> {
    let (trace, python) = (case.trace(), &case.trace().python);
    let is_one = |place: &PythonPlace| WORDS.iter().any(|word| trace.strings.get(place.function).to_ascii_lowercase().contains(word));
    let looks: Looks = case.looks_where(is_one);
    let all = case.analysis.get::<PythonLooks>();
    let share = looks.values().sum::<u64>() as f64 / all.count.max(1) as f64;
    if share < LEAST {
        return None;
    }
    let (mut times, mut recorded, mut asked) = (0_usize, 0_usize, 0_usize);
    let is_recorded = |process: u32, at: i64| {
        let calls = &case.operator_calls().calls;
        let next = calls.partition_point(|call| (call.process, call.span.0) <= (process, at));
        let call = next.checked_sub(1).map(|found| &calls[found]).filter(|call| call.process == process && call.span.1 >= at)?;
        Some(call.rows().any(|row| trace.recorded.binary_search(&row).is_ok()))
    };
    for thread in python.threads.iter().filter(|thread| thread.is_main) {
        let Some(spans) = case.analyzed().spans.get(thread.process as usize) else { continue };
        let mut was_in = true;
        for (at, stack) in thread.at_ns.iter().zip(&thread.stack).filter(|(at, _)| spans.contains(**at)) {
            let is_in = looks.contains_key(stack);
            times += usize::from(is_in && !was_in);
            was_in = is_in;
            if let Some(is_recorded) = is_recorded(thread.process, *at).filter(|_| is_in) {
                asked += 1;
                recorded += usize::from(is_recorded);
            }
        }
    }
    let in_judged = |row: &u32| {
        let process = trace.track_of(*row).map_or(0, |track| track.process);
        case.analyzed().spans.get(process as usize).is_some_and(|spans| spans.contains(trace.events.start_ns[*row as usize]))
    };
    let steps = case.host_rows(|kind, name| kind == EventKind::Annotation && name.starts_with("Optimizer.step#"));
    let steps = steps.iter().filter(|row| in_judged(row)).count();
    if times < FEWEST || steps < times || steps > MOST_STEPS * times || recorded as f64 > MOST_RECORDED * asked as f64 {
        return None;
    }
    // The outermost such function, where it is called.
    let mut names: FxHashSet<StringId> = FxHashSet::default();
    let mut callers = Looks::default();
    for (row, count) in &looks {
        let Some(stack) = python.stacks.get(*row as usize) else { continue };
        let places: Vec<&PythonPlace> = stack.places.iter().filter_map(|place| python.places.get(*place as usize)).collect();
        let Some(at) = places.iter().rposition(|place| is_one(place)) else { continue };
        names.insert(places[at].function);
        if let Some(caller) = stack.places.get(at + 1) {
            *callers.entry(*caller).or_default() += count;
        }
    }
    let caller = callers.into_iter().max_by_key(|(row, count)| (*count, std::cmp::Reverse(*row)));
    let place = caller.and_then(|(row, _)| python.places.get(row as usize)).map(|place| case.place_of_python(place));
    let mut names: Vec<&str> = names.into_iter().map(|name| trace.strings.get(name)).collect();
    names.sort_unstable();
    let every = (steps as f64 / times as f64).round();
    Some(
        Finding::new(format!(
            "{} of the time goes to evaluation ({}), about every {} of training; evaluating less often, or on a part of the data, would suffice",
            percent(share),
            list(&names, 2),
            if every > 1.0 { format!("{every:.0} steps") } else { "step".to_owned() },
        ))
        .at(place)
        .number("evaluations seen, at least", Quantity::new(times as f64, Unit::Count, Basis::Counted))
        .number("optimizer steps in the same time", Quantity::new(steps as f64, Unit::Count, Basis::Counted))
        .fact("known by the name of the function, and by operators without gradients".to_owned())
        .why("an evaluation on a whole data set takes longer than a step on a batch, and tells little more in each step than in some of them")
        .help("evaluate once per epoch or every N steps (`if step % eval_every == 0`), on a fixed part of the data, in large batches and under `torch.inference_mode()`")
        .claims(case.claim_of_all(share))
        .unknown_amount()
        .information(),
    )
}

/// Whether a program returns new values of its arguments.
fn updates(program: &Program<'_>) -> bool {
    let module: &HloModule = program.module;
    let Some(entry) = module.entry.filter(|entry| module.computation(*entry).instruction_ids().len() <= MOST) else { return false };
    let is_array = |id: &InstructionId| module.instruction(*id).shape.element_count().is_ok_and(|count| count > MOST_RESULTS);
    updated(module, entry, &behind_each(module, entry)).iter().any(is_array)
}
