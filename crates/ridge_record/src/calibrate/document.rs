//! A calibration as the document `ridgeline.ceilings.v1`.

use ridge_documents::{CeilingsDocument, MeasuredDevice, to_text};

use super::outcome::Calibration;

impl Calibration {
    /// The document of all devices, as text.
    pub fn to_json(&self) -> String {
        to_text(&CeilingsDocument::of(self.devices.clone()))
    }
}

/// The document of one device with the figures of `kept`, an earlier document of it, that were not measured again.
pub(super) fn one_device(device: &MeasuredDevice, kept: Option<CeilingsDocument>) -> String {
    let mut device = device.clone();
    let earlier = kept.into_iter().flat_map(|kept| kept.devices).find(|known| known.name == device.name);
    for old in earlier.into_iter().flat_map(|known| known.figures) {
        if !device.figures.iter().any(|new| new.is_again(&old)) {
            device.figures.push(old);
        }
    }
    to_text(&CeilingsDocument::of(vec![device]))
}
