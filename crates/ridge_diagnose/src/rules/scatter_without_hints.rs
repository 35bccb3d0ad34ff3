//! Scatters that don't declare that their indices are unique or sorted.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, beyond_roof, programs, work_sums};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need, WorkSums, Workload};
use ridge_hlo::{HloModule, InstructionId};
use ridge_table::{Basis, Quantity, Unit};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "scatter-without-hints",
    group: Group::Structure,
    summary: "Scatter without uniqueness or order hints",
    document: include_str!("scatter_without_hints.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["gather-scatter-bound"],
    needs: &[Need::of::<Lines>(), Need::of::<Workload>()],
    find: Find::Causes(find),
};

/// Below this part of the time atomic updates do not matter.
const LEAST: f64 = 0.05;
/// The most of a scatter's time that is claimed: its elements still go to computed places.
const MOST: f32 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    // Processors run scatters as loops, whatever is said of the indices.
    if case.is_on_processors() {
        return Ok(Vec::new());
    }
    case.needs_hlo()?;
    let sums = work_sums(case);
    let of_program = |program: Program<'_>| finding(case, &program, &sums);
    Ok(programs(case).into_iter().filter_map(of_program).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>, sums: &FxHashMap<u32, WorkSums>) -> Option<Finding> {
    let unsaid = program.ran.keys().copied().filter(|id| indices(program.module, *id).is_some());
    let scatters = program.longest_first(&unsaid.collect::<Vec<_>>());
    let ns = program.ns_of(&scatters);
    if case.share(ns) < LEAST {
        return None;
    }
    let work = scatters.iter().flat_map(|id| program.work(*id));
    let part = |op: u32| Some(beyond_roof(sums, op)?.min(MOST));
    let claim: Vec<(usize, f32)> = work.filter_map(|work| Some((work.at, part(work.op)?))).collect();
    let most = scatters.iter().filter_map(|id| indices(program.module, *id)).max()?;
    let found = Finding::new(format!(
        "scatters of `{}` take {} of the time and don't declare that their indices are unique or sorted",
        program.function(case),
        percent(case.share(ns)),
    ));
    let found = program
        .located(case, found, scatters.first().copied())
        .number(format!("in {}", list(&program.names(&scatters), 3)), case.per_unit(ns))
        .number("elements written by the largest scatter", Quantity::new(most as f64, Unit::Count, Basis::Counted))
        .why("the compiler must assume duplicate indices, so it writes each element with an atomic operation")
        .help("if the indices are unique or sorted, declare it: `x.at[i].add(v, unique_indices=True, indices_are_sorted=True)`, or sort by segment and use `jax.ops.segment_sum(..., indices_are_sorted=True)`");
    Some(if claim.is_empty() { found.information() } else { found.claims(claim) })
}

/// How many places a scatter without hints writes to; `None` for what is no such scatter, or writes to a single place.
fn indices(module: &HloModule, id: InstructionId) -> Option<u64> {
    let scatter = module.instruction(module.hero(id));
    let attributes = scatter.attributes();
    if scatter.opcode != "scatter" || attributes.unique_indices || attributes.indices_are_sorted {
        return None;
    }
    let operands = &scatter.operands;
    let places = &module.instruction(*operands.get(operands.len() / 2)?).shape;
    let vector = attributes.scatter.as_ref().and_then(|scatter| usize::try_from(scatter.index_vector_dim).ok())?;
    // An index vector of one number may have no dimension of its own.
    let length = places.dimensions.get(vector).copied().unwrap_or(1).max(1);
    let count = places.element_count().ok()? / u64::try_from(length).ok()?;
    (count > 1).then_some(count)
}
