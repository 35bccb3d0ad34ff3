//! Large copies far below what their link can carry.

use crate::case::Case;
use crate::copying::{Copying, LARGE_BYTES, ways};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::Need;
use ridge_analysis::models::transfers::Transfers;
use ridge_replay::{Action, Edit};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    id: "slow-copy",
    group: Group::Copies,
    summary: "large copies achieve less than half of what their link can carry",
    document: include_str!("slow_copy.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[Need::of::<Transfers>()],
    find: Find::Causes(find),
};

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.01;
/// Copies above this part of the link's rate are as fast as can be expected.
const FAST: f64 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let ways = ways(case, &case.copies());
    let share_of_way = |copy: &Copying<'_>| {
        let way = ways.get(&(copy.device, copy.kind))?;
        Some(copy.rate()? / way.rate)
    };
    let mut copies = case.copies_in_loop();
    copies.retain(|copy| !copy.is_pageable() && copy.bytes() >= LARGE_BYTES);
    copies.retain(|copy| share_of_way(copy).is_some_and(|share| share < FAST));
    let directions = [EventKind::CopyHostToDevice, EventKind::CopyDeviceToHost];
    let finding = |kind: EventKind| {
        let of_kind: Vec<Copying<'_>> = copies.iter().filter(|copy| copy.kind == kind).copied().collect();
        let part = |copy: &Copying<'_>| 1.0 - share_of_way(copy).unwrap_or(1.0);
        let lost: f64 = of_kind.iter().map(|copy| copy.exposed_ns as f64 * part(copy)).sum();
        let first = of_kind.first().filter(|_| case.share(lost as i64) >= LEAST)?;
        let way = ways.get(&(first.device, kind))?;
        let bytes: f64 = of_kind.iter().map(|copy| copy.bytes() as f64).sum();
        let taken = of_kind.iter().fold(0_i64, |sum, copy| sum.saturating_add(copy.ns)).max(1);
        let rate = bytes / (taken as f64 / 1e9);
        let (longest, place) = case.longest_copy(&of_kind).unzip();
        let to = if kind == EventKind::CopyHostToDevice { "device" } else { "host" };
        let source = if way.is_known { "that the link can carry" } else { "achieved by the fastest copy of the capture" };
        let claim = case.claim_of(&of_kind, part);
        let rows = of_kind.iter().map(|copy| copy.row).collect();
        let finding = Finding::new(format!(
            "large copies to the {to} achieve {} of the rate of their link",
            percent(rate / way.rate),
        ))
        .at(place.flatten())
        .about(longest.map(Subject::Event))
        .number("achieved by them", Quantity::new(rate, Unit::BytesPerSec, Basis::Measured))
        .number(source, Quantity::new(way.rate, Unit::BytesPerSec, Basis::Measured))
        .number("such copies", case.count_per_unit(of_kind.len() as u64))
        .why("the memory is far from the device, or the link is shared with other copies or has fewer lanes than it could")
        .help("bind the process to the processor that the device hangs on (`numactl --cpunodebind`, `nvidia-smi topo -m`), and look at the link's width and speed (`nvidia-smi -q`)")
        .claims(claim)
        .edit(Edit { rows, action: Action::Scale((rate / way.rate) as f32) });
        Some(finding)
    };
    Ok(directions.into_iter().filter_map(finding).collect())
}
