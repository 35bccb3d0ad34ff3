//! Views of memory.

use crate::Analysis;
use crate::models::memory::{Memory, MemoryBy};
use crate::view::{Ask, Shown, Topic, View};
use ridge_table::Table;

fn table(analysis: &Analysis<'_>, ask: &Ask<'_>, by: MemoryBy) -> Table {
    Memory::new(analysis).table(by, ask.module.map(|module| module.0))
}

fn any(_: &Analysis<'_>) -> bool {
    true
}

/// Planned memory by module.
pub(crate) static MODULES: View = View {
    topic: Topic::Memory,
    id: "module",
    about: "compiled module: its planned peak and classes",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: any,
    charts: None,
    make: |analysis, ask| table(analysis, ask, MemoryBy::Module),
};

/// What is alive at the peak of one module.
pub(crate) static ALIVE: View = View {
    topic: Topic::Memory,
    id: "alive",
    about: "value alive at the peak of one module",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: any,
    charts: None,
    make: |analysis, ask| table(analysis, ask, MemoryBy::Alive),
};

/// Donations that were missed.
pub(crate) static DONATIONS: View = View {
    topic: Topic::Memory,
    id: "donation",
    about: "argument that could have been donated",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: any,
    charts: None,
    make: |analysis, ask| table(analysis, ask, MemoryBy::Donation),
};

/// Allocators.
pub(crate) static ALLOCATORS: View = View {
    topic: Topic::Memory,
    id: "allocator",
    about: "allocator",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: any,
    charts: None,
    make: |analysis, ask| table(analysis, ask, MemoryBy::Allocator),
};

/// Who held memory at the peak.
pub(crate) static HOLDERS: View = View {
    topic: Topic::Memory,
    id: "holder",
    about: "owner of memory at the peak of each allocator",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: any,
    charts: None,
    make: |analysis, ask| table(analysis, ask, MemoryBy::Holder),
};

/// Use over time.
pub(crate) static USAGE: View = View {
    topic: Topic::Memory,
    id: "usage",
    about: "stretch of time",
    aliases: &[],
    shown: Shown::ForPrograms,
    needs: &[],
    answers: any,
    charts: None,
    make: |analysis, ask| table(analysis, ask, MemoryBy::Usage),
};

/// Segments.
pub(crate) static SEGMENTS: View = View {
    topic: Topic::Memory,
    id: "segment",
    about: "segment that an allocator took from its driver",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: any,
    charts: None,
    make: |analysis, ask| table(analysis, ask, MemoryBy::Segment),
};

/// Snapshots.
pub(crate) static SNAPSHOTS: View = View {
    topic: Topic::Memory,
    id: "snapshot",
    about: "snapshot and device",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: any,
    charts: None,
    make: |analysis, ask| table(analysis, ask, MemoryBy::Snapshot),
};

/// Blocks of snapshots.
pub(crate) static BLOCKS: View = View {
    topic: Topic::Memory,
    id: "block",
    about: "block of snapshots by the line that made it",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[],
    answers: any,
    charts: None,
    make: |analysis, ask| table(analysis, ask, MemoryBy::Block),
};
