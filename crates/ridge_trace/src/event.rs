//! The event columns, shared by everything that happened on a device or on the host.

use arrow_buffer::ScalarBuffer;

/// The id that stands for "no row" in every id column.
pub const NONE: u32 = u32::MAX;

/// What an event is. Stored as one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum EventKind {
    /// A range on a host thread: a runtime call, a library's own annotation.
    HostRange = 0,
    /// A range that the program itself named (`TraceAnnotation`).
    Annotation = 1,
    /// A training or solver step (`StepTraceAnnotation`).
    Step = 2,
    /// A Python function, from the Python tracer.
    PythonCall = 3,
    /// Driver or runtime API call that launched device work.
    Launch = 4,
    /// A region of a thread pool worker, caused by the event it links to.
    PoolRegion = 5,
    /// Compilation: tracing, lowering, XLA passes, code generation.
    Compile = 6,
    /// A point in time on the host.
    Instant = 7,
    /// An operator of a framework on a host thread (`aten::mm`); its detail is a row of the operator shapes.
    Operator = 8,
    /// A kernel on a device.
    Kernel = 16,
    /// An operation on a device that is not a kernel of its own: an XLA thunk on a CPU, an HLO on a TPU.
    DeviceOp = 17,
    /// Copy from host to device memory.
    CopyHostToDevice = 18,
    /// Copy from device to host memory.
    CopyDeviceToHost = 19,
    /// Copy within a device.
    CopyDeviceToDevice = 20,
    /// Copy between devices.
    CopyPeer = 21,
    /// Copy whose direction the capture does not say.
    CopyOther = 22,
    /// Memory set on a device.
    Memset = 23,
    /// One execution of a whole CUDA graph, where the capture has no nodes.
    GraphLaunch = 24,
    /// Allocation, residency and the like on a device line: no work.
    DeviceMemory = 25,
    /// The profiler's own overhead on a device line: no work.
    Overhead = 26,
    /// A line that a viewer derived from others: never counted.
    Derived = 27,
    /// A stream waits for an event, another stream or the host: no work.
    Synchronization = 28,
    /// A range of the program as its work appears on a device's stream: no work of its own.
    DeviceRange = 29,
}

impl EventKind {
    const ALL: [EventKind; 23] = [
        EventKind::HostRange,
        EventKind::Annotation,
        EventKind::Step,
        EventKind::PythonCall,
        EventKind::Launch,
        EventKind::PoolRegion,
        EventKind::Compile,
        EventKind::Instant,
        EventKind::Operator,
        EventKind::Kernel,
        EventKind::DeviceOp,
        EventKind::CopyHostToDevice,
        EventKind::CopyDeviceToHost,
        EventKind::CopyDeviceToDevice,
        EventKind::CopyPeer,
        EventKind::CopyOther,
        EventKind::Memset,
        EventKind::GraphLaunch,
        EventKind::DeviceMemory,
        EventKind::Overhead,
        EventKind::Derived,
        EventKind::Synchronization,
        EventKind::DeviceRange,
    ];

    /// The kind of a stored byte; `HostRange` for a byte that names none.
    pub fn from_byte(byte: u8) -> EventKind {
        EventKind::ALL.into_iter().find(|kind| *kind as u8 == byte).unwrap_or(EventKind::HostRange)
    }

    /// The kind that [`EventKind::name`] calls so.
    pub fn from_name(name: &str) -> Option<EventKind> {
        EventKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the device was at work: computing or moving memory.
    pub fn is_device_work(self) -> bool {
        (EventKind::Kernel as u8..=EventKind::GraphLaunch as u8).contains(&(self as u8))
    }

    /// [`EventKind::is_device_work`] of a stored byte, without decoding it.
    #[inline]
    pub fn from_byte_is_work(byte: u8) -> bool {
        (EventKind::Kernel as u8..=EventKind::GraphLaunch as u8).contains(&byte)
    }

    /// Whether the device was computing.
    pub fn is_compute(self) -> bool {
        matches!(self, EventKind::Kernel | EventKind::DeviceOp | EventKind::GraphLaunch)
    }

    /// Whether memory was copied.
    pub fn is_copy(self) -> bool {
        (EventKind::CopyHostToDevice as u8..=EventKind::CopyOther as u8).contains(&(self as u8))
    }

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::HostRange => "host range",
            EventKind::Annotation => "annotation",
            EventKind::Step => "step",
            EventKind::PythonCall => "Python call",
            EventKind::Launch => "launch",
            EventKind::PoolRegion => "thread pool region",
            EventKind::Compile => "compile",
            EventKind::Instant => "instant",
            EventKind::Operator => "operator",
            EventKind::Kernel => "kernel",
            EventKind::DeviceOp => "device operation",
            EventKind::CopyHostToDevice => "copy host to device",
            EventKind::CopyDeviceToHost => "copy device to host",
            EventKind::CopyDeviceToDevice => "copy device to device",
            EventKind::CopyPeer => "copy peer to peer",
            EventKind::CopyOther => "copy",
            EventKind::Memset => "memset",
            EventKind::GraphLaunch => "graph",
            EventKind::DeviceMemory => "device memory",
            EventKind::Overhead => "profiler overhead",
            EventKind::Derived => "derived",
            EventKind::Synchronization => "synchronization",
            EventKind::DeviceRange => "range on a device",
        }
    }
}

