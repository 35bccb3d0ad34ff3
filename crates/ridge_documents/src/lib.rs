//! The JSON documents that the recorder writes and the façade reads, as types: both sides share one definition of every key.
//!
//! - [`Manifest`]: `manifest.json` of a capture folder
//! - [`BenchResults`]: `results.json` of a benchmark
//! - [`Golden`]: `golden.json` of a module whose values were kept
//! - [`Samples`]: `samples/*.jsonl` of a capture folder, in lines
//! - [`CeilingsDocument`]: what devices reach, as a calibration measured it
//!
//! A recording of several ranks has a folder for each, [`rank_folder`].
//!
//! [`read()`] takes a document as far as it can be understood.
//! Keys that are not known are passed over or kept, as each type says; a part that is damaged is left out and named in
//! [`Parsed::damaged`]; what is no such document, or one of a later version, is a [`DocumentError`].
//!
//! One decision and why: a field that is not known is absent or `null`, never guessed, so nearly every field is an [`Option`]
//! or may be empty, and a document of an older version of the recorder reads like any other.
//!
//! Nothing here opens a file.

mod bench;
mod ceilings;
mod damage;
mod golden;
mod manifest;
mod rank;
mod read;
mod recompiles;
mod samples;

pub use bench::{BenchResults, BenchRow, Environment, Measurement, PartShare, Ratio, RowStatus};
pub use ceilings::{CeilingsDocument, Figure, MeasuredDevice, MissingFigure};
pub use damage::{Damage, Parsed};
pub use golden::{Golden, KeptCall};
pub use manifest::{BufferSizes, CompiledAt, Cpu, Device, Manifest, Missing, Module, Program, Written};
pub use rank::{rank_folder, rank_of_folder};
pub use read::{Document, DocumentError, part, read, to_text};
pub use recompiles::Recompiles;
pub use samples::{
    ClearedGradients, Conversions, Padding, RecomputedValue, RepeatedCalls, RestartedWorkers, SampledFrame,
    SampledStack, SampledThread, Samples, SteadyArguments, Stretch, UnreadGradients, Watched, ZeroMatrix,
};
