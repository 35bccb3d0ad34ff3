//! What came of an emulation, before it is a page or a document.

use ridge_record::ProgramStatus;
use ridgeline::handing_over::Fixed;
use ridgeline::handing_over::emulate::{Calls, Difference, Events, NoArray, Place, Predicted, Side, Tally, compare};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// All of it.
pub(super) struct Report {
    pub(super) bundle: String,
    pub(super) command: Vec<String>,
    pub(super) place: Place,
    /// The name by which a program may call a function the region.
    pub(super) hook: String,
    pub(super) inputs: Side,
    pub(super) outputs: Side,
    /// Of the program as it is.
    pub(super) status: ProgramStatus,
    pub(super) wall: Duration,
    pub(super) calls: Calls,
    pub(super) events: Events,
    /// Runs with the region replaced.
    pub(super) replaced: Vec<Replaced>,
    pub(super) predicted: Option<Predicted>,
    /// What went wrong, a sentence each.
    pub(super) problems: Vec<String>,
    pub(super) kept: Option<PathBuf>,
}

/// A run with the region replaced.
pub(super) struct Replaced {
    /// The number format; `None` as typed.
    pub(super) format: Option<Fixed>,
    pub(super) status: ProgramStatus,
    pub(super) wall: Duration,
    /// Calls of others of the region's name.
    pub(super) others: u64,
    pub(super) tally: Tally,
    pub(super) results: Vec<ResultOf>,
    pub(super) events: Events,
    pub(super) log: PathBuf,
}

/// A result of the program beside that of the unmodified one.
pub(super) struct ResultOf {
    pub(super) name: String,
    /// How often the unmodified program gave it, and this one; the last of both are compared.
    pub(super) times: (usize, usize),
    pub(super) difference: Result<Difference, NoArray>,
}

impl Report {
    /// The region as typed.
    pub(super) fn typed(&self) -> Option<&Replaced> {
        self.replaced.first().filter(|run| run.format.is_none())
    }

    /// Calls of the region in one run, by whoever could count them.
    pub(super) fn calls_in_a_run(&self) -> u64 {
        self.typed().map_or(self.calls.region, |run| run.tally.calls)
    }

    /// A call of the original on this processor, nanoseconds; `None` where it runs inside of something larger.
    pub(super) fn call_ns(&self) -> Option<f64> {
        (self.calls.region > 0).then(|| self.calls.region_ns as f64 / self.calls.region as f64)
    }

    /// Whether the region was replaced in every run, and every run went well.
    pub(super) fn is_whole(&self) -> bool {
        let went_well = |run: &Replaced| run.status == ProgramStatus::Exited(0) && run.tally.calls > 0;
        self.problems.is_empty() && !self.replaced.is_empty() && self.replaced.iter().all(went_well)
    }
}

/// The results that both runs left.
pub(super) fn results(original: &Path, other: &Path) -> Vec<ResultOf> {
    let (one, other) = (named(original), named(other));
    let mut found = Vec::new();
    for (name, files) in one {
        let theirs = other.get(&name).cloned().unwrap_or_default();
        let difference = match (files.last(), theirs.last()) {
            (Some(a), Some(b)) => compare(a, b),
            _ => Err(NoArray("this run did not produce it".to_owned())),
        };
        found.push(ResultOf { name, times: (files.len(), theirs.len()), difference });
    }
    found
}

/// Files of results by name, in the order in which they were given: `NAME.001.npy`, or `NAME.file0.001.npy`.
fn named(folder: &Path) -> BTreeMap<String, Vec<PathBuf>> {
    let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let entries = fs::read_dir(folder.join("results")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(stem) = file.strip_suffix(".npy").and_then(|stem| stem.rsplit_once('.')) else { continue };
        let name = stem.0.rsplit_once(".file").map_or(stem.0.to_owned(), |(name, _)| format!("{name}.npy"));
        found.entry(name).or_default().push(path);
    }
    found
}
