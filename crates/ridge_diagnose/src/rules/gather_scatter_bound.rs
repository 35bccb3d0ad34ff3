//! Programs that spend their time on moving elements to computed places.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, beyond_roof, programs, work_sums};
use crate::rewrites::own_line;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need, Workload};
use ridge_hlo::{HloModule, InstructionId};
use ridge_table::Subject;
use ridge_trace::OpRow;

pub(crate) static RULE: Rule = Rule {
    id: "gather-scatter-bound",
    group: Group::Structure,
    summary: "Bound by gathers, scatters and sorts",
    document: include_str!("gather_scatter_bound.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>(), Need::of::<Workload>()],
    find: Find::Causes(find),
};

/// The least part of the judged time of all such operations together.
const LEAST: f64 = 0.30;
/// The most of an operation's time that is claimed: elements at computed places never come at the full bandwidth.
const MOST: f32 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let programs = programs(case);
    let mut found: Vec<Move<'_>> = programs.iter().flat_map(moves).collect();
    let sum = |wanted: &dyn Fn(&str) -> bool| {
        let of = found.iter().filter(|one| wanted(one.kind)).map(|one| one.work.row.ns);
        of.fold(0_i64, i64::saturating_add)
    };
    let ns = sum(&|_| true);
    if case.share(ns) < LEAST {
        return Ok(Vec::new());
    }
    let mut kinds: Vec<(&str, i64)> =
        ["sort", "gather", "scatter", "slice"].map(|kind| (kind, sum(&|other| other == kind))).to_vec();
    kinds.retain(|(_, ns)| *ns > 0);
    kinds.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    found.sort_by_key(|one| (std::cmp::Reverse(one.work.row.ns), one.work.at));
    let names: Vec<&str> = found.iter().map(|one| one.work.name).collect();
    let sums = work_sums(case);
    let part = |work: &Work<'_>| Some((work.at, beyond_roof(&sums, work.op)?.min(MOST)));
    let claim: Vec<(usize, f32)> = found.iter().filter_map(|one| part(&one.work)).collect();
    let first = found.first().map_or(ridge_trace::NONE, |one| one.work.op);
    let place = found.first().and_then(|one| own_line(one.by.0, one.by.1));
    let mut finding =
        Finding::new(format!("{} of the time moves elements to and from computed indices; gathers of whole rows, or slices, take less", percent(case.share(ns))))
            .at(place.or_else(|| case.line_of_op(first)))
            .about(OpRow::known(first).map(Subject::Op));
    for (kind, ns) in kinds {
        finding = finding.number(format!("in {kind} operations"), case.per_unit(ns));
    }
    finding = finding
        .fact(format!("most of it in {}", list(&names, 3)))
        .why("the index of each element is known only at run time, so memory is accessed in small pieces")
        .help("sort or bucket once and reuse the order, turn regular patterns into slices, `jnp.roll` or `reshape`, gather whole rows instead of elements, and use `jax.ops.segment_sum` on sorted segments");
    // Information names its rows too, so that a cause with a better word for the same time takes it.
    let all = || found.iter().map(|one| (one.work.at, 1.0));
    Ok(vec![if claim.is_empty() { finding.claims(all()).information() } else { finding.claims(claim) }])
}

/// Work that only moves elements.
struct Move<'a> {
    kind: &'static str,
    work: Work<'a>,
    /// The instruction that moves them, which a fusion may hold.
    by: (&'a HloModule, InstructionId),
}

/// The work of a program that only moves elements.
fn moves<'a>(program: &Program<'a>) -> Vec<Move<'a>> {
    let module = program.module;
    let found = program.ran.iter().filter_map(|(id, work)| Some((kind(module, *id)?, work)));
    found.flat_map(|((kind, id), work)| work.iter().map(move |work| Move { kind, work: *work, by: (module, id) })).collect()
}

/// What an operation is, where it is one of these: by itself, or as what dominates a fusion; and what it is by.
fn kind(module: &HloModule, id: InstructionId) -> Option<(&'static str, InstructionId)> {
    let instruction = module.instruction(id);
    let of = |opcode: &str| match opcode {
        "sort" => Some("sort"),
        "gather" => Some("gather"),
        "scatter" | "select-and-scatter" => Some("scatter"),
        _ => None,
    };
    if !instruction.is_fusion() {
        return of(&instruction.opcode)
            .or_else(|| matches!(&*instruction.opcode, "slice" | "dynamic-slice").then_some("slice"))
            .map(|kind| (kind, id));
    }
    let hero = module.hero(id);
    if let Some(kind) = of(&module.instruction(hero).opcode) {
        return Some((kind, hero));
    }
    let hero = &module.instruction(hero).opcode;
    // Next to a gather, arithmetic on its elements costs nothing; a sum or a product may.
    let is_light = hero.is_elementwise() || matches!(&**hero, "broadcast" | "concatenate" | "reshape" | "bitcast");
    let body = instruction.called.first().filter(|_| is_light)?;
    let gather = module.computation(*body).instruction_ids().find(|inner| module.instruction(*inner).opcode == "gather")?;
    Some(("gather", gather))
}
