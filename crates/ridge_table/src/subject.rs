//! What a row, a finding or a piece of evidence is about, so that every face can jump to it.

use ridge_trace::{
    DeviceRow, EventKind, EventRow, ModuleRow, OpRow, ProcessRow, ProfileRow, SegmentRow, StackRow, StringId, TrackRow,
};
use std::sync::Arc;

/// What an answer is about: rows of the trace, and things that the trace names.
///
/// A trace does not change once it is built, so a subject stays valid as long as its trace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// One event.
    Event(EventRow),
    /// The time between the end of one event and the start of the next.
    Gap {
        /// The work before it.
        prev: EventRow,
        /// The work after it.
        next: EventRow,
    },
    /// An operation, with all its executions.
    Op(OpRow),
    /// A compiled program.
    Module(ModuleRow),
    /// An instruction of a compiled program, by its position in the module's HLO.
    Instruction(ModuleRow, u32),
    /// A device.
    Device(DeviceRow),
    /// A stream, a thread or a lane.
    Track(TrackRow),
    /// A process: a rank, a host.
    Process(ProcessRow),
    /// Every range of this name that the program marked.
    Range(StringId),
    /// Every kernel, call or copy of this name.
    Named(StringId),
    /// A line of source: file and line.
    Source(Arc<str>, u32),
    /// A scope, such as `jit(f)/while/body`, with all that is below it.
    Scope(Arc<str>),
    /// All device work of a kind.
    Category(Arc<str>),
    /// All copies of a direction, or all memory sets.
    Copies(EventKind),
    /// A launch under a hardware profiler.
    Profile(ProfileRow),
    /// An allocator of a process, by its name.
    Allocator(ProcessRow, StringId),
    /// What an allocator took from its driver, gave back, or could not have.
    Segment(SegmentRow),
    /// What an allocator held in a snapshot: the snapshot's name and the allocator's.
    Snapshot(StringId, StringId),
    /// Blocks of memory that were allocated from this call stack.
    Stack(StackRow),
}
