//! Writing keys and values into the cache takes long beside the attention that reads them.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::kernel_category;
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "kv-cache-update-heavy",
    group: Group::Serving,
    summary: "Expensive KV-cache updates",
    document: include_str!("kv_cache_update_heavy.md"),
    asks: &[Question::Device],
    explains: &[],
    needs: &[],
    find: Find::Causes(find),
};

/// The part of attention's time from which updates are worth a word, and of the judged time.
const OF_ATTENTION: f64 = 0.10;
const LEAST: f64 = 0.01;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let of = |wanted: &str| -> Vec<_> { case.work().filter(|work| kernel_category(work.name) == wanted).collect() };
    let (updates, attention) = (of("cache update"), of("attention"));
    let sum = |ns: &mut dyn Iterator<Item = i64>| ns.fold(0_i64, i64::saturating_add);
    let update_ns = sum(&mut updates.iter().map(|work| work.row.ns));
    let attention_ns = sum(&mut attention.iter().map(|work| work.row.ns));
    let part = update_ns as f64 / attention_ns.max(1) as f64;
    if attention_ns == 0 || part < OF_ATTENTION || case.share(update_ns) < LEAST {
        return Ok(Vec::new());
    }
    let names: Vec<&str> = updates.iter().map(|work| work.name).collect();
    let example = updates.iter().max_by_key(|work| work.row.ns).and_then(|work| work.row.example);
    let places: Vec<usize> = updates.iter().map(|work| work.at).collect();
    let finding = Finding::new(format!(
        "writing keys and values into the cache takes {} as long as attention",
        percent(part)
    ))
    .about(example.map(Subject::Event))
    .number("in kernels that write the cache", case.per_unit(update_ns))
    .number("of attention's time", Quantity::new(part, Unit::Share, Basis::Measured))
    .fact(format!("in {}", list(&names, 2)))
    .why("these kernels copy each new key and value again, token by token")
    .help("use an attention backend that writes the cache itself or fuses the write with the rotary embedding; store the cache in 8 bits")
    .claims(places.iter().map(|at| (*at, 1.0)))
    .edit(case.without(places.iter().copied()));
    Ok(vec![finding])
}
