//! What to measure and where to write it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::HloFormat;

/// What to measure and where to write it.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// The suite: a path to a Python file, or a name, looked up as `suites/NAME.py` and then among [`super::built_in_suites`].
    pub suite: String,
    /// The folder to write; it is made, and must be empty or an earlier result of this kind, which is replaced.
    pub out: PathBuf,
    /// Sizes (the edge of the volume) in the order to run them; empty for the suite's own.
    pub sizes: Vec<u32>,
    /// Shell patterns of operation names; empty for all. A pattern that matches nothing is an error.
    pub operations: Vec<String>,
    /// Timed runs per operation, at least 1.
    pub runs: u32,
    /// Runs before the timed ones, after the first, which compiles, and the traced one.
    pub warm_up: u32,
    /// Forms in which XLA itself dumps the modules of each operation: `text`, `proto`, `dot`, `html`; empty for none.
    pub xla_dump: BTreeSet<String>,
    /// Where things lie in the folder.
    pub layout: Layout,
    /// Start no operation after this long; those left are rows that say so.
    pub budget: Option<Duration>,
    /// A variant that the suite declares: environment variables for the worker.
    pub variant: Option<String>,
    /// What to keep of each compiled module; costs are always kept.
    pub hlo: BTreeSet<HloFormat>,
    /// The interpreter; `None` for that of `$VIRTUAL_ENV`, else of `.venv`, else `python3`.
    pub python: Option<PathBuf>,
}

/// Where things lie in the folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// A directory per size.
    #[default]
    Own,
    /// As the profiler of MBIRJAX lays them out; beside it `results.json` and `manifest.json`, with which Ridgeline opens the folder.
    Mbirjax,
}

impl BenchOptions {
    /// Measure all of `suite` at its own sizes with five timed runs, keeping modules as text and proto.
    pub fn new(suite: impl Into<String>, out: impl Into<PathBuf>) -> BenchOptions {
        BenchOptions {
            suite: suite.into(),
            out: out.into(),
            sizes: Vec::new(),
            operations: Vec::new(),
            runs: 5,
            warm_up: 0,
            xla_dump: BTreeSet::new(),
            layout: Layout::Own,
            budget: None,
            variant: None,
            hlo: [HloFormat::Text, HloFormat::Proto].into(),
            python: None,
        }
    }
}
