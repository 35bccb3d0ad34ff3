//! Why a question about a capture has no answer, and what to do about it.

use ridge_documents::DocumentError;
use ridge_import::ImportError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a question about a capture has no answer; the kinds are those that a caller may treat differently, as a server maps
/// them to its status codes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A path leads nowhere.
    #[error("{0}")]
    NotFound(Details),
    /// What is there is no capture, or not the document that was expected.
    #[error("{0}")]
    NotACapture(Details),
    /// Nothing has the name that was given: a module, a device, a format.
    #[error("{0}")]
    UnknownName(Details),
    /// The system does not let it be read or written.
    #[error("{0}")]
    Unreadable(Details),
    /// What was asked cannot be done, whatever the capture.
    #[error("{0}")]
    BadInput(Details),
    /// The capture does not hold what was asked for.
    #[error("{0}")]
    NotRecorded(Details),
}

/// What every kind of error says.
#[derive(Debug, Default)]
pub struct Details {
    /// What was expected and found: lower case, no period.
    pub message: String,
    /// The file or folder it is about.
    pub path: Option<PathBuf>,
    /// What the user can do, a sentence each.
    pub hints: Vec<String>,
}

impl fmt::Display for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Details {
    pub(crate) fn new(message: impl Into<String>) -> Details {
        Details { message: message.into(), ..Details::default() }
    }

    pub(crate) fn at(mut self, path: &Path) -> Details {
        self.path = Some(path.to_owned());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Details {
        self.hints.push(hint.into());
        self
    }
}

impl OpenError {
    /// What it says.
    pub fn details(&self) -> &Details {
        match self {
            OpenError::NotFound(details)
            | OpenError::NotACapture(details)
            | OpenError::UnknownName(details)
            | OpenError::Unreadable(details)
            | OpenError::BadInput(details)
            | OpenError::NotRecorded(details) => details,
        }
    }

    fn details_mut(&mut self) -> &mut Details {
        match self {
            OpenError::NotFound(details)
            | OpenError::NotACapture(details)
            | OpenError::UnknownName(details)
            | OpenError::Unreadable(details)
            | OpenError::BadInput(details)
            | OpenError::NotRecorded(details) => details,
        }
    }

    /// What was expected and found: lower case, no period.
    pub fn message(&self) -> &str {
        &self.details().message
    }

    /// The file or folder it is about.
    pub fn path(&self) -> Option<&Path> {
        self.details().path.as_deref()
    }

    /// What the user can do, a sentence each.
    pub fn hints(&self) -> &[String] {
        &self.details().hints
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> OpenError {
        self.details_mut().hints.push(hint.into());
        self
    }

    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> OpenError {
        let details = Details::new(format!("could not {doing}: {error}")).at(path);
        match error.kind() {
            io::ErrorKind::NotFound => OpenError::NotFound(details),
            _ => OpenError::Unreadable(details),
        }
    }

    pub(crate) fn document(path: &Path, error: &DocumentError) -> OpenError {
        OpenError::NotACapture(Details::new(error.to_string()).at(path))
    }
}

impl From<ImportError> for OpenError {
    fn from(error: ImportError) -> OpenError {
        let path = error.source_name().map(PathBuf::from);
        let details = Details { message: error.to_string(), path, hints: error.hints() };
        match error {
            ImportError::NoSuchFormat { .. } => OpenError::UnknownName(details),
            _ => OpenError::NotACapture(details),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_what_the_system_says() {
        let said = |kind| OpenError::io("open", Path::new("run"), &io::Error::from(kind));
        assert!(matches!(said(io::ErrorKind::NotFound), OpenError::NotFound(_)));
        let denied = said(io::ErrorKind::PermissionDenied).hint("ask");
        assert!(matches!(denied, OpenError::Unreadable(_)));
        assert_eq!((denied.message(), denied.path()), ("could not open: permission denied", Some(Path::new("run"))));
        assert_eq!((denied.to_string().as_str(), denied.hints()), (denied.message(), &["ask".to_owned()][..]));
    }
}
