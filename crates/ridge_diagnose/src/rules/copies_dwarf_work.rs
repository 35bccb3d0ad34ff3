//! Copies between host and device take many times what the device computes on them.

use crate::case::Case;
use crate::copying::bytes_words;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, percent};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "copies-dwarf-work",
    group: Group::Copies,
    summary: "Copies outweigh the work",
    document: include_str!("copies_dwarf_work.md"),
    asks: &[Question::Device],
    explains: &["slow-copy", "pageable-copy", "sync-copy", "many-small-copies"],
    needs: &[],
    find: Find::Causes(find),
};

/// The least part of the judged time that copies have with nothing beside them.
const LEAST: f64 = 0.5;
/// Copies take at least so many times what the device computes.
const TIMES: f64 = 2.0;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    // Copies that come again and again have a rule of their own.
    if case.is_on_processors() || !case.copies_in_loop().is_empty() {
        return Ok(Vec::new());
    }
    let copies: Vec<_> = case.copies().iter().copied().filter(crate::copying::Copying::is_with_host).collect();
    let sum = |ns: i64, part: i64| ns.saturating_add(part);
    let ns = copies.iter().map(|copy| copy.exposed_ns).fold(0, sum);
    let computed = case.work().filter(|work| work.kind.is_compute()).map(|work| work.row.ns).fold(0, sum);
    if case.share(ns) < LEAST || computed <= 0 || (ns as f64) < TIMES * computed as f64 {
        return Ok(Vec::new());
    }
    let bytes = copies.iter().fold(0_u64, |sum, copy| sum.saturating_add(copy.bytes()));
    let all_ns = copies.iter().map(|copy| copy.ns).fold(0, sum);
    let pageable = copies.iter().filter(|copy| copy.is_pageable()).count();
    let (event, place) = case.longest_copy(&copies).map_or((None, None), |(event, place)| (Some(event), place));
    let mut finding = Finding::new(format!(
        "host-device copies take {} of the time, {:.0} times as long as the computation",
        percent(case.share(ns)),
        ns as f64 / computed as f64,
    ))
    .at(place)
    .about(event.map(Subject::Event))
    .number(format!("in {} of {}", count(copies.len() as u64, "copy", "copies"), bytes_words(bytes)), case.per_unit(ns))
    .number("of computation", case.per_unit(computed));
    if bytes > 0 && all_ns > 0 {
        finding = finding.number("copy rate", Quantity::new(bytes as f64 * 1e9 / all_ns as f64, Unit::BytesPerSec, Basis::Measured));
    }
    if pageable > 0 {
        finding = finding.fact(format!("{} of pageable memory, staged by the driver", count(pageable as u64, "copy", "copies")));
    }
    Ok(vec![
        finding
            .why("the data crosses a link ten to a hundred times slower than device memory, for a single pass over it")
            .help("keep data on the device between passes, or do more work per byte copied; pinned memory and chunked copies that overlap the kernels hide part of the cost")
            .claims(case.claim_of(&copies, |_| 1.0)),
    ])
}
