//! What the harness says of one run.

use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// What the harness says of one process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Where the change was made, and how often.
    #[serde(default)]
    pub applied: Vec<Applied>,
    /// Where it was not, and why.
    #[serde(default)]
    pub failed: Vec<Site>,
    /// Outermost loops, those that took longest first.
    #[serde(default)]
    pub loops: Vec<LoopTime>,
    /// From when the library was there to the end, without the harness's own work, seconds.
    pub program_s: f64,
    /// Seconds in which JAX traced and compiled.
    #[serde(default)]
    pub compile_s: f64,
    /// Whether the process imported JAX or PyTorch.
    pub has_library: bool,
    /// Names of arrays that the program called its results.
    #[serde(default)]
    pub results: Vec<String>,
}

/// A place where the change was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// File and line, or what was changed.
    pub site: String,
    /// How often.
    pub times: u64,
}

/// A place where it was not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// File and line, or what would have been changed.
    pub site: String,
    /// Why.
    pub why: String,
}

/// A loop that is inside of no other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LoopTime {
    /// The file.
    pub file: String,
    /// The line of its head.
    pub line: u32,
    /// Iterations that were timed: all but the first of each execution.
    pub iterations: u64,
    /// Their time, with the device work that they began, seconds.
    pub seconds: f64,
    /// Seconds of it in which JAX traced and compiled.
    pub compile_s: f64,
    /// How often the loop was begun.
    pub executions: u64,
}

/// The report in `folder` of the process that ran longest with a library; damaged ones are none.
pub(super) fn read(folder: &Path) -> Option<RunReport> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let is_report = |name: &str| name.starts_with("run.") && name.ends_with(".json");
    let reports = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_report));
    let read = reports.filter_map(|entry| serde_json::from_slice::<RunReport>(&fs::read(entry.path()).ok()?).ok());
    read.filter(|report| report.has_library && report.is_sound())
        .max_by(|one, other| one.program_s.total_cmp(&other.program_s))
}

impl RunReport {
    fn is_sound(&self) -> bool {
        let times = self.loops.iter().flat_map(|found| [found.seconds, found.compile_s]);
        times.chain([self.program_s, self.compile_s]).all(|seconds| seconds.is_finite() && seconds >= 0.0)
    }
}
