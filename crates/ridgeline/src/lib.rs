//! The façade: open a capture, ask for its answers.
//!
//! A [`Session`] is the only way the faces (terminal, pages, notebooks) reach captures and analyses.
//! It opens files, maps them, reads them into one trace and hands out tables ([`Table`]) and facts ([`Section`]).
//! It formats nothing: what a number means travels with it.
//!
//! ```no_run
//! use ridgeline::{By, OpenOptions, Session};
//! let session = Session::open(&["run/".into()], &OpenOptions::default())?;
//! let operations = session.table(By::Op);
//! println!("{} operations", operations.batch.num_rows());
//! # Ok::<(), ridgeline::OpenError>(())
//! ```

mod ceilings;
mod device_choice;
mod error;
mod file_map;
mod find;
mod hlo;
mod idle;
mod info;
mod manifest;
mod memory;
mod note;
mod redact;
mod scaling;
mod session;
mod source_text;
mod transfers;

pub use ceilings::{CeilingsChoice, MeasuredDevice, ceilings_folder, data_sheet, read_ceilings};
pub use error::OpenError;
pub use hlo::HloStage;
pub use idle::IdleReport;
pub use memory::MemoryAnswer;
pub use note::{Note, Severity};
pub use redact::{Redacted, redact};
pub use ridge_analysis::scaling::{Between, GrowthChart, GrowthFit, GrowthLine};
pub use ridge_analysis::{Bound, Chart, ChartPoint, ChartRoof, ChartSlope, OtherIntensity, Roofline};
pub use ridge_analysis::{
    By, Ceiling, CeilingBasis, Ceilings, ComputeUnit, IdleBy, Limit, MemoryBy, NumberType, TransfersBy,
};
pub use ridge_trace as trace;
pub use ridge_trace::Trace;
pub use ridge_trace::{Basis, Column, Fact, FactValue, Meaning, Rank, Section, Table, Unit, event_batch, track_batch};
pub use ridge_units as units;
pub use scaling::{Scaling, ScalingOptions, WorkFrom, is_benchmark, scaling};
pub use session::{OpenOptions, Session};
pub use transfers::TransfersReport;
