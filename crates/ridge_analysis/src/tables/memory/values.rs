//! Views of planned memory: modules, what is alive at the peak of one, and donations that were missed.

use super::OF_MEMORY;
use super::overview::NOT_PLANNED;
use crate::Analysis;
use crate::models::memory::{AliveRow, Class, DonationRow, PlannedModule};
use crate::view::{Sheet, View, columns};
use ridge_hlo::{HloModule, InstructionId};
use ridge_table::{Basis, Subject};

/// Every module with HLO, largest peak first.
pub(crate) static MODULES: View = View {
    id: "module",
    documented: Some("memory_modules"),
    about: "compiled module: its planned peak and classes",
    make: |analysis, _| {
        let rows = &analysis.memory().modules;
        // The basis that holds for all of them.
        let all_counted = rows.iter().all(|module| module.plan.basis == Basis::Counted);
        let mut table = Sheet::over(analysis, rows)
            .about(|_, module| Some(Subject::Module(module.row)))
            .show(PROGRAMS)
            .show_as(CLASSES, if all_counted { Basis::Counted } else { Basis::Modelled })
            .show(PEAKS)
            .table("Planned memory by module");
        table.footnotes.extend((!rows.is_empty()).then(|| NOT_PLANNED.to_owned()));
        table
    },
    ..OF_MEMORY
};

/// What is alive at the peak, most bytes first; of the module with the largest peak where none is named.
pub(crate) static ALIVE: View = View {
    id: "alive",
    documented: Some("memory_alive"),
    about: "value alive at the peak of one module",
    make: |analysis, ask| {
        let (module, rows) = (analysis.memory().planned(ask.module), analysis.memory().alive(analysis, ask.module));
        let subject =
            |at: &Analysis<'_>, row: &AliveRow| Some(Subject::Instruction(row.module(at).row, row.held.at?.0));
        let title = module
            .map_or("Alive at the peak".to_owned(), |module| format!("Alive at the peak of {}", module.name(analysis)));
        let mut table = Sheet::over(analysis, &rows)
            .about(subject)
            .show(VALUES)
            .show_as(SIZES, module.map_or(Basis::Counted, |module| module.plan.basis))
            .show(ORIGINS)
            .table(title);
        table.footnotes.extend(module.into_iter().flat_map(schedule_notes));
        table
    },
    ..OF_MEMORY
};

/// Parameters that could have been donated, over all modules, most bytes first.
pub(crate) static DONATIONS: View = View {
    id: "donation",
    documented: Some("memory_donations"),
    about: "argument that could have been donated",
    make: |analysis, _| {
        let rows = analysis.memory().donations();
        let subject = |at: &Analysis<'_>, row: &DonationRow| {
            Some(Subject::Instruction(row.module(at).row, row.missed.parameter.0))
        };
        let mut table = Sheet::over(analysis, &rows).about(subject).show(MISSED).table("Missed donations");
        let how = "donate with `jax.jit(f, donate_argnames=…)`; a donated argument cannot be used after the call";
        table.footnotes.extend((!rows.is_empty()).then(|| how.to_owned()));
        table
    },
    ..OF_MEMORY
};

fn schedule_notes(module: &PlannedModule) -> Vec<String> {
    let positions = module.schedule.len();
    let at = module.plan.peak_at.and_then(|at| module.schedule.position(at));
    let at = at.map_or(String::new(), |at| format!("; the peak is at position {at}"));
    let mut notes = vec![format!("the schedule has {positions} positions{at}")];
    if module.plan.basis == Basis::Modelled {
        notes.push("the capture has no buffer assignment of this module: sizes are modelled".to_owned());
    }
    notes
}

/// `fusion.3{1}`; without the braces where the value is no part of a tuple.
fn value_name(hlo: &HloModule, at: InstructionId, index: &[i64]) -> String {
    let name = &hlo.instruction(at).name;
    if index.is_empty() { name.clone() } else { format!("{name}{}", path(index)) }
}

