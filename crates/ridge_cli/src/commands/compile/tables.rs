//! What was compiled, as tables: one of the modules, one of the launches of each GPU.

use crate::format::Format;
use ridge_record::compile::{Compiled, CompiledModule, Sources};
use ridge_report::{Listing, Report};
use ridgeline::{Basis, Columns, Note, PredictedKernel, PredictedModule, Prediction, Severity, Table, Trips, Unit};
use std::cmp::Ordering;
use std::path::PathBuf;

/// What a compilation made.
pub(super) struct Made<'a> {
    /// By GPU, as are the predictions.
    pub(super) compiled: &'a [Compiled],
    pub(super) predicted: &'a [Prediction],
    pub(super) sources: &'a Sources,
    pub(super) folders: &'a [PathBuf],
}

/// Rows of a table that are shown to people.
const MOST_ROWS: usize = 20;

/// The report of what was compiled.
pub(super) fn report(made: &Made<'_>, format: Format) -> Report {
    let most = if format.is_for_programs() { usize::MAX } else { MOST_ROWS };
    let mut tables = vec![Listing::top(modules(made), most)];
    tables.extend(made.predicted.iter().map(|one| Listing::top(launches(one), most)));
    let seen = made.predicted.iter().map(Prediction::seen).filter(|table| table.batch.num_rows() > 0);
    tables.extend(seen.map(|table| Listing::top(table, most)));
    Report { notes: notes(made), tables, ..Report::EMPTY }
}

struct Row<'a> {
    gpu: &'static str,
    module: &'a CompiledModule,
    predicted: Option<&'a PredictedModule>,
}

/// Every module of every GPU, those without a time first, then the longest.
fn modules(made: &Made<'_>) -> Table {
    let both = made.predicted.iter().zip(made.compiled);
    let mut rows: Vec<Row<'_>> = both
        .flat_map(|(predicted, compiled)| {
            compiled.modules.iter().map(move |module| Row {
                gpu: predicted.target.id,
                module,
                predicted: predicted.modules.iter().find(|found| found.folder == module.folder),
            })
        })
        .collect();
    let nanos = |secs: f64| (secs * 1e9).round() as i64;
    let time = |row: &Row<'_>| row.predicted.and_then(PredictedModule::time);
    let length = |row: &Row<'_>| time(row).map_or((f64::INFINITY, f64::INFINITY), |time| (time.mid_s, time.high_s));
    rows.sort_by(|one, other| longest_first(length(one), length(other)));
    let mut table = Columns::over(&rows)
        .text("gpu", "GPU", "the target GPU", |row| row.gpu.to_owned())
        .key()
        .text("module", "Module", "its name, and the number of its directory", |row| row.module.folder.clone())
        .key()
        .count("fusions", "Fusions", "fusions in the optimized HLO; each in a loop counts once", Basis::Counted, |row| {
            row.predicted.map(|found| found.fusions as u64)
        })
        .key()
        .count(
            "launches",
            "Launches",
            "kernels, copies and library calls of one run, including every iteration of its loops unless `Loops` shows otherwise",
            Basis::Counted,
            |row| row.predicted.map(|found| found.launches().round() as u64),
        )
        .key()
        .count("graphs", "Graphs", "command buffers (CUDA graphs), each started at once", Basis::Counted, |row| {
            row.predicted.map(|found| found.command_buffers as u64)
        })
        .nanos(
            "low_ns",
            "At least",
            "predicted time of one run; with `At most`, eight in ten intervals should contain the measured time",
            Basis::Modelled,
            |row| time(row).map(|time| nanos(time.low_s)),
        )
        .key()
        .nanos("high_ns", "At most", "predicted time of one run, at the other end", Basis::Modelled, |row| {
            time(row).map(|time| nanos(time.high_s))
        })
        .key()
        .text("trips", "Loops", TRIPS, |row| row.predicted.and_then(|found| words_of(found.trips())))
        .bytes("temporary", "Temporary", "bytes for values in between, as XLA planned them", Basis::Counted, |row| {
            row.module.memory.get("temp_size_in_bytes").copied()
        })
        .bytes("peak", "Peak memory", "bytes at once at most, as XLA planned them", Basis::Counted, |row| {
            row.module.memory.get("peak_memory_in_bytes").copied()
        })
        .key()
        .nanos("compile_ns", "Compiled in", "XLA's time", Basis::Measured, |row| row.module.compile_s.map(nanos))
        .nanos("beyond_ns", "Beyond", "reading and writing", Basis::Measured, |row| row.module.beyond_s.map(nanos))
        .minor()
        .table("compiled", "Compiled modules");
    table.footnotes.extend(made.predicted.iter().zip(made.folders).map(|(one, folder)| {
        format!("{} means {}; its recording is {}", one.target.id, one.target.name, folder.display())
    }));
    table
}

