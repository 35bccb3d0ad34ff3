//! What only some events have: tracks, devices, launch shapes, transfers, counters, allocations, modules, operations.
//!
//! Like events share a row: ten million launches of one kernel have one [`LaunchShape`].

use crate::strings::StringId;
use std::ops::Range;

/// A program that was captured: one per host and process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Name in the capture, often the host's; private, shown only on request.
    pub name: StringId,
    /// Process id on its host, where the capture says it.
    pub pid: Option<u64>,
    /// Its rank among the processes of a distributed program, where the capture says it.
    pub rank: Option<u32>,
}

/// What a track's rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrackKind {
    /// A thread of the host.
    HostThread,
    /// A stream of a device: kernels and copies in order.
    Stream,
    /// Operations of a device, properly nested; several lanes where operations overlap.
    OperationLane,
    /// Lines that a viewer derived, and the recorder's own threads; kept out of every sum.
    Derived,
}

/// A row of the timeline: a thread, a stream, a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// Name in the capture.
    pub name: StringId,
    /// What its rows are.
    pub kind: TrackKind,
    /// Row of the processes table.
    pub process: u32,
    /// Row of the devices table; `None` for host threads.
    pub device: Option<u32>,
    /// Id in the capture: a stream id, a hashed thread id.
    pub native_id: i64,
    /// Its rows in the event columns.
    pub rows: Range<u32>,
}

/// A device as its capture describes it; `None` where it does not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Device {
    /// Row of the processes table.
    pub process: u32,
    /// Name of its plane (`/device:GPU:0`).
    pub plane: String,
    /// Vendor as written (`Nvidia`, `AMD`).
    pub vendor: Option<String>,
    /// Model as written (`NVIDIA H200`, `gfx942`).
    pub model: Option<String>,
    /// Streaming multiprocessors or compute units.
    pub cores: Option<u64>,
    /// Core clock in kHz.
    pub clock_khz: Option<u64>,
    /// Memory bandwidth in bytes per second as the driver says it; halved on some AMD devices.
    pub memory_bytes_per_sec: Option<u64>,
    /// Memory size in bytes.
    pub memory_bytes: Option<u64>,
    /// Compute capability or architecture version, major and minor.
    pub compute_capability: Option<(u32, u32)>,
}

impl Device {
    /// Whether it is the host's own processor, by its plane.
    pub fn is_processor(&self) -> bool {
        self.plane.starts_with("/device:CPU")
    }
}

/// How a kernel was launched.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LaunchShape {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Registers per thread, where known.
    pub registers: Option<u32>,
    /// Static shared memory per block, bytes.
    pub static_shared_bytes: Option<u32>,
    /// Dynamic shared memory per block, bytes.
    pub dynamic_shared_bytes: Option<u32>,
    /// Theoretical occupancy, 0 to 100 percent, where known.
    pub occupancy_pct: Option<f32>,
}

/// Where memory lives, as captures name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MemoryKind {
    /// The capture does not say.
    #[default]
    Unknown,
    /// Ordinary host memory: copies of it are staged.
    Pageable,
    /// Page-locked host memory.
    Pinned,
    /// Device memory.
    Device,
    /// A CUDA array (texture).
    Array,
    /// Managed (unified) memory.
    Managed,
}

impl MemoryKind {
    const ALL: [MemoryKind; 6] = [
        MemoryKind::Unknown,
        MemoryKind::Pageable,
        MemoryKind::Pinned,
        MemoryKind::Device,
        MemoryKind::Array,
        MemoryKind::Managed,
    ];

    /// The kind that [`MemoryKind::name`] calls so.
    pub fn from_name(name: &str) -> Option<MemoryKind> {
        MemoryKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            MemoryKind::Unknown => "unknown",
            MemoryKind::Pageable => "pageable",
            MemoryKind::Pinned => "pinned",
            MemoryKind::Device => "device",
            MemoryKind::Array => "array",
            MemoryKind::Managed => "managed",
        }
    }
}

