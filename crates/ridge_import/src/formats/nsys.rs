//! Nsight Systems exports: the SQLite database from `nsys export --type sqlite`, and the directory of Parquet files, one per
//! table, from `--type parquetdir` (tested with tables written by pyarrow).
//!
//! Databases from `nvprof`, its predecessor, have the same records and are read by the same code (`nvprof`).
//!
//! Ridgeline uses the tables and columns that it finds, whatever the version: schemas 2.9 to 3.x have different columns, and
//! a table exists only if it has rows. A new major version is refused.
//! Kernels, copies, memory sets, synchronization and whole graphs become streams. Runtime and driver calls, NVTX ranges,
//! operating-system calls and overhead become threads. Work is linked to its call by process and correlation id.
//! GPU metrics become counters, and memory events become allocations.
//!
//! Ranges from PyTorch's `emit_nvtx` become framework operators. XLA's own ranges (`TSL:Thunk`) name the operation of the
//! work that they launched; if its modules are stored with the export, the operation is linked to their HLO.
//! The environment, users, hosts, command lines and process names in such a file are never read.
//! Enum values are from the `ENUM_*` tables in the exports, which differ from CUPTI's.

mod allocations;
mod counters;
mod device;
mod facts;
mod host;
mod kept;
mod names;
mod nvprof;
mod parquet_tables;
mod place;
mod rows;
mod tables;
mod targets;
mod xla;
mod xla_ranges;

use crate::choice::InFolder;
use crate::folder::Folder;
use crate::foreign;
use crate::formats::{Format, rocprof};
use crate::import::{Import, ImportError, Source};
use crate::note::Severity;
use nvprof::NvprofTables;
use parquet_tables::{ParquetTables, table_of};
use ridge_redact::Redactor;
use ridge_sqlite::{Database, is_database};
use tables::{SqliteTables, Tables};

/// The format of SQLite exports.
pub(super) struct Nsys;

impl Format for Nsys {
    fn name(&self) -> &'static str {
        "nsys"
    }

    fn in_folder(&self) -> InFolder {
        InFolder::Capture(&[".sqlite"])
    }

    fn takes_modules(&self) -> bool {
        true
    }

    fn hint(&self, error: &ImportError) -> Option<String> {
        const COMMAND: &str = "nsys export --type sqlite --output FILE.sqlite";
        match error {
            // Their format is not public.
            ImportError::Unknown { source_name: name, .. } if name.ends_with(".qdstrm") => Some(format!(
                "an unfinished Nsight Systems report; `QdstrmImporter -i {name}`, which comes with Nsight Systems, finishes it, \
                     and `{COMMAND} REPORT` converts it"
            )),
            ImportError::Unknown { source_name: name, .. }
                if [".nsys-rep", ".qdrep"].iter().any(|ending| name.ends_with(ending)) =>
            {
                Some(format!("only Nsight Systems can read its reports; convert this one with `{COMMAND} {name}`"))
            }
            _ => None,
        }
    }

    fn sniff(&self, head: &[u8]) -> bool {
        is_database(head)
    }

    fn redactor(&self, _head: &[u8]) -> Redactor {
        Redactor::Nsys
    }

    fn import(&self, source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
        let broken =
            |offset: u64, what: String| ImportError::Broken { source_name: source.name.to_owned(), offset, what };
        let database = Database::open(source.bytes).map_err(|error| broken(error.offset, error.what))?;
        if database.damaged_schema > 0 {
            let message = "tables could not be found: the schema is damaged".to_owned();
            import.note(Severity::Lost, source.name, None, database.damaged_schema, message);
        }
        let tables = SqliteTables::new(&database, import.release.clone());
        // SQLite is told by its head, whose database it is by its tables.
        if let Some(foreign) = foreign::of_database(database.table_names()) {
            return Err(foreign.error(source.name));
        }
        if rocprof::is_one(database.table_names()) {
            return rocprof::read_database(source, import);
        }
        let read = if nvprof::is_one(&tables) {
            let read = read(&NvprofTables::new(tables), source, import);
            import
                .captures
                .last_mut()
                .into_iter()
                .for_each(|capture| capture.facts.push(("Profiler".into(), "nvprof".into())));
            read
        } else {
            read(&tables, source, import)
        };
        read.map_err(|what| broken(0, what))
    }

    fn is_folder(&self, names: &[&str]) -> bool {
        names.iter().filter_map(|name| table_of(name)).any(|table| TELLING.contains(&table))
    }

    fn import_folder(&self, folder: Folder<'_>, import: &mut Import) -> Result<(), ImportError> {
        let tables = ParquetTables::open(folder, import.max_unpacked_bytes);
        let source = Source { name: folder.name, bytes: &[] };
        let broken = |what| ImportError::Broken { source_name: folder.name.to_owned(), offset: 0, what };
        read(&tables, source, import).map_err(broken)?;
        if let Some(capture) = import.captures.last_mut() {
            capture.bytes = folder.bytes();
        }
        Ok(())
    }
}

/// Tables that make a file an export of Nsight Systems; any one of them does.
const TELLING: [&str; 9] = [
    device::KERNELS,
    device::COPIES,
    device::MEMORY_SETS,
    device::GRAPHS,
    host::CALLS,
    host::RANGES,
    host::SYSTEM_CALLS,
    counters::METRICS,
    facts::EXPORT,
];

/// Reads all tables into `import`; the error says what was expected and found.
fn read<T: Tables>(tables: &T, source: Source<'_>, import: &mut Import) -> Result<(), String> {
    if !TELLING.iter().any(|name| tables.has(name)) {
        let found: Vec<String> = tables.names().into_iter().take(5).collect();
        let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
        return Err(format!(
            "not an Nsight Systems export: expected tables such as {}, found {found}",
            device::KERNELS
        ));
    }
    let shift_ns = facts::read(tables, source, import)?;
    let mut timeline = rows::Timeline::default();
    let mut names = names::Names::read(tables);
    device::read(tables, &mut timeline, &mut names, import);
    host::read(tables, &mut timeline, &mut names, import);
    let rows = import.builder.rows();
    let placed = place::place(timeline, &names, shift_ns, source, import);
    if import.builder.rows() == rows {
        let message = "the export has no activity: no kernels, calls or ranges; `nsys profile --trace=cuda,nvtx` \
                       records them";
        import.note(Severity::Partial, source.name, None, 1, message.to_owned());
    } else if ![device::KERNELS, device::COPIES, device::MEMORY_SETS, device::GRAPHS, host::CALLS]
        .iter()
        .any(|name| tables.has(name))
    {
        let message = "the export has no CUDA activity tables: device activity is unknown; `nsys profile --trace=cuda` records it";
        import.note(Severity::Partial, source.name, None, 1, message.to_owned());
    }
    targets::describe(tables, &placed, import);
    allocations::read(tables, &placed, &mut names, shift_ns, import);
    counters::read(tables, &placed, shift_ns, import);
    tables.note_damage(source, import);
    Ok(())
}

#[cfg(test)]
mod tests;
