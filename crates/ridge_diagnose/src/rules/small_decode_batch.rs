//! A server decodes few requests at a time.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "small-decode-batch",
    group: Group::Serving,
    summary: "Small decode batches",
    document: include_str!("small_decode_batch.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// Fewer requests than this leave matrix units, whose tiles have at least so many rows, mostly empty.
const FEW: u64 = 8;
/// The part of the devices' work that such steps must be.
const LEAST: f64 = 0.30;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let served = case.served();
    let all = served.iter().fold(0_i64, |sum, (step, _)| sum.saturating_add(step.busy_ns));
    let small: Vec<_> = served.iter().filter(|(_, served)| served.is_decode() && served.decodes < FEW).collect();
    let ns = small.iter().fold(0_i64, |sum, (step, _)| sum.saturating_add(step.busy_ns));
    if all <= 0 || (ns as f64) < LEAST * all as f64 {
        return Ok(Vec::new());
    }
    let requests = small.iter().map(|(_, served)| served.decodes).sum::<u64>() as f64 / small.len().max(1) as f64;
    let longest = small.iter().max_by_key(|(step, _)| step.busy_ns);
    let share = percent(ns as f64 / all as f64);
    let finding = Finding::new(format!("{share} of the work is in decode steps with batches of fewer than {FEW} requests"))
        .about(longest.map(|(step, _)| Subject::Event(step.event)))
        .number("requests per small step, on average", Quantity::new(requests, Unit::Count, Basis::Measured))
        .number("small decode steps", Quantity::new(small.len() as f64, Unit::Count, Basis::Counted))
        .why("each step reads all weights, no matter how few requests share the cost")
        .help("run more requests concurrently (`--max-num-seqs`, more memory for the cache), or decode several tokens per step with speculative decoding; at this load a smaller device is enough")
        .information();
    Ok(vec![finding])
}