/// A copy or a memory set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transfer {
    /// Bytes moved or set.
    pub bytes: u64,
    /// Where they came from.
    pub source: MemoryKind,
    /// Where they went.
    pub destination: MemoryKind,
    /// Whether the call returned before the copy ended, where known.
    pub is_async: Option<bool>,
}

/// Sampled values over time, in columns of equal length.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    /// Row of the devices table, or [`crate::NONE`] for the host.
    pub device: Vec<u32>,
    /// Name of the metric, with its unit as the capture writes it (`power_mw`).
    pub metric: Vec<StringId>,
    /// Time on the trace clock, nanoseconds.
    pub time_ns: Vec<i64>,
    /// The value.
    pub value: Vec<f64>,
    /// Whether some come from a log that could not be put on the trace's clock, so that nothing may be laid beside events.
    pub has_own_clock: bool,
}

/// Allocator events, in columns of equal length, sorted by time.
#[derive(Debug, Clone, Default)]
pub struct Allocations {
    /// Row of the processes table.
    pub process: Vec<u32>,
    /// Time on the trace clock, nanoseconds.
    pub time_ns: Vec<i64>,
    /// Name of the allocator (`GPU_0_bfc`).
    pub allocator: Vec<StringId>,
    /// Bytes allocated (positive) or freed (negative), as the allocator rounds them.
    pub delta_bytes: Vec<i64>,
    /// Bytes that were asked for.
    pub requested_bytes: Vec<i64>,
    /// Bytes in use after the event.
    pub in_use_bytes: Vec<i64>,
    /// Most bytes in use so far.
    pub peak_bytes: Vec<i64>,
    /// Bytes that the allocator holds from the device, in use or cached; -1 where the capture does not say.
    pub reserved_bytes: Vec<i64>,
    /// Fragmentation, 0 to 1, as the allocator defines it.
    pub fragmentation: Vec<f64>,
    /// Address of the buffer.
    pub address: Vec<u64>,
    /// What asked for it (a TensorFlow operation, an annotation), or the empty string.
    pub owner: Vec<StringId>,
    /// Row of [`crate::Stacks`] that asked for it, or [`crate::NONE`].
    ///
    /// A reader whose captures have no stacks leaves this column alone; the finished trace pads it.
    pub stack: Vec<u32>,
    /// Whether the row is memory that was held before the first event, and so nothing that happened in the capture.
    ///
    /// Such rows stand at the beginning of their allocator's. A reader whose captures have none leaves this column alone.
    pub is_older: Vec<bool>,
}

impl Allocations {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.time_ns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.time_ns.is_empty()
    }

    /// Pads the columns that readers may leave alone to the rows there are; to call before they are written to.
    pub fn pad_optional(&mut self) {
        self.stack.resize(self.len(), crate::NONE);
        self.is_older.resize(self.len(), false);
    }
}

/// A step that the program marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Its row in the event columns.
    pub event: u32,
    /// Its number.
    pub number: i64,
}

/// A compiled program of the capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Row of the processes table.
    pub process: u32,
    /// Name without the program id (`jit_step`).
    pub name: StringId,
    /// Program id in the capture; 0 where there is none.
    pub program_id: u64,
    /// Position of its HLO beside the trace, where the capture has it.
    pub hlo: Option<u32>,
}

/// An operation of a module, or of a framework where there is no module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Operation {
    /// Name: the HLO instruction's (`loop_add_fusion.3`), a framework operation's, or empty where only the module is known.
    pub name: StringId,
    /// Row of the modules table, or [`crate::NONE`].
    pub module: u32,
    /// Position of the instruction in its HLO module, or [`crate::NONE`].
    pub instruction: u32,
    /// Scope path as the capture writes it (`jit(f)/while/body/mul`), or the empty string.
    pub scope: StringId,
}
