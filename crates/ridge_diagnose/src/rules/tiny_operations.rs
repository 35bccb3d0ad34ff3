//! Loops on a processor whose operations have so few elements that starting them takes the time.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rewrites::{independent_loop, place_of};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{Flow, InstructionId};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "tiny-operations",
    group: Group::Structure,
    summary: "Loop of operations on a few numbers each",
    document: include_str!("tiny_operations.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["no-warm-start"],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.40;
/// The most elements of a result that takes less time than it takes to begin, and how long such an operation takes at most,
/// nanoseconds: an addition of so many numbers takes a tenth of a microsecond.
const FEW: u64 = 256;
const SHORT_NS: i64 = 20_000;
/// Operations that are worth a word.
const MANY: u64 = 64;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    if !case.is_on_processors() {
        return Ok(Vec::new());
    }
    Ok(programs(case).iter().filter_map(|program| finding(case, program)).collect())
}

/// The operations in loops of a program that work on a few numbers each, and the most numbers of one of them; `None` where they take
/// little of the judged time.
pub(super) fn tiny(case: &Case<'_>, program: &Program<'_>) -> Option<(Vec<InstructionId>, u64)> {
    let module = program.module;
    let flow = Flow::new(module);
    let elements = |id: InstructionId| -> u64 {
        module.instruction(id).shape.leaves().iter().filter_map(|shape| shape.element_count().ok()).sum()
    };
    let is_tiny = |id: &InstructionId| {
        let events = i64::try_from(program.events(*id)).unwrap_or(i64::MAX);
        // A library's call works on more than it hands back.
        let is_array = !matches!(&*module.instruction(*id).opcode, "while" | "conditional" | "call" | "custom-call");
        is_array && events > 0 && program.ns(*id) / events <= SHORT_NS && elements(*id) <= FEW && flow.loop_around(*id).is_some()
    };
    let tiny: Vec<InstructionId> = program.ran.keys().copied().filter(is_tiny).collect();
    let events = tiny.iter().map(|id| program.events(*id)).sum::<u64>();
    let most = tiny.iter().map(|id| elements(*id)).max().unwrap_or(0);
    (case.share(program.ns_of(&tiny)) >= LEAST && events >= MANY).then_some((tiny, most))
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let (tiny, most) = tiny(case, program)?;
    let (ns, events) = (program.ns_of(&tiny), tiny.iter().map(|id| program.events(*id)).sum::<u64>());
    let longest = program.longest_first(&tiny);
    // Of independent problems the loop is what is to be changed, not its operations.
    if longest.first().is_some_and(|id| independent_loop(case, program, *id).is_some()) {
        return None;
    }
    let message = format!(
        "{} of the time goes to operations on at most {most} numbers each, one by one in loops of `{}`, and is mostly launch overhead",
        percent(case.share(ns)),
        program.function(case),
    );
    Some(
        Finding::new(message)
            .at(longest.first().and_then(|id| place_of(case, program, *id)))
            .about(Subject::Module(program.row))
            .number(format!("in {}", list(&program.names(&longest), 3)), case.per_unit(ns))
            .number("operations in total", Quantity::new(events as f64, Unit::Count, Basis::Measured))
            .why("an operation on a few numbers takes as long as one on a few hundred, because its launch takes longer than its arithmetic")
            .help("batch independent runs (`jax.vmap` over chains, systems or starting points; `chain_method='vectorized'` in NumPyro), or combine independent steps into one array operation")
            .claims(program.claim(&tiny, 1.0))
            .information(),
    )
}
