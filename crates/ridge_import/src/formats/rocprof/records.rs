//! What a capture of rocprofv3 says, however it is written: devices, what they did, and what the host called.

use crate::import::Import;
use ridge_trace::{EventKind, LaunchShape, MemoryKind, StringId, Transfer};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A device or processor, as the driver describes it.
#[derive(Debug, Default, Clone)]
pub(super) struct Agent {
    pub(super) is_gpu: bool,
    /// Its number among the GPUs.
    pub(super) number: u64,
    pub(super) vendor: Option<String>,
    pub(super) product: Option<String>,
    pub(super) architecture: Option<String>,
    pub(super) cores: Option<u64>,
    pub(super) clock_khz: Option<u64>,
    /// Work-items of a wave.
    pub(super) wave_size: Option<u64>,
}

/// What a device did.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) process: u64,
    pub(super) agent: u64,
    /// Queue of the hardware; copies by the copy engines have none.
    pub(super) queue: Option<u64>,
    /// Stream of HIP, 0 where it is not known.
    pub(super) stream: u64,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) name: StringId,
    pub(super) kind: EventKind,
    /// Row of the launch shapes or of the transfers.
    pub(super) detail: u32,
    /// Number of the call that caused it, 0 for none.
    pub(super) cause: u64,
}

/// A kernel with what the hardware counted of it.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) process: u64,
    pub(super) agent: u64,
    /// Stream of HIP, 0 where it is not known.
    pub(super) stream: u64,
    pub(super) name: StringId,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    /// Work-items in all, and those of a group.
    pub(super) items: [u64; 3],
    pub(super) group: [u64; 3],
    /// Counters and their values; a counter has one for each part of the device that has it.
    pub(super) values: Vec<(StringId, f64)>,
}

/// A call or range of the host.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) process: u64,
    pub(super) thread: u64,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) name: StringId,
    pub(super) kind: EventKind,
    pub(super) number: u64,
}

/// An allocation or release of device memory.
#[derive(Debug)]
pub(super) struct Allocation {
    pub(super) process: u64,
    pub(super) agent: u64,
    pub(super) time_ns: u64,
    pub(super) address: u64,
    pub(super) delta_bytes: i64,
}

/// All that was read of one capture.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) agents: FxHashMap<u64, Agent>,
    pub(super) work: Vec<Work>,
    pub(super) calls: Vec<Call>,
    pub(super) counted: Vec<Counted>,
    pub(super) allocations: Vec<Allocation>,
    /// When the program began, nanoseconds on the capture's own clock.
    pub(super) begin_ns: Option<u64>,
    /// Records of kinds that are not read, by what they are.
    pub(super) left_out: BTreeMap<String, u64>,
    pub(super) facts: Vec<(String, String)>,
    shapes: FxHashMap<ShapeKey, u32>,
    transfers: FxHashMap<(u64, MemoryKind, MemoryKind), u32>,
}

/// Work-items in all, work-items of a group, local memory of the kernel and of this launch, registers.
pub(super) type ShapeKey = ([u64; 3], [u64; 3], u64, u64, Option<u64>);

impl Records {
    /// The row of a launch shape, new or known.
    pub(super) fn shape(&mut self, key: ShapeKey, import: &mut Import) -> u32 {
        let (items, group, of_kernel, of_launch, registers) = key;
        *self.shapes.entry(key).or_insert_with(|| {
            let (grid, block) = sizes(items, group);
            let shapes = &mut import.builder.launch_shapes;
            shapes.push(LaunchShape {
                grid,
                block,
                registers: registers.map(small),
                static_shared_bytes: Some(small(of_kernel)),
                dynamic_shared_bytes: Some(small(of_launch.saturating_sub(of_kernel))),
                ..LaunchShape::default()
            });
            shapes.len() as u32 - 1
        })
    }

    /// The kind of a copy by its name, the agent that it is shown on, and the row of its transfer; `None` between processors.
    pub(super) fn copy(
        &mut self,
        name: &str,
        (source, destination): (u64, u64),
        bytes: u64,
        import: &mut Import,
    ) -> Option<(EventKind, u64, u32)> {
        let is_gpu = |agent: u64| self.agents.get(&agent).is_some_and(|agent| agent.is_gpu);
        let (from, to) = match direction(name) {
            Some(said) => said,
            None => (is_gpu(source), is_gpu(destination)),
        };
        let (kind, agent) = match (from, to) {
            (false, true) => (EventKind::CopyHostToDevice, destination),
            (true, false) => (EventKind::CopyDeviceToHost, source),
            (true, true) if source == destination => (EventKind::CopyDeviceToDevice, source),
            (true, true) => (EventKind::CopyPeer, source),
            (false, false) => return None,
        };
        let memory = |is_device: bool| if is_device { MemoryKind::Device } else { MemoryKind::Unknown };
        let key = (bytes, memory(from), memory(to));
        let row = *self.transfers.entry(key).or_insert_with(|| {
            let (bytes, source, destination) = key;
            import.builder.transfers.push(Transfer { bytes, source, destination, is_async: None });
            import.builder.transfers.len() as u32 - 1
        });
        Some((kind, agent, row))
    }

    /// Counts what is not read.
    pub(super) fn leave_out(&mut self, what: &str, count: u64) {
        if count > 0 {
            *self.left_out.entry(what.to_owned()).or_default() += count;
        }
    }
}

/// Groups of a launch, and work-items of a group; HSA counts work-items where CUDA counts groups of them.
pub(super) fn sizes(items: [u64; 3], group: [u64; 3]) -> ([u32; 3], [u32; 3]) {
    ([0, 1, 2].map(|axis: usize| small(items[axis].div_ceil(group[axis].max(1)))), group.map(small))
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Whether a copy of this name comes from a device and goes to one: `MEMORY_COPY_HOST_TO_DEVICE`, `HOST_TO_DEVICE`.
fn direction(name: &str) -> Option<(bool, bool)> {
    let (from, to) = name.trim_start_matches("MEMORY_COPY_").split_once("_TO_")?;
    let is_device = |word: &str| match word {
        "DEVICE" => Some(true),
        "HOST" => Some(false),
        _ => None,
    };
    Some((is_device(from)?, is_device(to)?))
}

/// What a call is, by the kind of the interface and its own name.
pub(super) fn kind_of_call(interface: &str, name: &str) -> EventKind {
    let is_marker = interface.starts_with("MARKER") || name.starts_with("roctx");
    let launches =
        || ["Launch", "Memcpy", "Memset", "hsa_amd_memory_async_copy"].iter().any(|word| name.contains(word));
    match interface {
        _ if is_marker && name.contains("Mark") => EventKind::Instant,
        _ if is_marker => EventKind::Annotation,
        _ if interface.starts_with("HIP") || interface.starts_with("HSA") => {
            if launches() {
                EventKind::Launch
            } else {
                EventKind::HostRange
            }
        }
        _ => EventKind::HostRange,
    }
}
