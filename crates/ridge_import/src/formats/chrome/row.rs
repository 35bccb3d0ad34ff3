//! What is kept of an event until all of the file was read.

use super::names::NameId;

/// An event as it is kept until all are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    pub(super) start_ns: i64,
    pub(super) dur_ns: i64,
    /// Position among the names.
    pub(super) name: u32,
    /// Row of the table that its kind refers to, or [`ridge_trace::NONE`].
    pub(super) detail: u32,
    /// 0 where there is none; of an operator its place in autograd's order (`backward.rs`).
    pub(super) correlation: u32,
    /// Id by which work names its operator, or the hash of an asynchronous range's id; 0 where there is none.
    pub(super) external: u32,
    /// Position among the extras, or [`ridge_trace::NONE`].
    pub(super) extra: u32,
    pub(super) kind: u8,
    /// `X`, or `B`, `E`, `b`, `e` where a range has two events.
    pub(super) phase: u8,
}

/// Where an event belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TrackKey<T> {
    /// A thread: process and thread ids as written.
    Thread(T, T),
    /// A stream of a device.
    Stream(i64, i64),
    /// Asynchronous ranges of a process, which do not nest.
    Async(T),
    /// Lines of viewers.
    Derived,
}

/// What few events have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Extra {
    Collective {
        name: NameId,
        group: NameId,
        sequence: Option<u64>,
        group_size: Option<u32>,
        element_type: NameId,
        bytes_in: Option<u64>,
        bytes_out: Option<u64>,
    },
    Xla {
        op: NameId,
        module: NameId,
        scope: NameId,
        details: NameId,
        step: Option<i64>,
        run_id: u64,
        device_ordinal: u32,
    },
    /// The kernel that a call launches, where the call names it.
    Launches { kernel: NameId },
    /// The node of a CUDA graph, and what the capture says of it.
    Node { id: u64, name: NameId, module: NameId },
    /// What an export of this project says.
    Own {
        op: NameId,
        module: NameId,
        /// Number of the module in the file, where several are called so.
        module_id: Option<u32>,
        scope: NameId,
        step: Option<i64>,
        /// How the operation is known, where that is not said by what there is of it.
        attribution: Option<u8>,
    },
}

/// An allocator event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allocation {
    pub(super) track: u32,
    pub(super) time_ns: i64,
    pub(super) device_type: i64,
    pub(super) device_id: i64,
    pub(super) delta_bytes: i64,
    /// -1 where the event does not say.
    pub(super) in_use_bytes: i64,
    /// -1 where the event does not say.
    pub(super) reserved_bytes: i64,
    pub(super) address: u64,
}

/// One end of an arrow from a launch to its work.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlowEnd {
    pub(super) track: u32,
    pub(super) time_ns: i64,
    pub(super) correlation: u32,
}

/// A sampled value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) name: NameId,
    pub(super) series: NameId,
    pub(super) time_ns: i64,
    pub(super) value: f64,
}
