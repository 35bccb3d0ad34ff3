//! Work on all pairs of two arrays of which those beyond a distance are set to zero.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rewrites::place_of;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{Flow, HloModule, InstructionId, Scalar};
use ridge_table::Subject;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "distant-pairs",
    group: Group::Structure,
    summary: "All pairs computed although a cutoff keeps only near ones",
    document: include_str!("distant_pairs.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["library-part"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.25;
/// The fewest members of each side: below that a list of neighbors costs more than it spares.
const FEWEST: i64 = 256;
/// Steps from a distance to the difference that it is of.
const MOST: usize = 512;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    Ok(programs(case).iter().filter_map(|program| finding(case, program)).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let module = program.module;
    let flow = Flow::new(module);
    let cuts = module.instruction_ids().filter_map(|id| Some((id, cut(module, &flow, id)?)));
    let ran = cuts.filter(|(id, _)| program.ran.contains_key(&flow.carrier(*id)));
    let (_, (rows, columns)) = ran.max_by_key(|(id, _)| program.ns(flow.carrier(*id)))?;
    // Whatever has an element for each pair.
    let is_of_pairs = |id: &InstructionId| {
        let made = |id: InstructionId| has_pairs(module, id, rows, columns);
        let inside = |id: InstructionId| {
            let body = module.instruction(id).called.first().filter(|_| module.instruction(id).is_fusion());
            body.is_some_and(|body| module.computation(*body).instruction_ids().any(made))
        };
        made(*id) || inside(*id) || module.instruction(*id).operands.iter().any(|operand| made(*operand))
    };
    let held: Vec<InstructionId> = program.ran.keys().copied().filter(is_of_pairs).collect();
    let ns = program.ns_of(&held);
    if case.share(ns) < LEAST {
        return None;
    }
    let longest = program.longest_first(&held);
    let message = format!(
        "{} of the time computes all pairs of {rows} and {columns}, though pairs beyond a cutoff distance are set to zero; a neighbor list would skip those",
        percent(case.share(ns)),
    );
    Some(
        Finding::new(message)
            .at(longest.first().and_then(|id| place_of(case, program, *id)))
            .about(Subject::Module(program.row))
            .number(format!("in arrays with one element per pair: {}", list(&program.names(&longest), 3)), case.per_unit(ns))
            .fact("the capture doesn't show how many pairs are within the cutoff")
            .why("the number of all pairs grows quadratically, but the number within the cutoff only linearly")
            .help("keep a neighbor list and rebuild it occasionally (`jax_md.partition.neighbor_list`, `energy.*_neighbor_list`, or a grid of cells), or sort one side and compare only within a window; this pays off if few pairs are near")
            .claims(program.claim(&held, 1.0))
            .information(),
    )
}

/// The extents of the pairs that the choice `id` keeps where their distance is below a number, and sets to zero else.
fn cut(module: &HloModule, flow: &Flow<'_>, id: InstructionId) -> Option<(i64, i64)> {
    let instruction = module.instruction(id);
    let [condition, yes, no] = instruction.operands[..] else { return None };
    if instruction.opcode != "select" {
        return None;
    }
    let keeps_true = match (number(module, flow, yes), number(module, flow, no)) {
        (None, Some(Number::Zero)) => true,
        (Some(Number::Zero), None) => false,
        _ => return None,
    };
    // The condition may have more to it, such as that a pair is not one with itself.
    let (mut open, mut seen) = (vec![condition], FxHashSet::default());
    while let Some(at) = open.pop().map(|at| flow.content(at)) {
        if !seen.insert(at) || seen.len() > MOST {
            continue;
        }
        let step = module.instruction(at);
        match &*step.opcode {
            "and" | "or" | "broadcast" => open.extend(step.operands.iter().copied()),
            "compare" => {
                let [left, right] = step.operands[..] else { continue };
                let below = match step.attributes().comparison_direction.as_deref() {
                    Some("LT" | "LE") => true,
                    Some("GT" | "GE") => false,
                    _ => continue,
                };
                let (distance, is_near) = match (number(module, flow, left), number(module, flow, right)) {
                    (None, Some(Number::Other)) => (left, below),
                    (Some(Number::Other), None) => (right, !below),
                    _ => continue,
                };
                // Masks by position compare whole numbers.
                let is_real = module.instruction(distance).shape.element_type.is_float();
                if is_real
                    && is_near == keeps_true
                    && let Some(pairs) = behind(module, flow, distance)
                {
                    return Some(pairs);
                }
            }
            _ => {}
        }
    }
    None
}

/// The extents of the pairs whose difference a distance is made from.
fn behind(module: &HloModule, flow: &Flow<'_>, distance: InstructionId) -> Option<(i64, i64)> {
    let (mut open, mut seen) = (vec![distance], FxHashSet::default());
    while let Some(at) = open.pop().map(|at| flow.content(at)) {
        if !seen.insert(at) || seen.len() > MOST {
            continue;
        }
        let step = module.instruction(at);
        let found = (step.opcode == "subtract").then(|| pairs(module, flow, at)).flatten();
        if found.is_some() {
            return found;
        }
        open.extend(step.operands.iter().copied());
    }
    None
}

/// The extents of a difference of two arrays, each repeated along a dimension of its own.
fn pairs(module: &HloModule, flow: &Flow<'_>, id: InstructionId) -> Option<(i64, i64)> {
    let extents = &module.instruction(id).shape.dimensions;
    let repeats = |operand: InstructionId| -> Option<Vec<usize>> {
        let broadcast = module.instruction(flow.source(operand));
        let kept: Vec<usize> = broadcast.dimensions.iter().filter_map(|to| usize::try_from(*to).ok()).collect();
        let all = 0..broadcast.shape.dimensions.len();
        (broadcast.opcode == "broadcast" && broadcast.shape.dimensions == *extents).then(|| {
            all.filter(|at| !kept.contains(at) && extents.get(*at).is_some_and(|extent| *extent >= FEWEST)).collect()
        })
    };
    let [one, other] = module.instruction(id).operands[..] else { return None };
    let (one, other) = (repeats(one)?, repeats(other)?);
    let (row, column) = (*other.first()?, *one.first()?);
    (row != column && one.len() == 1 && other.len() == 1).then(|| Some((*extents.get(row)?, *extents.get(column)?)))?
}

/// Whether an array has an element for each pair.
fn has_pairs(module: &HloModule, id: InstructionId, rows: i64, columns: i64) -> bool {
    let extents = &module.instruction(id).shape.dimensions;
    let (row, column) =
        (extents.iter().position(|extent| *extent == rows), extents.iter().rposition(|extent| *extent == columns));
    row.zip(column).is_some_and(|(row, column)| row != column)
}

/// One number for all elements.
enum Number {
    Zero,
    Other,
}

fn number(module: &HloModule, flow: &Flow<'_>, id: InstructionId) -> Option<Number> {
    let mut at = flow.content(id);
    if module.instruction(at).opcode == "broadcast" {
        at = module.instruction(at).operands.first().map_or(at, |operand| flow.content(*operand));
    }
    let instruction = module.instruction(at);
    if instruction.shape.element_count().is_ok_and(|count| count > 1) {
        return None;
    }
    let literal = instruction.literal.as_ref().and_then(|literal| literal.scalar());
    Some(if matches!(literal, Some(Scalar::Float(value)) if value == 0.0) { Number::Zero } else { Number::Other })
}
