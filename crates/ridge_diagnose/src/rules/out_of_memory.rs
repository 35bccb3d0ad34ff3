//! An allocator could not meet a request.

use crate::allocators::{OfDevice, allocators};
use crate::case::{Case, Framework};
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use crate::words::count;
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "out-of-memory",
    group: Group::Memory,
    summary: "Out of memory",
    document: include_str!("out_of_memory.md"),
    asks: &[],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let all = allocators(case);
    Ok(all
        .iter()
        .filter(|allocator| !allocator.exhausted.is_empty())
        .map(|allocator| finding(case, allocator))
        .collect())
}

fn finding(case: &Case<'_>, allocator: &OfDevice<'_>) -> Finding {
    let bytes = |bytes: u64| Quantity::new(bytes as f64, Unit::Bytes, Basis::Measured);
    let most = allocator.exhausted.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let first = allocator.exhausted.iter().map(|(time, _)| *time).min().unwrap_or(0);
    let in_use = allocator.in_use_at(first);
    let times = count(allocator.exhausted.len() as u64, "request", "requests");
    let mut finding = Finding::new(format!("{} couldn't satisfy {times} for memory", allocator.name))
        .about(allocator.device.map(Subject::Device))
        .number("largest failed request", bytes(most))
        .why("the program fails, or frees its cache and retries, which blocks until the device finishes")
        .help(advice(case.framework()))
        .error();
    if in_use > 0 {
        finding = finding.number("in use at the first failure", bytes(in_use.unsigned_abs()));
    }
    finding
}

fn advice(framework: Framework) -> &'static str {
    match framework {
        Framework::Jax => {
            "donate arguments, use `jax.checkpoint`, shard, or use smaller batches; `ridgeline memory` shows what is alive at the peak"
        }
        _ => {
            "use smaller batches or activation checkpointing, or set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` if much of the cache is unused; `ridgeline memory` shows what is alive at the peak"
        }
    }
}
