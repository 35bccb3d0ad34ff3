//! How the process ends after a command that did its work.

use ridge_record::ProgramStatus;

/// How the process ends after a command that did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With this exit code.
    Code(i32),
    /// As the recorded program ended.
    Like(ProgramStatus),
}
