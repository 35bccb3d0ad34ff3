//! The device waits for the next batch.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::parts::UNPACKING_IN;
use crate::rule::{Find, Group, Rule};
use crate::slack::Slack;
use crate::words::{count, percent, short};
use ridge_analysis::{Activity, Need, PythonLooks};
use ridge_replay::{Action, Edit};
use ridge_table::Subject;
use std::collections::BTreeMap;

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
/// The part of the looks from which on a function of an item is named.
const MOST_OF_ITEM: f64 = 0.4;
/// Fewer passes start their workers anyway.
const FEWEST_PASSES: u64 = 3;
/// The part of the waiting that is the longest wait of each pass, from which on workers that start are what is waited for.
const MOST_FIRST: f64 = 0.5;
/// The part of the looks that find batches being handed over, from which on that is what is waited for.
const MOST_HANDED: f64 = 0.3;
/// The part of the looks that find workers starting or ending, from which on that is what is waited for.
const MOST_STARTS: f64 = 0.2;
/// The same of an archive that is unpacked.
const UNPACKS: f64 = 1.0 / 3.0;

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
    let restarted = restarted(case, &loaders);
    let help = if restarted.is_some() || has_workers && starts_workers(case, &claim) {
        "keep the workers between passes over the data: `DataLoader(..., persistent_workers=True)`; for a small in-memory data set, `num_workers=0` is faster"
    } else if has_workers && hands_over(case, &claim) {
        "passing a batch between processes takes longer than making it: load in the main process (`num_workers=0`), or use larger batches"
    } else if has_workers {
        "add loader workers or reduce their work: decode and augment ahead of time, or on the device"
    } else if takes_rows(case, &claim) {
        "fetch a whole batch at once instead of row by row: pass a `BatchSampler` as `sampler` with `batch_size=None`, and `__getitem__` gets all indices of a batch; or index the tensors directly; if reading a row is slow, set `num_workers`"
    } else {
        "load in worker processes: `DataLoader(..., num_workers=4, pin_memory=True, persistent_workers=True)`, or prefetch in a thread"
    };
    let unpacks = part_in(case, &claim, &UNPACKING_IN) > UNPACKS;
    let help = if unpacks {
        "take the arrays from the archive once, in `__init__` (`self.signal = archive[\"signal\"]`): indexing the archive of `numpy.load` reads and decompresses the whole array each time; store what is too large uncompressed (`numpy.save`, `mmap_mode=\"r\"`)"
    } else {
        help
    };
    let seen = case.seen_in(&claim);
    let example = longest.and_then(|idle| idle.row.example);
    let restarts = restarted.map_or_else(String::new, |(workers, passes)| {
        format!(", which starts {} for each of {passes} passes (no `persistent_workers=True`)", count(workers, "new worker process", "new worker processes"))
    });
    let idle = percent(case.share(ns));
    let busiest = match busiest(case, &claim) {
        Some(function) => format!(", for each item mostly in `{function}`"),
        None if unpacks => ", which reads and decompresses an archive (`.npz`) again for each item".to_owned(),
        None => String::new(),
    };
    let rows = if takes_rows(case, &claim) { ", which fetches single rows and collates them instead of whole batches" } else { "" };
    let finding =
        Finding::new(format!("the device is idle {idle} of the time, waiting for the data loader{rows}{restarts}{busiest}"))
        .at(example.and_then(|row| case.line_of_row(row.0)))
        .about(example.map(Subject::Event))
        .number("idle while data was loaded", case.per_unit(ns))
        .why("the thread that launches the work also makes the next batch, or the batch isn't ready in time")
        .help(help)
        .seen(seen.as_ref())
        .claims(claim)
        .edit(Edit { rows: loaders, action: Action::HostScale(0.0) });
    Ok(vec![finding])
}

/// The workers and passes of the loader that starts its workers most often, where the longest wait of each pass, which is for them,
/// is most of what is waited.
fn restarted(case: &Case<'_>, loaders: &[u32]) -> Option<(u64, u64)> {
    let all = case.watched().iter().flat_map(|watched| &watched.restarted_workers);
    let (workers, passes) = all.map(|loader| (loader.workers, loader.passes)).max_by_key(|(_, passes)| *passes)?;
    let mut waits: Vec<i64> = loaders.iter().map(|row| case.trace().events.dur_ns[*row as usize]).collect();
    waits.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
    let (first, all): (i64, i64) =
        (waits.iter().take(usize::try_from(passes).ok()?).sum(), waits.iter().sum());
    (passes >= FEWEST_PASSES && first as f64 >= MOST_FIRST * all as f64).then_some((workers, passes))
}

/// The program's own function in which most of the waiting goes by, if it is one that a data set calls for its items.
fn busiest(case: &Case<'_>, claim: &[(usize, f32)]) -> Option<String> {
    let (places, strings) = (&case.trace().python.places, &case.trace().strings);
    let of = |place: &u32| places.get(*place as usize).map(|place| strings.get(place.function));
    let is_item = |function: &str| function.ends_with("__getitem__") || function.ends_with("__getitems__");
    // `__init__` and its like are everybody's names.
    let is_special = |function: &str| function.ends_with("__") || function == "forward";
    let looks = case.looks_in(claim, |_| true);
    let all: u64 = looks.values().sum();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (stack, count) in &looks {
        let stack = case.trace().python.stacks.get(*stack as usize)?;
        // What an item calls itself; what that calls is a part of it.
        let functions: Vec<&str> = stack.places.iter().filter_map(of).collect();
        let item = functions.iter().position(|function| is_item(function)).filter(|item| *item > 0);
        if let Some(item) = item {
            let named = functions[..item].iter().rev().find(|function| !is_special(function));
            *counts.entry(named.unwrap_or(&functions[item - 1])).or_default() += count;
        }
    }
    let (function, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count as f64 >= MOST_OF_ITEM * all as f64).then(|| short(function))
}

/// Whether much of the waiting is for workers to start or to end.
fn starts_workers(case: &Case<'_>, claim: &[(usize, f32)]) -> bool {
    let starting = ["multiprocessing/popen", "multiprocessing/process", "_shutdown_workers", "_MultiProcessingDataLoaderIter.__init__"];
    part_in(case, claim, &starting) >= MOST_STARTS
}

/// Whether much of the waiting is for batches to come out of the pipe between the processes.
fn hands_over(case: &Case<'_>, claim: &[(usize, f32)]) -> bool {
    // Looks shorten the middle of long paths.
    let handing = ["ion.py:Connection._recv", "ction.py:recvfds", "connection.py:SocketClient", "ction.py:rebuild"];
    part_in(case, claim, &handing) >= MOST_HANDED
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
