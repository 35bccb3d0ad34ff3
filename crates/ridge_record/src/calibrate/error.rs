//! Why nothing could be measured, or nothing kept.

use std::io;
use std::path::PathBuf;

/// Why nothing could be measured, or nothing kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrateError {
    /// Only devices were asked for, and there is none to measure.
    #[error("cannot measure a device: {reason}")]
    NoDevice {
        /// What Python or the system said.
        reason: String,
    },
    /// A file or folder cannot be written.
    #[error("cannot write: {source}: {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Signals cannot be watched.
    #[error("cannot watch signals: {source}")]
    Signals {
        /// What the system said.
        source: io::Error,
    },
}

impl CalibrateError {
    /// What a user can do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            CalibrateError::NoDevice { .. } => {
                vec!["name an interpreter with JAX by `--python`, or measure only the host with `--only host`".into()]
            }
            CalibrateError::Write { .. } => vec!["check space and permission".into()],
            CalibrateError::Signals { .. } => Vec::new(),
        }
    }
}
