//! Views of memory.

mod alive;
mod allocators;
mod changes;
mod donations;
mod holders;
mod modules;
mod overview;
mod segments;
mod snapshots;
#[cfg(test)]
mod tests;
mod usage;

pub(crate) use changes::table as changes;
pub(crate) use overview::sections;

use crate::Memory;
use crate::context::Need;
use crate::view::{Shown, Topic, View};

/// What all of them have in common.
const OF_MEMORY: View = View {
    topic: Topic::Memory,
    id: "",
    about: "",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<Memory>()],
    answers: |_| true,
    charts: None,
    make: |_, _| unreachable!("every view makes its own"),
};

/// Planned memory by module.
pub(crate) static MODULES: View = View {
    id: "module",
    about: "compiled module: its planned peak and classes",
    make: |analysis, _| modules::table(analysis),
    ..OF_MEMORY
};

/// What is alive at the peak of one module.
pub(crate) static ALIVE: View = View {
    id: "alive",
    about: "value alive at the peak of one module",
    make: |analysis, ask| alive::table(analysis, ask.module),
    ..OF_MEMORY
};

/// Donations that were missed.
pub(crate) static DONATIONS: View = View {
    id: "donation",
    about: "argument that could have been donated",
    make: |analysis, _| donations::table(analysis),
    ..OF_MEMORY
};

/// Allocators.
pub(crate) static ALLOCATORS: View =
    View { id: "allocator", about: "allocator", make: |analysis, _| allocators::table(analysis), ..OF_MEMORY };

/// Who held memory at the peak.
pub(crate) static HOLDERS: View = View {
    id: "holder",
    about: "owner of memory at the peak of each allocator",
    make: |analysis, _| holders::table(analysis),
    ..OF_MEMORY
};

/// Use over time.
pub(crate) static USAGE: View = View {
    id: "usage",
    about: "stretch of time",
    shown: Shown::ForPrograms,
    make: |analysis, _| usage::table(analysis),
    ..OF_MEMORY
};

/// Segments.
pub(crate) static SEGMENTS: View = View {
    id: "segment",
    about: "segment that an allocator took from its driver",
    make: |analysis, _| segments::table(analysis),
    ..OF_MEMORY
};

/// Snapshots.
pub(crate) static SNAPSHOTS: View =
    View { id: "snapshot", about: "snapshot and device", make: |analysis, _| snapshots::table(analysis), ..OF_MEMORY };

/// Blocks of snapshots.
pub(crate) static BLOCKS: View = View {
    id: "block",
    about: "block of snapshots by the line that made it",
    make: |analysis, _| snapshots::blocks(analysis),
    ..OF_MEMORY
};
