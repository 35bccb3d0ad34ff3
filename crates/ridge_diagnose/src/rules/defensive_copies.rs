//! Copies of arguments that XLA makes because it may not write over them.

use crate::arguments::defensive_copies;
use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, function_name, list};
use ridge_analysis::{Lines, Need};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{ModuleRow, OpRow};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) static RULE: Rule = Rule {
    id: "defensive-copies",
    group: Group::Structure,
    summary: "Copies of undonated arguments",
    document: include_str!("defensive_copies.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The copies of one module, and the arguments that they go back to.
#[derive(Default)]
struct Copies<'a> {
    work: Vec<Work<'a>>,
    arguments: BTreeSet<String>,
    bytes: u64,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let mut modules: BTreeMap<ModuleRow, Copies<'_>> = BTreeMap::new();
    for copy in defensive_copies(case) {
        let copies = modules.entry(copy.module).or_default();
        copies.arguments.insert(copy.argument);
        copies.bytes = copies.bytes.saturating_add(copy.bytes);
        copies.work.push(copy.work);
    }
    Ok(modules.into_iter().map(|(row, copies)| finding(case, row, &copies)).collect())
}

fn finding(case: &Case<'_>, module: ModuleRow, copies: &Copies<'_>) -> Finding {
    let trace = case.trace();
    let arguments: Vec<&String> = copies.arguments.iter().collect();
    let largest = copies.work.iter().max_by_key(|work| work.row.ns);
    let name = trace.modules.get(module.index()).map_or("", |module| trace.strings.get(module.name));
    let function = function_name(name);
    let names: BTreeSet<&str> = copies.work.iter().map(|work| work.name).collect();
    let names: Vec<&&str> = names.iter().collect();
    // An argument is given away as a whole: `cache['keys']` and `state.mean` are parts of one.
    let whole: BTreeSet<&str> = arguments.iter().map(|path| path.split(['[', '.']).next().unwrap_or(path)).collect();
    let mut named: Vec<String> = whole.iter().map(|name| format!("\"{name}\"")).collect();
    // One name in parentheses is no tuple without a comma.
    named.iter_mut().take(usize::from(whole.len() == 1)).for_each(|name| name.push(','));
    let is_one = arguments.len() == 1;
    Finding::new(format!(
        "XLA copies {} before updating {}, because {} not donated",
        list(&arguments, 3),
        if is_one { "it" } else { "them" },
        if is_one { "the argument is" } else { "the arguments are" },
    ))
    .at(largest.and_then(|work| case.line_of_op(work.op)))
    .about(Subject::Module(module))
    .about(largest.and_then(|work| OpRow::known(work.op)).map(Subject::Op))
    .number(
        format!("in {} of `{function}`: {}", count(copies.work.len() as u64, "copy", "copies"), list(&names, 3)),
        case.per_unit(copies.work.iter().map(|work| work.row.ns).sum()),
    )
    .number("copied into new memory per run", Quantity::new(copies.bytes as f64, Unit::Bytes, Basis::Counted))
    .why("the update can't overwrite an array that the caller might still read; donation lets it reuse the argument's memory")
    .help(format!("`jax.jit({function}, donate_argnames=({}))`, if the caller no longer needs the old value", named.join(", ")))
    .claims(copies.work.iter().map(|work| (work.at, 1.0)))
    .edit(case.without(copies.work.iter().map(|work| work.at)))
}
