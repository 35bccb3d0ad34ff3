//! Memory in use grows step after step.

use crate::allocators::allocators;
use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use ridge_analysis::scaling::theil_sen;
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "memory-growth",
    group: Group::Memory,
    summary: "Memory grows with every step",
    document: include_str!("memory_growth.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Steps that are needed, after two in which caches and the optimizer's state fill.
const FEWEST: usize = 4;
const WARM_UP: usize = 2;
/// Steps that are looked at; more would take as long as their square.
const MOST: usize = 512;
/// Pairs of steps whose later one has more, 0 to 1.
const RISING: f64 = 0.95;
/// Growth over the steps as a part of what was in use, and in bytes.
const LEAST: f64 = 0.02;
const LEAST_BYTES: f64 = 1_048_576.0;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    let mut ends: Vec<i64> = (trace.steps.iter())
        .filter(|step| (step.event as usize) < trace.events.len())
        .map(|step| trace.events.end_ns(step.event as usize))
        .collect();
    ends.sort_unstable();
    ends.dedup();
    let steps = ends.get(WARM_UP..).unwrap_or_default();
    let stride = steps.len().div_ceil(MOST).max(1);
    let mut findings = Vec::new();
    for allocator in allocators(case).iter().filter(|_| steps.len() >= FEWEST) {
        let in_use: Vec<f64> =
            steps.iter().step_by(stride).map(|end| allocator.in_use_at(*end) as f64).collect();
        let Some(found) = theil_sen(&in_use) else { continue };
        let grown = found.slope * in_use.len().saturating_sub(1) as f64;
        let first = in_use.first().copied().unwrap_or(0.0).max(1.0);
        if found.rising < RISING || grown < LEAST_BYTES || grown < LEAST * first {
            continue;
        }
        let per_step = found.slope / stride as f64;
        let mut finding = Finding::new(format!("memory in use by {} grows with every step", allocator.name))
            .about(allocator.device.map(Subject::Device))
            .number("growth per step", Quantity::new(per_step, Unit::Bytes, Basis::Measured))
            .number("steps analyzed, after skipping the first two", Quantity::new(steps.len() as f64, Unit::Count, Basis::Measured))
            .why("each step leaves something alive: losses kept in a list with their graphs, hidden state, or an unbounded cache")
            .help("store numbers instead of tensors with graphs: `losses.append(loss.detach())` or `float(loss)`; `ridgeline memory` shows what stays alive")
            .information();
        if let Some(capacity) = allocator.capacity {
            let left = (capacity as f64 - in_use.last().copied().unwrap_or(0.0)).max(0.0) / per_step.max(1.0);
            finding = finding
                .number("steps until the device is full", Quantity::new(left.floor(), Unit::Count, Basis::Modelled));
        }
        findings.push(finding);
    }
    Ok(findings)
}
