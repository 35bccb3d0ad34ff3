//! The device waits for the next batch.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::slack::Slack;
use crate::words::percent;
use ridge_analysis::{Activity, Need, PythonLooks};
use ridge_replay::{Action, Edit};
use ridge_table::Subject;

pub(crate) static RULE: Rule = Rule {
    id: "data-loading",
    group: Group::Host,
    summary: "Input-bound: device waits for the data loader",
    document: include_str!("data_loading.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &["host-bound-dispatch"],
    needs: &[Need::of::<Slack>(), Need::of::<PythonLooks>()],
    find: Find::Causes(find),
};

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.03;
/// The same on processors, where workers would load on the cores that compute.
const LEAST_ON_PROCESSORS: f64 = 0.20;
/// The part of the looks that find rows of a data set being taken and joined, from which on that is what is waited for.
const MOST_ROWS: f64 = 0.3;
/// The part of the looks that find workers starting or ending, from which on that is what is waited for.
const MOST_STARTS: f64 = 0.2;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let waits: Vec<_> = case.idle().filter(|idle| idle.activity == Activity::Loading).collect();
    // What a rank then waits for a slower one in a collective, it loses anyway.
    let ns = waits.iter().map(|idle| (idle.row.ns as f64 * f64::from(case.part_that_counts(idle))) as i64).sum();
    let least = if case.is_on_processors() { LEAST_ON_PROCESSORS } else { LEAST };
    if case.share(ns) < least {
        return Ok(Vec::new());
    }
    let loaders = case.host_rows(|_, name| is_loader(name));
    let longest = waits.iter().max_by_key(|idle| idle.row.ns);
    let has_workers = loaders.iter().any(|row| case.trace().name(*row as usize).contains("MultiProcessing"));
    let claim: Vec<(usize, f32)> = waits.iter().map(|idle| (idle.at, case.part_that_counts(idle))).collect();
    let help = if has_workers && starts_workers(case, &claim) {
        "keep the workers from one pass over the data to the next: `DataLoader(..., persistent_workers=True)`; for a small data set in memory `num_workers=0` is faster"
    } else if has_workers {
        "give the loader more workers or less to do: decode and augment ahead of time, or on the device"
    } else if takes_rows(case, &claim) {
        "take a whole batch at once in place of row by row: a `BatchSampler` as `sampler` with `batch_size=None`, so that `__getitem__` gets all indices of a batch, or index the tensors themselves; if reading a row takes long, `num_workers`"
    } else {
        "load in other processes: `DataLoader(..., num_workers=4, pin_memory=True, persistent_workers=True)`, or prefetch in a thread"
    };
    let seen = case.seen_in(&claim);
    let example = longest.and_then(|idle| idle.row.example);
    let finding = Finding::new(format!("the device is idle {} of the time, waiting for the data loader", percent(case.share(ns))))
        .at(example.and_then(|row| case.line_of_row(row.0)))
        .about(example.map(Subject::Event))
        .number("idle while data was loaded", case.per_unit(ns))
        .why("the next batch is made by the thread that launches the work, or is not ready when it is needed")
        .help(help)
        .seen(seen.as_ref())
        .claims(claim)
        .edit(Edit { rows: loaders, action: Action::HostScale(0.0) });
    Ok(vec![finding])
}

/// Whether much of the waiting is for workers to start or to end.
fn starts_workers(case: &Case<'_>, claim: &[(usize, f32)]) -> bool {
    part_in(case, claim, &["multiprocessing/", "_shutdown_workers", "_MultiProcessingDataLoaderIter.__init__"]) >= MOST_STARTS
}

/// Whether much of the waiting is for rows that are taken one by one and joined.
fn takes_rows(case: &Case<'_>, claim: &[(usize, f32)]) -> bool {
    part_in(case, claim, &["_utils/collate.py", "_utils/fetch.py"]) >= MOST_ROWS
}

/// The part of the looks during `claim` whose innermost function is in one of `files`.
fn part_in(case: &Case<'_>, claim: &[(usize, f32)], files: &[&str]) -> f64 {
    let is_in = |innermost: &str| files.iter().any(|file| innermost.contains(file));
    let all: u64 = case.looks_in(claim, |_| true).values().sum();
    let inside = case.looks_in(claim, |stack| is_in(case.trace().strings.get(stack.innermost)));
    inside.values().sum::<u64>() as f64 / all.max(1) as f64
}

/// Whether a range of that name is the loader's own, as PyTorch and TensorFlow call them.
fn is_loader(name: &str) -> bool {
    name.contains("DataLoader") || name.contains("Iterator::GetNext") || name.contains("IteratorGetNext")
}
