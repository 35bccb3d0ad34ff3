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
    /// A database is damaged, so that what is private in it cannot be found with certainty.
    #[error(transparent)]
    Database(#[from] ridge_sqlite::SqliteError),
    /// The content could not be decompressed, or the result not written.
    #[error("could not pass the capture on: {0}")]
    Io(#[from] std::io::Error),
}

impl RedactError {
    /// What the user can do, where anything is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            RedactError::Unknown { hint, .. } => Some(hint),
            RedactError::Damaged { .. } | RedactError::Database(_) => {
                Some("a damaged capture may hide what is private, so it is not passed on")
            }
            RedactError::Io(_) => None,
        }
    }
}
