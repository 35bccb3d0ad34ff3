//! Memory: what compiled programs were planned to need, what allocators really did, and what snapshots found.
//!
//! A [`Memory`] plans every module and sorts the allocator events once; each table is then a question to it.
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

use crate::Analysis;
use history::History;
use modules::PlannedModule;
use ridge_table::{Section, Table};

/// What tables of memory there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryBy {
    /// Planned memory of every module.
    Module,
    /// What is alive at the peak of one module.
    Alive,
    /// Donations that were missed.
    Donation,
    /// Every allocator.
    Allocator,
    /// Use of every allocator over time.
    Usage,
    /// Who held memory at the peak of each allocator.
    Holder,
    /// What allocators took from their drivers.
    Segment,
    /// What each snapshot found.
    Snapshot,
    /// Blocks of snapshots by stack.
    Block,
}

impl MemoryBy {
    /// Every table, in the order reports show them.
    pub const ALL: [MemoryBy; 9] = [
        MemoryBy::Module,
        MemoryBy::Alive,
        MemoryBy::Donation,
        MemoryBy::Allocator,
        MemoryBy::Holder,
        MemoryBy::Usage,
        MemoryBy::Segment,
        MemoryBy::Snapshot,
        MemoryBy::Block,
    ];
}

/// A capture's memory, ready for every table.
#[derive(Debug)]
pub struct Memory<'a> {
    analysis: &'a Analysis<'a>,
    modules: Vec<PlannedModule<'a>>,
    histories: Vec<History>,
}

impl<'a> Memory<'a> {
    /// Plans every module and sorts the allocator events.
    pub fn new(analysis: &'a Analysis<'a>) -> Memory<'a> {
        let rows = 0..analysis.trace.modules.len() as u32;
        let mut modules: Vec<PlannedModule<'a>> = rows.filter_map(|row| PlannedModule::new(analysis, row)).collect();
        modules.sort_by_key(|module| std::cmp::Reverse(module.plan.peak_bytes));
        Memory { analysis, modules, histories: history::histories(analysis.trace) }
    }

    /// The numbers that matter most: the largest module, each allocator, each snapshot, what ran out.
    pub fn overview(&self) -> Vec<Section> {
        overview::sections(self.analysis, &self.modules, &self.histories)
    }

    /// The table `by`; `module` is the row of the modules table that [`MemoryBy::Alive`] is about, the one with the
    /// largest peak where it is `None`.
    pub fn table(&self, by: MemoryBy, module: Option<u32>) -> Table {
        match by {
            MemoryBy::Module => modules::table(self.analysis, &self.modules),
            MemoryBy::Alive => modules::alive(self.analysis, self.module(module)),
            MemoryBy::Donation => modules::donations(self.analysis, &self.modules),
            MemoryBy::Allocator => usage::allocators(self.analysis, &self.histories),
            MemoryBy::Usage => usage::usage(self.analysis, &self.histories),
            MemoryBy::Holder => usage::holders(self.analysis, &self.histories),
            MemoryBy::Segment => usage::segments(self.analysis, &self.histories),
            MemoryBy::Snapshot => blocks::snapshots(self.analysis),
            MemoryBy::Block => blocks::blocks(self.analysis),
        }
    }

    /// What changed from this capture's memory to `after`'s, largest change first.
    pub fn changes_to(&self, after: &Memory<'_>) -> Table {
        diff::table(self, after)
    }

    /// Bytes in use over time of every allocator at equal distances, for a sketch of it: name, most bytes of each.
    pub fn lines(&self) -> Vec<(String, Vec<u64>)> {
        let trace = self.analysis.trace;
        let names = usage::names(trace, &self.histories);
        let line =
            |history: &History| usage::line(trace, history).iter().map(|point| history::whole(point.most)).collect();
        names.into_iter().zip(self.histories.iter().map(line)).collect()
    }

    fn module(&self, row: Option<u32>) -> Option<&PlannedModule<'a>> {
        match row {
            None => self.modules.first(),
            Some(row) => self.modules.iter().find(|module| module.row == row),
        }
    }
}
