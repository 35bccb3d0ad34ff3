//! One rank begins collectives later than the others, who wait for it.

use crate::case::Case;
use crate::collectives::{Meeting, meetings};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::slack::{Slack, idle_of_last};
use crate::words::percent;
use ridge_analysis::Need;
use ridge_analysis::models::collectives::rank_of;
use ridge_table::Subject;
use ridge_trace::{EventRow, ProcessRow};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "straggler",
    group: Group::Devices,
    summary: "Straggler rank",
    document: include_str!("straggler.md"),
    asks: &[Question::Device, Question::Ranks],
    explains: &["exposed-collectives"],
    needs: &[Need::of::<Slack>()],
    find: Find::Causes(find),
};

/// Below this part of the time the waits are not worth a look.
const LEAST: f64 = 0.01;
/// Collectives of which one rank must be the last, 0 to 1, and how many there must be to say so.
const MOST: f64 = 0.5;
const FEWEST: usize = 3;

/// What one rank did in the collectives.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    wait_ns: i64,
    times_last: usize,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let met = meetings(case);
    let mut ranks: FxHashMap<u32, Sums> = FxHashMap::default();
    for meeting in &met {
        for part in &meeting.parts {
            let sums = ranks.entry(part.process).or_default();
            sums.wait_ns = sums.wait_ns.saturating_add(meeting.wait_ns(part));
        }
        if let Some(last) = meeting.last() {
            ranks.entry(last.process).or_default().times_last += 1;
        }
    }
    let latest = ranks.iter().max_by_key(|(process, sums)| (sums.times_last, std::cmp::Reverse(**process)));
    let Some((&culprit, sums)) = latest.filter(|_| ranks.len() > 1 && met.len() >= FEWEST) else {
        return Ok(Vec::new());
    };
    // The one that is waited for is the one that waits least; where the two differ, nobody is late as a rule.
    let waits_least = ranks.iter().all(|(process, other)| *process == culprit || other.wait_ns > sums.wait_ns);
    if !waits_least || (sums.times_last as f64) < MOST * met.len() as f64 {
        return Ok(Vec::new());
    }
    let lost: Vec<(u32, i64)> = met.iter().flat_map(|meeting| lost_in(meeting, culprit)).collect();
    let gain = case.share_of(case.parts_of_events(lost.iter().copied()));
    if gain < LEAST {
        return Ok(Vec::new());
    }
    let waited: Vec<(u32, i64)> = met.iter().flat_map(|meeting| waited_in(meeting, culprit)).collect();
    let claim = case.parts_of_events(waited.iter().copied());
    let share = case.share_of(claim.iter().copied());
    let others = (ranks.len() - 1) as i64;
    let own = idle_of_last(case, &met, culprit);
    let own_ns = own.iter().map(|(at, part)| case.breakdown().rows[*at].ns as f64 * f64::from(*part)).sum::<f64>() as i64;
    let rank = rank_of(case.trace(), culprit);
    let sum = |rows: &[(u32, i64)]| rows.iter().fold(0_i64, |sum, (_, ns)| sum.saturating_add(*ns));
    let longest = lost.iter().max_by_key(|(_, ns)| *ns).map(|(row, _)| *row);
    let missing = met.iter().any(|meeting| {
        meeting
            .parts
            .iter()
            .any(|part| part.collective.group_size.is_some_and(|size| size as usize > meeting.parts.len()))
    });
    let mut finding = Finding::new(format!("the other ranks wait {} of the devices' time in collectives for rank {rank}", percent(share)))
        .about(Subject::Process(ProcessRow(culprit)))
        .about(longest.and_then(EventRow::known).map(Subject::Event))
        .fact(format!("rank {rank} is the last to begin in {} of {} collectives", sums.times_last, met.len()))
        .number("average wait of each other rank for it", case.per_unit_of_one(sum(&waited) / others))
        .number("of that beyond the wait for the second-to-last rank", case.per_unit_of_one(sum(&lost) / others))
        .number("wait of the rank itself", case.per_unit_of_one(sums.wait_ns))
        .why("a collective can't finish until its slowest rank joins")
        .help(format!(
            "compare rank {rank} with the other ranks before its collectives: more work, a slower host or device, data loading, or writing results"
        ))
        .claims(claim)
        .at_most(gain);
    if own_ns > 0 {
        let says = format!("idle time of rank {rank}'s device before these collectives");
        finding = finding.number(says, case.per_unit_of_one(own_ns)).claims(own);
    }
    if missing {
        finding = finding.fact("not all ranks were captured: a missing rank may be even later");
    }
    Ok(vec![finding])
}

/// What the other parts of a collective waited where `culprit` came last: event rows and nanoseconds.
fn waited_in<'m>(meeting: &'m Meeting, culprit: u32) -> impl Iterator<Item = (u32, i64)> + 'm {
    let is_last = meeting.last().is_some_and(|last| last.process == culprit);
    let others = meeting.parts.iter().filter(move |part| is_last && part.process != culprit);
    others.map(|part| (part.collective.event, meeting.wait_ns(part)))
}

/// What the parts of a collective would not wait, were `culprit` as early as the rank before it: event rows and nanoseconds.
fn lost_in<'m>(meeting: &'m Meeting, culprit: u32) -> impl Iterator<Item = (u32, i64)> + 'm {
    let is_last = meeting.last().is_some_and(|last| last.process == culprit);
    let before = meeting.parts.iter().rev().nth(1).map_or(i64::MAX, |part| part.start_ns);
    let others = meeting.parts.iter().filter(move |part| is_last && part.process != culprit);
    others.map(move |part| {
        let left = before.saturating_sub(part.start_ns).max(0);
        (part.collective.event, meeting.wait_ns(part).saturating_sub(left).max(0))
    })
}
