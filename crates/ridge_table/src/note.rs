//! What a reader must know beside the numbers.

/// How grave a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know; nothing is missing.
    Info,
    /// Part of the capture could not be used; the numbers shown stand without it.
    Partial,
    /// Data was lost: every report says so first.
    Lost,
}

impl Severity {
    /// Its name in documents and tables.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Lost => "lost",
            Severity::Partial => "partial",
            Severity::Info => "info",
        }
    }
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
    /// Byte offset of the first occurrence in that file.
    pub offset: Option<u64>,
    /// How often it happened.
    pub count: u64,
}

impl Note {
    /// A note about the capture as a whole.
    pub fn new(severity: Severity, message: impl Into<String>) -> Note {
        Note { severity, message: message.into(), file: None, offset: None, count: 1 }
    }
}
