//! Matrix products whose rows do not begin where matrix units read.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs, work_sums};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Bound, ComputeUnit, Limit, Lines, Need, NumberType, WorkSums, Workload};
use ridge_hlo::{ElementType, HloModule, InstructionId, Shape};
use ridge_table::{Basis, Quantity, Unit};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    id: "padding-waste",
    group: Group::Compute,
    summary: "Misaligned matrix dimensions",
    document: include_str!("padding_waste.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>(), Need::of::<Workload>()],
    find: Find::Causes(find),
};

/// The least part of the judged time.
const LEAST: f64 = 0.03;
/// Rows begin at multiples of this many bytes where matrix units read them whole.
const ALIGNED: i64 = 16;
/// Smaller extents are padded whatever one does.
const SMALLEST: i64 = 16;
/// Times its least time that a good product takes: libraries reach some 70% of the data sheet's rate.
const GOOD: f64 = 1.4;
/// A product that takes less than this many times its least time has nothing to win.
const SLOW: f64 = 2.0;
/// The most of a product's time that is claimed.
const MOST: f64 = 0.5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let sums = work_sums(case);
    let of_program = |program: Program<'_>| finding(case, &program, &sums);
    Ok(programs(case).into_iter().filter_map(of_program).collect())
}

fn finding(case: &Case<'_>, program: &Program<'_>, sums: &FxHashMap<u32, WorkSums>) -> Option<Finding> {
    let mut claim: Vec<(usize, f32)> = Vec::new();
    let mut slow: Vec<InstructionId> = Vec::new();
    let mut widths: Vec<(i64, f64)> = Vec::new();
    for (id, work) in &program.ran {
        let Some((width, extra)) = unaligned(program.module, *id) else { continue };
        for work in work {
            let Some(sums) = sums.get(&work.op).filter(|sums| sums.bound() == Some(Bound::Compute)) else { continue };
            let has_units = has_matrix_units(case, work.row.device.index(), program.module, *id);
            let Some(headroom) = sums.headroom().filter(|headroom| has_units && *headroom >= SLOW) else { continue };
            claim.push((work.at, (1.0 - GOOD * (1.0 + extra) / headroom).clamp(0.0, MOST) as f32));
            slow.push(*id);
            widths.push((width, extra));
        }
    }
    if case.share_of(claim.iter().copied()) < LEAST {
        return None;
    }
    slow.dedup();
    let slow = program.longest_first(&slow);
    let ns = program.ns_of(&slow);
    let (width, extra) = widths.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let message = format!(
        "{} of the time goes to multiplying matrices with row sizes that aren't a multiple of {ALIGNED} bytes",
        percent(case.share(ns)),
    );
    Some(
        program
            .located(case, Finding::new(message), slow.first().copied())
            .number(format!("in {}", list(&program.names(&slow), 3)), case.per_unit(ns))
            .number(format!("more operations with the {width}-element rows padded"), Quantity::new(extra, Unit::Share, Basis::Counted))
            .why("matrix units read aligned rows, so for other widths the library uses a slower kernel or pads on the fly")
            .help("in 16-bit types choose widths (vocabulary, heads, channels) that are multiples of 8, better 64, or pad the array once when you create it")
            .claims(claim),
    )
}

/// The worst row width, in elements, of a product's operands and result that is not aligned, with the part of operations that
/// padding it adds.
fn unaligned(module: &HloModule, id: InstructionId) -> Option<(i64, f64)> {
    let product = module.instruction(module.hero(id));
    let is_call = product.custom_call_target.as_deref().is_some_and(|target| target.starts_with("__cublas$"));
    if product.opcode != "dot" && !is_call {
        return None;
    }
    let operands = product.operands.iter().take(2).map(|operand| &module.instruction(*operand).shape);
    let result = product.shape.leaves().into_iter().next();
    let shapes: Vec<&Shape> = operands.chain(result).collect();
    let widths: Vec<(i64, i64)> = shapes.iter().map(|shape| row(shape)).collect::<Option<_>>()?;
    if shapes.iter().any(|shape| shape.dimensions.iter().filter(|extent| **extent >= SMALLEST).count() < 2) {
        return None;
    }
    let extra = |(width, bytes): &(i64, i64)| -> Option<(i64, f64)> {
        let step = ALIGNED / (*bytes).clamp(1, ALIGNED);
        let padded = width.checked_add(step - 1)? / step * step;
        (padded != *width).then(|| (*width, padded as f64 / *width as f64 - 1.0))
    };
    widths.iter().filter_map(extra).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The extent of the dimension that is contiguous in memory, and the bytes of an element.
fn row(shape: &Shape) -> Option<(i64, i64)> {
    let minor = usize::try_from(*shape.layout.as_ref()?.minor_to_major.first()?).ok()?;
    let bytes = i64::from(shape.element_type.bits()?) / 8;
    Some((*shape.dimensions.get(minor)?, bytes))
}

/// Whether a device has matrix units for the type of a product.
fn has_matrix_units(case: &Case<'_>, device: usize, module: &HloModule, id: InstructionId) -> bool {
    let product = module.instruction(module.hero(id));
    let Some(operand) = product.operands.first() else { return false };
    let number = match module.instruction(*operand).shape.element_type {
        ElementType::Bf16 => NumberType::Bf16,
        ElementType::F16 => NumberType::F16,
        _ => return false,
    };
    let ceilings = case.analysis.ceilings.get(device);
    ceilings.is_some_and(|ceilings| ceilings.value(Limit::Rate(number, ComputeUnit::Matrix)).is_some())
}
