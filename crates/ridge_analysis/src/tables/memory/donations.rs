//! Parameters that could have been donated, over all modules.

use super::modules::{part, path, source, value_name};
use crate::Analysis;
use crate::models::memory::PlannedModule;
use ridge_hlo::memory::MissedDonation;
use ridge_table::{Basis, Columns, Subject, Table};

/// Most bytes first.
pub(super) fn table(analysis: &Analysis<'_>) -> Table {
    let modules = analysis.memory().modules.iter();
    let mut rows: Vec<(&PlannedModule, &MissedDonation)> =
        modules.flat_map(|module| module.missed.iter().map(move |missed| (module, missed))).collect();
    rows.sort_by_key(|(_, missed)| std::cmp::Reverse(missed.bytes));
    let mut table = Columns::over(&rows)
        .about(|(module, missed)| Some(Subject::Instruction(module.row, missed.parameter.0)))
        .text("module", "Module", "compiled program", |(module, _)| module.name(analysis).to_owned())
        .key()
        .text("parameter", "Parameter", "argument that is dead when the result is made", |(module, missed)| {
            value_name(module.hlo(analysis), missed.parameter, &missed.parameter_index)
        })
        .key()
        .text("argument", "Argument", "its name in the program, where the compiler kept it", |(module, missed)| {
            module.hlo(analysis).instruction(missed.parameter).metadata.op_name.clone()
        })
        .bytes(
            "saving_bytes",
            "Saving",
            "bytes that the module would need less, where the caller no longer needs the argument",
            Basis::Modelled,
            |(_, missed)| missed.bytes,
        )
        .key()
        .text("shape", "Shape", "type and extents of both", |(module, missed)| {
            let shape = part(&module.hlo(analysis).instruction(missed.parameter).shape, &missed.parameter_index);
            shape.map(|shape| shape.without_layout().to_string())
        })
        .text(
            "output",
            "Output",
            "result that could have its memory: its position in the program's result",
            |(_, missed)| path(&missed.output_index),
        )
        .text("made_by", "Made by", "instruction that makes the result", |(module, missed)| {
            module.hlo(analysis).instruction(missed.made_by).name.clone()
        })
        .text("source", "Source", "line of the program that makes the result", |(module, missed)| {
            source(module.hlo(analysis), missed.made_by)
        })
        .table("memory_donations", "Missed donations");
    if !rows.is_empty() {
        table.footnotes.push(
            "donate with `jax.jit(f, donate_argnames=…)`; a donated argument cannot be used after the call".to_owned(),
        );
    }
    table
}
