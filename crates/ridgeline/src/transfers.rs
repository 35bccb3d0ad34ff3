//! Answers about transfers.

use crate::ceilings::CeilingsChoice;
use crate::device_choice::devices_named;
use crate::error::OpenError;
use crate::session::Session;
use ridge_analysis::{Transfers, TransfersBy};
use ridge_trace::{Section, Table};

/// What was copied: facts and tables.
#[derive(Debug, Clone)]
pub struct TransfersReport {
    /// The sums over all devices that were asked for.
    pub sections: Vec<Section>,
    /// The tables that were asked for.
    pub tables: Vec<Table>,
}

impl Session {
    /// What was copied on all devices, or on those that `device` names by number or by a part of their name.
    ///
    /// Rates are set against the links' figures that `choice` selects.
    ///
    /// # Errors
    /// [`OpenError`] where `device` names none, or a file of figures cannot be read.
    pub fn transfers(
        &self,
        tables: &[TransfersBy],
        device: Option<&str>,
        choice: &CeilingsChoice,
    ) -> Result<TransfersReport, OpenError> {
        let devices = device.map(|wanted| devices_named(self.trace(), wanted)).transpose()?;
        let ceilings = self.ceilings(choice)?;
        Ok(self.with_analysis(|analysis| {
            let transfers = Transfers::new(analysis.trace, &ceilings, devices.as_deref());
            TransfersReport {
                sections: transfers.sections(analysis),
                tables: tables.iter().map(|by| transfers.table(analysis, *by)).collect(),
            }
        }))
    }
}
