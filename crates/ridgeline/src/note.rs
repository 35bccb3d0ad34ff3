//! What a reader must know about a capture.

use ridge_import::ImportNote;

/// How grave a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know.
    Info,
    /// Part of the capture could not be used; the numbers shown stand without it.
    Partial,
    /// Data was lost: every report says so first.
    Lost,
}

/// Something a reader must know about a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// How grave it is.
    pub severity: Severity,
    /// What happened, a sentence without a period.
    pub message: String,
    /// The file it is about, as the user gave it.
    pub file: Option<String>,
    /// Byte offset in that file.
    pub offset: Option<u64>,
    /// How often it happened.
    pub count: u64,
}

impl From<ImportNote> for Note {
    fn from(note: ImportNote) -> Note {
        let severity = match note.severity {
            ridge_import::Severity::Info => Severity::Info,
            ridge_import::Severity::Partial => Severity::Partial,
            ridge_import::Severity::Lost => Severity::Lost,
        };
        Note { severity, message: note.message, file: Some(note.source), offset: note.offset, count: note.count }
    }
}
