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
/// Below this part, such work may be too little to keep an array for.
const WORTH_A_WARNING: f64 = 0.50;
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
    of_steady(case, program, entry, &behind).or_else(|| of_never_updated(case, program, entry, &behind))
}

/// Elements of an argument that is no data.
const SMALL: u64 = 8;

/// What recomputes the same from arguments that the recorder saw to be the same arrays in every call.
fn of_steady(case: &Case<'_>, program: &Program<'_>, entry: ComputationId, behind: &Behind) -> Option<Finding> {
    let module = program.module;
    let (arguments, looks) = case.steady(program)?;
    let part = Part::of(program, entry, behind, |of| of.is_subset(&arguments));
    let share = case.share(part.ns);
    // Nobody wants the same result again but who measures how long it takes.
    let is_result = |id: &InstructionId| part.apart.contains(id) && module.instruction(*id).opcode != "parameter";
    if share < LEAST_SEEN || part.is_seldom(program) || results_of(module, entry).iter().any(is_result) {
        return None;
    }
    let (names, more) = part.names(module, behind);
    let message = format!(
        "{} of the time goes to recomputing {} in every call of `{}` that depend only on {}{more}, which {} in every call; computing them once before the loop would suffice",
        percent(share),
        results(module, part.first()?),
        program.function(case),
        names.join(", "),
        if names.len() == 1 { "is the same array" } else { "are the same arrays" },
    );
    let finding = part
        .finding(case, program, message)?
        .number("looks at the program, all of which found the same arrays", Quantity::new(looks as f64, Unit::Count, Basis::Counted))
        .why("a compiled function keeps nothing between calls, so it recomputes what depends on unchanged arguments")
        .help("move that part into a function of its own, call it once, and pass its result to the step");
    Some(if share < WORTH_A_WARNING { finding.information() } else { finding })
}

/// What depends on arguments that the function never returns new values of: whether they are passed again is not known.
fn of_never_updated(case: &Case<'_>, program: &Program<'_>, entry: ComputationId, behind: &Behind) -> Option<Finding> {
    let module = program.module;
    let updated = updated(module, entry, behind);
    if updated.is_empty() {
        return None;
    }
    // Batches that change come again in each epoch; keys and numbers don't.
    let is_small = |id: &InstructionId| module.instruction(*id).shape.element_count().is_ok_and(|count| count <= SMALL);
    let changing: BTreeSet<InstructionId> = case.changing(program).into_iter().filter(is_small).collect();
    let part = Part::of(program, entry, behind, |of| of.is_disjoint(&updated) && of.is_disjoint(&changing));
    if case.share(part.ns) < LEAST || part.is_seldom(program) {
        return None;
    }
    let (names, more) = part.names(module, behind);
    let updates = roots(module, updated.iter());
    let updates: Vec<String> = updates.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let message = format!(
        "{} of the time recomputes, in every call of `{}`, values that depend only on {}{more}, which it never updates",
        percent(case.share(part.ns)),
        program.function(case),
        names.join(", "),
    );
    Some(
        part.finding(case, program, message)?
            .fact(format!("the function returns new values of {}; the capture doesn't show whether the others repeat", updates.join(", ")))
            .why("frozen weights and data repeated in every epoch produce the same intermediate results, and a compiled function keeps none of them")
            .help("if those arguments repeat (several epochs over one data set, frozen weights), compute their part once, keep the result (features, embeddings, kernels) and pass it to the step")
            .information(),
    )
}

/// The entry parameters that each instruction goes back to.
pub(super) type Behind = FxHashMap<InstructionId, BTreeSet<InstructionId>>;

/// What of a program some of its arguments alone decide.
struct Part {
    /// Instructions of the entry.
    apart: Vec<InstructionId>,
    /// Those and what they call, as far as it ran, the longest first.
    ran: Vec<InstructionId>,
    ns: i64,
}

impl Part {
    fn of(
        program: &Program<'_>,
        entry: ComputationId,
        behind: &Behind,
        is_unchanged: impl Fn(&BTreeSet<InstructionId>) -> bool,
    ) -> Part {
        let module = program.module;
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
        Part { ns: program.ns_of(&ran), ran: program.longest_first(&ran), apart }
    }

    fn first(&self) -> Option<InstructionId> {
        self.ran.first().copied()
    }

    /// Whether it is left to others: a factorization has a rule of its own, and few calls may all be of other arguments.
    fn is_seldom(&self, program: &Program<'_>) -> bool {
        runs(program, &self.apart) < RUNS || self.ran.iter().any(|id| is_factor(program.module, *id))
    }

    /// The names of the arguments, and words for those left out.
    fn names(&self, module: &HloModule, behind: &Behind) -> (Vec<String>, &'static str) {
        let names = roots(module, self.apart.iter().filter_map(|id| behind.get(id)).flatten());
        let more = if names.len() > NAMED { " and others" } else { "" };
        (names.iter().take(NAMED).map(|name| format!("`{name}`")).collect(), more)
    }

    fn finding(&self, case: &Case<'_>, program: &Program<'_>, message: String) -> Option<Finding> {
        Some(
            Finding::new(message)
                .at(place_of(case, program, self.first()?))
                .about(Subject::Module(program.row))
                .number(format!("in operations that depend only on those: {}", list(&program.names(&self.ran), 3)), case.per_unit(self.ns))
                .claims(program.claim(&self.ran, 1.0)),
        )
    }
}

/// What the program returns.
pub(super) fn results_of(module: &HloModule, entry: ComputationId) -> Vec<InstructionId> {
    let Some(root) = module.computation(entry).root else { return Vec::new() };
    match &*module.instruction(root).opcode {
        "tuple" => module.instruction(root).operands.clone(),
        _ => vec![root],
    }
}

/// What an instruction computes, in the plural.
fn results(module: &HloModule, id: InstructionId) -> &'static str {
    match &*module.instruction(module.hero(id)).opcode {
        "dot" => "matrix products",
        "convolution" => "convolutions",
        "fft" => "Fourier transforms",
        "sort" => "sorted values",
        _ => "values",
    }
}

/// Calls of the program, by what of it runs most seldom.
fn runs(program: &Program<'_>, ids: &[InstructionId]) -> u64 {
    ids.iter().map(|id| program.events(*id)).filter(|events| *events > 0).min().unwrap_or(0)
}

/// The arguments of which the program hands back a new value: a result of the same type and extents goes back to them.
pub(super) fn updated(
    module: &HloModule,
    entry: ComputationId,
    behind: &Behind,
) -> BTreeSet<InstructionId> {
    let mut found = BTreeSet::new();
    for result in results_of(module, entry) {
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
