//! An allocator takes more memory from the driver though it has enough that nothing uses.

use crate::allocators::allocators;
use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "fragmentation",
    group: Group::Memory,
    summary: "Allocator fragmentation",
    document: include_str!("fragmentation.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// The part of what is held that was taken though as much was free.
const NEEDLESS: f64 = 0.2;
/// Below this part of the device's memory nobody would notice.
const FULL: f64 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let bytes = |bytes: u64| Quantity::new(bytes as f64, Unit::Bytes, Basis::Measured);
    let mut findings = Vec::new();
    for allocator in allocators(case) {
        let Some(most) = allocator.most_reserved() else { continue };
        let is_tight = allocator.part_of_device(most).map_or(!allocator.exhausted.is_empty(), |part| part >= FULL);
        if !is_tight {
            continue;
        }
        let taken = allocator.taken_though_free();
        let part = taken as f64 / most as f64;
        if part < NEEDLESS {
            continue;
        }
        findings.push(
            Finding::new(format!("{} of the memory reserved by {} was added while as much was free in smaller blocks", percent(part.min(1.0)), allocator.name))
                .about(allocator.device.map(Subject::Device))
                .number("added while as much was already reserved and unused", bytes(taken.unsigned_abs()))
                .number("peak reserved from the driver", bytes(most))
                .number("peak in use", bytes(allocator.peak_bytes()))
                .why("sizes change from step to step, which leaves free memory in blocks too small for any request")
                .help("set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, pad inputs to a few sizes, and run the largest batch first")
                .information(),
        );
    }
    Ok(findings)
}
