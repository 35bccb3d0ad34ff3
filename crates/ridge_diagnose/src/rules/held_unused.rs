//! An allocator holds much that nothing uses, or takes memory and gives it back again and again.

use crate::allocators::is_of_host;
use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::{Basis, Quantity, Unit};
use ridge_trace::SegmentEventKind;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "held-unused",
    group: Group::Memory,
    summary: "Allocator holds or churns unused memory",
    document: include_str!("held_unused.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// The least part of what is held that nothing uses, and bytes below which nobody would miss it.
const UNUSED: f64 = 0.2;
const LEAST_BYTES: u64 = 1 << 30;
/// Segments taken and given back, and times that taking follows giving back, from which on the cache is emptied in a loop.
const SEGMENTS: u64 = 32;
const TURNS: u64 = 8;
/// What is taken in all is so many times the most that is held.
const AGAIN: f64 = 2.0;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let mut found = churn(case);
    let bytes = |bytes: u64| Quantity::new(bytes as f64, Unit::Bytes, Basis::Measured);
    // Without snapshots and events there is nothing to ask.
    if case.trace().memory.segments.kind.is_empty() && case.trace().allocations.is_empty() && !has_blocks(case) {
        return Ok(found);
    }
    for snapshot in &case.analysis.memory().snapshots {
        let (name, held) = (case.trace().strings.get(snapshot.allocator), snapshot.reserved());
        let unused = snapshot.inactive;
        let part = unused as f64 / held.max(1) as f64;
        if part < UNUSED || unused < LEAST_BYTES || is_of_host(name) {
            continue;
        }
        found.push(
            Finding::new(format!("{} of the memory reserved by {name} is free inside the allocator and unused", percent(part)))
                .number("reserved from the driver", bytes(held))
                .number("in use", bytes(snapshot.allocated))
                .number("cached and unused", bytes(unused))
                .number("of it in partly used segments", bytes(snapshot.split))
                .why("the allocator keeps freed memory until a request fails, so a past peak or sizes no longer requested stay reserved")
                .help("find the peak with `ridgeline memory` and lower it; set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` against fragmentation; call `torch.cuda.empty_cache()` once, after a phase with exceptional needs")
                .information(),
        );
    }
    Ok(found)
}

/// Whether the capture holds a snapshot of blocks.
fn has_blocks(case: &Case<'_>) -> bool {
    !case.trace().memory.blocks.segment.is_empty()
}

/// Segments that are taken and given back again and again.
fn churn(case: &Case<'_>) -> Vec<Finding> {
    #[derive(Default)]
    struct Churn {
        taken: (u64, u64),
        given: (u64, u64),
        turns: u64,
        has_given: bool,
        held: i64,
        most: i64,
    }
    let (trace, events) = (case.trace(), &case.trace().memory.segments);
    let mut of: FxHashMap<(u32, u32), Churn> = FxHashMap::default();
    let mut rows: Vec<usize> = (0..events.kind.len()).collect();
    rows.sort_by_key(|row| events.time_ns[*row]);
    for row in rows {
        let churn = of.entry((events.process[row], events.allocator[row].0)).or_default();
        let bytes = i64::try_from(events.bytes[row]).unwrap_or(i64::MAX);
        match events.kind[row] {
            SegmentEventKind::Allocated | SegmentEventKind::Mapped => {
                churn.taken = (churn.taken.0 + 1, churn.taken.1.saturating_add(events.bytes[row]));
                churn.turns += u64::from(std::mem::take(&mut churn.has_given));
                churn.held = churn.held.saturating_add(bytes);
                churn.most = churn.most.max(churn.held);
            }
            SegmentEventKind::Freed | SegmentEventKind::Unmapped => {
                churn.given = (churn.given.0 + 1, churn.given.1.saturating_add(events.bytes[row]));
                churn.has_given = true;
                churn.held = churn.held.saturating_sub(bytes);
            }
            SegmentEventKind::OutOfMemory => {}
        }
    }
    let mut found: Vec<((u32, u32), Churn)> = of.into_iter().collect();
    found.sort_by_key(|(key, _)| *key);
    let bytes = |bytes: u64| Quantity::new(bytes as f64, Unit::Bytes, Basis::Measured);
    let number = |count: u64| Quantity::new(count as f64, Unit::Count, Basis::Measured);
    let again = |churn: &Churn| churn.taken.1 as f64 >= AGAIN * churn.most.max(1) as f64;
    let is_churn = |churn: &Churn| churn.given.0 >= SEGMENTS && churn.turns >= TURNS && again(churn);
    found
        .into_iter()
        .map(|((_, name), churn)| (trace.strings.get(ridge_trace::StringId(name)), churn))
        .filter(|(name, churn)| is_churn(churn) && !is_of_host(name))
        .map(|(name, churn)| {
            Finding::new(format!("the cache of {name} is emptied and refilled: {} segments are returned to the driver", churn.given.0))
                .number("allocated from the driver", bytes(churn.taken.1))
                .number("returned to the driver", bytes(churn.given.1))
                .number("times it allocated segments after returning some", number(churn.turns))
                .why("each segment costs a `cudaMalloc`, and returning it a `cudaFree`, which blocks until the device finishes all its work")
                .help("remove `torch.cuda.empty_cache()` from loops, and reuse buffers for data moved to the device and back; set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` if memory is short")
                .information()
        })
        .collect()
}
