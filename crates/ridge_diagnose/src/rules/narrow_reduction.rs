//! Sums over a last axis of a few elements, far slower than the rest of the program.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::pricing::{Rates, Work, work_of};
use crate::programs::{Program, programs, work_sums};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, list, percent};
use ridge_analysis::{Lines, Need, WorkSums, Workload};
use ridge_hlo::{HloModule, InstructionId, Users};
use ridge_table::{Basis, Quantity, Subject, Unit};
use ridge_trace::OpRow;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    id: "narrow-reduction",
    group: Group::Structure,
    summary: "Slow reduction over a short last axis",
    document: include_str!("narrow_reduction.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &["gather-scatter-bound"],
    needs: &[Need::of::<Lines>(), Need::of::<Workload>()],
    find: Find::Causes(find),
};

/// Below this part of the time they are not what holds a program back.
const LEAST: f64 = 0.05;
/// Elements of an axis that a vector register holds or nearly: a sum over more is a loop worth its start.
const NARROW: i64 = 8;
/// They are slow where they move bytes at less than this part of the rate of the program's other work.
const SLOW: f64 = 1.0 / 3.0;
/// The part of the time that writing the sums out must give back to be worth it: a program of which 13 to 20% were predicted was
/// as fast without them, because what feeds a small sum stays in a cache and is read at the same rate in any form.
const WORTH: f64 = 0.25;
/// Sums that read fewer bytes at a time take as long as it takes to start them.
const LEAST_BYTES: f64 = 16384.0;
/// Arithmetic that takes this part of their time at the rates of the device explains that.
const COMPUTES: f64 = 0.5;
/// The rest of the program must have this part of the time to be a measure.
const OTHERS: f64 = 0.02;

const WHY: &str = "a sum along the contiguous axis starts a separate loop for every few elements, and is not fused \
                   with its producers and consumers";
const HELP: &str = "write the sum out (`a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + …`), or make the short axis \
                    the first one, not the last";

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let mut sums: Option<FxHashMap<u32, WorkSums>> = None;
    let mut found = Vec::new();
    for program in programs(case) {
        let module = program.module;
        let all: Vec<(InstructionId, i64)> =
            program.ran.keys().filter_map(|id| Some((*id, narrow_extent(module, *id)?))).collect();
        let reductions: Vec<InstructionId> = all.iter().map(|(id, _)| *id).collect();
        let held = with_feeders(&program, &reductions);
        if case.share(program.ns_of(&held)) < LEAST {
            continue;
        }
        let sums = sums.get_or_insert_with(|| work_sums(case));
        let extent = all.iter().map(|(_, extent)| *extent).max().unwrap_or(NARROW);
        found.extend(finding(case, &program, sums, &reductions, &held, extent));
    }
    Ok(found)
}

fn finding(
    case: &Case<'_>,
    program: &Program<'_>,
    sums: &FxHashMap<u32, WorkSums>,
    reductions: &[InstructionId],
    held: &[InstructionId],
    extent: i64,
) -> Option<Finding> {
    let of_held: FxHashSet<InstructionId> = held.iter().copied().collect();
    let is_other = |id: &InstructionId| !of_held.contains(id) && program.module.instruction(*id).is_fusion();
    let others: Vec<InstructionId> = program.ran.keys().copied().filter(is_other).collect();
    if case.share(program.ns_of(&others)) < OTHERS {
        return None;
    }
    let (own, usual) = (rate(program, sums, reductions)?, usual_rate(program, sums, &others)?);
    if own >= SLOW * usual {
        return None;
    }
    // What feeds them is made for them, and part of it would be done in any case.
    let with_feeders = rate(program, sums, held)?;
    let ns = program.ns_of(held);
    let longest = program.longest_first(reductions);
    let moved: f64 = reductions.iter().flat_map(|id| program.work(*id)).filter_map(|work| sums.get(&work.op)).map(|sum| sum.bytes_per_sec().unwrap_or(0.0) * sum.self_ns() * 1e-9).sum();
    let runs: u64 = reductions.iter().map(|id| program.events(*id)).sum();
    if moved < LEAST_BYTES * runs.max(1) as f64 {
        return None;
    }
    let saved = (1.0 - with_feeders / usual).max(0.0);
    let message = format!(
        "{} of the time goes to sums over a last axis of {} in `{}`",
        percent(case.share(ns)),
        count(extent.unsigned_abs(), "element", "elements"),
        program.function(case),
    );
    let rate = |value: f64| Quantity::new(value, Unit::BytesPerSec, Basis::Modelled);
    let operations = count(reductions.len() as u64, "operation", "operations");
    let beside = held.len().saturating_sub(reductions.len()) as u64;
    let mut finding = Finding::new(message)
        .at(longest.first().and_then(|id| case.line_of_op(program.work(*id).first()?.op)))
        .about(longest.first().and_then(|id| OpRow::known(program.work(*id).first()?.op)).map(Subject::Op))
        .about(Subject::Module(program.row))
        .number(format!("in {operations}: {}", list(&program.names(&longest), 3)), case.per_unit(program.ns_of(reductions)))
        .number("achieved bandwidth", rate(own))
        .number("in the program's other fusions", rate(usual));
    if beside > 0 {
        finding = finding.number(
            format!("in {} that only feed the sums", count(beside, "more operation", "more operations")),
            case.per_unit(ns.saturating_sub(program.ns_of(reductions))),
        );
    }
    // A sum inside a library is not the user's to write out.
    let first = longest.first().and_then(|id| program.work(*id).first());
    let is_of_library = first.is_some_and(|work| case.library_line_of_op(work.op).is_some());
    let is_told = case.share(ns) * saved < WORTH || is_of_library || computes(case, program, reductions);
    let finding = if is_told { finding.information() } else { finding };
    Some(finding.why(WHY).help(HELP).claims(program.claim(held, saved as f32)))
}

