//! A step that updates arrays spends most of its time on what goes back to none of them.

use crate::arguments::{behind_each, name_of};
use crate::case::Case;
use crate::factors::is_factor;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs, reached};
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{ComputationId, HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Subject, Unit};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

pub(crate) static RULE: Rule = Rule {
    id: "frozen-work",
    group: Group::Structure,
    summary: "Most of a step depends only on unchanged arguments",
    document: include_str!("frozen_work.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time: a step prepares its batch in any case.
const LEAST: f64 = 0.40;
/// The same where the recorder saw that the arguments are the same arrays in every call.
const LEAST_SEEN: f64 = 0.15;
/// A program that does little else than call one function with the same arguments measures it.
const MEASURES: f64 = 0.90;
/// Steps from which on arguments may come again.
const RUNS: u64 = 8;
/// Arguments that are named, and instructions of a program that is looked at.
const NAMED: usize = 3;
const MOST: usize = 1 << 14;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    Ok(programs(case).iter().filter_map(|program| finding(case, program)).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let module = program.module;
    let entry = module.entry?;
    if module.computation(entry).instruction_ids().len() > MOST {
        return None;
    }
    let behind = behind_each(module, entry);
    let steady = case.steady(program).filter(|(arguments, _)| !arguments.is_empty());
    let updated = updated(module, entry, &behind);
    if updated.is_empty() && steady.is_none() {
        return None;
    }
    let is_unchanged = |of: &BTreeSet<InstructionId>| match &steady {
        Some((arguments, _)) => of.is_subset(arguments),
        None => of.is_disjoint(&updated),
    };
    let is_apart = |id: &InstructionId| behind.get(id).is_some_and(|of| !of.is_empty() && is_unchanged(of));
    let apart: Vec<InstructionId> = module.computation(entry).instruction_ids().filter(is_apart).collect();
    let mut ran = apart.clone();
    for id in apart.iter().filter(|id| !module.instruction(**id).is_fusion()) {
        let inside = module.instruction(*id).called.iter().flat_map(|called| reached(module, *called));
        ran.extend(inside.flat_map(|inside| module.computation(inside).instruction_ids()));
    }
    ran.retain(|id| program.ran.contains_key(id));
    ran.sort_unstable();
    ran.dedup();
    let ns = program.ns_of(&ran);
    let longest = program.longest_first(&ran);
    let first = *longest.first()?;
    let least = if steady.is_some() { LEAST_SEEN } else { LEAST };
    // A factorization is said by a rule of its own.
    if case.share(ns) < least || runs(program, &apart) < RUNS || ran.iter().any(|id| is_factor(module, *id)) {
        return None;
    }
    let names = roots(module, apart.iter().filter_map(|id| behind.get(id)).flatten());
    let more = if names.len() > NAMED { " and others" } else { "" };
    let names: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let updates = roots(module, updated.iter());
    let updates: Vec<String> = updates.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let function = program.function(case);
    let finding = |message: String| {
        Finding::new(message)
            .at(place_of(case, program, first))
            .about(Subject::Module(program.row))
            .number(format!("in operations that depend only on those: {}", list(&program.names(&longest), 3)), case.per_unit(ns))
            .claims(program.claim(&ran, 1.0))
    };
    if let Some((_, looks)) = steady {
        let whole = program.ns_of(&program.ran.keys().copied().collect::<Vec<_>>());
        let is_measuring = ns == whole && case.share(ns) > MEASURES * case.busy_share().unwrap_or(1.0);
        let message = format!(
            "{} of the time goes to recomputing, in every call of `{function}`, values that depend only on {}{more}, which {} in every call; computing them once before the loop would suffice",
            percent(case.share(ns)),
            names.join(", "),
            if names.len() == 1 { "is the same array" } else { "are the same arrays" },
        );
        let finding = finding(message)
            .number("looks at the program, all of which found the same arrays", Quantity::new(looks as f64, Unit::Count, Basis::Counted))
            .why("a compiled function keeps nothing between calls, so it recomputes what depends on unchanged arguments")
            .help("move that part into a function of its own, call it once, and pass its result to the step");
        return Some(if is_measuring { finding.information() } else { finding });
    }
    let message = format!(
        "{} of the time recomputes, in every call of `{function}`, values that depend only on {}{more}, which it never updates",
        percent(case.share(ns)),
        names.join(", "),
    );
    Some(
        finding(message)
            .fact(format!("the function returns new values of {}; the capture doesn't show whether the others repeat", updates.join(", ")))
            .why("frozen weights and data repeated in every epoch produce the same intermediate results, and a compiled function keeps none of them")
            .help("if those arguments repeat (several epochs over one data set, frozen weights), compute their part once, keep the result (features, embeddings, kernels) and pass it to the step")
            .information(),
    )
}

/// Calls of the program, by what of it runs most seldom.
fn runs(program: &Program<'_>, ids: &[InstructionId]) -> u64 {
    ids.iter().map(|id| program.events(*id)).filter(|events| *events > 0).min().unwrap_or(0)
}

/// The arguments of which the program hands back a new value: a result of the same type and extents goes back to them.
fn updated(
    module: &HloModule,
    entry: ComputationId,
    behind: &FxHashMap<InstructionId, BTreeSet<InstructionId>>,
) -> BTreeSet<InstructionId> {
    let Some(root) = module.computation(entry).root else { return BTreeSet::new() };
    let results = match &*module.instruction(root).opcode {
        "tuple" => module.instruction(root).operands.clone(),
        _ => vec![root],
    };
    let mut found = BTreeSet::new();
    for result in results {
        let shape = &module.instruction(result).shape;
        let is_alike = |id: &&InstructionId| {
            let of = &module.instruction(**id).shape;
            of.element_type == shape.element_type && of.dimensions == shape.dimensions
        };
        found.extend(behind.get(&result).into_iter().flatten().filter(is_alike));
    }
    found
}

/// What arguments are called, without the part of each: `params` of `params['kernel']`.
fn roots<'i>(module: &HloModule, ids: impl Iterator<Item = &'i InstructionId>) -> Vec<String> {
    let ids: BTreeSet<InstructionId> = ids.copied().collect();
    let mut names: Vec<String> = Vec::new();
    for id in ids {
        let name = name_of(module, id);
        let root = name.split(['[', '.']).next().unwrap_or_default().to_owned();
        if !names.contains(&root) {
            names.push(root);
        }
    }
    names
}