/// How a device event's operation is known. Stored as one byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Attribution {
    /// Not asked: a host event.
    NotAsked = 0,
    /// The capture names the operation on the event.
    ByStat = 1,
    /// Found through the module that was running and the kernel's name.
    ByModule = 2,
    /// The module is known, the operation is not.
    ModuleOnly = 3,
    /// Nothing says whose work it was.
    Unattributed = 4,
    /// The host call that launched it names the operation.
    ByLaunch = 5,
    /// Found through the module and the kernel's place among others of its graph, whose names are known.
    ByOrder = 6,
}

impl Attribution {
    /// The attribution of a stored byte; `NotAsked` for a byte that names none.
    pub fn from_byte(byte: u8) -> Attribution {
        match byte {
            1 => Attribution::ByStat,
            2 => Attribution::ByModule,
            3 => Attribution::ModuleOnly,
            4 => Attribution::Unattributed,
            5 => Attribution::ByLaunch,
            6 => Attribution::ByOrder,
            _ => Attribution::NotAsked,
        }
    }

    /// The attribution that [`Attribution::name`] calls so.
    pub fn from_name(name: &str) -> Option<Attribution> {
        (0..=6).map(Attribution::from_byte).find(|attribution| attribution.name() == name)
    }

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Attribution::NotAsked => "not asked",
            Attribution::ByStat => "named",
            Attribution::ByModule => "by module",
            Attribution::ModuleOnly => "module only",
            Attribution::Unattributed => "not attributed",
            Attribution::ByLaunch => "by launch",
            Attribution::ByOrder => "by order",
        }
    }
}

/// The columns of all events, row by row; rows of one track are contiguous and sorted by start.
#[derive(Debug, Clone)]
pub struct Events {
    /// Start on the trace clock, nanoseconds.
    pub start_ns: ScalarBuffer<i64>,
    /// Duration, nanoseconds, rounded to nearest from the format's ticks.
    pub dur_ns: ScalarBuffer<i64>,
    /// Name, a [`crate::StringId`].
    pub name: ScalarBuffer<u32>,
    /// Row of the operations table, or [`NONE`].
    pub op: ScalarBuffer<u32>,
    /// The event that caused this one: a kernel's launch, a pool region's scheduler; or [`NONE`].
    pub link: ScalarBuffer<u32>,
    /// Row of the launch shapes (kernels), of the transfers (copies, memsets) or of the operator shapes (operators), or
    /// [`NONE`].
    pub detail: ScalarBuffer<u32>,
    /// The innermost event of the same track that encloses this one, or [`NONE`].
    pub parent: ScalarBuffer<u32>,
    /// [`EventKind`] as a byte.
    pub kind: ScalarBuffer<u8>,
    /// [`Attribution`] as a byte.
    pub attribution: ScalarBuffer<u8>,
}

impl Events {
    /// What one row costs in memory.
    pub const BYTES_PER_ROW: usize = 8 + 8 + 5 * 4 + 2;

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.start_ns.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kind of row `row`.
    pub fn kind(&self, row: usize) -> EventKind {
        EventKind::from_byte(self.kind[row])
    }

    /// When row `row` ended, nanoseconds on the trace clock.
    pub fn end_ns(&self, row: usize) -> i64 {
        self.start_ns[row].saturating_add(self.dur_ns[row])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_kinds_agree() {
        for byte in 0..=6 {
            let attribution = Attribution::from_byte(byte);
            assert_eq!((attribution as u8, Attribution::from_name(attribution.name())), (byte, Some(attribution)));
        }
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_byte(kind as u8), kind);
        }
        assert!(EventKind::Memset.is_device_work() && !EventKind::DeviceMemory.is_device_work());
        assert!(EventKind::CopyPeer.is_copy() && !EventKind::Memset.is_copy());
    }
}
