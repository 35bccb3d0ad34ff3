//! What lines are and what events' names say, by the names that XLA's profiler gives them.

use super::host::HostLine;
use ridge_trace::{EventKind, TrackKind};
use std::ops::Range;

/// Line ids from which viewers derived lines; stored as negative 32-bit numbers by old TensorFlow
/// (`kThreadIdDerivedMin` in XLA's `xplane_schema.h`).
const DERIVED_LINES: Range<u32> = 0xDEAD_BEEF..0xDEAD_BFEF;

/// Whose lines a plane has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlaneRole {
    Host,
    /// A device whose streams were recorded; lines of modules and operations are derived from them.
    Device,
    /// A core of a TPU, which reports its modules and operations itself.
    TpuCore,
}

impl PlaneRole {
    /// The role of the plane called `name`.
    pub(crate) fn of(name: &str) -> PlaneRole {
        match name {
            _ if name.starts_with("/device:TPU:") => PlaneRole::TpuCore,
            _ if name.starts_with("/device:") => PlaneRole::Device,
            _ => PlaneRole::Host,
        }
    }
}

/// What a line holds, by its plane and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineRole {
    Host,
    Stream,
    /// Operations as the device itself reports them (TPU).
    DeviceOps,
    /// What began with one operation and ended with another, beside those (TPU).
    AsyncOps,
    /// Executions of modules (TPU).
    Modules,
    /// Marks and waits of a device, no work of their own (TPU).
    DeviceRanges,
    Counters,
    Overhead,
    Derived,
}

impl LineRole {
    /// What its events are unless they say otherwise.
    pub(crate) fn default_kind(self) -> EventKind {
        match self {
            LineRole::Host => EventKind::HostRange,
            LineRole::Stream => EventKind::Kernel,
            LineRole::DeviceOps | LineRole::AsyncOps => EventKind::DeviceOp,
            LineRole::Modules | LineRole::DeviceRanges => EventKind::DeviceRange,
            LineRole::Counters | LineRole::Derived => EventKind::Derived,
            LineRole::Overhead => EventKind::Overhead,
        }
    }

    /// What its track is.
    pub(crate) fn track_kind(self, on_device: bool) -> TrackKind {
        match self {
            LineRole::DeviceOps | LineRole::AsyncOps => TrackKind::OperationLane,
            LineRole::Modules | LineRole::DeviceRanges => TrackKind::OperationLane,
            LineRole::Counters | LineRole::Derived => TrackKind::Derived,
            _ if on_device => TrackKind::Stream,
            _ => TrackKind::HostThread,
        }
    }
}

/// The role of the line called `name` on such a plane.
pub(crate) fn line_role(name: &str, id: i64, plane: PlaneRole) -> LineRole {
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
    let is_derived_name = DERIVED_NAMES.iter().any(|start| name.starts_with(start));
    match plane {
        _ if is_derived_id => LineRole::Derived,
        PlaneRole::TpuCore => tpu_line_role(name).unwrap_or(match is_derived_name {
            true => LineRole::Derived,
            false => LineRole::DeviceRanges,
        }),
        PlaneRole::Device if is_derived_name => LineRole::Derived,
        _ if name == "_counters_" => LineRole::Counters,
        PlaneRole::Host => LineRole::Host,
        PlaneRole::Device if name.starts_with("XLA Ops") => LineRole::DeviceOps,
        PlaneRole::Device if name.to_ascii_lowercase().contains("overhead") && !name.starts_with("Stream") => {
            LineRole::Overhead
        }
        PlaneRole::Device => LineRole::Stream,
    }
}

/// Lines that a core of a TPU reports itself (XLA's `xplane_schema.cc`).
fn tpu_line_role(name: &str) -> Option<LineRole> {
    Some(match name {
        "XLA Ops" | "Sparse Core Ops" => LineRole::DeviceOps,
        "Async XLA Ops" => LineRole::AsyncOps,
        "XLA Modules" | "Sparse Core Modules" => LineRole::Modules,
        "Steps" | "Sparse Core Steps" | "XLA TraceMe" => LineRole::DeviceRanges,
        "_counters_" => LineRole::Counters,
        _ => return None,
    })
}

