//! A program uses nearly all memory of a device.

use crate::allocators::allocators;
use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::log::taken;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::Need;
use ridge_analysis::models::counters::CounterRows;
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "near-memory-limit",
    group: Group::Memory,
    summary: "Near the device memory limit",
    document: include_str!("near_memory_limit.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<CounterRows>()],
    find: Find::Causes(find),
};

/// The part of a device's memory from which little is left.
const NEARLY_ALL: f64 = 0.9;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let bytes = |bytes: u64| Quantity::new(bytes as f64, Unit::Bytes, Basis::Measured);
    let mut findings = Vec::new();
    for allocator in allocators(case) {
        // What an allocator holds is its own affair: JAX takes most of a device at once and uses what it needs.
        let (Some(part), Some(capacity)) = (allocator.part_of_device(allocator.peak_bytes()), allocator.capacity) else {
            continue;
        };
        // More than there is has another meaning: managed memory, or several devices under one name.
        if (NEARLY_ALL..=1.0).contains(&part) {
            findings.push(
                Finding::new(format!("{} of the device's memory is in use at the peak", percent(part)))
                    .about(allocator.device.map(Subject::Device))
                    .number(format!("in use by {} at its peak", allocator.name), bytes(allocator.peak_bytes()))
                    .number("memory of the device", bytes(capacity))
                    .why("a slightly larger batch or longer sequence won't fit, and the allocator starts to free cached memory and retry")
                    .help("reduce what is alive at the peak before anything grows; `ridgeline memory` lists it")
                    .information(),
            );
        }
    }
    if findings.is_empty() {
        findings.extend(seen_by_monitors(case));
    }
    Ok(findings)
}

/// A monitor sees what is taken from the device, by whomever, and not what of it is used.
fn seen_by_monitors(case: &Case<'_>) -> Vec<Finding> {
    let counters = case.analysis.get::<CounterRows>();
    let bytes = |bytes: f64| Quantity::new(bytes, Unit::Bytes, Basis::Measured);
    let mut findings = Vec::new();
    for row in &counters.0 {
        let Some((used, total)) = taken(case, &counters.0, row) else { continue };
        if (NEARLY_ALL..=1.0).contains(&(used / total)) {
            findings.push(
                Finding::new(format!("a monitor reported {} of the device's memory in use", percent(used / total)))
                    .about(row.device.map(Subject::Device))
                    .number("peak use by all programs", bytes(used))
                    .number("memory of the device", bytes(total))
                    .why("a monitor can't tell whether programs use this memory or their allocators only reserve it")
                    .help("record the program with `ridgeline record`; `ridgeline memory` then shows the program's own use")
                    .information(),
            );
        }
    }
    findings
}
