//! Device memory is taken from the driver and given back while the program runs.

use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Activity, Per};
use ridge_replay::{Action, Edit};
use ridge_table::Subject;
use ridge_trace::{EventKind, TrackKind};
use std::collections::BTreeSet;

pub(crate) static RULE: Rule = Rule {
    id: "alloc-storm",
    group: Group::Host,
    summary: "Device memory allocated and freed every step",
    document: include_str!("alloc_storm.md"),
    asks: &[Question::Device, Question::Idle, Question::Host],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.02;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let waits: Vec<_> = case.idle().filter(|idle| idle.activity == Activity::Allocating).collect();
    let ns = waits.iter().fold(0_i64, |sum, idle| sum.saturating_add(idle.row.ns));
    if case.share(ns) < LEAST {
        return Ok(Vec::new());
    }
    let rows = case.host_rows(|kind, name| kind <= EventKind::Operator && allocates(name));
    let calls = judged(case, &rows);
    if !come_again(case, &calls) {
        return Ok(Vec::new());
    }
    let longest = waits.iter().max_by_key(|idle| idle.row.ns).and_then(|idle| idle.row.example);
    let names: BTreeSet<&str> = calls.iter().map(|row| case.trace().name(*row as usize)).collect();
    let names: Vec<&&str> = names.iter().collect();
    let finding = Finding::new(format!(
        "the device waits {} of the time while the host allocates or frees device memory",
        percent(case.share(ns)),
    ))
    .at(longest.and_then(|row| case.line_of_row(row.0)))
    .about(longest.map(Subject::Event))
    .number("idle while memory was allocated or freed", case.per_unit(ns))
    .number(format!("calls to {}", list(&names, 3)), case.count_per_unit(calls.len() as u64))
    .why("allocation calls to the driver are slow, and freeing blocks until the device finishes all its work")
    .help(advice(case.framework()))
    .claims(waits.iter().map(|idle| (idle.at, 1.0)))
    .edit(Edit { rows, action: Action::Drop });
    Ok(vec![finding])
}

/// Those of `rows` that are in the judged time.
fn judged(case: &Case<'_>, rows: &[u32]) -> Vec<u32> {
    let (trace, frame) = (case.trace(), case.analyzed());
    let threads = trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread);
    let mut threads: Vec<_> = threads.map(|track| (track.rows.start, track.rows.end, track.process)).collect();
    threads.sort_unstable();
    let is_judged = |row: &u32| {
        let after = threads.partition_point(|(start, _, _)| start <= row);
        let thread = after.checked_sub(1).and_then(|at| threads.get(at)).filter(|(_, end, _)| row < end);
        let spans = thread.and_then(|(_, _, process)| frame.spans.get(*process as usize));
        spans.is_some_and(|spans| spans.contains(trace.events.start_ns[*row as usize]))
    };
    rows.iter().copied().filter(is_judged).collect()
}

/// Whether the calls do not only begin a program: one in each step, or a third of them in the second half of the time.
fn come_again(case: &Case<'_>, calls: &[u32]) -> bool {
    let frame = case.analyzed();
    if frame.per == Per::Step {
        return calls.len() as u64 >= frame.count;
    }
    let spans = || frame.spans.iter().flat_map(|spans| spans.as_slice());
    let (first, last) = (spans().map(|(start, _)| *start).min(), spans().map(|(_, end)| *end).max());
    let Some(middle) = first.zip(last).map(|(first, last)| first.midpoint(last)) else { return false };
    let late = calls.iter().filter(|row| case.trace().events.start_ns[**row as usize] >= middle).count();
    calls.len() >= 6 && late * 3 >= calls.len()
}

/// Whether a call of that name takes memory of a device from the driver, or gives it back.
fn allocates(name: &str) -> bool {
    const CALLS: [&str; 6] = ["cudaMalloc", "cudaFree", "cuMemAlloc", "cuMemFree", "hipMalloc", "hipFree"];
    CALLS.iter().any(|call| name.starts_with(call))
}

fn advice(framework: Framework) -> &'static str {
    match framework {
        Framework::Torch => {
            "let the caching allocator keep its memory: remove `empty_cache()` from the loop, keep shapes constant, set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, and use less memory if the device is full"
        }
        Framework::Jax => "leave `XLA_PYTHON_CLIENT_PREALLOCATE` on and `XLA_PYTHON_CLIENT_ALLOCATOR` unset",
        Framework::Other => "allocate once before the loop, or use a pool: `cudaMallocAsync` with a release threshold",
    }
}
