//! Why a recording could not begin.
//!
//! Once the program runs, nothing is an error any more: what is lost is listed in the outcome and the manifest.

use std::io;
use std::path::PathBuf;

use crate::profiler::Profiler;

/// Why a recording could not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// There is nothing to run.
    #[error("expected a command to run, found none")]
    NoCommand,
    /// The folder holds files that no recording made.
    #[error("expected an empty directory or an earlier capture, found another file: {}", found.display())]
    FolderInUse {
        /// One of the files.
        found: PathBuf,
    },
    /// Another recording is being written there.
    #[error("another recording is being written there: {}", path.display())]
    FolderBusy {
        /// The folder.
        path: PathBuf,
    },
    /// A profiler setting that no profiler knows, or whose value it cannot take.
    #[error("expected {expected}, found {found:?}")]
    ProfileOption {
        /// What would do.
        expected: String,
        /// The setting as given.
        found: String,
    },
    /// The capture folder cannot be made or written.
    #[error("cannot write the recording: {source}: {}", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A profiler that was asked for is not on this machine.
    #[error("expected `{}`, the command of {}, and found none", profiler.name(), profiler.product())]
    NoProfiler {
        /// Which.
        profiler: Profiler,
    },
    /// The program cannot be started.
    #[error("cannot start the program: {source}: {program}")]
    Spawn {
        /// Its first word.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// Signals cannot be watched, or the program not waited for.
    #[error("cannot watch the program: {source}")]
    Watch {
        /// What the system said.
        source: io::Error,
    },
}

impl RecordError {
    /// What a user can do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            RecordError::NoCommand => vec!["write the program after `--`: ridgeline record -- python solver.py".into()],
            RecordError::FolderInUse { .. } | RecordError::FolderBusy { .. } => {
                vec!["name another directory with `-o`".into()]
            }
            RecordError::Folder { .. } => {
                vec!["check space and permission, or name another directory with `-o`".into()]
            }
            RecordError::Spawn { .. } => vec!["check that the program runs without the recorder".into()],
            RecordError::ProfileOption { .. } => {
                vec!["`advanced.NAME=VALUE` hands a setting of a newer JAX on as it is".into()]
            }
            RecordError::NoProfiler { profiler } => vec![profiler.how_to_get()],
            RecordError::Watch { .. } => Vec::new(),
        }
    }

    /// The exit code a shell gives for the same failure: 127 if the program was not found, 126 if it could not be run, else 2.
    pub fn shell_code(&self) -> i32 {
        match self {
            RecordError::Spawn { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
            RecordError::Spawn { .. } => 126,
            _ => 2,
        }
    }
}