/// What a host's line called `name` is, for the interpretation of its `rows`.
pub(crate) fn host_role(name: &str, rows: Range<u32>) -> HostLine {
    const POOLS: [&str; 6] = ["tf_", "Host Threads/", "py_xla_execute", "pjrt", "Eigen", "TPU"];
    HostLine {
        rows,
        is_user_thread: !POOLS.iter().any(|pool| name.starts_with(pool)),
        is_compiler: name.contains("Compiler") || name.contains("codegen"),
    }
}

/// What a device event's name says; `HostRange` where it is an ordinary kernel or host event.
pub(crate) fn device_kind(name: &str) -> EventKind {
    match name {
        "MemcpyH2D" => EventKind::CopyHostToDevice,
        "MemcpyD2H" => EventKind::CopyDeviceToHost,
        "MemcpyD2D" => EventKind::CopyDeviceToDevice,
        "MemcpyP2P" => EventKind::CopyPeer,
        "Memset" => EventKind::Memset,
        // ROCm's tracers name operations as HIP's commands are named; some end in the shape that is copied (`Rect`).
        _ if name.starts_with("CopyHostToDevice") => EventKind::CopyHostToDevice,
        _ if name.starts_with("CopyDeviceToHost") => EventKind::CopyDeviceToHost,
        _ if name.starts_with("CopyDeviceToDevice") => EventKind::CopyDeviceToDevice,
        _ if name.starts_with("CopyHostToHost") => EventKind::CopyOther,
        "FillBuffer" => EventKind::Memset,
        _ if name.starts_with("Memcpy") => EventKind::CopyOther,
        _ if name.starts_with("MemoryAlloc") || name.starts_with("MemoryFree") => EventKind::DeviceMemory,
        _ if name.starts_with("MemoryResidency") => EventKind::DeviceMemory,
        _ if name.starts_with("CudaGraphExec:") => EventKind::GraphLaunch,
        _ => EventKind::HostRange,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_s_role_depends_on_its_plane() {
        use LineRole::{AsyncOps, Derived, DeviceOps, DeviceRanges, Host, Modules, Stream};
        for (plane, line, id, expected) in [
            ("/device:TPU:0", "XLA Modules", 2, Modules),
            ("/device:TPU:0", "XLA Ops", 3, DeviceOps),
            ("/device:TPU:0", "Async XLA Ops", 4, AsyncOps),
            ("/device:TPU:0", "XLA TraceMe", 6, DeviceRanges),
            ("/device:TPU:0", "Framework Ops", 5, Derived),
            ("/device:TPU:0 SparseCore 1", "Sparse Core Ops", 2, DeviceOps),
            ("/device:GPU:0", "XLA Modules", 0xDEAD_BEEF, Derived),
            ("/device:GPU:0", "Stream #13(Compute)", 13, Stream),
            ("/host:CPU", "python", 7, Host),
        ] {
            assert_eq!(line_role(line, id, PlaneRole::of(plane)), expected, "{plane} {line}");
        }
    }

    #[test]
    fn copies_are_known_by_name() {
        for (name, expected) in [
            ("MemcpyH2D", EventKind::CopyHostToDevice),
            ("CopyDeviceToDevice", EventKind::CopyDeviceToDevice),
            ("CopyHostToDevice", EventKind::CopyHostToDevice),
            ("CopyDeviceToHostRect", EventKind::CopyDeviceToHost),
            ("FillBuffer", EventKind::Memset),
            ("__amd_rocclr_copyBuffer.kd", EventKind::HostRange),
            ("copy_fusion", EventKind::HostRange),
        ] {
            assert_eq!(device_kind(name), expected, "{name}");
        }
    }
}
