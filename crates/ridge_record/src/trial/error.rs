//! Why nothing could be tried.

use crate::error::RecordError;
use crate::outcome::ProgramStatus;
use std::io;
use std::path::PathBuf;

/// Why nothing could be tried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The recorder could not begin.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The program fails without any change.
    #[error("expected the program to end with 0, as it is it ended with {}", status.shell_code())]
    Failed {
        /// How it ended.
        status: ProgramStatus,
        /// What may help.
        hints: Vec<String>,
    },
    /// A patch that does not fit the tree.
    #[error("the patch does not fit the tree: {why}: {}", path.display())]
    Patch {
        /// The patch.
        path: PathBuf,
        /// What `git apply` said.
        why: String,
    },
    /// A revision that is not there.
    #[error("unknown revision `{revision}`: {why}")]
    Revision {
        /// What was asked for.
        revision: String,
        /// What git said.
        why: String,
    },
    /// A folder that is too large to copy.
    #[error("the directory is too large to copy: more than {limit}: {}", path.display())]
    TooLarge {
        /// The folder.
        path: PathBuf,
        /// How much is copied.
        limit: &'static str,
    },
    /// The system does not let something be done.
    #[error("cannot {doing}: {source}")]
    System {
        /// What.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl TrialError {
    /// What a user can do about it.
    pub fn hints(&self) -> Vec<String> {
        match self {
            TrialError::Record(error) => error.hints(),
            TrialError::Failed { hints, .. } => hints.clone(),
            TrialError::Patch { .. } => {
                vec![
                    "make the patch with `git diff`; it is applied to the current tree, including uncommitted changes"
                        .into(),
                ]
            }
            TrialError::Revision { .. } => vec![
                "`git log --oneline` lists revisions; another command to try is named with `--candidate-command`"
                    .into(),
            ],
            TrialError::TooLarge { .. } => {
                vec!["in a git repository only files that are not ignored are copied; `--link` links the others".into()]
            }
            TrialError::System { .. } => Vec::new(),
        }
    }
}