struct Started<'a> {
    module: &'a str,
    kernel: &'a PredictedKernel,
}

/// Every launch of a GPU, the longest first.
fn launches(predicted: &Prediction) -> Table {
    let mut rows: Vec<Started<'_>> = predicted
        .modules
        .iter()
        .flat_map(|module| module.kernels.iter().map(move |kernel| Started { module: &module.folder, kernel }))
        .collect();
    let length = |row: &Started<'_>| {
        row.kernel.time.map_or((0.0, 0.0), |time| (time.mid_s * row.kernel.runs, time.high_s * row.kernel.runs))
    };
    rows.sort_by(|one, other| longest_first(length(one), length(other)));
    let micros = |secs: f64| (secs * 1e9).round() as i64;
    let of = |row: &Started<'_>| row.kernel.time;
    Columns::over(&rows)
        .text("instruction", "Instruction", "the instruction of the optimized HLO", |row| {
            row.kernel.instruction.clone()
        })
        .key()
        .text("module", "Module", "its module, and the number of its directory", |row| row.module.to_owned())
        .text("emitter", "Made as", "XLA's emitter of the kernel", |row| row.kernel.emitter.clone())
        .key()
        .count("runs", "Runs", "launches in one run of the module", Basis::Counted, |row| {
            row.kernel.runs.round() as u64
        })
        .key()
        .text("trips", "Loops", TRIPS, |row| words_of(row.kernel.trips))
        .text("grid", "Grid", "blocks", |row| row.kernel.launch.as_ref().map(|launch| sizes(launch.grid)))
        .text("block", "Block", "threads of a block", |row| {
            row.kernel.launch.as_ref().map(|launch| sizes(launch.block))
        })
        .count("registers", "Registers", "of a thread", Basis::Counted, |row| {
            row.kernel.usage.map(|usage| u64::from(usage.registers))
        })
        .bytes("spills", "Spills", "bytes that a thread spills for lack of registers", Basis::Counted, |row| {
            row.kernel.usage.map(|usage| u64::from(usage.spill_store_bytes))
        })
        .minor()
        .bytes("shared", "Shared", "bytes of shared memory of a block", Basis::Counted, |row| {
            row.kernel.usage.map(|usage| {
                let asked = row.kernel.launch.as_ref().map_or(0, |launch| launch.dynamic_shared_bytes);
                u64::from(usage.static_shared_bytes) + u64::from(asked)
            })
        })
        .minor()
        .share("occupancy", "Occupancy", "resident warps over a multiprocessor's maximum", Basis::Counted, |row| {
            row.kernel.occupancy.map(|filled| filled.share)
        })
        .real(
            "waves",
            "Waves",
            "blocks over the number that the GPU runs at a time",
            (Unit::Number, Basis::Counted),
            |row| row.kernel.occupancy.map(|filled| filled.waves),
        )
        .text("bound", "Limited by", "the limit on blocks per multiprocessor", |row| {
            row.kernel.occupancy.map(|filled| filled.bound.name().to_owned())
        })
        .minor()
        .share("wide", "Wide", "accesses to memory in the code that take 16 bytes a thread", Basis::Counted, |row| {
            row.kernel.code.and_then(|code| code.wide_share())
        })
        .minor()
        .count("double", "Double", "instructions on 64-bit floats in the code", Basis::Counted, |row| {
            row.kernel.code.map(|code| u64::from(code.double))
        })
        .minor()
        .count("matrix", "Tensor", "instructions of matrix units in the code", Basis::Counted, |row| {
            row.kernel.code.map(|code| u64::from(code.matrix))
        })
        .minor()
        .count("atomics", "Atomics", "atomic operations in the code", Basis::Counted, |row| {
            row.kernel.code.map(|code| u64::from(code.atomics))
        })
        .minor()
        .nanos(
            "low_ns",
            "At least",
            "predicted time of one launch; with `At most`, eight in ten intervals should contain the measured time",
            Basis::Modelled,
            |row| of(row).map(|time| micros(time.low_s)),
        )
        .key()
        .nanos("high_ns", "At most", "predicted time of one launch, at the other end", Basis::Modelled, |row| {
            of(row).map(|time| micros(time.high_s))
        })
        .key()
        .nanos(
            "xla_ns",
            "By XLA",
            "estimate of XLA's own analytical model, without the launch",
            Basis::Modelled,
            |row| row.kernel.xla_s.map(micros),
        )
        .table("launches", format!("Launches on {} (predicted)", predicted.target.name))
}

