//! A session's answers about memory.

use crate::error::OpenError;
use crate::hlo::module_row;
use crate::session::Session;
use ridge_analysis::{Memory, MemoryBy};
use ridge_trace::{Section, Table};

/// What was asked about a capture's memory.
#[derive(Debug, Clone)]
pub struct MemoryAnswer {
    /// The numbers that matter most.
    pub sections: Vec<Section>,
    /// The tables that were asked for, in that order.
    pub tables: Vec<Table>,
    /// Bytes in use over time of every allocator, at equal distances: its name, and most bytes of each stretch.
    pub lines: Vec<(String, Vec<u64>)>,
}

impl Session {
    /// The overview of memory and the tables named; [`MemoryBy::Alive`] is about `module`, by name or program id, and
    /// about the one with the largest peak where none is named.
    ///
    /// # Errors
    /// [`OpenError`] where the name means no module or several, or where the module has no HLO.
    pub fn memory(&self, tables: &[MemoryBy], module: Option<&str>) -> Result<MemoryAnswer, OpenError> {
        let row = module.map(|name| module_row(self.imported(), name)).transpose()?;
        if let Some(row) = row {
            crate::hlo::module_hlo(self.imported(), row)?;
        }
        Ok(self.with_memory(|memory| MemoryAnswer {
            sections: memory.overview(),
            tables: tables.iter().map(|by| memory.table(*by, row)).collect(),
            lines: memory.lines(),
        }))
    }

    /// What changed from this capture's memory to that of `after`, largest change first.
    pub fn memory_changes(&self, after: &Session) -> Table {
        self.with_memory(|before| after.with_memory(|after| before.changes_to(after)))
    }

    fn with_memory<T>(&self, ask: impl FnOnce(&Memory<'_>) -> T) -> T {
        self.with_analysis(|analysis| ask(&Memory::new(analysis)))
    }
}
