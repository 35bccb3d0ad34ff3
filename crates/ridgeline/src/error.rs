//! Why a capture could not be opened, and what to do about it.

use ridge_import::ImportError;
use std::path::{Path, PathBuf};

/// Why a capture could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct OpenError {
    /// What was expected and found: lower case, no period.
    pub message: String,
    /// The file or folder it is about.
    pub path: Option<PathBuf>,
    /// What the user can do, a sentence each.
    pub hints: Vec<String>,
}

impl OpenError {
    pub(crate) fn new(message: impl Into<String>, path: Option<&Path>) -> OpenError {
        OpenError { message: message.into(), path: path.map(Path::to_owned), hints: Vec::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> OpenError {
        self.hints.push(hint.into());
        self
    }

    pub(crate) fn io(doing: &str, path: &Path, error: &std::io::Error) -> OpenError {
        OpenError::new(format!("could not {doing}: {error}"), Some(path))
    }
}

impl From<ImportError> for OpenError {
    fn from(error: ImportError) -> OpenError {
        OpenError { path: error.source_name().map(PathBuf::from), hints: error.hints(), message: error.to_string() }
    }
}
