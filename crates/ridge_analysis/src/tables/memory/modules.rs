//! Planned memory of every module; what tables of values share.

use super::overview::NOT_PLANNED;
use crate::Analysis;
use crate::models::memory::{Class, Plan, PlannedModule};
use ridge_hlo::{HloModule, InstructionId, Shape};
use ridge_table::{Basis, Columns, Subject, Table};

/// Every module with HLO, largest peak first.
pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let rows = &analysis.memory().modules;
    // The basis that holds for all of them.
    let all_counted = rows.iter().all(|module| module.plan.basis == Basis::Counted);
    let basis = if all_counted { Basis::Counted } else { Basis::Modelled };
    let class = |class: Class| move |module: &PlannedModule| module.plan.bytes_of(class);
    let peak_name =
        |module: &PlannedModule| module.plan.peak_at.map(|at| module.hlo(analysis).instruction(at).name.clone());
    let mut table = Columns::over(rows)
        .about(|module| Some(Subject::Module(module.row)))
        .text("module", "Module", "compiled program", |module| module.name(analysis).to_owned())
        .key()
        .text("program_id", "Program", "program id in the capture", |module| module.program_id(analysis).to_string())
        .detail()
        .bytes(
            "peak_bytes",
            "Peak",
            "most bytes that one run of the module needs at one time on one device: parameters, results and constants \
             throughout, the rest as the compiler planned it, else while it lives",
            basis,
            |module| module.plan.peak_bytes,
        )
        .key()
        .bytes(
            "parameter_bytes",
            "Parameters",
            "arguments whose memory no result takes over",
            basis,
            class(Class::Parameter),
        )
        .bytes("output_bytes", "Outputs", "results with memory of their own", basis, class(Class::Output))
        .bytes("donated_bytes", "Donated", "arguments whose memory is also a result's", basis, class(Class::Donated))
        .bytes(
            "temporary_bytes",
            "Temporary",
            "memory set aside for values that live only inside a run",
            basis,
            class(Class::Temporary),
        )
        .bytes("constant_bytes", "Constants", "constants of the program", basis, class(Class::Constant))
        .detail()
        .bytes(
            "missed_donation_bytes",
            "Missed donation",
            "bytes of parameters that are dead when a result of the same type and extents is made and that are not \
             donated: at most this much less memory, where the caller no longer needs them",
            Basis::Modelled,
            PlannedModule::missed_bytes,
        )
        .text("peak_at", "Peak at", "instruction at which the peak is reached", peak_name)
        .text("peak_source", "Peak source", "line of the program that made this instruction", |module| {
            module.plan.peak_at.and_then(|at| source(module.hlo(analysis), at))
        })
        .text(
            "plan",
            "Plan",
            "compiler: from the buffer assignment in the capture; modelled: from the schedule, no value sharing \
             another's memory unless the program says so",
            |module| plan_name(&module.plan).to_owned(),
        )
        .table("memory_modules", "Planned memory by module");
    if table.batch.num_rows() > 0 {
        table.footnotes.push(NOT_PLANNED.to_owned());
    }
    table
}

fn plan_name(plan: &Plan) -> &'static str {
    if plan.basis == Basis::Counted { "compiler" } else { "modelled" }
}

/// The part of a value that is at `index`.
pub(super) fn part<'s>(shape: &'s Shape, index: &[i64]) -> Option<&'s Shape> {
    shape.at(index).or_else(|| shape.leaves().get(shape.leaf_at(index)?).copied())
}

/// `fusion.3{1}`; without the braces where the value is no part of a tuple.
pub(super) fn value_name(hlo: &HloModule, at: InstructionId, index: &[i64]) -> String {
    let name = &hlo.instruction(at).name;
    if index.is_empty() { name.clone() } else { format!("{name}{}", path(index)) }
}

/// A path of tuple positions as HLO writes it.
pub(super) fn path(index: &[i64]) -> String {
    format!("{{{}}}", index.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

/// The innermost line that made an instruction.
pub(super) fn source(hlo: &HloModule, at: InstructionId) -> Option<String> {
    let frames = hlo.source_in_fusion(at);
    frames.first().map(|frame| format!("{}:{}", frame.file, frame.line))
}
