//! What a benchmark tells while it runs and when it is done.

use std::path::PathBuf;

use ridge_documents::{PartShare, Ratio, Recompiles};

/// A moment in a benchmark, for progress on a terminal. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BenchEvent {
    /// The suite is read: what will run, in order. Total work is `sizes.len() * operations.len()` rows.
    Planned {
        /// The suite's own name.
        suite: String,
        /// Sizes, in the order to run.
        sizes: Vec<u32>,
        /// Operations, in the order to run.
        operations: Vec<String>,
    },
    /// A worker begins a size, or goes on with it after another died.
    SizeStarted {
        /// Edge of the volume.
        size: u32,
    },
    /// A worker begins an operation.
    OperationStarted {
        /// Edge of the volume.
        size: u32,
        /// Its name.
        operation: String,
    },
    /// An operation enters a phase: `inputs`, `first run`, `traced run`, `warm-up` or `timed runs`.
    Phase {
        /// Edge of the volume.
        size: u32,
        /// The operation's name.
        operation: String,
        /// The phase.
        phase: String,
    },
    /// One run is over.
    Measured {
        /// Edge of the volume.
        size: u32,
        /// The operation's name.
        operation: String,
        /// 0 for the traced run, then from 1.
        run: u32,
        /// Its time.
        seconds: f64,
        /// True for the run under the profiler.
        traced: bool,
    },
    /// A row is finished, one way or another.
    OperationDone {
        /// Edge of the volume.
        size: u32,
        /// The operation's name.
        operation: String,
        /// How it ended.
        status: BenchStatus,
    },
    /// The benchmark was interrupted and waits for the worker to end.
    Interrupted,
}

/// How one operation at one size ended.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchStatus {
    /// Measured. Times are in seconds, of the timed runs.
    Ok {
        /// Timed runs, at least 1.
        runs: u32,
        /// The middle time.
        median_s: f64,
        /// The least time.
        min_s: f64,
        /// Half the distance between the quartiles.
        spread_s: f64,
        /// Seconds spent compiling for the first run, summed over modules; `None` where it is not known.
        compile_s: Option<f64>,
        /// Peak resident memory of the timed runs in bytes, the process included; `None` where it is not known.
        peak_rss_bytes: Option<u64>,
        /// What it compiled again after its first run; `None` where it compiled nothing, as it should be.
        recompiles: Option<Recompiles>,
    },
    /// It failed, or its process died.
    Failed {
        /// Type and message, or how the process died.
        reason: String,
    },
    /// It was not started, or interrupted.
    NotRun {
        /// Why.
        reason: String,
    },
}

/// One operation at one size.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchCell {
    /// Edge of the volume.
    pub size: u32,
    /// How it ended.
    pub status: BenchStatus,
}

/// One operation over all sizes: a row of the table by size.
#[derive(Clone, Debug, PartialEq)]
pub struct BenchRow {
    /// The operation's name.
    pub operation: String,
    /// One cell per size, in the order of [`BenchOutcome::sizes`].
    pub cells: Vec<BenchCell>,
}

/// A finished benchmark.
#[derive(Clone, Debug)]
pub struct BenchOutcome {
    /// The suite's own name.
    pub suite: String,
    /// The folder written.
    pub out: PathBuf,
    /// `results.json` in it.
    pub results: PathBuf,
    /// Sizes, the columns of the table.
    pub sizes: Vec<u32>,
    /// One row per operation, in the suite's order.
    pub rows: Vec<BenchRow>,
    /// Operations that are parts of others, by size.
    pub parts: Vec<PartShare>,
    /// Operations that do the work of others, by size.
    pub ratios: Vec<Ratio>,
    /// True if it was interrupted before its end.
    pub interrupted: bool,
}

impl BenchOutcome {
    /// Number of cells that failed.
    pub fn failed(&self) -> usize {
        self.rows
            .iter()
            .flat_map(|row| &row.cells)
            .filter(|cell| matches!(cell.status, BenchStatus::Failed { .. }))
            .count()
    }
}
