//! Experiments: which small changes of a program its findings call for, and what the runs with them come to.
//!
//! The changes are made from outside by the harness; here is what each is called, which findings it is about, which of several is
//! measured, and the interval of what it saves. The statistics are those of `ridgeline try`: each run is one sample.

mod changes;
mod effect;
mod measured;
mod plan;
mod sample;

pub use changes::{CHANGES, ChangeKind, ExperimentChange, change_named};
pub use effect::ExperimentEffect;
pub use measured::{MeasuredError, tested_by};
pub use plan::{Planned, Tried, chosen, is_known, plan, plan_of, worth_measuring};
pub use sample::{ExperimentResults, ExperimentSample, TimedLoop};

/// What experiments came to.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// The program as it is.
    pub command: Vec<String>,
    /// The folder of everything that was written.
    pub folder: std::path::PathBuf,
    /// What was tried.
    pub planned: Vec<Planned>,
    /// All runs, in order.
    pub samples: Vec<ExperimentSample>,
    /// What became of each change, in the order of `planned`.
    pub tried: Vec<Tried>,
    /// Positions of the findings in `check` that are worth measuring.
    pub findings: Vec<usize>,
    /// Findings and changes that were asked for.
    pub asked: usize,
    /// What is measured for each finding: its position in `check`, if it is of one, and that in `planned`.
    pub chosen: Vec<(Option<usize>, usize)>,
    /// Why no further run was begun: `narrow`, `budget`, `runs` or `interrupted`.
    pub ended: &'static str,
    /// How long all of it took, nanoseconds.
    pub took_ns: i64,
    /// What the recording of the program as it is shows, with the savings that were measured.
    pub check: Option<crate::Check>,
    /// What was predicted of each finding before, in their order.
    pub predicted: Vec<Option<crate::Saving>>,
    /// What a reader must know, a sentence each.
    pub notes: Vec<String>,
}
