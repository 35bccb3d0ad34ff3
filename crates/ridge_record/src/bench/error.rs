//! Why a benchmark could not begin.
//!
//! Once the first worker runs, nothing is an error any more but a result that cannot be written: failures are rows.

use std::io;
use std::path::PathBuf;

use super::built_in::built_in_suites;

/// Why a benchmark could not begin, or its results not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// No suite has this name.
    #[error("expected a suite's name or a path to its file, found {name:?}")]
    UnknownSuite {
        /// What was asked for.
        name: String,
    },
    /// The suite cannot be loaded, or does not have what was asked of it.
    #[error("cannot use the suite: {reason}")]
    Suite {
        /// What Python said.
        reason: String,
    },
    /// A pattern matches none of the suite's operations.
    #[error("expected a pattern that matches an operation of the suite, found {pattern:?}")]
    NoOperation {
        /// What was asked for.
        pattern: String,
        /// What the suite declares.
        operations: Vec<String>,
    },
    /// The suite declares no such variant.
    #[error("expected a variant among {known:?}, found {name:?}")]
    UnknownVariant {
        /// What was asked for.
        name: String,
        /// What the suite declares.
        known: Vec<String>,
    },
    /// An option has a value that makes no sense.
    #[error("expected {expected} for {option}, found {found}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// The interpreter cannot be started.
    #[error("cannot start Python: {source}: {}", python.display())]
    Spawn {
        /// The interpreter.
        python: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder holds files that no benchmark made.
    #[error("expected an empty directory or an earlier benchmark, found other files: {}", path.display())]
    FolderInUse {
        /// The folder asked for.
        path: PathBuf,
    },
    /// The earlier benchmark could not give way.
    #[error("cannot replace the earlier benchmark, this one is in {}: {}", kept.display(), path.display())]
    OtherDirectory {
        /// The folder asked for.
        path: PathBuf,
        /// Where this one is.
        kept: PathBuf,
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

impl BenchError {
    /// What a user can do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            BenchError::UnknownSuite { .. } => vec![format!("built-in suites: {}", built_in_suites().join(", "))],
            BenchError::NoOperation { operations, .. } => {
                vec![format!("operations of the suite: {}", operations.join(", "))]
            }
            BenchError::Suite { .. } => {
                vec!["check that the interpreter has the suite's packages, or name another with `--python`".into()]
            }
            BenchError::Spawn { .. } => vec!["name an interpreter with `--python`".into()],
            BenchError::FolderInUse { .. } | BenchError::OtherDirectory { .. } => {
                vec!["name another directory with `-o`".into()]
            }
            BenchError::Write { .. } => vec!["check space and permission, or name another directory with `-o`".into()],
            BenchError::UnknownVariant { .. } | BenchError::Option { .. } | BenchError::Signals { .. } => Vec::new(),
        }
    }
}
