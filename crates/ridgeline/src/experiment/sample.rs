//! One run of a program, as it is or with a change.

use std::path::PathBuf;

/// A loop of the program that is inside of no other.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedLoop {
    /// The file.
    pub file: String,
    /// The line of its head.
    pub line: u32,
    /// Iterations that were timed: all but the first of each execution.
    pub iterations: u64,
    /// Their time, seconds.
    pub seconds: f64,
    /// Seconds of it in which JAX traced and compiled.
    pub compile_s: f64,
}

/// How results compare with those of the program as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentResults {
    /// `same`, `close`, `differs` or `not compared`.
    pub state: &'static str,
    /// The largest difference, as a part of the larger number.
    pub difference: Option<f64>,
    /// Numbers and arrays that were compared.
    pub compared: usize,
    /// What else differs.
    pub why: Option<String>,
}

impl ExperimentResults {
    /// Differences up to this part are what another order of the same arithmetic makes.
    pub const ROUNDING: f64 = 1e-3;

    /// Whether nothing speaks against them being the same but for rounding.
    pub fn agree(&self) -> bool {
        self.state != "differs" && self.difference.is_none_or(|difference| difference <= Self::ROUNDING)
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentSample {
    /// The position of its change among those that are tried; `None` for the program as it is.
    pub change: Option<usize>,
    /// From 0, the round that looks at every change once.
    pub round: u32,
    /// Exit code, as a shell shows it.
    pub exit_code: i32,
    /// From the program's start to its end, nanoseconds.
    pub wall_ns: i64,
    /// Where the change was made, and how often.
    pub applied: Vec<(String, u64)>,
    /// Where it was not, and why.
    pub failed: Vec<(String, String)>,
    /// Outermost loops, those that took longest first.
    pub loops: Vec<TimedLoop>,
    /// The program without the start of its library, seconds.
    pub program_s: f64,
    /// Seconds in which JAX traced and compiled.
    pub compile_s: f64,
    /// How its results compare; `None` for the program as it is.
    pub results: Option<ExperimentResults>,
    /// What the program printed.
    pub log: PathBuf,
}

impl ExperimentSample {
    /// Whether the change was made and the program ended well.
    pub fn is_of_use(&self) -> bool {
        self.exit_code == 0 && (self.change.is_none() || !self.applied.is_empty())
    }
}
