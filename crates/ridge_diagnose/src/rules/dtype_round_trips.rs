//! Passes over memory that only change the type of numbers, there and back.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::{ElementType, HloModule, InstructionId};

pub(crate) static RULE: Rule = Rule {
    id: "dtype-round-trips",
    group: Group::Compute,
    summary: "Redundant 16/32-bit conversions",
    document: include_str!("dtype_round_trips.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.03;

/// Which way a conversion goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Narrower,
    Wider,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let of_program = |program: Program<'_>| finding(case, &program);
    Ok(programs(case).into_iter().filter_map(of_program).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let found = program.ran.keys().filter_map(|id| Some((*id, way(program.module, *id)?)));
    let found: Vec<(InstructionId, Way)> = found.collect();
    let of = |way: Way| found.iter().filter(move |(_, other)| *other == way).map(|(id, _)| *id).collect::<Vec<_>>();
    let (narrower, wider) = (of(Way::Narrower), of(Way::Wider));
    let all = program.longest_first(&found.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    let ns = program.ns_of(&all);
    let on_processors = case.is_on_processors();
    // One way alone is how numbers enter or leave the program; on processors the way back is within other operations.
    let is_one_way = wider.is_empty() || (narrower.is_empty() && !on_processors);
    if is_one_way || case.share(ns) < LEAST {
        return None;
    }
    let help = if on_processors {
        "compute in `float32` on CPUs, which have no arithmetic for these types and convert around every operation"
    } else {
        "keep one type across operations: `jnp.mean(x, dtype=x.dtype)`, `preferred_element_type` for products, and no `astype(float32)` around single operations"
    };
    let message = format!(
        "{} of the time goes to converting numbers in `{}` between 32 and 16 bits",
        percent(case.share(ns)),
        program.function(case),
    );
    let claim = program.claim(&all, 1.0);
    let mut found = program.located(case, Finding::new(message), all.first().copied());
    for (to, ids) in [("16 bits", program.longest_first(&narrower)), ("32 bits", program.longest_first(&wider))] {
        if !ids.is_empty() {
            found = found.number(format!("to {to}: {}", list(&program.names(&ids), 3)), case.per_unit(program.ns_of(&ids)));
        }
    }
    Some(
        found
            .why("each conversion is a separate pass that reads and writes the whole array and computes nothing")
            .help(help)
            .edit(case.without(claim.iter().map(|(at, _)| *at)))
            .claims(claim),
    )
}

/// Which way an operation converts that does nothing else; `None` for all others, and for weights made narrower for use.
fn way(module: &HloModule, id: InstructionId) -> Option<Way> {
    let instruction = module.instruction(id);
    let is_plain = |id: InstructionId| {
        matches!(&*module.instruction(id).opcode, "parameter" | "bitcast" | "convert" | "reshape")
    };
    let converts = match &*instruction.opcode {
        "convert" => true,
        "fusion" => {
            let mut body = module.computation(*instruction.called.first()?).instruction_ids();
            body.all(is_plain)
        }
        _ => false,
    };
    let &[operand] = &instruction.operands[..] else { return None };
    let operand = module.instruction(operand);
    let is_half = |element: ElementType| matches!(element, ElementType::Bf16 | ElementType::F16);
    match (operand.shape.element_type, instruction.shape.element_type) {
        _ if !converts => None,
        // A program keeps its weights in 32 bits and uses them in 16: that is what mixed precision is.
        (ElementType::F32, to) if is_half(to) => (operand.opcode != "parameter").then_some(Way::Narrower),
        (from, ElementType::F32) if is_half(from) => Some(Way::Wider),
        _ => None,
    }
}
