//! One kernel has most of the device's time.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_analysis::kernel_category;
use ridge_hlo::OpcodeClass;
use ridge_table::{Basis, Quantity, Subject, Unit};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    id: "kernel-hotspot",
    group: Group::Compute,
    summary: "One kernel dominates device time",
    document: include_str!("kernel_hotspot.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// The part of all judged time from which one name is all that matters.
const MOST: f64 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let mut sums: FxHashMap<&str, (i64, u64)> = FxHashMap::default();
    let mut longest = FxHashMap::default();
    let (mut kernels, mut loops): (FxHashSet<(u32, &str)>, Vec<&str>) = Default::default();
    // Collectives hold the time of ranks that are waited for, and have rules of their own.
    for work in case.work().filter(|work| work.kind.is_compute() && kernel_category(work.name) != "collective") {
        kernels.insert((work.op, work.name));
        if case
            .instruction(work.op)
            .is_some_and(|(_, _, instruction)| instruction.opcode.class() == OpcodeClass::Runs)
        {
            loops.push(work.name);
        }
        let sum = sums.entry(work.name).or_default();
        *sum = (sum.0.saturating_add(work.row.ns), sum.1.saturating_add(work.row.events));
        let known = longest.entry(work.name).or_insert(work);
        if work.row.ns > known.row.ns {
            *known = work;
        }
    }
    let Some((name, (ns, events))) =
        sums.into_iter().max_by_key(|(name, (ns, _))| (*ns, std::cmp::Reverse(*name)))
    else {
        return Ok(Vec::new());
    };
    // Of a program of two kernels one has most, which says nothing; and a loop's own time is nobody's kernel.
    if case.share(ns) < MOST || kernels.len() < 3 || loops.contains(&name) {
        return Ok(Vec::new());
    }
    let Some(work) = longest.get(name) else { return Ok(Vec::new()) };
    let subject = case.trace().strings.find(name).map(Subject::Named);
    let finding = Finding::new(format!("`{}` takes {} of the time", short(name), percent(case.share(ns))))
        .at(case.line_of(work).or_else(|| case.line_by_looks(work)))
        .about(subject)
        .number("in this kernel", case.per_unit(ns))
        .number("runs in the analyzed time", Quantity::new(events as f64, Unit::Count, Basis::Measured))
        .why("no other kernel takes as much of the program's time")
        .help("optimize this kernel first; `ridgeline roofline` shows how far it is from the device's limits")
        .information();
    Ok(vec![finding])
}
