//! What is tried against what, and one run of a side.

use crate::options::RecordOptions;
use crate::outcome::ProgramStatus;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What is tried, and how often.
#[derive(Debug, Clone)]
pub struct TrialOptions {
    /// How each run is recorded; its command is that of the program as it is, its folder is not used.
    pub record: RecordOptions,
    /// The revision in git whose files the program as it is has; `None` for those of the tree as they are now.
    pub baseline: Option<String>,
    /// What is tried.
    pub candidate: Candidate,
    /// Where the captures of both sides go.
    pub out: PathBuf,
    /// Runs of each side that warm the machine up and do not count.
    pub warm_up: u32,
    /// Fewest runs of each side that count, before the caller is asked.
    pub least_runs: u32,
    /// Most runs of each side that count.
    pub most_runs: u32,
    /// No pair is begun that would probably end later.
    pub budget: Duration,
    /// Files that both sides must write alike.
    pub outputs: Vec<PathBuf>,
    /// Largest difference of numbers that counts as none, as a part of the larger one.
    pub tolerance: f64,
    /// Paths of the tree that copies link to, because they are not in the copies.
    pub links: Vec<PathBuf>,
}

/// What is tried instead of the program as it is.
#[derive(Debug, Clone, Default)]
pub struct Candidate {
    /// Another command.
    pub command: Option<Vec<OsString>>,
    /// Environment variables.
    pub environment: Vec<(OsString, OsString)>,
    /// Other files.
    pub source: Source,
}

/// The files of the candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Source {
    /// Those of the tree, as they are now.
    #[default]
    Same,
    /// The same with this patch applied.
    Patch(PathBuf),
    /// Those of a revision in git.
    Revision(String),
}

/// The program as it is, or the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// As it is.
    Before,
    /// With the change.
    After,
}

impl Side {
    /// The name of its folder, and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Side::Before => "before",
            Side::After => "after",
        }
    }
}

/// One run.
#[derive(Debug, Clone)]
pub struct TrialRun {
    /// Which side it is of.
    pub side: Side,
    /// Whether it counts; runs that warm up do not.
    pub counts: bool,
    /// From the program's start to its end, less the recorder's own work in it.
    pub wall: Duration,
    /// The recorder's own work in it.
    pub harness: Duration,
    /// How it ended.
    pub status: ProgramStatus,
    /// Its capture folder.
    pub out: PathBuf,
    /// What it wrote to its standard output and error.
    pub log: PathBuf,
    /// Whether the folder has a trace.
    pub has_trace: bool,
}