/// A path of tuple positions as HLO writes it.
fn path(index: &[i64]) -> String {
    format!("{{{}}}", index.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

/// The innermost line that made an instruction.
fn source(hlo: &HloModule, at: InstructionId) -> Option<String> {
    let frames = hlo.source_in_fusion(at);
    frames.first().map(|frame| format!("{}:{}", frame.file, frame.line))
}

columns! {
    PROGRAMS: PlannedModule {
        module: text Key "Module", "compiled program", |at, module| module.name(at);
        program_id: text Detail "Program", "program id in the capture", |at, module| module.program_id(at).to_string();
    }
    CLASSES: PlannedModule {
        peak_bytes: bytes Key "Peak",
            "most bytes that one run of the module needs at one time on one device: parameters, results and constants \
             throughout, the rest as the compiler planned it, else while it lives", |_, module| module.plan.peak_bytes;
        parameter_bytes: bytes "Parameters",
            "arguments with memory that no result reuses", |_, module| module.plan.bytes_of(Class::Parameter);
        output_bytes: bytes "Outputs",
            "results with memory of their own", |_, module| module.plan.bytes_of(Class::Output);
        donated_bytes: bytes "Donated",
            "arguments that share memory with a result", |_, module| module.plan.bytes_of(Class::Donated);
        temporary_bytes: bytes "Temporary", "memory set aside for values that live only inside a run",
            |_, module| module.plan.bytes_of(Class::Temporary);
        constant_bytes: bytes Detail "Constants",
            "constants of the program", |_, module| module.plan.bytes_of(Class::Constant);
    }
    PEAKS: PlannedModule {
        missed_donation_bytes: bytes Modelled "Missed donation",
            "bytes of parameters that are dead when a result of the same type and extents is made and that are not \
             donated: at most this much less memory, if the caller no longer needs them",
            |_, module| module.missed_bytes();
        peak_at: text "Peak at", "instruction at which the peak is reached",
            |at, module| module.plan.peak_at.map(|peak| module.hlo(at).instruction(peak).name.as_str());
        peak_source: text "Peak source", "line of the program that made this instruction",
            |at, module| module.plan.peak_at.and_then(|peak| source(module.hlo(at), peak));
        plan: text "Plan",
            "compiler: from the buffer assignment in the capture; modelled: from the schedule, no value sharing another's memory unless the program requires it",
            |_, module| if module.plan.basis == Basis::Counted { "compiler" } else { "modelled" };
    }
    VALUES: AliveRow {
        value: text Key "Value", "instruction that makes it, with the position in its tuple",
            |at, row| row.made_by(at).map_or_else(
                || "(unused now)".to_owned(),
                |(hlo, made_by)| value_name(hlo, made_by, &row.held.index),
            );
        class: text Key "Class", "purpose of the memory", |_, row| row.held.class.name();
    }
    SIZES: AliveRow {
        bytes: bytes Key "Size", "bytes set aside for it", |_, row| row.held.bytes;
        share: share "Share", "size as a part of the module's peak", |_, row| row.share;
        padding_bytes: bytes "Padding",
            "bytes reserved beyond its elements: layout tiles, and the rest of its allocation",
            |at, row| row.padding_bytes(at);
    }
    ORIGINS: AliveRow {
        shape: text "Shape", "type, extents and layout", |at, row| row.shape(at).map(ToString::to_string);
        source: text "Source", "line of the program that made it",
            |at, row| row.made_by(at).and_then(|(hlo, made_by)| source(hlo, made_by));
        scope: text "Scope", "scope path, or the argument's name",
            |at, row| row.made_by(at).map(|(hlo, made_by)| hlo.op_name_in_fusion(made_by));
        opcode: text Detail "Opcode", "the instruction that produces it",
            |at, row| row.made_by(at).map(|(hlo, made_by)| &*hlo.instruction(made_by).opcode);
        from_position: count Detail Counted "From",
            "position in the schedule that makes it", |_, row| row.held.lives.map(|(from, _)| u64::from(from));
        to_position: count Detail Counted "To",
            "last position in the schedule that needs it", |_, row| row.held.lives.map(|(_, to)| u64::from(to));
        live_ns: nanos Measured "Lives",
            "device time from the first event that makes or first follows it to the end of the last one that needs \
             it, in the first run of the capture", |_, row| row.live_ns;
    }
    MISSED: DonationRow {
        module: text Key "Module", "compiled program", |at, row| row.module(at).name(at);
        parameter: text Key "Parameter", "argument that is dead when the result is made",
            |at, row| value_name(row.hlo(at), row.missed.parameter, &row.missed.parameter_index);
        argument: text "Argument", "its name in the program, if the compiler kept it",
            |at, row| row.hlo(at).instruction(row.missed.parameter).metadata.op_name.as_str();
        saving_bytes: bytes Key Modelled "Saving",
            "bytes that the module would save, if the caller no longer needs the argument",
            |_, row| row.missed.bytes;
        shape: text "Shape",
            "type and extents of both", |at, row| row.shape(at).map(|shape| shape.without_layout().to_string());
        output: text "Output", "result that could have its memory: its position in the program's result",
            |_, row| path(&row.missed.output_index);
        made_by: text "Made by", "instruction that makes the result",
            |at, row| row.hlo(at).instruction(row.missed.made_by).name.as_str();
        source: text "Source",
            "line of the program that makes the result", |at, row| source(row.hlo(at), row.missed.made_by);
    }
}
