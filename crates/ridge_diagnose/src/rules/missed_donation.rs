//! Arguments whose memory could have held a result, and was not given away.

use crate::arguments::{argument_behind, is_donated, name_of};
use crate::case::{Case, Work};
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::programs::{Program, programs};
use crate::rule::{Find, Group, Rule};
use crate::words::{list, percent};
use ridge_analysis::{Lines, Need};
use ridge_hlo::memory::{Liveness, MissedDonation, Schedule, missed_donations};
use ridge_hlo::{HloModule, InstructionId, OpcodeClass};
use ridge_table::{Basis, Quantity, Subject, Unit};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    id: "missed-donation",
    group: Group::Structure,
    summary: "Missed buffer donation",
    document: include_str!("missed_donation.md"),
    asks: &[Question::Device, Question::Hlo],
    explains: &[],
    needs: &[Need::of::<Lines>()],
    find: Find::Causes(find),
};

/// The least part of the program's planned peak.
const LEAST: f64 = 0.05;
/// Programs that need less memory fit anywhere, bytes.
const SMALLEST: u64 = 64 << 20;
/// Runs of a program whose arguments are worth giving away: one that runs once keeps its caller's arrays anyway.
const FEWEST_RUNS: u64 = 2;
/// Instructions that are looked at to find what a result was made of.
const NEARBY: usize = 256;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    case.needs_hlo()?;
    let of_program = |program: Program<'_>| finding(case, &program);
    Ok(programs(case).into_iter().filter_map(of_program).collect())
}

/// How often an instruction began on the device where it did most often: a row of the breakdown is of one device.
fn most_runs(work: &[Work<'_>]) -> u64 {
    work.iter().map(|work| work.row.events).max().unwrap_or(0)
}

fn finding(case: &Case<'_>, program: &Program<'_>) -> Option<Finding> {
    let module = program.module;
    let runs = program.ran.keys().filter(|id| module.entry == Some(module.instruction(**id).computation));
    let runs = runs.map(|id| most_runs(program.work(*id))).min().unwrap_or(0);
    if !module.is_scheduled || runs < FEWEST_RUNS {
        return None;
    }
    let liveness = Liveness::new(module, &Schedule::new(module));
    let peak = planned_peak(module, &liveness);
    let copied = copied_arguments(program);
    let missed = missed_donations(module, &liveness);
    let is_meant = |one: &&MissedDonation| {
        !copied.contains(&one.parameter) && is_new_value(module, one.made_by, one.parameter)
    };
    let missed: Vec<&MissedDonation> = missed.iter().filter(is_meant).collect();
    let bytes = missed.iter().fold(0_u64, |sum, one| sum.saturating_add(one.bytes));
    if peak < SMALLEST || (bytes as f64) < LEAST * peak as f64 {
        return None;
    }
    let mut names: Vec<String> = missed.iter().map(|one| name_of(module, one.parameter)).collect();
    names.dedup();
    let function = program.function(case);
    let of_peak = bytes as f64 / peak as f64;
    let counted = |bytes: u64| Quantity::new(bytes as f64, Unit::Bytes, Basis::Counted);
    Some(
        Finding::new(format!(
            "results of `{function}` could reuse the memory of its arguments, {} of its peak memory",
            percent(of_peak.min(1.0)),
        ))
        .about(Subject::Module(program.row))
        .number(format!("of arguments no longer in use when a result of the same size is created: {}", list(&names, 3)), counted(bytes))
        .number("needed at the program's peak", counted(peak))
        .why("the arguments aren't donated, so their memory stays allocated next to results of the same size")
        .help(format!("donate them with `jax.jit({function}, donate_argnames=...)` if the caller no longer needs the old values"))
        .information(),
    )
}

/// Whether a result is the next value of a parameter: made of it place by place, by an update or as a loop's state.
///
/// A gradient has the extents of its weights, and a product may have those of a factor; both leave the argument alone.
fn is_new_value(module: &HloModule, result: InstructionId, parameter: InstructionId) -> bool {
    let shape = &module.instruction(parameter).shape;
    let (mut open, mut seen) = (vec![result], FxHashSet::from_iter([result]));
    while let Some(id) = open.pop() {
        let instruction = module.instruction(id);
        if id == parameter {
            return true;
        }
        let hero = &module.instruction(module.hero(id)).opcode;
        let passes = hero.is_elementwise()
            || hero.class() == OpcodeClass::PassesBy
            || matches!(&**hero, "copy" | "dynamic-update-slice" | "scatter" | "while");
        let is_like = |id: &InstructionId| {
            let other = &module.instruction(*id).shape;
            other.is_tuple() || (other.element_type == shape.element_type && other.dimensions == shape.dimensions)
        };
        if passes && seen.len() < NEARBY {
            open.extend(instruction.operands.iter().filter(|operand| is_like(operand) && seen.insert(**operand)));
        }
    }
    false
}

/// Arguments that are copied before they are updated: what is said of those is another rule's.
fn copied_arguments(program: &Program<'_>) -> FxHashSet<InstructionId> {
    let copies = program.ran.keys().filter(|id| program.module.instruction(**id).opcode == "copy");
    let behind = copies.filter_map(|id| argument_behind(program.module, *id));
    behind.filter(|argument| !is_donated(program.module, *argument)).collect()
}

/// Most bytes at one time: the compiler's own plan, else what lives at once by the schedule.
fn planned_peak(module: &HloModule, liveness: &Liveness) -> u64 {
    let planned = module.buffers.as_ref().map_or(0, |buffers| buffers.replay_peak().bytes);
    if planned > 0 {
        return planned;
    }
    let mut changes: Vec<(u32, bool, u64)> = Vec::new();
    for value in liveness.values() {
        changes.push((value.from, true, value.bytes));
        changes.push((value.to.saturating_add(1), false, value.bytes));
    }
    // At one position, what ends goes before what begins.
    changes.sort_unstable_by_key(|(at, begins, _)| (*at, *begins));
    let (mut now, mut peak) = (0_u64, 0_u64);
    for (_, begins, bytes) in changes {
        now = if begins { now.saturating_add(bytes) } else { now.saturating_sub(bytes) };
        peak = peak.max(now);
    }
    peak
}
