//! Double precision on devices that are slow at it.

use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::programs;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Ceilings, ComputeUnit, Costs, Limit, Lines, Need, NumberType};
use ridge_hlo::cost::{Cost, Unit as ComputedBy};
use ridge_hlo::{ElementType, Instruction};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::OpRow;

pub(crate) static RULE: Rule = Rule {
    id: "fp64-used",
    group: Group::Compute,
    summary: "FP64 on a device with slow FP64",
    document: include_str!("fp64_used.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>(), Need::of::<Costs>()],
    find: Find::Causes(find),
};

/// Devices whose double precision has at least this part of the rate of single precision are made for it.
const FAST: f64 = 1.0 / 8.0;
/// The least part of the judged time.
const LEAST: f64 = 0.05;

/// Vectors hold half as many numbers of twice the size, and memory brings half as many of them.
const ON_PROCESSORS: f64 = 0.5;
/// There a program may well want them, and is told only where most of the time goes into them.
const LEAST_ON_PROCESSORS: f64 = 0.5;

/// Work in double precision, and the part of its time that single precision would save.
struct Double<'a> {
    work: Work<'a>,
    part: f32,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let costs: &Costs = case.analysis.get();
    let mut found: Vec<Double<'_>> = Vec::new();
    let mut slowest: f64 = 1.0;
    for program in programs(case) {
        for (id, work) in &program.ran {
            let makes_doubles = makes_doubles(program.module.instruction(*id));
            let cost = costs.of(&case.analysis, program.row, *id).filter(|cost| double_operations(cost) > 0.0);
            for work in work {
                if case.is_processor(work.row.device) {
                    // What only moves them takes twice as long as well.
                    if makes_doubles {
                        slowest = slowest.min(ON_PROCESSORS);
                        found.push(Double { work: *work, part: ON_PROCESSORS as f32 });
                    }
                    continue;
                }
                let Some(cost) = cost else { continue };
                let Some(ceilings) = case.analysis.ceilings.get(work.row.device.index()) else { continue };
                let Some(ratio) = ratio(ceilings).filter(|ratio| *ratio < FAST) else { continue };
                slowest = slowest.min(ratio);
                found.push(Double { work: *work, part: saved(ceilings, cost).unwrap_or(0.5) });
            }
        }
    }
    let ns = found.iter().fold(0_i64, |sum, double| sum.saturating_add(double.work.row.ns));
    let on_processors = case.is_on_processors();
    if case.share(ns) < if on_processors { LEAST_ON_PROCESSORS } else { LEAST } {
        return Ok(Vec::new());
    }
    found.sort_by_key(|double| (std::cmp::Reverse(double.work.row.ns), double.work.at));
    let names: Vec<&str> = found.iter().map(|double| double.work.name).collect();
    let op = found.first().map_or(ridge_trace::NONE, |double| double.work.op);
    let finding = Finding::new(format!(
        "{} of the time computes in double precision, at which the device is {:.0} times slower",
        percent(case.share(ns)),
        1.0 / slowest.max(1e-3),
    ))
    .at(case.line_of_op(op))
    .about(OpRow::known(op).map(Subject::Op))
    .number(format!("in operations on 64-bit numbers: {}", list(&names, 3)), case.per_unit(ns))
    .number("rate of double over single precision", Quantity::new(slowest, Unit::Share, if on_processors { Basis::Modelled } else { Basis::Sheet }))
    .why(if on_processors { "a vector register has room for half as many 64-bit numbers, and each takes twice the memory traffic" } else { "the device has few units for 64-bit numbers, and each takes twice the memory traffic" })
    .help("compute in `float32` where the accuracy allows, with `jax_enable_x64` off or `astype(jnp.float32)`, and keep only long sums in `float64`")
    .claims(found.iter().map(|double| (double.work.at, double.part)));
    // Whether they are needed is not in the capture.
    Ok(vec![if on_processors { finding.information() } else { finding }])
}

/// Whether an instruction's result is of 64-bit floating-point numbers.
fn makes_doubles(instruction: &Instruction) -> bool {
    let leaves = instruction.shape.leaves();
    leaves.first().is_some_and(|shape| matches!(shape.element_type, ElementType::F64 | ElementType::C128))
}

/// Operations on 64-bit floating-point numbers of one execution.
fn double_operations(cost: &Cost) -> f64 {
    let double = cost.work.by().iter().filter(|item| item.element_type == ElementType::F64 && item.is_floating());
    double.map(|item| item.operations()).sum()
}

/// The rate of double precision over that of single precision, outside matrix units.
fn ratio(ceilings: &Ceilings) -> Option<f64> {
    let rate = |number| ceilings.value(Limit::Rate(number, ComputeUnit::Plain)).filter(|rate| *rate > 0.0);
    Some(rate(NumberType::F64)? / rate(NumberType::F32)?)
}

/// The part of an operation's time at the roof that single precision would save.
fn saved(ceilings: &Ceilings, cost: &Cost) -> Option<f32> {
    let rate = |number, unit| ceilings.value(Limit::Rate(number, unit)).filter(|rate| *rate > 0.0);
    let secs = |number: NumberType| -> Option<f64> {
        let doubles = cost.work.by().iter().filter(|item| item.element_type == ElementType::F64 && item.is_floating());
        let mut sum = 0.0;
        for item in doubles {
            let matrix = (item.unit == ComputedBy::Matrix).then(|| rate(number, ComputeUnit::Matrix)).flatten();
            sum += item.operations() / matrix.or_else(|| rate(number, ComputeUnit::Plain))?;
        }
        Some(sum)
    };
    let memory = cost.compulsory.total() / ceilings.value(Limit::Memory).filter(|bytes| *bytes > 0.0)?;
    let (before, after) = (secs(NumberType::F64)?.max(memory), secs(NumberType::F32)?.max(memory / 2.0));
    (before > 0.0).then(|| (1.0 - after / before).clamp(0.0, 1.0) as f32)
}
