//! Double precision on devices that are slow at it.

use crate::case::{Case, Framework, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::operator_calls::{OperatorCall, OperatorCalls};
use crate::programs::programs;
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Ceilings, ComputeUnit, Costs, Limit, Lines, Need, NumberType};
use ridge_hlo::cost::{Cost, Unit as ComputedBy};
use ridge_hlo::{ElementType, Instruction};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::{EventKind, EventRow, NONE, OpRow};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "fp64-used",
    group: Group::Compute,
    summary: "FP64 on a device with slow FP64",
    document: include_str!("fp64_used.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>(), Need::of::<Costs>(), Need::of::<OperatorCalls>()],
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
    if case.framework() == Framework::Torch {
        return Ok(in_operators(case).into_iter().collect());
    }
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
        "{} of the time computes in double precision (`float64`), which is {:.0} times slower than `float32` on this device",
        percent(case.share(ns)),
        1.0 / slowest.max(1e-3),
    ))
    .at(case.known.doubles_asked_at.clone().or_else(|| case.line_of_op(op)))
    .about(OpRow::known(op).map(Subject::Op))
    .number(format!("in 64-bit operations: {}", list(&names, 3)), case.per_unit(ns))
    .number("double-precision rate / single-precision rate", Quantity::new(slowest, Unit::Share, if on_processors { Basis::Modelled } else { Basis::Sheet }))
    .why(if on_processors { "a vector register fits half as many 64-bit numbers, and each takes twice the memory traffic" } else { "the device has few 64-bit units, and each number takes twice the memory traffic" })
    .help("compute in `float32` if the accuracy allows, with `jax_enable_x64` off or `astype(jnp.float32)`, and keep only long sums in `float64`")
    .claims(found.iter().map(|double| (double.work.at, double.part)));
    // Whether they are needed is not in the capture.
    Ok(vec![if on_processors { finding.information() } else { finding }])
}

/// The calls of PyTorch's operators on a processor that work on arrays of doubles.
///
/// Few programs that train a network need them: PyTorch makes single precision unless it is asked, and NumPy makes doubles unless it is
/// asked. Optimizers that search along lines and factorizations are there for accuracy, so with those it is only said.
fn in_operators(case: &Case<'_>) -> Option<Finding> {
    if !case.is_on_processors() {
        return None;
    }
    let trace = case.trace();
    let mut known: FxHashMap<u32, bool> = FxHashMap::default();
    let mut has_doubles = |row: u32| {
        let detail = trace.events.detail[row as usize];
        let is_operator = trace.events.kind(row as usize) == EventKind::Operator;
        is_operator
            && *known.entry(detail).or_insert_with(|| {
                [ElementType::F64, ElementType::C128].iter().any(|wide| case.analysis.operator_takes(row, *wide))
            })
    };
    let all = &case.operator_calls().calls;
    let found: Vec<usize> =
        all.iter().enumerate().filter(|(_, call)| call.rows().any(&mut has_doubles)).map(|(at, _)| at).collect();
    let share = case.share_of(case.claim_of_calls(found.iter().copied(), 1.0));
    // Of the work, as eager programs wait for Python in between.
    if share < LEAST_ON_PROCESSORS * case.busy_share()? || share < LEAST {
        return None;
    }
    let calls = case.operator_calls();
    let ns = |at: &usize| calls.work_of(*at).map(|(_, ns)| ns).sum::<i64>();
    let longest = found.iter().max_by_key(|at| ns(at)).map_or(NONE, |at| all[*at].row);
    let seen = case.seen_during(found.iter().map(|at| all[*at].row));
    let finding = Finding::new(format!("{} of the time computes in double precision (`float64`); `float32` would halve the memory traffic", percent(share)))
        .at(case.line_of_row(longest))
        .about(EventRow::known(longest).map(Subject::Event))
        .seen(seen.as_ref())
        .number("operator calls on `float64` arrays", case.count_per_unit(found.len() as u64))
        .why("a vector register fits half as many 64-bit numbers, and each takes twice the memory traffic")
        .help("convert the input once (`torch.from_numpy(table).float()`) and keep the model in `float32`; `from_numpy` keeps NumPy's `float64`")
        .claims(case.claim_of_calls(found.iter().copied(), ON_PROCESSORS));
    Some(if trains_a_network(case, all) { finding } else { finding.information() })
}

/// Whether the program trains a network by first derivatives, and factors nothing.
fn trains_a_network(case: &Case<'_>, all: &[OperatorCall]) -> bool {
    let steps = case.host_rows(|kind, name| kind == EventKind::Annotation && name.starts_with("Optimizer.step#"));
    let is_searching = |row: &u32| case.trace().name(*row as usize).contains("LBFGS");
    let is_factoring =
        |name: &str| name.starts_with("aten::linalg_") || name.contains("cholesky") || name.contains("lu_solve");
    let name = |call: &OperatorCall| case.trace().strings.get(call.name);
    !steps.is_empty() && !steps.iter().any(is_searching) && !all.iter().any(|call| is_factoring(name(call)))
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
