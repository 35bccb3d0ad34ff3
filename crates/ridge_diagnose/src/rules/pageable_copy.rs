//! Copies of ordinary host memory, which the driver stages.

use crate::case::Case;
use crate::copying::{Copies, Copying, ways};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::Need;
use ridge_replay::{Action, Edit};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "pageable-copy",
    group: Group::Copies,
    summary: "Copies from pageable memory",
    document: include_str!("pageable_copy.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[Need::of::<Copies>()],
    find: Find::Causes(find),
};

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.01;
/// Copies to the device of at most this size go into the command itself.
const MOST_INLINE: u64 = 64 << 10;
/// What goes where nothing says how fast the link is: pinned memory usually goes at twice the rate.
const USUAL_PART: f64 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let all = case.copies();
    let ways = ways(case, all);
    let mut copies = case.copies_in_loop().to_vec();
    copies.retain(|copy| copy.is_pageable() && copy.bytes() > MOST_INLINE);
    let part = |copy: &Copying| match ways.get(&(copy.device, copy.kind)) {
        Some(way) => (1.0 - copy.rate().unwrap_or(way.rate) / way.rate).max(0.0),
        None => USUAL_PART,
    };
    let ns: f64 = copies.iter().map(|copy| copy.exposed_ns as f64 * part(copy)).sum();
    if case.share(ns as i64) < LEAST {
        return Ok(Vec::new());
    }
    let bytes: f64 = copies.iter().map(|copy| copy.bytes() as f64).sum();
    let taken = copies.iter().fold(0_i64, |sum, copy| sum.saturating_add(copy.ns)).max(1);
    let exposed = copies.iter().fold(0_i64, |sum, copy| sum.saturating_add(copy.exposed_ns));
    let (longest, place) = case.longest_copy(&copies).unzip();
    let mut finding = Finding::new(format!(
        "copies of pageable host memory take {} of the time with no overlapping computation",
        percent(case.share(exposed).min(1.0)),
    ))
    .at(place.flatten())
    .about(longest.map(Subject::Event))
    .number("in copies not hidden behind compute", case.per_unit(exposed))
    .number("pageable copies", case.count_per_unit(copies.len() as u64))
    .number("achieved bandwidth", Quantity::new(bytes / (taken as f64 / 1e9), Unit::BytesPerSec, Basis::Measured))
    .why("the driver stages pageable memory through its own pinned buffer piece by piece, and the call blocks until that is done")
    .help("use pinned memory (`pin_memory=True` in the loader, `tensor.pin_memory()`, `cudaMallocHost`) and copy with `non_blocking=True`")
    .claims(case.claim_of(&copies, part));
    if let Some(way) = copies.first().and_then(|copy| ways.get(&(copy.device, copy.kind))) {
        let source = if way.is_measured {
            "measured link bandwidth"
        } else {
            "achieved by the fastest pinned copy"
        };
        let factor: f64 = copies.iter().map(|copy| copy.ns as f64 * (1.0 - part(copy))).sum::<f64>() / taken as f64;
        finding = finding
            .number(source, Quantity::new(way.rate, Unit::BytesPerSec, Basis::Measured))
            .edit(Edit { rows: copies.iter().map(|copy| copy.row).collect(), action: Action::Scale(factor as f32) });
    }
    Ok(vec![finding])
}
