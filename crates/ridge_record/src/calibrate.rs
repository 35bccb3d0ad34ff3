//! Measure what this machine and its devices reach, and write it as `ridgeline.ceilings.v1`.
//!
//! [`calibrate`] measures the host with the loops of `ridge_host`, and the devices with a Python worker that runs loops compiled by
//! JAX on whatever backend is there (`python/ridgeline/calibrate_measure.py`).
//! A figure that cannot be measured is named with its reason, and the rest goes on; an interrupt keeps what was measured.
//!
//! [`Calibration::keep`] adds the figures to a folder of one file per device, where later analyses find them.
//! What the figures mean for an operation is not decided here.

mod clock;
mod document;
mod error;
mod event;
mod folder;
mod host;
mod options;
mod outcome;
mod run;

pub use error::CalibrateError;
pub use options::{CalibrateOptions, Scope};
pub use outcome::{CalibrateEvent, Calibration};
pub use ridge_documents::{Figure, MeasuredDevice, MissingFigure};
pub use ridge_host::Effort;
pub use run::calibrate;
