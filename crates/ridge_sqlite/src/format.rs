//! What a file is: its first bytes, the encoding of its texts, and how it fails to be a database.

/// The first bytes of every SQLite database (section 1.3.1).
pub(crate) const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Whether a file that begins with `head` is a SQLite database.
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// How the texts of a database are encoded (section 1.3.13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Of one to four bytes a letter.
    Utf8,
    /// Of two or four bytes a letter, the lower one first.
    Utf16Le,
    /// The same, the higher one first.
    Utf16Be,
}

/// Why a database or a table of it could not be read: what was expected and found, and the byte.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {offset}")]
pub struct SqliteError {
    /// Where, from the start of the file.
    pub offset: u64,
    /// What was expected and found.
    pub what: String,
}
