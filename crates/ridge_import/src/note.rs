//! What a reader must know about a capture that was read in part.

pub use ridge_table::Severity;

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
