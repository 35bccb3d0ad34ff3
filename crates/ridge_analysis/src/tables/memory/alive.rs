//! What is alive at the peak of one module.

use super::modules::{part, source, value_name};
use crate::Analysis;
use crate::models::memory::{FirstRuns, Held};
use ridge_hlo::{HloModule, InstructionId, Shape};
use ridge_table::{Basis, Columns, Subject, Table};
use ridge_trace::ModuleRow;

/// Most bytes first; of the module with the largest peak where none is named.
pub(super) fn table(analysis: &Analysis<'_>, module: Option<ModuleRow>) -> Table {
    let module = analysis.memory().planned(module);
    let held: &[Held] = module.map_or(&[], |module| &module.plan.held);
    let runs = module.map(|module| FirstRuns::new(analysis.trace, module.row, &module.schedule));
    let basis = module.map_or(Basis::Counted, |module| module.plan.basis);
    let peak = module.map_or(0, |module| module.plan.peak_bytes);
    let hlo =
        |held: &Held| -> Option<(&HloModule, InstructionId)> { module.map(|module| module.hlo(analysis)).zip(held.at) };
    let shape = |held: &Held| -> Option<&Shape> {
        let (hlo, at) = hlo(held)?;
        part(&hlo.instruction(at).shape, &held.index)
    };
    let padding = |held: &Held| Some(held.bytes.saturating_sub(shape(held)?.byte_size().ok()?));
    let mut table = Columns::over(held)
        .about(|held| Some(Subject::Instruction(module?.row, held.at?.0)))
        .text("value", "Value", "instruction that makes it, with the position in its tuple", |held| {
            hlo(held).map_or_else(|| "(holds nothing now)".to_owned(), |(hlo, at)| value_name(hlo, at, &held.index))
        })
        .key()
        .text("class", "Class", "what the memory is for", |held| held.class.name().to_owned())
        .key()
        .bytes("bytes", "Size", "bytes set aside for it", basis, |held| held.bytes)
        .key()
        .share("share", "Share", "size as a part of the module's peak", basis, |held| {
            if peak == 0 { 0.0 } else { held.bytes as f64 / peak as f64 }
        })
        .bytes(
            "padding_bytes",
            "Padding",
            "bytes set aside beyond those of its elements: layout tiles, and the rest of its allocation",
            basis,
            padding,
        )
        .text("shape", "Shape", "type, extents and layout", |held| shape(held).map(ToString::to_string))
        .text("source", "Source", "line of the program that made it", |held| {
            hlo(held).and_then(|(hlo, at)| source(hlo, at))
        })
        .text("scope", "Scope", "scope path, or the argument's name", |held| {
            hlo(held).map(|(hlo, at)| hlo.op_name_in_fusion(at).to_owned())
        })
        .text("opcode", "Opcode", "what makes it", |held| {
            hlo(held).map(|(hlo, at)| hlo.instruction(at).opcode.to_string())
        })
        .detail()
        .count("from_position", "From", "position in the schedule that makes it", Basis::Counted, |held| {
            held.lives.map(|(from, _)| u64::from(from))
        })
        .detail()
        .count("to_position", "To", "last position in the schedule that needs it", Basis::Counted, |held| {
            held.lives.map(|(_, to)| u64::from(to))
        })
        .detail()
        .nanos(
            "live_ns",
            "Lives",
            "device time from the first event that makes or first follows it to the end of the last one that needs \
             it, in the first run of the capture",
            Basis::Measured,
            |held| runs.as_ref().zip(held.lives).and_then(|(runs, lives)| runs.between(lives)),
        )
        .table("memory_alive", "Alive at the peak");
    if let Some(module) = module {
        table.title = format!("Alive at the peak of {}", module.name(analysis));
        let positions = module.schedule.len();
        let at = module.plan.peak_at.and_then(|at| module.schedule.position(at));
        let at = at.map_or(String::new(), |at| format!("; the peak is at position {at}"));
        table.footnotes.push(format!("the schedule has {positions} positions{at}"));
        if module.plan.basis == Basis::Modelled {
            table.footnotes.push("the capture has no buffer assignment of this module: sizes are modelled".to_owned());
        }
    }
    table
}
