//! Some ranks compute longer than others.

use crate::case::Case;
use crate::collectives::{Exposure, meetings};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use ridge_analysis::Need;
use crate::words::percent;
use ridge_analysis::models::collectives::rank_of;
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::ProcessRow;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    id: "imbalance-of-work",
    group: Group::Devices,
    summary: "Load imbalance across ranks",
    document: include_str!("imbalance_of_work.md"),
    asks: &[Question::Device, Question::Ranks],
    explains: &["straggler", "exposed-collectives"],
    needs: &[Need::of::<Exposure>()],
    find: Find::Causes(find),
};

/// The busiest rank computes at least so many times as long as the median rank.
const UNEVEN: f64 = 1.2;
/// Below this part of the time the waits are not worth a look.
const LEAST: f64 = 0.01;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let met = meetings(case);
    if met.len() < 3 {
        return Ok(Vec::new());
    }
    let mut ranks = compute_of_processes(case);
    let joined: FxHashSet<u32> = met.iter().flat_map(|meeting| &meeting.parts).map(|part| part.process).collect();
    ranks.retain(|(process, _)| joined.contains(process));
    ranks.sort_by_key(|(process, ns)| (*ns, *process));
    let (Some(least), Some(most), Some(median)) =
        (ranks.first(), ranks.last(), ranks.get(ranks.len().saturating_sub(1) / 2))
    else {
        return Ok(Vec::new());
    };
    let excess_ns = most.1.saturating_sub(median.1);
    if ranks.len() < 2 || median.1 <= 0 || (most.1 as f64) < UNEVEN * median.1 as f64 {
        return Ok(Vec::new());
    }
    // Only waits for the busiest rank come from its work, and no more of them than it computes longer.
    let mut waits: Vec<(u32, u32, i64)> = Vec::new();
    for meeting in met.iter().filter(|meeting| meeting.last().is_some_and(|last| last.process == most.0)) {
        waits.extend(meeting.parts.iter().map(|part| (part.process, part.collective.event, meeting.wait_ns(part))));
    }
    let mut by_process: FxHashMap<u32, i64> = FxHashMap::default();
    for (process, _, ns) in &waits {
        let sum = by_process.entry(*process).or_default();
        *sum = sum.saturating_add(*ns);
    }
    let limited = waits.iter().map(|(process, row, ns)| {
        let all = by_process.get(process).copied().unwrap_or(0).max(1);
        (*row, (*ns as f64 * (excess_ns as f64 / all as f64).min(1.0)) as i64)
    });
    let claim = case.parts_of_events(limited);
    let share = case.share_of(claim.iter().copied());
    if share < LEAST {
        return Ok(Vec::new());
    }
    let ratio = most.1 as f64 / median.1 as f64;
    let (busiest, idlest) = (rank_of(case.trace(), most.0), rank_of(case.trace(), least.0));
    let finding = Finding::new(format!("rank {busiest} computes {ratio:.1} times as long as the median rank, and the other ranks wait for it {} of the time", percent(share)))
        .about(Subject::Process(ProcessRow(most.0)))
        .number(format!("compute time of rank {busiest}"), Quantity::nanos(most.1, Basis::Measured))
        .number(format!("compute time of rank {idlest}, the shortest"), Quantity::nanos(least.1, Basis::Measured))
        .number("busiest-to-median ratio", Quantity::new(ratio, Unit::Number, Basis::Measured))
        .why("the work is unevenly distributed, and a collective can't finish until the busiest rank joins it")
        .help("distribute the work by its cost: sequences by length, embedding tables by lookups, layers by time, experts by load")
        .claims(claim);
    Ok(vec![finding])
}

/// Device time of each process in the judged time without its collectives, nanoseconds, by row of the processes table.
fn compute_of_processes(case: &Case<'_>) -> Vec<(u32, i64)> {
    let collectives: FxHashSet<usize> = case.exposure().rows.iter().map(|row| row.at).collect();
    let mut sums: FxHashMap<u32, i64> = FxHashMap::default();
    for work in case.work().filter(|work| work.kind.is_compute() && !collectives.contains(&work.at)) {
        let Some(device) = case.trace().devices.get(work.row.device.index()) else { continue };
        let sum = sums.entry(device.process).or_default();
        *sum = sum.saturating_add(work.row.ns);
    }
    sums.into_iter().collect()
}
