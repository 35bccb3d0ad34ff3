//! Notes of the readers as notes of a session.

use ridge_documents::Damage;
use ridge_import::ImportNote;
pub use ridge_table::{Note, Severity};
use std::path::Path;

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

/// What of the document `file` could not be understood.
pub(crate) fn damaged(damage: &Damage, file: &Path) -> Note {
    let file = Some(file.display().to_string());
    Note { severity: Severity::Partial, message: damage.to_string(), file, offset: None, count: damage.count }
}
