//! The façade: open a capture, ask for its answers.
//!
//! A [`Session`] is the only way the faces (terminal, pages, notebooks) reach captures and analyses.
//! It opens files, maps them, reads them into one trace and hands out tables ([`Table`]) and facts ([`Section`]).
//! It formats nothing: what a number means travels with it.
//!
//! ```no_run
//! use ridgeline::{By, OpenOptions, Session};
//! let session = Session::open(&["run/".into()], &OpenOptions { format: None })?;
//! let operations = session.table(By::Op);
//! println!("{} operations", operations.batch.num_rows());
//! # Ok::<(), ridgeline::OpenError>(())
//! ```

mod error;
mod file_map;
mod find;
mod hlo;
mod info;
mod manifest;
mod note;
mod session;
mod source_text;

pub use error::OpenError;
pub use hlo::HloStage;
pub use note::{Note, Severity};
pub use ridge_analysis::By;
pub use ridge_trace::{Column, Fact, FactValue, Meaning, Rank, Section, Table, Unit, event_batch, track_batch};
pub use ridge_units as units;
pub use session::{OpenOptions, Session};
