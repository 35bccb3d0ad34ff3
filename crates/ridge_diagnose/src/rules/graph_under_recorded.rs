//! Work was launched that the capture does not have.

use crate::case::Case;
use crate::fitness::{Doubt, Question};
use crate::launched::{Call, Launched, Launches, without_work};
use crate::losses::advice_for_device_work;
use crate::rule::{Find, Group, Rule};
use ridge_analysis::Need;
use std::collections::BTreeMap;

pub(crate) static RULE: Rule = Rule {
    id: "graph-under-recorded",
    group: Group::Fitness,
    summary: "Launched work missing from the capture",
    document: include_str!("graph_under_recorded.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<Launches>()],
    find: Find::Doubts(find),
};

/// Fewest calls without work that say anything: launches that fail and kernels still running at the end are few.
const FEWEST: u64 = 3;
/// Above this part of the calls, idle time cannot be told from time that was not recorded; of whole captures none is missing.
const LOST: f64 = 0.10;
/// Above this part most is missing, and no time of the device can be told.
const MOST: f64 = 0.50;
/// Fewest steps that are compared.
const STEPS: usize = 4;

fn find(case: &Case<'_>, doubts: &mut Vec<Doubt>) {
    // A processor has no graphs: its work is recorded by the threads that do it, whichever step they are ahead of or behind.
    if case.breakdown().busy_ns() == 0 {
        return;
    }
    let processes = &case.analysis.get::<Launches>().0;
    let lost = (0..).zip(processes).filter(|(_, process)| process.work > 0 && process.is_linked());
    let lost = lost.filter_map(|(row, process)| of_process(process, works_to_the_end(case, row, process)));
    if let Some((message, part)) = lost.max_by(|a, b| a.1.total_cmp(&b.1)) {
        doubts.push(doubt(case, message, part));
    } else if !case.is_on_processors() && processes.iter().all(|process| process.work == 0 || process.is_linked()) {
        doubts.extend(of_steps(case, processes).map(|(message, part)| doubt(case, message, part)));
    }
}

fn doubt(case: &Case<'_>, message: String, part: f64) -> Doubt {
    let blocks = match part > MOST {
        true => vec![Question::Device, Question::Idle, Question::Steps],
        false => vec![Question::Idle],
    };
    // Fewer steps fit the recorder's buffers.
    let command = advice_for_device_work(case, "ridgeline record --steps 10..12 -- python PROGRAM.py");
    Doubt { message, command: Some(command.to_owned()), blocks }
}

/// Whether the devices of the process at `row` still worked when its capture ended.
fn works_to_the_end(case: &Case<'_>, row: u32, process: &Launched) -> bool {
    let Some((first, last)) = case.trace().process_span_ns(row) else { return false };
    last.saturating_sub(process.last_end_ns) <= last.saturating_sub(first) / 100
}

/// What of a process's launches is missing, and the part of them.
fn of_process(process: &Launched, works_to_the_end: bool) -> Option<(String, f64)> {
    let lost_part = |calls: &[Call]| {
        // What was still in the queue then would have run after it.
        let seen = if works_to_the_end { calls.iter().rposition(|call| call.has_work)? + 1 } else { calls.len() };
        let calls = &calls[..seen];
        // As much work without a call may be theirs.
        let lost = without_work(calls);
        let part = lost as f64 / calls.len().max(1) as f64;
        (lost >= FEWEST && lost > process.unlinked && part > LOST).then_some(part)
    };
    let (graphs, kernels) = (&process.graphs[..], &process.kernels[..]);
    if let Some(part) = lost_part(graphs) {
        let have = graphs.len() as u64 - without_work(graphs);
        let message = format!("the host launched {} graphs, but the capture contains the work of {have}", graphs.len());
        return Some((message, part));
    }
    let part = lost_part(kernels)?;
    let last = kernels.iter().rposition(|call| call.has_work).map_or(0, |last| last + 1);
    let (lost, after) = (without_work(kernels), kernels.len() - last);
    let message = match after as u64 > lost / 2 {
        true => {
            format!("the last {after} of {} kernels launched by the host are missing from the capture", kernels.len())
        }
        false => format!("{lost} of {} kernels launched by the host are missing from the capture", kernels.len()),
    };
    Some((message, part))
}

/// What is missing where most steps have no device work and others do.
fn of_steps(case: &Case<'_>, processes: &[Launched]) -> Option<(String, f64)> {
    let mut by_process: BTreeMap<u32, BTreeMap<i64, u64>> = BTreeMap::new();
    for step in &case.analysis.steps().rows {
        let Some(track) = case.trace().track_of(step.event.0) else { continue };
        *by_process.entry(track.process).or_default().entry(step.number).or_default() += step.events;
    }
    let counts = by_process.into_iter().filter_map(|(row, steps)| {
        let works_to_the_end = works_to_the_end(case, row, processes.get(row as usize)?);
        let last = steps.values().rposition(|events| *events > 0)?;
        let seen = if works_to_the_end { last + 1 } else { steps.len() };
        let empty = steps.values().take(seen).filter(|events| **events == 0).count();
        (seen >= STEPS).then_some((empty, seen))
    });
    let (empty, all) = counts.max_by_key(|(empty, _)| *empty)?;
    let share = empty as f64 / all as f64;
    (share > MOST).then(|| (format!("{empty} of {all} steps have no device work, but the others do"), share))
}
