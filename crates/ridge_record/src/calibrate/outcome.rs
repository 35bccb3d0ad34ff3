//! What was measured, and what happens meanwhile.

use ridge_documents::{MeasuredDevice, MissingFigure};

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
    pub devices: Vec<MeasuredDevice>,
    /// Whether a signal ended it early.
    pub interrupted: bool,
    /// Why devices could not be measured, if so.
    pub no_device: Option<String>,
}

impl Calibration {
    /// Number of figures measured.
    pub fn measured(&self) -> usize {
        self.devices.iter().map(|device| device.figures.len()).sum()
    }

    /// How many figures were measured while others used the machine, and the most of its processor time that they used.
    pub fn disturbed(&self) -> Option<(usize, f64)> {
        let figures = self.devices.iter().flat_map(|device| &device.figures).filter(|figure| figure.was_disturbed());
        let shares: Vec<f64> = figures.filter_map(|figure| figure.busy_share).collect();
        Some((shares.len(), shares.into_iter().max_by(f64::total_cmp)?))
    }
}

/// `multiply_add f32`: a figure's name for people.
pub(super) fn named(what: &str, number_type: Option<&str>) -> String {
    match number_type {
        Some(number_type) => format!("{what} {number_type}"),
        None => what.to_owned(),
    }
}

/// The name of a figure that is missing.
pub(super) fn name_of(missing: &MissingFigure) -> String {
    named(&missing.what, missing.number_type.as_deref())
}
