//! Most of the time goes to kernels that do little with each number, one after the other.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::kernels::names_by_time;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::kernel_category;
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventKind, EventRow};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "unfused-eager",
    group: Group::Compute,
    summary: "Eager elementwise work is not fused",
    document: include_str!("unfused_eager.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Below this part of the time, such kernels are what every model has between its products.
const LEAST: f64 = 0.4;
/// What one fused kernel still takes: it reads what the first of them read and writes what the last wrote, and of what is
/// between, some is needed again.
const GONE: f64 = 0.5;
/// Below this part of the time the saving is not worth a change.
const LEAST_GONE: f64 = 0.1;

/// What fuses them.
const FUSE: &str = "use `torch.compile(model)`, which fuses each run into one kernel; without it, use norms and activations that are one operator (`torch.nn.functional.layer_norm`, `rms_norm`, `gelu`), operators that do two things (`addcmul`, `lerp`), operators in place (`mul_`), and `fused=True` for the optimizer";
/// The same for the update of parameters.
const UPDATE: &str = "use `torch.optim` with `fused=True` (or `foreach=True`), `torch.optim.swa_utils.AveragedModel` or `torch._foreach_lerp_` for averages of weights, and `lerp_`, `addcmul_` and `mul_` in place of new arrays";
/// Operators whose place is asked for.
const MOST_ROWS: usize = 4096;

/// What a kernel is to a compiler that fuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Work on elements, which can join what is before and behind it.
    Fuses,
    /// A product, a collective or other work that keeps its neighbors apart.
    Parts,
    /// A view, or a range around others: no work to speak of.
    Nothing,
}

/// Kernels that follow each other with nothing between that parts them.
#[derive(Debug, Default)]
struct Run {
    rows: Vec<(u32, i64)>,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    if case.framework() != Framework::Torch || is_compiled(case) {
        return Ok(Vec::new());
    }
    let runs = runs(case);
    let rows = || runs.iter().flat_map(|run| &run.rows).copied();
    let all = case.parts_of_events(rows());
    let share = case.share_of(all);
    let gone = |run: &Run| GONE * (1.0 - 1.0 / run.rows.len().max(1) as f64);
    let part = |run: &Run| {
        let gone = gone(run);
        run.rows.iter().map(move |(row, ns)| (*row, (*ns as f64 * gone) as i64)).collect::<Vec<_>>()
    };
    let claim = case.parts_of_events(runs.iter().flat_map(part));
    if share < LEAST || case.share_of(claim.iter().copied()) < LEAST_GONE {
        return Ok(Vec::new());
    }
    let events = &case.trace().events;
    let names = names_by_time(case, rows().map(|(row, ns)| (events.name[row as usize], ns)));
    let longest = runs.iter().max_by_key(|run| run.rows.iter().map(|(_, ns)| ns).sum::<i64>());
    let example = longest.and_then(|run| run.rows.iter().max_by_key(|(_, ns)| *ns)).map(|(row, _)| *row);
    let work = example.and_then(|row| case.place_of(row)).and_then(|at| case.work().find(|work| work.at == at));
    let count = rows().count();
    let on_processors = case.is_on_processors();
    // Where most of it is called, if looks tell that.
    let seen = if on_processors { case.seen_during(rows().map(|(row, _)| row).take(MOST_ROWS)) } else { None };
    let place = seen.map(|seen| seen.place).or_else(|| work.and_then(|work| case.line_of(&work).or_else(|| case.line_by_looks(&work))));
    let is_update = place.as_ref().is_some_and(|place| case.is_over_parameters(place));
    let message = if is_update {
        format!("{} of the time goes to elementwise operators, mostly in a hand-written update of the parameters, one operator after the other", percent(share))
    } else {
        format!("{} of the time goes to unfused elementwise, copy and reduction kernels, run operator by operator", percent(share))
    };
    let finding = Finding::new(message)
    .at(place)
    .about(example.and_then(EventRow::known).map(Subject::Event))
    .number("unfused kernels", case.count_per_unit(count as u64))
    .number(
        "unfused kernels in a row, on average",
        Quantity::new((count as f64 / runs.len().max(1) as f64).round(), Unit::Count, Basis::Counted),
    )
    .fact(format!("most of it in {}", list(&names, 3)))
    .why("each kernel reads its arrays from memory and writes its result back, for one or two operations per element")
    .help(if is_update { UPDATE } else { FUSE })
    .claims(claim);
    // On a processor the caches hold much of what lies between, and not every program gains.
    Ok(vec![if on_processors { finding.information() } else { finding }])
}

/// Whether Inductor or a tracing compiler fused what the program does.
fn is_compiled(case: &Case<'_>) -> bool {
    let words = ["triton_poi", "triton_red", "triton_per", "CompiledFxGraph", "Torch-Compiled Region"];
    case.trace().strings.iter().any(|name| words.iter().any(|word| name.contains(word)))
}

/// The runs of work on elements in the judged time, on each track.
fn runs(case: &Case<'_>) -> Vec<Run> {
    let (trace, frame) = (case.trace(), case.analyzed());
    let events = &trace.events;
    let mut roles: FxHashMap<u32, Role> = FxHashMap::default();
    let mut found = Vec::new();
    for track in trace.device_tracks() {
        let Some(spans) = frame.spans.get(track.process as usize) else { continue };
        let (mut run, mut until) = (Run::default(), i64::MIN);
        for row in track.rows.clone() {
            let at = row as usize;
            if !events.kind(at).is_device_work() || !spans.contains(events.start_ns[at]) {
                continue;
            }
            let role = *roles.entry(events.name[at]).or_insert_with(|| role(events.kind(at), trace.name(at)));
            // What is inside of what was counted is a part of it.
            if role == Role::Fuses && events.start_ns[at] >= until {
                run.rows.push((row, events.dur_ns[at].max(0)));
                until = events.end_ns(at);
            } else if role == Role::Parts {
                found.push(std::mem::take(&mut run));
            }
        }
        found.push(run);
    }
    found.retain(|run| !run.rows.is_empty());
    found
}

fn role(kind: EventKind, name: &str) -> Role {
    // A copy between memories parts nothing: it is not the program's arithmetic.
    if !kind.is_compute() {
        return Role::Nothing;
    }
    match kernel_category(name) {
        "elementwise" | "copy kernel" | "reduction" | "normalization" | "softmax" | "optimizer" | "memset kernel" => {
            Role::Fuses
        }
        "matrix product" | "convolution" | "attention" | "collective" | "indexing" | "embedding" | "sort" | "scan"
        | "pooling" | "resampling" | "fast Fourier transform" => Role::Parts,
        // On a processor most names are of views and of ranges around others.
        _ if kind == EventKind::DeviceOp => Role::Nothing,
        _ => Role::Parts,
    }
}
