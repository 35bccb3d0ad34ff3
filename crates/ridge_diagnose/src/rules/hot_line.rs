//! One line of the program has a large part of the devices' time.

use crate::case::Case;
use crate::finding::{Finding, Place};
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{distinct, list, percent};
use ridge_analysis::{Lines, Need};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::OpRow;
use std::collections::BTreeMap;

pub(crate) static RULE: Rule = Rule {
    id: "hot-line",
    group: Group::Compute,
    summary: "One source line dominates device time",
    document: include_str!("hot_line.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// Lines with less are no place to begin.
const LEAST: f64 = 0.25;

/// What one line has.
#[derive(Default)]
struct Held<'a> {
    ns: i64,
    /// Operations with their time, most first.
    operations: Vec<(i64, &'a str, u32, usize)>,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let mut lines: BTreeMap<Place, Held<'_>> = BTreeMap::new();
    for work in case.work() {
        let Some(place) = case.line_of_op(work.op) else { continue };
        // Made by the line or owed to it: it is where to begin in both cases.
        let held = lines.entry(Place { is_inferred: false, ..place }).or_default();
        held.ns = held.ns.saturating_add(work.row.ns);
        held.operations.push((work.row.ns, work.name, work.op, work.at));
    }
    let hot = lines.into_iter().filter(|(_, held)| case.share(held.ns) >= LEAST);
    Ok(hot.map(|(place, held)| finding(case, place, held)).collect())
}

fn finding(case: &Case<'_>, place: Place, mut held: Held<'_>) -> Finding {
    held.operations.sort_by_key(|(ns, name, ..)| (std::cmp::Reverse(*ns), *name));
    let names = distinct(held.operations.iter().map(|(_, name, ..)| *name));
    let count = Quantity::new(held.operations.len() as f64, Unit::Count, Basis::Counted);
    let structure = structure(case, &held).map(|words| format!(", {words}"));
    // What is known of a line makes it more than a place to begin.
    let rows = held.operations.iter().map(|(.., at)| (*at, 1.0)).filter(|_| structure.is_some());
    let claim: Vec<(usize, f32)> = rows.collect();
    Finding::new(format!("one line takes {} of the time{}", percent(case.share(held.ns)), structure.unwrap_or_default()))
        .at(Some(place))
        .about(held.operations.first().and_then(|(_, _, op, _)| OpRow::known(*op)).map(Subject::Op))
        .number("in operations compiled from it", case.per_unit(held.ns))
        .number(format!("operations, mainly {}", list(&names, 3)), count)
        .why("the largest gain is usually in a line's own computation, or in the copies and layout changes compiled for it")
        .help("list its operations with `ridgeline stats --by op`, and compare each with its roof in `ridgeline roofline`")
        .claims(claim)
        .information()
}

/// The part of a line's time that has a structure which is worth a word.
const MOST_OF_IT: f64 = 0.5;

/// What most of the line's work is, by the transformations and functions that JAX names around it.
fn structure(case: &Case<'_>, held: &Held<'_>) -> Option<String> {
    let is_copy = |name: &str| name.starts_with("copy-start") || name.starts_with("copy-done");
    let copies = held.operations.iter().filter(|(_, name, ..)| is_copy(name));
    let copied = copies.fold(0_i64, |sum, (ns, ..)| sum.saturating_add(*ns));
    if copied as f64 >= MOST_OF_IT * held.ns as f64 {
        return Some("in copies between memories (`copy-start`, `copy-done`), as for offloading to the host".to_owned());
    }
    let mut parts: BTreeMap<String, i64> = BTreeMap::new();
    for (ns, _, op, _) in &held.operations {
        let Some((module, id)) = case.analysis.instruction(*op) else { continue };
        for words in structures(module.op_name_in_fusion(id)) {
            let sum = parts.entry(words).or_default();
            *sum = sum.saturating_add(*ns);
        }
    }
    let most = parts.into_iter().max_by_key(|(words, ns)| (*ns, std::cmp::Reverse(words.clone())))?;
    (most.1 as f64 >= MOST_OF_IT * held.ns as f64).then_some(most.0)
}

/// The words for what an operation is part of, by its `op_name`: derivatives of derivatives, and the library's function.
fn structures(op_name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let scope = op_name.split('/').max_by_key(|part| part.matches("jvp(").count()).unwrap_or("");
    // `jvp(vmap(transpose(jvp(f))))`: columns of the derivative of a gradient.
    let inner = scope.find("jvp(").and_then(|at| scope.get(at + 1..)).unwrap_or("");
    let is_second = inner.contains("jvp(vmap(transpose(jvp(") || inner.contains("jvp(jvp(") || scope.starts_with("vmap(jvp(vmap(transpose(jvp(");
    if scope.matches("jvp(").count() >= 3 && !inner.contains("vmap(transpose(jvp(") {
        found.push("in nested derivatives (`grad` of `grad`); `jax.experimental.jet` or forward mode (`jax.jvp`) for the inner ones takes less".to_owned());
    } else if is_second {
        found.push("in second derivatives formed as a whole matrix (`jax.hessian`, or `jacfwd` of a gradient)".to_owned());
    }
    // The first is the user's own function.
    let mut parts = op_name.split("jit(").skip(2).filter_map(|part| part.split([')', '/']).next());
    if let Some(name) = parts.find(|name| !name.starts_with('_') && !name.is_empty()) {
        found.push(format!("in the library's `{name}`"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_of_operations_say() {
        let hessian = "jit(step)/transpose(jvp(vmap(vmap(jvp(vmap(transpose(jvp(net))))))))/dot_general";
        assert!(structures(hessian).iter().any(|words| words.contains("hessian")));
        assert_eq!(structures("jit(climb)/jvp(vmap(jit(expm)))/jit(_calc)/mul"), ["in the library's `expm`"]);
        assert!(structures("jit(step)/transpose(jvp(net))/vmap()/mul").is_empty());
        assert!(structures("jit(step)/vmap(transpose(jvp(net)))/mul").is_empty());
    }
}
