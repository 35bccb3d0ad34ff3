//! Why a capture could not be redacted.

/// Why a capture could not be redacted; nothing that was written so far may be shared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The content is of no format that can be redacted.
    #[error("expected a capture that can be redacted, found {found}")]
    Unknown {
        /// What it looks like.
        found: &'static str,
        /// What the user can do.
        hint: &'static str,
    },
    /// The content is damaged, so that what is private in it cannot be found with certainty.
    #[error("expected {expected}, found {found} at byte {offset}")]
    Damaged {
        /// What should have been there.
        expected: &'static str,
        /// What was.
        found: &'static str,
        /// Where, from the start of the content, decompressed.
        offset: u64,
    },
    /// What is packed is damaged or too large, so that what is private in it cannot be found with certainty.
    #[error("could not be unpacked: {0}")]
    Packed(String),
    /// A database is damaged, so that what is private in it cannot be found with certainty.
    #[error(transparent)]
    Database(#[from] ridge_sqlite::SqliteError),
    /// The result could not be written.
    #[error("cannot write the copy: {0}")]
    Io(#[from] std::io::Error),
}

impl RedactError {
    /// What the user can do, where anything is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            RedactError::Unknown { hint, .. } => Some(hint),
            RedactError::Damaged { .. } | RedactError::Packed(_) | RedactError::Database(_) => {
                Some("a damaged capture may hide private data, so it is not copied")
            }
            RedactError::Io(_) => None,
        }
    }
}
