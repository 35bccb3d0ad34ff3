//! Copies between host and device that come in every step and that no compute hides.

use crate::case::{Case, IdleTime};
use crate::copying::{Copies, Copying};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::waits::copies_and_waits;
use crate::words::percent;
use ridge_analysis::{Activity, Cause, Need};
use ridge_replay::{Action, Edit};
use ridge_table::Subject;
use ridge_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    id: "copies-in-loop",
    group: Group::Copies,
    summary: "Exposed host-device copies in every step",
    document: include_str!("copies_in_loop.md"),
    asks: &[Question::Device],
    explains: &["blocking-call", "sync-copy", "pageable-copy", "many-small-copies", "slow-copy"],
    needs: &[Need::of::<Copies>()],
    find: Find::Causes(find),
};

/// Below this part of the time, copies are what every program needs.
const LEAST: f64 = 0.05;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let copies = case.copies_in_loop();
    let exposed = |kind: EventKind| {
        let of_kind = copies.iter().filter(|copy| copy.kind == kind);
        of_kind.fold(0_i64, |sum, copy| sum.saturating_add(copy.exposed_ns))
    };
    let (inward, outward) = (exposed(EventKind::CopyHostToDevice), exposed(EventKind::CopyDeviceToHost));
    let ns = inward.saturating_add(outward);
    if case.share(ns) < LEAST {
        return Ok(Vec::new());
    }
    let waits = case.idle().filter(is_for_copy);
    let claim = case.claim_of(copies, |_| 1.0).into_iter().chain(waits.map(|idle| (idle.at, 1.0)));
    let (longest, place) = case.longest_copy(copies).unzip();
    let share = percent(case.share(ns).min(1.0));
    let finding = Finding::new(format!(
        "host-device copies take {share} of the time with no overlapping computation"
    ))
    .at(place.flatten())
    .about(longest.map(Subject::Event))
    .number("to the device, not hidden behind compute", case.per_unit(inward))
    .number("to the host, not hidden behind compute", case.per_unit(outward))
    .number("copies", case.count_per_unit(copies.len() as u64))
    .why("device work waits for each copy, and nothing else runs in that time")
    .help(advice(copies, inward, outward))
    .claims(claim)
    .edit(Edit { rows: copies.iter().map(|copy| copy.row).collect(), action: Action::Drop });
    Ok(vec![finding])
}

/// Time in which a copy was issued and had not begun, or the host stood in a copy's call.
fn is_for_copy(idle: &IdleTime<'_>) -> bool {
    idle.cause == Cause::Copy || (idle.activity == Activity::Blocking && idle.name.is_some_and(copies_and_waits))
}

fn advice(copies: &[Copying], inward: i64, outward: i64) -> &'static str {
    if outward > inward {
        return "process results on the device instead of the host, and read back rarely and only what you need";
    }
    if copies.iter().any(Copying::is_pageable) {
        return "create constant data once and keep it on the device; copy new data from pinned memory while the previous step computes";
    }
    "create constant data once and keep it on the device; copy new data while the previous step computes"
}
