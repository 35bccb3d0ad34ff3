//! What the checks need of the machine's tools, and what is said of a check whose tool is not there.

pub(crate) use crate::running::{Ran, run, run_within, version};

use crate::bundle::{Check, CheckState};

/// A check that was not run.
pub(super) fn not_run(name: &str, why: &str) -> Check {
    Check {
        name: name.to_owned(),
        state: CheckState::NotRun,
        found: why.to_owned(),
        command: String::new(),
        version: String::new(),
        wall_s: 0.0,
        figures: Vec::new(),
    }
}
