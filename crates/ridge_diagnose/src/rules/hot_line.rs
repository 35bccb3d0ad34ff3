//! One line of the program has a large part of the devices' time.

use crate::case::Case;
use crate::finding::{Finding, Place};
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{distinct, list, percent};
use ridge_analysis::{Lines, Need};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::OpRow;
use std::collections::BTreeMap;

pub(crate) static RULE: Rule = Rule {
    id: "hot-line",
    group: Group::Compute,
    summary: "One source line dominates device time",
    document: include_str!("hot_line.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// Lines with less are no place to begin.
const LEAST: f64 = 0.25;

/// What one line has.
#[derive(Default)]
struct Held<'a> {
    ns: i64,
    /// Operations with their time, most first.
    operations: Vec<(i64, &'a str, u32)>,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let mut lines: BTreeMap<Place, Held<'_>> = BTreeMap::new();
    for work in case.work() {
        let Some(place) = case.line_of_op(work.op) else { continue };
        // Made by the line or owed to it: it is where to begin in both cases.
        let held = lines.entry(Place { is_inferred: false, ..place }).or_default();
        held.ns = held.ns.saturating_add(work.row.ns);
        held.operations.push((work.row.ns, work.name, work.op));
    }
    let hot = lines.into_iter().filter(|(_, held)| case.share(held.ns) >= LEAST);
    Ok(hot.map(|(place, held)| finding(case, place, held)).collect())
}

fn finding(case: &Case<'_>, place: Place, mut held: Held<'_>) -> Finding {
    held.operations.sort_by_key(|(ns, name, _)| (std::cmp::Reverse(*ns), *name));
    let names = distinct(held.operations.iter().map(|(_, name, _)| *name));
    let count = Quantity::new(held.operations.len() as f64, Unit::Count, Basis::Counted);
    Finding::new(format!("one line has {} of the time", percent(case.share(held.ns))))
        .at(Some(place))
        .about(held.operations.first().and_then(|(.., op)| OpRow::known(*op)).map(Subject::Op))
        .number("in what the compiler made of it", case.per_unit(held.ns))
        .number(format!("operations, most of all {}", list(&names, 3)), count)
        .why("what a line computes, or what the compiler copies and rearranges for it, is where most can be won")
        .help("look at its operations with `ridgeline stats --by op` and at how far each is from its roof with `ridgeline roofline`")
        .information()
}
