//! The modules of a capture and the instructions of one, each with the device time it took.

use crate::Analysis;
use crate::models::hlo::{TimedInstruction, TimedModule, timed_instructions, timed_modules};
use crate::view::{Sheet, columns};
use ridge_hlo::cost::Cost;
use ridge_table::Table;
use ridge_trace::ModuleRow;

/// Every module, most device time first; those that did not run are rows too.
pub fn modules(analysis: &Analysis<'_>) -> Table {
    let rows = timed_modules(analysis);
    Table { name: "modules", ..Sheet::over(analysis, &rows).show(MODULES).table("HLO modules") }
}

/// Instructions of one module outside fusions, most device time first, those without any in program order.
pub fn instructions(analysis: &Analysis<'_>, module: u32) -> Table {
    let rows = timed_instructions(analysis, ModuleRow(module));
    let has_hlo = TimedModule { row: ModuleRow(module), self_ns: 0 };
    let has_hlo = (module as usize) < analysis.trace.modules.len() && has_hlo.hlo(analysis).is_some();
    let sheet = Sheet::over(analysis, &rows).show(INSTRUCTIONS).show(if has_hlo { COSTS } else { &[] });
    Table { name: "instructions", ..sheet.table("Instructions") }
}

/// An amount of work whose cost is known; none is no answer.
fn amount(row: &TimedInstruction, of: fn(&Cost) -> f64) -> Option<f64> {
    row.known_cost().map(of).filter(|number| *number > 0.0)
}

columns! {
    MODULES: TimedModule {
        module: text Key "Module", "compiled program", |at, row| at.text(row.module(at).name);
        program_id: text Key "Program", "program id in the capture", |at, row| row.module(at).program_id.to_string();
        self_ns: nanos Key Measured "Device", "self times of its operations, measured", |_, row| row.self_ns;
        instructions: count Counted "Instructions",
            "instructions in all its computations", |at, row| row.hlo(at).map(|hlo| hlo.instructions.len() as u64);
        computations: count Counted "Computations",
            "computations, fusions included", |at, row| row.hlo(at).map(|hlo| hlo.computations.len() as u64);
        has_hlo: flag "HLO", "whether the capture has its HLO", |at, row| row.hlo(at).is_some();
    }
    INSTRUCTIONS: TimedInstruction {
        instruction: text Key "Instruction", "name in the module", |at, row| row.instruction(at).name.as_str();
        opcode: text Key "Opcode", "what it does", |at, row| &*row.instruction(at).opcode;
        shape: text "Shape",
            "type, dimensions and layout of its value", |at, row| row.instruction(at).shape.to_string();
        self_ns: nanos Key Measured "Device", "self time, measured", |_, row| row.self_ns;
        self_share: share Measured "Share",
            "self time as a part of all device work of the capture", |at, row| at.share_of_work(row.self_ns);
        events: count Counted "Events", "kernels and device operations", |_, row| row.events;
        computation: text Detail "Computation", "computation it is in",
            |at, row| row.hlo(at).computation(row.instruction(at).computation).name.as_str();
        scope: text "Scope", "scope path", |at, row| row.instruction(at).metadata.op_name.as_str();
    }
    /// What one execution of each instruction costs, with all it calls.
    COSTS: TimedInstruction {
        flops: real(Flops) Counted "Work",
            "floating-point operations, and integer ones of matrix units, of one execution; a multiply-add is two, a function one; \
             loops times their trips", |_, row| amount(row, Cost::counted_operations);
        compulsory_bytes: bytes Counted "Traffic",
            "bytes memory has to carry at least in one execution: each region read once, each result written once",
            |_, row| amount(row, |cost| cost.compulsory.total()).map(|bytes| bytes as u64);
        intensity: real(FlopPerByte) Counted "Intensity",
            "operations per compulsory byte", |_, row| amount(row, |cost| cost.intensity().unwrap_or(0.0));
        xla_bytes: bytes Detail Counted "XLA's bytes",
            "bytes accessed as XLA's own analysis counts them, which bills every reader of an array",
            |_, row| Some(row.cost.bytes_accessed.total()).filter(|bytes| *bytes > 0.0).map(|bytes| bytes as u64);
        unknown_work: text "Unknown work",
            "the reason why its work and traffic are unknown: information missing from its HLO, or from the HLO that it calls",
            |at, row| row.cost.unknown.map(|unknown| unknown.reason(row.hlo(at)));
        assumes: text Detail "Assumes", "assumptions behind its cost, in addition to the program",
            |_, row| (!row.cost.assumptions.is_empty()).then(|| row.cost.assumptions.to_string());
    }
}
