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
    shown: Shown::InReport,
    needs: &[Need::of::<Memory>()],
    answers: |_| true,
    ..View::of(Topic::Memory)
};

/// Planned memory by module.
pub(crate) static MODULES: View = View {
    id: "module", documented: Some("memory_modules"),
    about: "compiled module: its planned peak and classes",
    make: |analysis, _| modules::table(analysis),
    ..OF_MEMORY
};

/// What is alive at the peak of one module.
pub(crate) static ALIVE: View = View {
    id: "alive", documented: Some("memory_alive"),
    about: "value alive at the peak of one module",
    make: |analysis, ask| alive::table(analysis, ask.module),
    ..OF_MEMORY
};

/// Donations that were missed.
pub(crate) static DONATIONS: View = View {
    id: "donation", documented: Some("memory_donations"),
    about: "argument that could have been donated",
    make: |analysis, _| donations::table(analysis),
    ..OF_MEMORY
};

/// Allocators.
pub(crate) static ALLOCATORS: View =
    View { id: "allocator", documented: Some("memory_allocators"), about: "allocator", make: |analysis, _| allocators::table(analysis), ..OF_MEMORY };

/// Who held memory at the peak.
pub(crate) static HOLDERS: View = View {
    id: "holder", documented: Some("memory_holders"),
    about: "owner of memory at the peak of each allocator",
    make: |analysis, _| holders::table(analysis),
    ..OF_MEMORY
};

/// Use over time.
pub(crate) static USAGE: View = View {
    id: "usage", documented: Some("memory_usage"),
    about: "stretch of time",
    shown: Shown::ForPrograms,
    make: |analysis, _| usage::table(analysis),
    ..OF_MEMORY
};

/// Segments.
pub(crate) static SEGMENTS: View = View {
    id: "segment", documented: Some("memory_segments"),
    about: "segment that an allocator took from its driver",
    make: |analysis, _| segments::table(analysis),
    ..OF_MEMORY
};

/// Snapshots.
pub(crate) static SNAPSHOTS: View =
    View { id: "snapshot", documented: Some("memory_snapshots"), about: "snapshot and device", make: |analysis, _| snapshots::table(analysis), ..OF_MEMORY };

/// Blocks of snapshots.
pub(crate) static BLOCKS: View = View {
    id: "block", documented: Some("memory_blocks"),
    about: "block of snapshots by the line that made it",
    make: |analysis, _| snapshots::blocks(analysis),
    ..OF_MEMORY
};
