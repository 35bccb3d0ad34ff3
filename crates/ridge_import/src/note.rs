//! What a reader must know about a capture that was read in part.

/// How grave a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know; nothing is missing.
    Info,
    /// Something could not be used, the numbers shown stand without it.
    Partial,
    /// Data was lost: every report says so first.
    Lost,
}

/// One thing to know, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportNote {
    /// How grave it is.
    pub severity: Severity,
    /// What happened, a sentence without a period.
    pub message: String,
    /// The source's name.
    pub source: String,
    /// Byte offset of the first occurrence in the source.
    pub offset: Option<u64>,
    /// How often it happened.
    pub count: u64,
}
