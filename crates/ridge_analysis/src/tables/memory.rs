//! Views of memory.

use crate::Analysis;
use crate::context::Need;
use crate::models::memory::{Memory, MemoryModel};
use crate::view::{Shown, Topic, View};

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
    needs: &[Need::of::<MemoryModel>()],
    answers: any,
    charts: None,
    make: |analysis, _| Memory::new(analysis).modules(),
};

/// What is alive at the peak of one module.
pub(crate) static ALIVE: View = View {
    topic: Topic::Memory,
    id: "alive",
    about: "value alive at the peak of one module",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<MemoryModel>()],
    answers: any,
    charts: None,
    make: |analysis, ask| Memory::new(analysis).alive(ask.module),
};

/// Donations that were missed.
pub(crate) static DONATIONS: View = View {
    topic: Topic::Memory,
    id: "donation",
    about: "argument that could have been donated",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<MemoryModel>()],
    answers: any,
    charts: None,
    make: |analysis, _| Memory::new(analysis).donations(),
};

/// Allocators.
pub(crate) static ALLOCATORS: View = View {
    topic: Topic::Memory,
    id: "allocator",
    about: "allocator",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<MemoryModel>()],
    answers: any,
    charts: None,
    make: |analysis, _| Memory::new(analysis).allocators(),
};

/// Who held memory at the peak.
pub(crate) static HOLDERS: View = View {
    topic: Topic::Memory,
    id: "holder",
    about: "owner of memory at the peak of each allocator",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<MemoryModel>()],
    answers: any,
    charts: None,
    make: |analysis, _| Memory::new(analysis).holders(),
};

/// Use over time.
pub(crate) static USAGE: View = View {
    topic: Topic::Memory,
    id: "usage",
    about: "stretch of time",
    aliases: &[],
    shown: Shown::ForPrograms,
    needs: &[Need::of::<MemoryModel>()],
    answers: any,
    charts: None,
    make: |analysis, _| Memory::new(analysis).usage(),
};

/// Segments.
pub(crate) static SEGMENTS: View = View {
    topic: Topic::Memory,
    id: "segment",
    about: "segment that an allocator took from its driver",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<MemoryModel>()],
    answers: any,
    charts: None,
    make: |analysis, _| Memory::new(analysis).segments(),
};

/// Snapshots.
pub(crate) static SNAPSHOTS: View = View {
    topic: Topic::Memory,
    id: "snapshot",
    about: "snapshot and device",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<MemoryModel>()],
    answers: any,
    charts: None,
    make: |analysis, _| Memory::new(analysis).snapshots(),
};

/// Blocks of snapshots.
pub(crate) static BLOCKS: View = View {
    topic: Topic::Memory,
    id: "block",
    about: "block of snapshots by the line that made it",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<MemoryModel>()],
    answers: any,
    charts: None,
    make: |analysis, _| Memory::new(analysis).blocks(),
};
