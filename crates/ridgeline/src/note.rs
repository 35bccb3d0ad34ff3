//! Notes of the readers as notes of a session.

use ridge_import::ImportNote;
pub use ridge_table::{Note, Severity};

/// The note of a reader, with the file that it is about.
pub(crate) fn of_reader(note: ImportNote) -> Note {
    Note {
        severity: note.severity,
        message: note.message,
        file: Some(note.source),
        offset: note.offset,
        count: note.count,
    }
}
