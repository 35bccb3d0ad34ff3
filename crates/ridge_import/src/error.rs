//! Why nothing could be read.

/// Why nothing could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// There is no byte.
    #[error("expected a capture, found an empty file")]
    Empty {
        /// Name of the source.
        source_name: String,
    },
    /// What Git LFS leaves in a checkout until the file itself is fetched.
    #[error("expected a capture, found a Git LFS pointer")]
    Pointer {
        /// Name of the source.
        source_name: String,
    },
    /// No format knows the content.
    #[error("unrecognized file format: the file begins with {found}")]
    Unknown {
        /// Name of the source.
        source_name: String,
        /// The first bytes, printable.
        found: String,
    },
    /// A capture of a tool that is known and whose captures are not read.
    #[error("unsupported: {what}")]
    Foreign {
        /// Name of the source.
        source_name: String,
        /// What it is.
        what: &'static str,
        /// What makes something of it that is read.
        hint: &'static str,
    },
    /// JSON that begins as a trace does and is none: many programs write such files.
    #[error("not a trace: {what}")]
    NotATrace {
        /// Name of the source.
        source_name: String,
        /// What was expected and found.
        what: &'static str,
    },
    /// The named format does not exist.
    #[error("unknown format `{name}`; the formats are {known}")]
    NoSuchFormat {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The content is not what its format demands.
    #[error("{what} at byte {offset}")]
    Broken {
        /// Name of the source.
        source_name: String,
        /// Byte offset in it.
        offset: u64,
        /// What was expected and found.
        what: String,
    },
}

impl ImportError {
    /// The source the error is about.
    pub fn source_name(&self) -> Option<&str> {
        match self {
            ImportError::Empty { source_name }
            | ImportError::Pointer { source_name }
            | ImportError::Unknown { source_name, .. }
            | ImportError::Foreign { source_name, .. }
            | ImportError::NotATrace { source_name, .. }
            | ImportError::Broken { source_name, .. } => Some(source_name),
            ImportError::NoSuchFormat { .. } => None,
        }
    }
}
