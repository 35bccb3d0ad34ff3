//! Run a suite of operations at several sizes, in a fresh Python process per size, and write what was measured.
//!
//! [`bench`] finds the suite and a Python interpreter, starts one worker per size, follows its events, and starts another after
//! the operation that a worker died in.
//! It leaves `results.json`, `manifest.json`, and per size a folder `size_064/` with `plugins/profile/`, `hlo/` and `worker.log`; the whole
//! folder can be read like any capture.
//!
//! An operation that fails, dies or is not reached is a row with its reason: no row is ever missing.
//! Measuring is done in Python (`python/ridgeline/bench_measure.py`); drawing tables and progress is left to the caller.

mod built_in;
mod error;
mod event;
mod folder;
mod launch;
mod locate;
mod mbirjax;
mod options;
mod outcome;
mod results;
mod run;
mod shares;
mod size;

pub use built_in::built_in_suites;
pub use error::BenchError;
pub use options::{BenchOptions, Layout};
pub use outcome::{BenchCell, BenchEvent, BenchOutcome, BenchRow, BenchStatus};
pub use ridge_documents::{PartShare, Ratio, Recompiles};
pub use run::bench;
