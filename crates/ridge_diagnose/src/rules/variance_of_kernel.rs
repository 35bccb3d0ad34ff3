//! Some runs of a kernel take much longer than most of the same kernel and size.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::kernels::{Kernel, kernels};
use crate::rule::{Find, Group, Rule};
use crate::words::{percent, short};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{DeviceRow, EventRow, NONE};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "variance-of-kernel",
    group: Group::Compute,
    summary: "High run-to-run kernel variation",
    document: include_str!("variance_of_kernel.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Runs that are needed, deviation over mean, and the part of the time that the kernel must have.
const MORE_THAN: usize = 10;
const UNEVEN: f64 = 0.5;
const LEAST: f64 = 0.05;
/// A run is long from so many times the median, in tenths; and at most one in so many may be.
const LONG_TENTHS: i64 = 15;
const RARE: usize = 7;
/// Below this part of the time the excess is not worth a look.
const EXCESS: f64 = 0.01;

/// What makes runs alike: device, name, launch shape, operation.
type Alike = (u32, u32, u32, u32);

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let runs = || kernels(case).filter(|kernel| kernel.detail != NONE);
    let key = |run: &Kernel<'_>| (run.device, run.name, run.detail, case.trace().events.op[run.row as usize]);
    let mut totals: FxHashMap<Alike, i64> = FxHashMap::default();
    for run in runs() {
        let total = totals.entry(key(&run)).or_default();
        *total = total.saturating_add(run.dur_ns);
    }
    totals.retain(|(device, ..), total| case.share_on(DeviceRow(*device), *total) >= LEAST);
    if totals.is_empty() {
        return Ok(Vec::new());
    }
    let mut alike: FxHashMap<Alike, Vec<Run>> = FxHashMap::default();
    for run in runs().filter(|run| totals.contains_key(&key(run))) {
        alike.entry(key(&run)).or_default().push(Run { row: run.row, dur_ns: run.dur_ns });
    }
    let mut findings: Vec<(i64, Finding)> = alike.into_iter().filter_map(|(alike, runs)| finding(case, DeviceRow(alike.0), runs)).collect();
    findings.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.message.cmp(&other.1.message)));
    Ok(findings.into_iter().map(|(_, finding)| finding).take(3).collect())
}

#[derive(Debug, Clone, Copy)]
struct Run {
    row: u32,
    dur_ns: i64,
}

fn finding(case: &Case<'_>, device: DeviceRow, mut runs: Vec<Run>) -> Option<(i64, Finding)> {
    let total = runs.iter().fold(0_i64, |sum, run| sum.saturating_add(run.dur_ns));
    if runs.len() <= MORE_THAN {
        return None;
    }
    runs.sort_by_key(|run| (run.dur_ns, run.row));
    let mean = total as f64 / runs.len() as f64;
    let squares: f64 = runs.iter().map(|run| (run.dur_ns as f64 - mean).powi(2)).sum();
    let deviation = (squares / runs.len() as f64).sqrt() / mean.max(1.0);
    let median = runs[runs.len() / 2].dur_ns.max(1);
    let long = &runs[runs.partition_point(|run| run.dur_ns.saturating_mul(10) < median.saturating_mul(LONG_TENTHS))..];
    // Where many are long, the kernel has more than one thing to do, and its grid does not tell.
    if deviation < UNEVEN || long.is_empty() || long.len().saturating_mul(RARE) > runs.len() {
        return None;
    }
    let longest = long.last()?;
    let excess: Vec<(u32, i64)> = long.iter().map(|run| (run.row, run.dur_ns.saturating_sub(median))).collect();
    let ns = excess.iter().fold(0_i64, |sum, (_, ns)| sum.saturating_add(*ns));
    let claim = case.parts_of_events(excess);
    if case.share_of(claim.iter().copied()) < EXCESS {
        return None;
    }
    let name = short(case.trace().name(longest.row as usize));
    let finding = Finding::new(format!("{} of {} runs of `{name}` take much longer than the others, costing {} of the time", long.len(), runs.len(), percent(case.share_on(device, ns))))
        .at(case.line_of_op(case.trace().events.op[longest.row as usize]))
        .about(EventRow::known(longest.row).map(Subject::Event))
        .number("longest run", Quantity::nanos(longest.dur_ns, Basis::Measured))
        .seen_at(EventRow::known(longest.row).map(Subject::Event))
        .number("median run of the same kernel and size", Quantity::nanos(median, Basis::Measured))
        .number("standard deviation over mean", Quantity::new(deviation, Unit::Number, Basis::Measured))
        .why("the same kernel takes longer if other work uses the device or its memory, clocks are low, or the amount of work depends on the data")
        .help("check what overlaps the long runs (copies on other streams, other processes) and whether clocks are throttled")
        .claims(claim);
    Some((ns, finding))
}