/// What the columns on loops mean.
const TRIPS: &str = "`one trip`: the trip count is unknown, and launches and times are of one trip; `as recorded`: inferred from how \
                     often the loop went round in the recording";

fn words_of(trips: Trips) -> Option<String> {
    match trips {
        Trips::Known => None,
        Trips::Recorded => Some("as recorded".to_owned()),
        Trips::Unknown => Some("one trip".to_owned()),
    }
}

/// By the likeliest time; the other end parts the many that take the least that any kernel takes.
fn longest_first(one: (f64, f64), other: (f64, f64)) -> Ordering {
    other.0.total_cmp(&one.0).then(other.1.total_cmp(&one.1))
}

fn sizes([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (y, 1) => format!("{x}×{y}"),
        (y, z) => format!("{x}×{y}×{z}"),
    }
}

fn notes(made: &Made<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    for (one, compiled) in made.predicted.iter().zip(made.compiled) {
        let of = |(module, why): &(String, String)| {
            Note::new(Severity::Lost, format!("{module} was not compiled for {}: {}", one.target.id, words(why)))
        };
        notes.extend(compiled.failed.iter().map(of));
    }
    let sources = made.sources;
    if sources.without > 0 {
        let message = format!("{} modules of the recording have no StableHLO and were left out", sources.without);
        notes.push(Note::new(Severity::Partial, message));
    }
    let elsewhere = sources.modules.iter().filter(|module| module.is_lowered_elsewhere).count();
    if elsewhere > 0 {
        let message = format!(
            "{elsewhere} modules had been lowered for the device that ran them: code that JAX lowers differently for a GPU, \
             such as callbacks, linear algebra and Pallas kernels, is not as it would be there"
        );
        notes.push(Note::new(Severity::Partial, message));
    }
    for (one, compiled) in made.predicted.iter().zip(made.compiled) {
        let said = compiled.modules.iter().flat_map(|module| {
            module.notes.iter().map(move |what| format!("{} for {}: {what}", module.folder, one.target.id))
        });
        let predicted = one.notes.iter().map(|what| format!("{}: {what}", one.target.id));
        notes.extend(said.chain(predicted).map(|message| Note::new(Severity::Info, message)));
    }
    notes.push(Note::new(
        Severity::Info,
        "nothing ran: autotuning is off, libraries choose their kernels on a real GPU, sorts take XLA's fallback, and times are \
         predicted from roofs and grids only",
    ));
    notes
}

/// What XLA said, for a reader who does not know XLA.
fn words(why: &str) -> String {
    if why.contains("No FFI handler registered for") || why.contains("xla_ffi_python") {
        return format!("it calls code of the device that it was lowered for ({why})");
    }
    why.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridgeline::compiling::Target;

    #[test]
    fn people_get_the_first_rows_and_programs_all_of_them() {
        let module = |number: usize| CompiledModule { folder: format!("jit_f.{number}"), ..CompiledModule::default() };
        let compiled = [Compiled { modules: (0..30).map(module).collect(), ..Compiled::default() }];
        let target = Target::named("h100").expect("a target");
        let predicted = [Prediction { target, sheet: None, modules: Vec::new(), notes: Vec::new(), file: None }];
        let (sources, folders) = (Sources::default(), [PathBuf::from("out/h100")]);
        let made = Made { compiled: &compiled, predicted: &predicted, sources: &sources, folders: &folders };
        let rows = |format| report(&made, format).tables[0].table.batch.num_rows();
        assert_eq!([Format::Table, Format::Markdown, Format::Json, Format::Csv].map(rows), [20, 20, 30, 30]);
    }
}
