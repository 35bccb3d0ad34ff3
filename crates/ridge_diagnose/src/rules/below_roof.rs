//! An operation is far from what its device allows.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_analysis::models::roofline::{RooflineRow, rows};
use ridge_analysis::{Bound, Need, RooflineBy, Workload, kernel_category};
use ridge_table::{Basis, Quantity, Subject, Unit};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "below-roof",
    group: Group::Compute,
    summary: "Operation far below its roofline",
    document: include_str!("below_roof.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Workload>()],
    find: Find::Causes(find),
};

/// Below this part of its roof an operation is named, where it has at least this part of the time.
const FAR: f64 = 0.3;
const LEAST: f64 = 0.05;
/// What well-written kernels reach.
const WITHIN_REACH: f64 = 0.7;
/// Measured rates above the roof by more than clocks explain: the work or the roof is wrong.
const IMPOSSIBLE: f64 = 1.1;
/// Findings; what comes after them matters less.
const MOST: usize = 3;

/// From this part of the time on, fused attention far from its roof is worth a warning: the kernel is a library's, so what a user
/// can do is take another one.
const MOSTLY: f64 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let mut works: FxHashMap<u32, Vec<Work<'_>>> = FxHashMap::default();
    for work in case.work().filter(|work| work.kind.is_compute() && !case.is_processor(work.row.device)) {
        works.entry(work.op).or_default().push(work);
    }
    if works.is_empty() {
        return Ok(Vec::new());
    }
    let rows = rows(&case.analysis, RooflineBy::Op);
    if rows.iter().all(|row| row.sums.known_ns <= 0.0) {
        return Err(CannotTell::because(
            "the required work is unknown: the capture has neither a compiled module nor operator input sizes",
            "ridgeline record --shapes -- python PROGRAM.py",
        ));
    }
    let whole: f64 = rows.iter().map(|row| row.sums.roofed_ns).sum();
    let impossible: f64 = rows.iter().filter(|row| reached(row) > IMPOSSIBLE).map(|row| row.sums.roofed_ns).sum();
    // One rate above its roof casts doubt on all: a wrong device, or work that did not run.
    if whole <= 0.0 || impossible > 0.02 * whole {
        return Ok(Vec::new());
    }
    let far = rows.iter().filter(|row| reached(row) > 0.0 && reached(row) < FAR);
    Ok(far.filter_map(|row| finding(case, row, &works)).take(MOST).collect())
}

/// The least time at the roof over the measured time; 0 where it is not known.
fn reached(row: &RooflineRow) -> f64 {
    if row.sums.roofed_ns > 0.0 { row.sums.light_secs * 1e9 / row.sums.roofed_ns } else { 0.0 }
}

fn finding(case: &Case<'_>, row: &RooflineRow, works: &FxHashMap<u32, Vec<Work<'_>>>) -> Option<Finding> {
    let Some(Subject::Op(op)) = row.subject else { return None };
    // Of what another library does in one call only products and convolutions are counted as it computes them.
    let target = case.instruction(op.0).and_then(|(_, _, instruction)| instruction.custom_call_target.as_deref());
    if target.is_some_and(|target| !matches!(kernel_category(target), "matrix product" | "convolution")) {
        return None;
    }
    let works = works.get(&op.0)?;
    let ns = works.iter().fold(0_i64, |sum, work| sum.saturating_add(work.row.ns));
    let bound = row.sums.bound().filter(|bound| matches!(bound, Bound::Compute | Bound::Memory))?;
    let is_known = row.sums.roofed_ns >= 0.95 * row.sums.self_ns();
    let longest = works.iter().max_by_key(|work| work.row.ns).filter(|_| is_known && case.share(ns) >= LEAST)?;
    let reached = reached(row);
    let (what, rate) = match bound {
        Bound::Compute => {
            ("arithmetic", row.sums.flops_per_sec().map(|rate| Quantity::new(rate, Unit::FlopsPerSec, Basis::Modelled)))
        }
        _ => (
            "memory bandwidth",
            row.sums.bytes_per_sec().map(|rate| Quantity::new(rate, Unit::BytesPerSec, Basis::Modelled)),
        ),
    };
    let mut finding = Finding::new(format!(
        "`{}` takes {} of the time and reaches {} of its {what} roof",
        short(&row.name),
        percent(case.share(ns)),
        percent(reached)
    ))
    .at(case.line_of_op(op.0))
    .about(Subject::Op(op))
    .number("in this operation", case.per_unit(ns))
    .number("roofline time / measured time", Quantity::new(reached, Unit::Share, Basis::Modelled));
    if let Some(rate) = rate {
        finding = finding.number("achieved rate", rate);
    }
    let part = (1.0 - reached / WITHIN_REACH).clamp(0.0, 1.0) as f32;
    let finding = finding
        .why("the kernel stalls on memory or on its own instructions, has too few threads, or moves more data than its operands")
        .help(match bound {
            Bound::Compute => "use larger or batched products, sizes in multiples of 128, and 16-bit types; profile a kernel of your own with `ncu --set full`",
            _ => "read memory in order, use wider types, and avoid transposes in between; profile a kernel of your own with `ncu --set full`",
        })
        .claims(works.iter().map(|work| (work.at, part)));
    let is_attention = case.instruction(op.0).is_none() && kernel_category(&row.name) == "attention";
    let finding = if is_attention && case.share(ns) < MOSTLY { finding.information() } else { finding };
    (longest.row.ns > 0).then_some(finding)
}
