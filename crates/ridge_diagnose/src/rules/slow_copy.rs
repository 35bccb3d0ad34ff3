//! Large copies far below what their link can carry.

use crate::case::Case;
use crate::copying::{Copies, Copying, LARGE_BYTES, ceiling, ways};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::Need;
use ridge_replay::{Action, Edit};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventKind, EventRow};

pub(crate) static RULE: Rule = Rule {
    id: "slow-copy",
    group: Group::Copies,
    summary: "Large copies below link bandwidth",
    document: include_str!("slow_copy.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[Need::of::<Copies>()],
    find: Find::Causes(find),
};

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.01;
/// Copies above this part of the link's rate are as fast as can be expected.
const FAST: f64 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let ways = ways(case, case.copies());
    let share_of_way = |copy: &Copying| {
        let way = ways.get(&(copy.device, copy.kind))?;
        Some(copy.rate()? / way.rate)
    };
    let mut copies = case.copies_in_loop().to_vec();
    copies.retain(|copy| !copy.is_pageable() && copy.bytes() >= LARGE_BYTES);
    copies.retain(|copy| share_of_way(copy).is_some_and(|share| share < FAST));
    let directions = [EventKind::CopyHostToDevice, EventKind::CopyDeviceToHost];
    let finding = |kind: EventKind| {
        let of_kind: Vec<Copying> = copies.iter().filter(|copy| copy.kind == kind).copied().collect();
        let part = |copy: &Copying| 1.0 - share_of_way(copy).unwrap_or(1.0);
        let lost: f64 = of_kind.iter().map(|copy| copy.exposed_ns as f64 * part(copy)).sum();
        let first = of_kind.first().filter(|_| case.share(lost as i64) >= LEAST)?;
        let way = ways.get(&(first.device, kind))?;
        let bytes: f64 = of_kind.iter().map(|copy| copy.bytes() as f64).sum();
        let taken = of_kind.iter().fold(0_i64, |sum, copy| sum.saturating_add(copy.ns)).max(1);
        let rate = bytes / (taken as f64 / 1e9);
        let (longest, place) = case.longest_copy(&of_kind).unzip();
        let to = if kind == EventKind::CopyHostToDevice { "device" } else { "host" };
        let source = if way.is_measured {
            "measured link bandwidth"
        } else {
            "achieved by the fastest copy in the capture"
        };
        let claim = case.claim_of(&of_kind, part);
        let rows = of_kind.iter().map(|copy| copy.row).collect();
        let finding = Finding::new(format!(
            "large copies to the {to} achieve {} of their link's bandwidth",
            percent(rate / way.rate),
        ))
        .at(place.flatten())
        .about(longest.map(Subject::Event))
        .number("achieved bandwidth", Quantity::new(rate, Unit::BytesPerSec, Basis::Measured))
        .number(source, Quantity::new(way.rate, Unit::BytesPerSec, Basis::Measured))
        .number("large copies", case.count_per_unit(of_kind.len() as u64))
        .why("the memory is on a distant NUMA node, or the link is shared with other copies or runs with fewer lanes than it supports")
        .help("bind the process to the CPU closest to the device (`numactl --cpunodebind`, `nvidia-smi topo -m`), and check the link's width and speed (`nvidia-smi -q`)")
        .claims(claim)
        .edit(Edit { rows, action: Action::Scale((rate / way.rate) as f32) });
        Some(finding)
    };
    let found: Vec<Finding> = directions.into_iter().filter_map(finding).collect();
    Ok(if found.is_empty() { below_sheet(case).into_iter().collect() } else { found })
}

/// Says where even the fastest large copy is far below what the device's data sheet allows: the host's side of the link,
/// which nobody can mend in the program.
fn below_sheet(case: &Case<'_>) -> Option<Finding> {
    let mut copies = case.copies_in_loop().to_vec();
    copies.retain(|copy| !copy.is_pageable() && copy.bytes() >= LARGE_BYTES);
    let exposed = copies.iter().fold(0_i64, |sum, copy| sum.saturating_add(copy.exposed_ns));
    let fastest = copies.iter().max_by(|a, b| a.rate().unwrap_or(0.0).total_cmp(&b.rate().unwrap_or(0.0)))?;
    let (rate, sheet) = (fastest.rate()?, ceiling(case, fastest)?);
    if sheet.basis == Basis::Measured || rate >= FAST * sheet.value || case.share(exposed) < LEAST {
        return None;
    }
    let finding = Finding::new(format!(
        "even the fastest large copy achieves only {} of the link bandwidth in the device's data sheet",
        percent(rate / sheet.value),
    ))
    .about(Subject::Event(EventRow(fastest.row)))
    .number("achieved by this copy", Quantity::new(rate, Unit::BytesPerSec, Basis::Measured))
    .number("data sheet bandwidth", Quantity::new(sheet.value, Unit::BytesPerSec, sheet.basis))
    .why("the host may have an older PCIe generation or fewer lanes, or the memory may be on a distant NUMA node")
    .help("check the current and maximum link generation and lanes with `nvidia-smi -q`; measure the bandwidth with `ridgeline calibrate`")
    .information();
    Some(finding)
}
