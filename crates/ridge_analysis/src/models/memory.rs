//! Memory: what compiled programs were planned to need, what allocators really did, and what snapshots found.
//!
//! Every module is planned and the allocator events are sorted once; each table is then a question to [`Memory`].
//! *Planned* numbers are about one run of one module on one device and come from the compiler's buffer assignment, or
//! from its schedule alone, which is said. *Measured* ones come from allocators.
//! The two need not agree: a program holds more than one module's buffers, and allocators round.

mod blocks;
mod diff;
mod history;
mod modules;
mod overview;
mod plan;
mod runs;
mod stacks;
#[cfg(test)]
mod tests;
mod usage;

use crate::{Analysis, Shared};
use history::History;
use modules::PlannedModule;
use ridge_table::{Section, Table};
use ridge_trace::ModuleRow;

/// The plans of all modules and the sorted events of all allocators; [`Memory`] lends them with their trace.
#[derive(Debug)]
pub(crate) struct MemoryModel {
    /// Largest peak first.
    modules: Vec<PlannedModule>,
    histories: Vec<History>,
}

impl Shared for MemoryModel {
    fn make(analysis: &Analysis<'_>) -> MemoryModel {
        let rows = 0..analysis.trace.modules.len() as u32;
        let mut modules: Vec<PlannedModule> = rows.filter_map(|row| PlannedModule::new(analysis, row)).collect();
        modules.sort_by_key(|module| std::cmp::Reverse(module.plan.peak_bytes));
        MemoryModel { modules, histories: history::histories(analysis.trace) }
    }
}

/// A capture's memory, ready for every table.
#[derive(Debug)]
pub struct Memory<'a> {
    analysis: &'a Analysis<'a>,
    modules: &'a [PlannedModule],
    histories: &'a [History],
}

impl<'a> Memory<'a> {
    /// The memory of `analysis`, planned and sorted once.
    pub fn new(analysis: &'a Analysis<'a>) -> Memory<'a> {
        let MemoryModel { modules, histories } = analysis.get();
        Memory { analysis, modules, histories }
    }

    /// The numbers that matter most: the largest module, each allocator, each snapshot, what ran out.
    pub fn overview(&self) -> Vec<Section> {
        overview::sections(self.analysis, self.modules, self.histories)
    }

    /// Planned memory of every module.
    pub fn modules(&self) -> Table {
        modules::table(self.analysis, self.modules)
    }

    /// What is alive at the peak of `module`; of the one with the largest peak where none is named.
    pub fn alive(&self, module: Option<ModuleRow>) -> Table {
        let found = match module {
            None => self.modules.first(),
            Some(row) => self.modules.iter().find(|planned| planned.row == row.0),
        };
        modules::alive(self.analysis, found)
    }

    /// Donations that were missed.
    pub fn donations(&self) -> Table {
        modules::donations(self.analysis, self.modules)
    }

    /// Every allocator.
    pub fn allocators(&self) -> Table {
        usage::allocators(self.analysis, self.histories)
    }

    /// Use of every allocator over time.
    pub fn usage(&self) -> Table {
        usage::usage(self.analysis, self.histories)
    }

    /// Who held memory at the peak of each allocator.
    pub fn holders(&self) -> Table {
        usage::holders(self.analysis, self.histories)
    }

    /// What allocators took from their drivers.
    pub fn segments(&self) -> Table {
        usage::segments(self.analysis, self.histories)
    }

    /// What each snapshot found.
    pub fn snapshots(&self) -> Table {
        blocks::snapshots(self.analysis)
    }

    /// Blocks of snapshots by stack.
    pub fn blocks(&self) -> Table {
        blocks::blocks(self.analysis)
    }

    /// What changed from this capture's memory to `after`'s, largest change first.
    pub fn changes_to(&self, after: &Memory<'_>) -> Table {
        diff::table(self, after)
    }

    /// Bytes in use over time of every allocator at equal distances, for a sketch of it: name, most bytes of each.
    pub fn lines(&self) -> Vec<(String, Vec<u64>)> {
        let trace = self.analysis.trace;
        let names = usage::names(trace, self.histories);
        let line =
            |history: &History| usage::line(trace, history).iter().map(|point| history::whole(point.most)).collect();
        names.into_iter().zip(self.histories.iter().map(line)).collect()
    }
}
