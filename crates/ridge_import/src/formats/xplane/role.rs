//! What lines are and what events' names say, by the names that XLA's profiler gives them.

use super::host::HostLine;
use ridge_trace::{EventKind, TrackKind};
use std::ops::Range;

/// Line ids from which viewers derived lines; stored as negative 32-bit numbers by old TensorFlow
/// (`kThreadIdDerivedMin` in XLA's `xplane_schema.h`).
const DERIVED_LINES: Range<u32> = 0xDEAD_BEEF..0xDEAD_BFEF;

/// What a line holds, by its plane and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum LineRole {
    Host,
    Stream,
    /// Operations as the device itself reports them (TPU).
    DeviceOps,
    Counters,
    Overhead,
    Derived,
}

impl LineRole {
    /// What its events are unless they say otherwise.
    pub(in crate::formats) fn default_kind(self) -> EventKind {
        match self {
            LineRole::Host => EventKind::HostRange,
            LineRole::Stream => EventKind::Kernel,
            LineRole::DeviceOps => EventKind::DeviceOp,
            LineRole::Counters | LineRole::Derived => EventKind::Derived,
            LineRole::Overhead => EventKind::Overhead,
        }
    }

    /// What its track is.
    pub(in crate::formats) fn track_kind(self, on_device: bool) -> TrackKind {
        match self {
            LineRole::DeviceOps => TrackKind::OperationLane,
            LineRole::Counters | LineRole::Derived => TrackKind::Derived,
            _ if on_device => TrackKind::Stream,
            _ => TrackKind::HostThread,
        }
    }
}

/// The role of the line called `name`, on a device's plane or the host's.
pub(in crate::formats) fn line_role(name: &str, id: i64, on_device: bool) -> LineRole {
    const DERIVED_NAMES: [&str; 10] = [
        "Steps",
        "XLA Modules",
        "Async XLA Ops",
        "Framework Ops",
        "Framework Name Scope",
        "TensorFlow Ops",
        "TensorFlow Name Scope",
        "Source code",
        "Launch Stats",
        "XLA TraceMe",
    ];
    let is_derived_id = DERIVED_LINES.contains(&(id as u32)) && id.unsigned_abs() <= u64::from(u32::MAX);
    if is_derived_id || (on_device && DERIVED_NAMES.iter().any(|start| name.starts_with(start))) {
        LineRole::Derived
    } else if name == "_counters_" {
        LineRole::Counters
    } else if !on_device {
        LineRole::Host
    } else if name.starts_with("XLA Ops") {
        LineRole::DeviceOps
    } else if name.to_ascii_lowercase().contains("overhead") && !name.starts_with("Stream") {
        LineRole::Overhead
    } else {
        LineRole::Stream
    }
}

/// What a host's line called `name` is, for the interpretation of its `rows`.
pub(in crate::formats) fn host_role(name: &str, rows: Range<u32>) -> HostLine {
    const POOLS: [&str; 6] = ["tf_", "Host Threads/", "py_xla_execute", "pjrt", "Eigen", "TPU"];
    HostLine {
        rows,
        is_user_thread: !POOLS.iter().any(|pool| name.starts_with(pool)),
        is_compiler: name.contains("Compiler") || name.contains("codegen"),
    }
}

/// What a device event's name says; `HostRange` where it is an ordinary kernel or host event.
pub(in crate::formats) fn device_kind(name: &str) -> EventKind {
    match name {
        "MemcpyH2D" => EventKind::CopyHostToDevice,
        "MemcpyD2H" => EventKind::CopyDeviceToHost,
        "MemcpyD2D" => EventKind::CopyDeviceToDevice,
        "MemcpyP2P" => EventKind::CopyPeer,
        "Memset" => EventKind::Memset,
        _ if name.starts_with("Memcpy") => EventKind::CopyOther,
        _ if name.starts_with("MemoryAlloc") || name.starts_with("MemoryFree") => EventKind::DeviceMemory,
        _ if name.starts_with("MemoryResidency") => EventKind::DeviceMemory,
        _ if name.starts_with("CudaGraphExec:") => EventKind::GraphLaunch,
        _ => EventKind::HostRange,
    }
}
