//! From which level of findings on `check` fails.

use clap::ValueEnum;
use ridgeline::Level;

/// From which level on the command fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FailOn {
    /// Lost work and failures
    Error,
    /// Causes of at least 3% of the step (10% on CPUs)
    Warning,
    /// Every finding
    Info,
    /// Nothing
    Never,
}

impl FailOn {
    pub(super) fn reached(self, level: Level) -> bool {
        match self {
            FailOn::Error => level >= Level::Error,
            FailOn::Warning => level >= Level::Warning,
            FailOn::Info => true,
            FailOn::Never => false,
        }
    }
}
