//! Run a program under the recorder and collect what it leaves.
//!
//! [`record`] takes [`RecordOptions`], prepares a capture folder, spawns the program with a small Python harness on its path,
//! waits, and gathers what the harness left into `manifest.json`.
//! The program keeps its output, its terminal, its signals and its exit status: [`RecordOutcome::status`] says how it ended, and
//! a caller that wants to be transparent ends the same way with [`ProgramStatus::end_like`].
//!
//! One decision and why: the harness attaches through `PYTHONPATH` and a `sitecustomize` module, so the program needs no change
//! and may start through any number of launchers (`uv run`, `python -m`, a console script), as long as a Python process is at the
//! end.
//! A program that imports `jax` or `torch` is captured; any other runs untouched, and the manifest says that nothing was captured.
//!
//! Profilers of the vendor run around a program by [`RecordOptions::nsys`], [`RecordOptions::rocprof`] and [`count`].
//!
//! Nothing here reads a trace.
//!
//! ```no_run
//! use ridge_record::{RecordOptions, record};
//! let options = RecordOptions::new(["python", "solver.py", "--n", "384"]);
//! let outcome = record(&options, &mut |_event| {})?;
//! println!("{} in {:?}", outcome.out.display(), outcome.wall);
//! # Ok::<(), ridge_record::RecordError>(())
//! ```

pub mod bench;
pub mod calibrate;
pub mod compile;
pub mod doctor;
pub mod emulate;
pub mod experiment;
pub mod trial;

mod around;
mod error;
mod file_size;
mod folder;
mod folder_content;
mod harness;
mod ignored;
mod interrupts;
mod launch;
mod manifest;
mod no_harness;
mod options;
mod outcome;
mod pack;
mod parse;
mod pieces;
mod profile_options;
mod profiler;
mod programs;
mod progress;
mod python;
mod rank;
mod ranks;
mod recorder;
mod redact;
mod signals;
mod worker;

pub use around::ncu::{CounterOptions, CounterOutcome, Kernels, count, export_page, is_recording_of};
pub use error::RecordError;
pub use file_size::survive_file_size_limit;
pub use folder::{default_out_dir, remove_if_recording};
pub use harness::write_harness;
pub use options::{HloFormat, Limits, RecordOptions, RocprofOptions, StepRange, TorchOptions, WarmUp, Window, XlaDump};
pub use outcome::{Missing, Overhead, ProgramStatus, RecordEvent, RecordOutcome};
pub use parse::ParseError;
pub use profiler::Profiler;
pub use programs::{find_program, search_path};
pub use recorder::record;
