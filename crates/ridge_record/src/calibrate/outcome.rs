//! What was measured, and what happens meanwhile.

use serde_json::{Map, Value};

/// What happens while measuring.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CalibrateEvent {
    /// So many figures are now to be measured in all.
    Planned {
        /// Their number.
        figures: usize,
    },
    /// One figure begins.
    Started {
        /// What is measured, and of which type.
        what: String,
    },
    /// One figure is there, or will not be.
    Done {
        /// What was measured, and of which type.
        what: String,
        /// Why it could not be measured, if so.
        missing: Option<String>,
    },
    /// The devices cannot be measured.
    NoDevice {
        /// Why.
        reason: String,
    },
    /// A signal came; what is under way is ended.
    Interrupted,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Each device of which anything was tried; the host is one.
    pub devices: Vec<Calibrated>,
    /// Versions of Python and its packages; null where no device was measured.
    pub versions: Value,
    /// Whether a signal ended it early.
    pub interrupted: bool,
    /// Share of the host's cores that others used just before, from the load average; over 1 where they waited for each other.
    pub busy_share: Option<f64>,
    /// Why devices could not be measured, if so.
    pub no_device: Option<String>,
}

/// One device and its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrated {
    /// Its name as the system or the driver reports it.
    pub name: String,
    /// `cpu`, `gpu`, `tpu`.
    pub platform: String,
    /// What else is known of it, by the names of the document's schema.
    pub description: Map<String, Value>,
    /// What was measured.
    pub figures: Vec<Figure>,
    /// What was not.
    pub missing: Vec<MissingFigure>,
}

/// One measured figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What was measured (`stream_triad`, `multiply_add`).
    pub what: String,
    /// Type of the numbers (`f32`), where it matters.
    pub number_type: Option<String>,
    /// `native` for the host's own loops, `jax` for loops compiled by JAX.
    pub by: String,
    /// `bytes/s`, `flop/s`, `op/s` or `ns`.
    pub unit: String,
    /// The best round, in `unit`.
    pub value: f64,
    /// The median round, in `unit`, where each round did the same.
    pub median: Option<f64>,
    /// Rounds measured.
    pub rounds: u64,
    /// When it was measured, seconds since 1970.
    pub measured_unix_s: u64,
    /// What else the measurement says: work of a round, copies by size.
    pub details: Map<String, Value>,
}

/// A figure that could not be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingFigure {
    /// What was to be measured.
    pub what: String,
    /// Type of the numbers, where it matters.
    pub number_type: Option<String>,
    /// Why it could not.
    pub why: String,
}

impl Calibration {
    /// Number of figures measured.
    pub fn measured(&self) -> usize {
        self.devices.iter().map(|device| device.figures.len()).sum()
    }
}

/// `multiply_add f32`: a figure's name for people.
pub(super) fn named(what: &str, number_type: Option<&str>) -> String {
    match number_type {
        Some(number_type) => format!("{what} {number_type}"),
        None => what.to_owned(),
    }
}

impl MissingFigure {
    pub(super) fn name(&self) -> String {
        named(&self.what, self.number_type.as_deref())
    }
}
