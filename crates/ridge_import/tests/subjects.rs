//! Rows say what they are about, in every view over every fixture, so that whoever shows one can jump to it.
//!
//! A row that is about nothing that a capture can name says so in its first column: `(no source line known)`, or nothing.

use arrow_array::cast::AsArray;
use ridge_analysis::{Ask, Prepared, VIEWS};
use ridge_import::{Imported, Source, import};
use ridge_table::{Subject, Table};
use ridge_trace::Trace;
use std::collections::BTreeSet;

/// Views of which no fixture has a row: nothing is known of their subjects here. Compilations are told by the manifest of a
/// recording, beside the capture.
const WITHOUT_ROWS: [&str; 1] = ["View(stats compilation)"];

#[test]
fn rows_say_what_they_are_about() {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut silent: BTreeSet<String> = BTreeSet::new();
    for path in ridge_test::every_fixture() {
        let Some(imported) = read(&path) else { continue };
        let prepared = Prepared::with_sheets(&imported.trace);
        let analysis = prepared.analysis(&imported.trace, &imported.hlo);
        for view in VIEWS {
            let table = view.table(&analysis, &Ask::default());
            for row in 0..table.batch.num_rows() {
                seen.insert(format!("{view:?}"));
                match table.subject(row) {
                    Some(subject) => assert!(is_there(&imported.trace, subject), "{view:?} of {path:?}: {subject:?}"),
                    None if names_nothing(&table, row) => {}
                    None => drop(silent.insert(format!("{view:?}: row {row} of {}", path.display()))),
                }
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
    let unseen = VIEWS.iter().map(|view| format!("{view:?}")).filter(|view| !seen.contains(view));
    assert_eq!(unseen.collect::<Vec<_>>(), WITHOUT_ROWS);
}

fn read(path: &std::path::Path) -> Option<Imported> {
    let bytes = std::fs::read(path).expect("a file that is listed");
    import(&[Source { name: "capture", bytes: &bytes }], None).ok()
}

/// Whether the row's first column has no name of anything.
fn names_nothing(table: &Table, row: usize) -> bool {
    let name = table.batch.column(0);
    name.is_null(row) || name.as_string_opt::<i32>().is_some_and(|names| names.value(row).trim_start().starts_with('('))
}

/// Whether the trace has what a subject speaks of.
fn is_there(trace: &Trace, subject: &Subject) -> bool {
    let has = |row: u32, rows: usize| (row as usize) < rows;
    match subject {
        Subject::Event(row) => has(row.0, trace.events.len()),
        Subject::Gap { prev, next } => has(prev.0, trace.events.len()) && has(next.0, trace.events.len()),
        Subject::Op(row) => has(row.0, trace.operations.len()),
        Subject::Module(row) | Subject::Instruction(row, _) => has(row.0, trace.modules.len()),
        Subject::Device(row) => has(row.0, trace.devices.len()),
        Subject::Track(row) => has(row.0, trace.tracks.len()),
        Subject::Process(row) => has(row.0, trace.processes.len()),
        Subject::Profile(row) => has(row.0, trace.profiles.launches.len()),
        Subject::Segment(row) => has(row.0, trace.memory.segments.bytes.len()),
        Subject::Stack(row) => has(row.0, trace.memory.stacks.len()),
        Subject::Range(name) | Subject::Named(name) => has(name.0, trace.strings.len()),
        Subject::Allocator(process, name) => has(process.0, trace.processes.len()) && has(name.0, trace.strings.len()),
        Subject::Snapshot(snapshot, allocator) => {
            has(snapshot.0, trace.strings.len()) && has(allocator.0, trace.strings.len())
        }
        Subject::Source(file, line) => !file.is_empty() && *line > 0,
        Subject::Scope(name) | Subject::Category(name) => !name.is_empty(),
        Subject::Copies(kind) => kind.is_device_work(),
    }
}
