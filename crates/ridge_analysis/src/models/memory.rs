//! Memory: what compiled programs were planned to need, what allocators really did, and what snapshots found.
//!
//! *Planned* numbers are about one run of one module on one device and come from the compiler's buffer assignment, or
//! from its schedule alone, which is said. *Measured* ones come from allocators.
//! The two need not agree: a program holds more than one module's buffers, and allocators round.

mod allocators;
mod changes;
mod helpers;
mod modules;
mod plan;
mod rows;
mod runs;
mod snapshots;
mod stacks;
mod usage;

pub use allocators::{Allocator, Growth, Holder, Holding, out_of_memory};
pub use changes::{ChangeRow, memory_changes};
pub use modules::PlannedModule;
pub use plan::{Class, Held, Plan};
pub use rows::{AliveRow, AllocatorRow, DonationRow, HolderRow, SegmentEventRow, UsageRow};
pub use snapshots::{Blocks, Snapshot};
pub use usage::Point;

pub(crate) use allocators::whole;
pub(crate) use runs::FirstRuns;
pub(crate) use stacks::{frame_of_user, stack_text};

use crate::{Analysis, Shared};
use ridge_trace::{ModuleRow, Trace};

/// A capture's memory.
#[derive(Debug)]
pub struct Memory {
    /// Every module with HLO, largest planned peak first.
    pub modules: Vec<PlannedModule>,
    /// Every allocator, most bytes at its peak first.
    pub allocators: Vec<Allocator>,
    /// What each allocator held in each snapshot.
    pub snapshots: Vec<Snapshot>,
    /// Blocks of snapshots that are alike, most bytes first.
    pub blocks: Vec<Blocks>,
}

impl Shared for Memory {
    fn make(analysis: &Analysis<'_>) -> Memory {
        let rows = (0..analysis.trace.modules.len() as u32).map(ModuleRow);
        let mut modules: Vec<PlannedModule> = rows.filter_map(|row| PlannedModule::new(analysis, row)).collect();
        modules.sort_by_key(|module| std::cmp::Reverse(module.plan.peak_bytes));
        let trace = analysis.trace;
        Memory {
            modules,
            allocators: allocators::allocators(trace),
            snapshots: snapshots::snapshots(trace),
            blocks: snapshots::blocks(trace),
        }
    }
}

impl Memory {
    /// The plan of `module`; of the one with the largest peak where none is named.
    pub fn planned(&self, module: Option<ModuleRow>) -> Option<&PlannedModule> {
        match module {
            None => self.modules.first(),
            Some(row) => self.modules.iter().find(|planned| planned.row == row),
        }
    }

    /// Bytes in use over time of every allocator at equal distances, for a sketch of it: name, most bytes of each.
    pub fn lines(&self, trace: &Trace) -> Vec<(String, Vec<u64>)> {
        let line = |allocator: &Allocator| (allocator.label.clone(), usage::sketch(allocator, trace));
        self.allocators.iter().map(line).collect()
    }
}

impl<'a> Analysis<'a> {
    /// What programs were planned to need and what allocators did.
    pub fn memory(&self) -> &'a Memory {
        self.get()
    }
}