/// Whether what some instructions compute explains their time: what expands small arrays or takes functions of them moves few bytes
/// for its time, however it sums.
fn computes(case: &Case<'_>, program: &Program<'_>, ids: &[InstructionId]) -> bool {
    let arithmetic = |id: &InstructionId| {
        let device = program.work(*id).first()?.row.device;
        let number = program.module.instruction(*id).shape.leaves().first().map(|shape| shape.element_type)?;
        let work = work_of(case, program, &[*id])?;
        Some(Rates::of(case, device, number)?.ns(Work { bytes: 0.0, ..work }))
    };
    let ns: f64 = ids.iter().filter_map(arithmetic).sum();
    ns >= COMPUTES * program.ns_of(ids) as f64
}

/// Bytes per second of some instructions, where they are known for most of their time.
fn rate(program: &Program<'_>, sums: &FxHashMap<u32, WorkSums>, ids: &[InstructionId]) -> Option<f64> {
    let (mut bytes, mut ns, mut all) = (0.0, 0.0, 0.0);
    for work in ids.iter().flat_map(|id| program.work(*id)) {
        let Some(sum) = sums.get(&work.op) else { continue };
        all += sum.self_ns();
        if let Some(rate) = sum.bytes_per_sec() {
            bytes += rate * sum.self_ns();
            ns += sum.self_ns();
        }
    }
    (ns > 0.0 && ns >= 0.5 * all).then(|| bytes / ns)
}

/// The rate at which half of the bytes of some instructions are moved, or faster.
///
/// A mean would be that of what is slow for reasons of its own, because slow operations take most of the time.
fn usual_rate(program: &Program<'_>, sums: &FxHashMap<u32, WorkSums>, ids: &[InstructionId]) -> Option<f64> {
    let known = ids.iter().flat_map(|id| program.work(*id)).filter_map(|work| sums.get(&work.op));
    let mut rates: Vec<(f64, f64)> =
        known.filter_map(|sum| sum.bytes_per_sec().map(|rate| (rate, rate * sum.self_ns()))).collect();
    rates.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut left = rates.iter().map(|(_, bytes)| bytes).sum::<f64>() / 2.0;
    for (rate, bytes) in rates {
        left -= bytes;
        if left <= 0.0 {
            return Some(rate);
        }
    }
    None
}

/// How many elements an instruction sums at a time, where it does so along an axis of a few that lie side by side.
fn narrow_extent(module: &HloModule, id: InstructionId) -> Option<i64> {
    let instruction = module.instruction(id);
    let of = |inner: InstructionId| {
        let reduce = module.instruction(inner);
        let operand = &module.instruction(*reduce.operands.first()?).shape;
        let minor = operand.layout.as_ref()?.minor_to_major.iter().copied().find(|dimension| extent(operand, *dimension) > 1)?;
        let is_along = reduce.opcode == "reduce" && reduce.dimensions.contains(&minor);
        let summed = reduce.dimensions.iter().fold(1_i64, |all, dimension| all.saturating_mul(extent(operand, *dimension)));
        (is_along && summed <= NARROW).then_some(summed)
    };
    if !instruction.is_fusion() {
        return of(id);
    }
    let body = *instruction.called.first()?;
    module.computation(body).instruction_ids().find_map(of)
}

fn extent(shape: &ridge_hlo::Shape, dimension: i64) -> i64 {
    usize::try_from(dimension).ok().and_then(|at| shape.dimensions.get(at)).copied().unwrap_or(1)
}

/// The reductions, and the instructions whose results nothing else reads; products of matrices and their like are there in any form.
fn with_feeders(program: &Program<'_>, reductions: &[InstructionId]) -> Vec<InstructionId> {
    let uses = Users::new(program.module);
    let narrow: FxHashSet<InstructionId> = reductions.iter().copied().collect();
    let mut held = reductions.to_vec();
    for id in reductions.iter().flat_map(|id| &program.module.instruction(*id).operands) {
        let only_feeds = || uses.of(*id).iter().all(|user| narrow.contains(user));
        if program.ran.contains_key(id) && !held.contains(id) && !is_product(program.module, *id) && only_feeds() {
            held.push(*id);
        }
    }
    held
}

/// Whether an instruction is, or has inside, work that no form of a sum after it changes.
fn is_product(module: &HloModule, id: InstructionId) -> bool {
    let is_it = |id: InstructionId| {
        matches!(&*module.instruction(id).opcode, "dot" | "convolution" | "custom-call" | "fft" | "sort" | "scatter")
    };
    let inside = module.instruction(id).called.first().filter(|_| module.instruction(id).is_fusion());
    is_it(id) || inside.is_some_and(|body| module.computation(*body).instruction_ids().any(is_it))
}
