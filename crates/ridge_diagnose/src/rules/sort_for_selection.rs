//! Sorts of few elements, or of which only one place is read.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{HloModule, InstructionId, Users};

pub(crate) static RULE: Rule = Rule {
    id: "sort-for-selection",
    group: Group::Compute,
    summary: "Full sort where a selection suffices",
    document: include_str!("sort_for_selection.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["gather-scatter-bound"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// Below this part of the time a sort is cheap enough.
const LEAST: f64 = 0.05;
/// Elements that a network of comparisons sorts or selects from.
const FEW: i64 = 64;
/// Elements that a network sorts wholly.
const VERY_FEW: i64 = 16;
/// One in so many elements at an end is a selection of the largest or smallest.
const SELECTED: i64 = 8;
/// Places that are told apart.
const MOST_SELECTED: i64 = 4096;
/// Sorts side by side: with fewer a network has nothing to work on at once.
const FEWEST_SORTS: i64 = 64;

/// What a sort is used for, and what part of its time another way would save.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Use {
    elements: i64,
    sorts: i64,
    /// Places that are read of each; `None` where all may be.
    read: Option<i64>,
    part: f32,
    help: &'static str,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let mut findings = Vec::new();
    for program in programs(case) {
        let is_sort = |id: &InstructionId| program.module.instruction(program.module.hero(*id)).opcode == "sort";
        let sorts = program.longest_first(&program.ran.keys().copied().filter(is_sort).collect::<Vec<_>>());
        if case.share(program.ns_of(&sorts)) < LEAST {
            continue;
        }
        let uses = Users::new(program.module);
        findings.extend(sorts.into_iter().filter_map(|id| finding(case, &program, id, &uses)));
    }
    Ok(findings)
}

fn finding(case: &Case<'_>, program: &Program<'_>, id: InstructionId, uses: &Users) -> Option<Finding> {
    let ns = program.ns(id);
    if case.share(ns) < LEAST {
        return None;
    }
    let found = use_of(program.module, id, uses)?;
    if let Some(shuffle) = shuffled(case, program, id, &found) {
        return Some(shuffle);
    }
    let read = match found.read {
        Some(1) => " to read one of them".to_owned(),
        Some(read) => format!(" to read {read} of them"),
        None => String::new(),
    };
    let message = format!(
        "{} of the time goes to sorting {} times {} elements{read}{}",
        percent(case.share(ns)),
        found.sorts,
        found.elements,
        if found.read.is_some_and(|read| read > 1) { "; `jax.lax.top_k` selects them in one pass" } else { "" },
    );
    Some(
        program
            .located(case, Finding::new(message), Some(id))
            .number(format!("in `{}`", program.module.instruction(id).name), case.per_unit(ns))
            .why("a sort orders every element through memory, with dependent comparisons; a selection needs only a few minima and maxima of whole arrays")
            .help(found.help)
            .claims(program.claim(&[id], found.part)),
    )
}

/// A shuffle of which few elements are read: its random keys and all of its sorts go.
fn shuffled(case: &Case<'_>, program: &Program<'_>, id: InstructionId, found: &Use) -> Option<Finding> {
    let read = found.read.filter(|read| read * SELECTED <= found.elements)?;
    let path = |id: InstructionId| program.module.op_name_in_fusion(id);
    let end = path(id).find(SHUFFLE)? + SHUFFLE.len();
    let prefix = path(id).get(..end)?;
    let all: Vec<InstructionId> = program.ran.keys().copied().filter(|id| path(*id).starts_with(prefix)).collect();
    let ns = program.ns_of(&all);
    let message = format!(
        "{} of the time goes to shuffling {} elements to read {read} of them, a draw without replacement",
        percent(case.share(ns)),
        found.elements,
    );
    Some(
        program
            .located(case, Finding::new(message), Some(id))
            .number(format!("in {}", list(&program.names(&program.longest_first(&all)), 3)), case.per_unit(ns))
            .why("`jax.random.permutation` and `choice` without replacement assign every element a random key and sort all of them, several times for large arrays")
            .help("draw indices with `jax.random.randint` (with replacement, which rarely matters in training), or shuffle once per epoch and slice the result")
            .claims(program.claim(&all, 0.98)),
    )
}

/// What JAX calls a shuffle in the names of its operations.
const SHUFFLE: &str = "jit(_shuffle)";

/// What the sort at `id` is used for, where another way is better.
fn use_of(module: &HloModule, id: InstructionId, uses: &Users) -> Option<Use> {
    let sort = module.instruction(module.hero(id));
    let dimension = usize::try_from(*sort.dimensions.first()?).ok()?;
    let leaves = sort.shape.leaves();
    let shape = leaves.first()?;
    let elements = shape.dimensions.get(dimension).copied().filter(|elements| *elements > 1)?;
    let sorts = i64::try_from(shape.element_count().ok()?).ok()? / elements;
    let read = read_places(module, uses, id, dimension, elements);
    let count = read.as_ref().map(|read| read.len() as i64);
    let all = Use { elements, sorts, read: count, part: 0.0, help: "" };
    let is_end = |place: &i64| *place == 0 || *place == elements - 1;
    Some(match &read {
        Some(places) if places.iter().all(is_end) => {
            Use { part: 0.9, help: "use `jnp.min` or `jnp.max` for the first or last of the sorted elements", ..all }
        }
        Some(places) if places.len() <= 2 && elements <= FEW && sorts >= FEWEST_SORTS => Use {
            part: 0.8,
            help: "replace the sort with a fixed selection network of `jnp.minimum` and `jnp.maximum` on whole arrays: four of them for the median of 3, 19 exchanges for the median of 9",
            ..all
        },
        Some(places) if elements > FEW && is_at_an_end(places, elements) => Use {
            // A heap of the k that are kept compares log k times where a sort does log n times.
            part: (1.0 - ((places.len() + 1) as f32).ln() / (elements as f32).ln()).max(0.5),
            help: "select only the elements you read with `jax.lax.top_k` (of `-x` for the smallest), or `jax.lax.approx_max_k` on accelerators",
            ..all
        },
        None if elements <= VERY_FEW && sorts >= FEWEST_SORTS && leaves.len() == 1 => Use {
            part: 0.5,
            help: "sort with a fixed sorting network of `jnp.minimum` and `jnp.maximum` on whole arrays: 5 exchanges for 4 elements, 19 for 8",
            ..all
        },
        _ => return None,
    })
}

/// Whether places that are read are the first or the last of all, without a gap.
fn is_at_an_end(places: &[i64], elements: i64) -> bool {
    let (Some(first), Some(last)) = (places.first(), places.last()) else { return false };
    let is_whole = last - first + 1 == places.len() as i64;
    is_whole && (*first == 0 || *last == elements - 1)
}

/// The places along `dimension` that are read of a sort's result; `None` where more than a few may be.
fn read_places(module: &HloModule, uses: &Users, id: InstructionId, dimension: usize, elements: i64) -> Option<Vec<i64>> {
    let mut places: Vec<i64> = Vec::new();
    let mut inside: Vec<(InstructionId, bool)> = vec![(id, false)];
    let mut steps = 0;
    while let Some((value, is_inside)) = inside.pop() {
        if !is_inside && module.is_root(value) {
            return None;
        }
        for &user in uses.of(value) {
            steps += 1;
            let reader = module.instruction(user);
            match &*reader.opcode {
                _ if steps > 64 => return None,
                "slice" => {
                    let bounds = reader.attributes().slices.get(dimension)?;
                    let most = (elements / SELECTED).clamp(2, MOST_SELECTED).min(elements - 1);
                    if bounds.limit.saturating_sub(bounds.start) > most {
                        return None;
                    }
                    places.extend(bounds.start..bounds.limit);
                }
                "get-tuple-element" => inside.push((user, is_inside)),
                "fusion" => {
                    let body = module.computation(*reader.called.first()?);
                    for (number, _) in reader.operands.iter().enumerate().filter(|(_, operand)| **operand == value) {
                        let is_it = |inner: &InstructionId| {
                            module.instruction(*inner).parameter_number == i64::try_from(number).ok()
                        };
                        inside.push((body.instruction_ids().find(is_it)?, true));
                    }
                }
                _ => return None,
            }
        }
    }
    places.sort_unstable();
    places.dedup();
    (!places.is_empty()).then_some(places)
}
