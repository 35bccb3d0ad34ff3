//! Operations that are bound by exponentials, sines and their like.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::programs;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Costs, Ceilings, ComputeUnit, Limit, Lines, Need, NumberType};
use ridge_hlo::{ElementType, OpcodeClass};
use ridge_hlo::cost::{Cost, OpKind};
use ridge_table::Subject;
use ridge_trace::OpRow;

pub(crate) static RULE: Rule = Rule {
    id: "transcendental-heavy",
    group: Group::Compute,
    summary: "Bound by transcendental functions",
    document: include_str!("transcendental_heavy.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>(), Need::of::<Costs>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.10;
/// Multiply-adds of 32 bits, as two operations each, that a core does in the time of one such function: NVIDIA's CUDA C++
/// programming guide has 128 of the former and 16 of the latter for each cycle.
const OPERATIONS_EACH: f64 = 16.0;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let costs: &Costs = case.analysis.get();
    let mut found: Vec<Work<'_>> = Vec::new();
    for program in programs(case) {
        for (id, work) in &program.ran {
            let Some(cost) = costs.of(&case.analysis, program.row, *id).filter(|cost| cost.unknown.is_none()) else { continue };
            // A loop is not what it calls: that runs as operations of its own.
            if program.module.instruction(*id).opcode.class() == OpcodeClass::Runs {
                continue;
            }
            let is_bound = |work: &&Work<'_>| {
                let ceilings = case.analysis.ceilings.get(work.row.device.index());
                ceilings.and_then(|ceilings| is_bound(ceilings, cost)) == Some(true)
            };
            found.extend(work.iter().filter(is_bound));
        }
    }
    let ns = found.iter().fold(0_i64, |sum, work| sum.saturating_add(work.row.ns));
    if case.share(ns) < LEAST {
        return Ok(Vec::new());
    }
    found.sort_by_key(|work| (std::cmp::Reverse(work.row.ns), work.at));
    let names: Vec<&str> = found.iter().map(|work| work.name).collect();
    let op = found.first().map_or(ridge_trace::NONE, |work| work.op);
    let finding = Finding::new(format!(
        "{} of the time is in operations bound by exponentials, sines and similar functions",
        percent(case.share(ns)),
    ))
    .at(case.line_of_op(op))
    .about(OpRow::known(op).map(Subject::Op))
    .number(format!("in {}", list(&names, 3)), case.per_unit(ns))
    .why("transcendental functions take many instructions or use scarce units, so they are the limit instead of memory or multiplications")
    .help("compute each value once and reuse it, hoist loop invariants, and use `jnp.sinc`, recurrences or polynomials if they are accurate enough")
    .information();
    Ok(vec![finding])
}

/// Whether such functions take longer at the device's rates than memory and than all other arithmetic; `None` where a rate is
/// not known.
fn is_bound(ceilings: &Ceilings, cost: &Cost) -> Option<bool> {
    let rate = |limit| ceilings.value(limit).filter(|rate| *rate > 0.0);
    let number = match cost.dominant_type()? {
        ElementType::F64 => NumberType::F64,
        _ => NumberType::F32,
    };
    let plain = rate(Limit::Rate(number, ComputeUnit::Plain))?;
    let functions = cost.work.of(OpKind::Transcendental);
    let own = functions / rate(Limit::Transcendental(number)).unwrap_or(plain / OPERATIONS_EACH);
    let others = (cost.work.flops() - functions).max(0.0) / plain;
    let memory = cost.compulsory.total() / rate(Limit::Memory)?;
    Some(functions > 0.0 && own > others && own > memory)
}
