//! Answers about idle time.

use crate::device_choice::devices_named;
use crate::error::OpenError;
use crate::session::Session;
use ridge_analysis::{Idle, IdleBy};
use ridge_trace::{Section, Table};

/// Why devices stood still: facts and tables.
#[derive(Debug, Clone)]
pub struct IdleReport {
    /// A section for each device, those idle longest first.
    pub sections: Vec<Section>,
    /// The tables that were asked for.
    pub tables: Vec<Table>,
    /// Gaps between work; the table of gaps may have fewer rows.
    pub gaps: usize,
}

impl Session {
    /// Why devices stood still: all of them, or those that `device` names by number or by a part of their name.
    ///
    /// Of single gaps at most `rows` are given, the longest.
    ///
    /// # Errors
    /// [`OpenError`] where `device` names none.
    pub fn idle(&self, tables: &[IdleBy], device: Option<&str>, rows: usize) -> Result<IdleReport, OpenError> {
        let devices = device.map(|wanted| devices_named(self.trace(), wanted)).transpose()?;
        Ok(self.with_analysis(|analysis| {
            let idle = Idle::new(analysis, devices.as_deref(), tables);
            IdleReport {
                sections: idle.sections(analysis),
                tables: tables.iter().map(|by| idle.table(analysis, *by, rows)).collect(),
                gaps: idle.gap_count(),
            }
        }))
    }
}
