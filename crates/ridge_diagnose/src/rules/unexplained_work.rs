//! Busy time that no other rule explains: which operations it is, and how far each is from its roof.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::Question;
use crate::programs::work_sums;
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_analysis::{Lines, Need, WorkSums, Workload};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{NONE, OpRow};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "unexplained-work",
    group: Group::Compute,
    summary: "Busy time that no rule explains",
    document: include_str!("unexplained_work.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[Need::of::<Lines>(), Need::of::<Workload>()],
    find: Find::Rest(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.25;
/// Operations that are named.
const MOST: usize = 3;

/// What one operation has that nothing else claims.
struct Rest<'a> {
    ns: f64,
    work: Work<'a>,
}

fn find(case: &Case<'_>, claimed: &[(usize, f32)]) -> Vec<Finding> {
    let mut taken: FxHashMap<usize, f32> = FxHashMap::default();
    for (at, part) in claimed {
        let known = taken.entry(*at).or_default();
        *known = known.max(part.clamp(0.0, 1.0));
    }
    let mut rest: FxHashMap<(u32, &str), Rest<'_>> = FxHashMap::default();
    for work in case.work().filter(|work| work.kind.is_compute()) {
        let ns = work.row.ns as f64 * f64::from(1.0 - taken.get(&work.at).copied().unwrap_or(0.0));
        // Several kernels of one operation are one thing.
        let key = if work.op == NONE { (NONE, work.name) } else { (work.op, "") };
        let known = rest.entry(key).or_insert(Rest { ns: 0.0, work });
        known.ns += ns;
        if work.row.ns > known.work.row.ns {
            known.work = work;
        }
    }
    let mut rest: Vec<Rest<'_>> = rest.into_values().filter(|rest| rest.ns > 0.0).collect();
    rest.sort_by(|a, b| b.ns.total_cmp(&a.ns).then(a.work.at.cmp(&b.work.at)));
    let ns: f64 = rest.iter().map(|rest| rest.ns).sum();
    let share = case.share(ns as i64);
    let Some(first) = rest.first().filter(|_| share >= LEAST) else { return Vec::new() };
    let sums = work_sums(case);
    let name = |work: &Work<'_>| {
        let op = case.analysis.operation(work.op).map(|op| case.trace().strings.get(op.name));
        short(op.filter(|name| !name.is_empty()).unwrap_or(work.name))
    };
    let mut finding = Finding::new(format!(
        "no rule explains {} of the time, although the devices are busy, mostly in `{}`",
        percent(share),
        name(&first.work),
    ))
    .at(case.line_of(&first.work).or_else(|| case.line_by_looks(&first.work)))
    .about(OpRow::known(first.work.op).map(Subject::Op));
    for rest in rest.iter().take(MOST) {
        let shape = shape(case, &rest.work).map_or(String::new(), |shape| format!(" of {shape}"));
        let known = sums.get(&rest.work.op);
        let reached = known.and_then(WorkSums::headroom).filter(|headroom| *headroom > 0.0).map(|headroom| 1.0 / headroom);
        let rate = known.and_then(|sums| match sums.flops_per_sec() {
            Some(rate) if rate > 0.0 => Some(Quantity::new(rate, Unit::FlopsPerSec, Basis::Modelled)),
            _ => sums.bytes_per_sec().map(|rate| Quantity::new(rate, Unit::BytesPerSec, Basis::Modelled)),
        });
        finding = finding.number(format!("in `{}`{shape}, {}", name(&rest.work), words(&rest.work, reached)), case.per_unit(rest.ns as i64));
        if let Some(rate) = rate {
            finding = finding.number("achieved", rate);
        }
        if let Some(launch) = launch(case, &rest.work) {
            finding = finding.fact(launch);
        }
    }
    vec![
        finding
            .why("the devices are busy, and no known cause accounts for this time")
            .help("start with the first operation: `ridgeline roofline` shows the limit of each operation, and `ridgeline stats --by source` its source line; look at kernels far from their roof with a hardware profiler")
            .information(),
    ]
}

/// What kind of work it is by its name, and how near its roof.
fn words(work: &Work<'_>, reached: Option<f64>) -> String {
    let kind = match ridge_analysis::kernel_category(work.name) {
        "other" | "" => "work".to_owned(),
        kind => kind.to_owned(),
    };
    match reached {
        Some(part) => format!("{kind}, at {} of its roof", percent(part.min(1.0))),
        None => format!("{kind}, of unknown roof"),
    }
}

/// The sizes that the operator around the work's launch was called with.
fn shape(case: &Case<'_>, work: &Work<'_>) -> Option<String> {
    let trace = case.trace();
    let launch = trace.events.link[work.row.example?.index()];
    let shape = case.around(launch).find_map(|row| trace.operator_shape(row as usize))?;
    let dims = trace.strings.get(shape.dims);
    (!dims.is_empty()).then(|| format!("`{}`", short(dims)))
}

/// How a kernel is launched: blocks, threads, registers, occupancy.
fn launch(case: &Case<'_>, work: &Work<'_>) -> Option<String> {
    let shape = case.trace().launch_shape(work.row.example?.index())?;
    let size = |extents: [u32; 3]| extents.iter().map(|extent| u64::from(*extent)).product::<u64>();
    let registers = shape.registers.map_or(String::new(), |registers| format!(", {registers} registers each"));
    let occupancy = shape.occupancy_pct.map_or(String::new(), |part| format!(", occupancy {part:.0}% at most"));
    Some(format!("launched with a grid of {} blocks of {} threads{registers}{occupancy}", size(shape.grid), size(shape.block)))
}
