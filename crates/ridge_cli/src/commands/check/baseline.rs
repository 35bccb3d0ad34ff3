//! Findings that were accepted: a file that lists their fingerprints.

use crate::failure::Failure;
use ridge_report::check::items;
use ridgeline::{Check, Level};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name and version of the file.
const SCHEMA: &str = "ridgeline.baseline.v1";

/// What was accepted.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Baseline {
    schema: String,
    /// Fingerprints of findings, in order.
    pub(super) accepted: Vec<String>,
}

impl Baseline {
    /// Everything that is worth mending in `check`.
    pub(super) fn of(check: &Check) -> Baseline {
        let worth = items(check).filter(|item| item.finding.level > Level::Info);
        let mut accepted: Vec<String> = worth.map(|item| item.shown.fingerprint.clone()).collect();
        accepted.sort();
        accepted.dedup();
        Baseline { schema: SCHEMA.to_owned(), accepted }
    }

    /// Reads the file at `path`.
    pub(super) fn read(path: &Path) -> Result<Baseline, Failure> {
        let text =
            std::fs::read_to_string(path).map_err(|error| Failure::io("cannot read the baseline", &error).at(path))?;
        let found: Baseline = serde_json::from_str(&text)
            .map_err(|error| Failure::failed(format!("expected a baseline: {error}")).at(path))?;
        if found.schema != SCHEMA {
            return Err(Failure::failed(format!("expected a baseline of {SCHEMA}, found {}", found.schema)).at(path));
        }
        Ok(found)
    }

    /// It as a file, one fingerprint a line, so that changes read well.
    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
