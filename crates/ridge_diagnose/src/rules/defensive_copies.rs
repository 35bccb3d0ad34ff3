//! Copies of arguments that XLA makes because it may not write over them.

use crate::arguments::{argument_behind, is_donated, name_of};
use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, function_name, list};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{ModuleRow, OpRow};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) static RULE: Rule = Rule {
    id: "defensive-copies",
    group: Group::Structure,
    summary: "XLA copies arguments before it updates them, because they are not donated",
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
    let mut modules: BTreeMap<u32, Copies<'_>> = BTreeMap::new();
    let mut written_over: FxHashMap<u32, FxHashSet<InstructionId>> = FxHashMap::default();
    for work in case.work() {
        let Some((module, id, instruction)) = case.instruction(work.op) else { continue };
        let row = case.analysis.operation(work.op).map_or(0, |op| op.module);
        if instruction.opcode != "copy" || !written_over.entry(row).or_insert_with(|| updated(module)).contains(&id) {
            continue;
        }
        let Some(argument) = argument_behind(module, id).filter(|argument| !is_donated(module, *argument)) else {
            continue;
        };
        let copies = modules.entry(row).or_default();
        copies.arguments.insert(name_of(module, argument));
        copies.bytes = copies.bytes.saturating_add(instruction.shape.byte_size().unwrap_or(0));
        copies.work.push(work);
    }
    Ok(modules.into_iter().map(|(row, copies)| finding(case, ModuleRow(row), &copies)).collect())
}

/// What instructions read that write over what they read, as far as they themselves show.
fn updated(module: &HloModule) -> FxHashSet<InstructionId> {
    let updates = ["dynamic-update-slice", "scatter", "fusion", "while", "sort"];
    let users = module.instructions.iter().filter(|instruction| updates.contains(&&*instruction.opcode));
    users.flat_map(|user| user.operands.iter().copied()).collect()
}

fn finding(case: &Case<'_>, module: ModuleRow, copies: &Copies<'_>) -> Finding {
    let trace = case.trace();
    let arguments: Vec<&String> = copies.arguments.iter().collect();
    let largest = copies.work.iter().max_by_key(|work| work.row.ns);
    let name = trace.modules.get(module.index()).map_or("", |module| trace.strings.get(module.name));
    let function = function_name(name);
    let names: BTreeSet<&str> = copies.work.iter().map(|work| work.name).collect();
    let names: Vec<&&str> = names.iter().collect();
    let mut named: Vec<String> = arguments.iter().map(|name| format!("\"{name}\"")).collect();
    // One name in parentheses is no tuple without a comma.
    named.iter_mut().take(usize::from(arguments.len() == 1)).for_each(|name| name.push(','));
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
    .number("copied into fresh memory by one run of all", Quantity::new(copies.bytes as f64, Unit::Bytes, Basis::Counted))
    .why("the update may not write over what the caller might still read; given away, the argument's memory may be used")
    .help(format!("`jax.jit({function}, donate_argnames=({}))`, where the caller no longer needs the old value", named.join(", ")))
    .claims(copies.work.iter().map(|work| (work.at, 1.0)))
    .edit(case.without(copies.work.iter().map(|work| work.at)))
}
