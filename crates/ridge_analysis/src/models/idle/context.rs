//! What the rules need to know of a whole trace before they look at one gap.

use super::latency::Latency;
use super::threads::Threads;
use crate::context::category::is_collective;
use crate::context::makes_programs;
use rayon::prelude::*;
use ridge_trace::{EventKind, NONE, Trace, Track, TrackKind};
use rustc_hash::FxHashMap;

/// Bit of [`Context::around`]: inside the loading of data.
pub(crate) const LOADING: u8 = 1;
/// Bit of [`Context::around`]: inside a compilation.
pub(crate) const COMPILING: u8 = 2;
/// Bit of [`Context::around`]: inside Python's `importlib`, which loads modules, or an import that the recorder marked.
pub(crate) const IMPORTING: u8 = 64;
/// What encloses a row, and everything inside it.
const ENCLOSES: u8 = LOADING | COMPILING | IMPORTING;
/// Bit of a name: launches a graph.
const GRAPH: u8 = 4;
/// Bit of a name: a collective.
const COLLECTIVE: u8 = 8;
/// Bit of a name: a stream waits for an event, as Kineto (`Stream Wait Event`) and the CUDA API name it.
const STREAM_WAIT: u8 = 16;
/// Bit of a name: overhead of the driver, which is there without a profiler, too.
const DRIVER: u8 = 32;
/// Bit of a name: that of an import, where it is a range that no program named.
const IMPORT: u8 = 128;

/// Work of one device for which another may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Awaited {
    pub(crate) end: i64,
    pub(crate) start: i64,
    pub(crate) row: u32,
    pub(crate) device: u32,
    pub(crate) process: u32,
}

/// Facts of a whole trace.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) threads: Threads,
    /// What encloses each host row, bits; empty where nothing does.
    around: Vec<u8>,
    /// Bits by string id.
    names: Vec<u8>,
    /// The profiler's own time by process: disjoint, in order, each with an event.
    overhead: Vec<Vec<(i64, i64, u32)>>,
    /// What streams were told to wait for, by the first row of their track, in order of the host's calls.
    stream_waits: FxHashMap<u32, Vec<u32>>,
    /// Collectives, and copies between devices, by end.
    pub(crate) awaited: Vec<Awaited>,
    /// By row of the devices table.
    pub(crate) latencies: Vec<Option<Latency>>,
}

impl Context {
    /// Looks once through the whole of `trace`.
    pub(crate) fn new(trace: &Trace) -> Context {
        let texts: Vec<&str> = trace.strings.iter().collect();
        let names: Vec<u8> = texts.par_iter().with_min_len(1 << 10).map(|text| name_bits(text)).collect();
        let devices: Vec<u32> = (0..trace.devices.len() as u32).collect();
        let (threads, (around, latencies)) = rayon::join(
            || Threads::new(trace),
            || {
                let latencies = || devices.par_iter().map(|device| Latency::measure(trace, *device)).collect();
                rayon::join(|| around(trace, &names), latencies)
            },
        );
        Context {
            threads,
            around,
            overhead: overhead(trace, &names),
            stream_waits: stream_waits(trace, &names),
            awaited: awaited(trace, &names),
            latencies,
            names,
        }
    }

    /// What encloses host row `row`: [`LOADING`], [`COMPILING`], [`IMPORTING`].
    #[inline]
    pub(crate) fn around(&self, row: u32) -> u8 {
        self.around.get(row as usize).copied().unwrap_or(0)
    }

    /// Whether the call `row` launches a graph.
    pub(crate) fn launches_graph(&self, trace: &Trace, row: u32) -> bool {
        self.names[trace.events.name[row as usize] as usize] & GRAPH != 0
    }

    /// Whether any stream was told to wait.
    pub(crate) fn any_stream_waits(&self) -> bool {
        !self.stream_waits.is_empty()
    }

    /// The last wait for an event that the stream `track` was told of before `time` on the host.
    pub(crate) fn stream_wait_before(&self, trace: &Trace, track: &Track, time: i64) -> Option<u32> {
        let waits = self.stream_waits.get(&track.rows.start)?;
        let told = waits.partition_point(|row| trace.events.start_ns[*row as usize] <= time);
        told.checked_sub(1).map(|last| waits[last])
    }

    /// The profiler's own time in `process`.
    pub(crate) fn overhead(&self, process: u32) -> &[(i64, i64, u32)] {
        self.overhead.get(process as usize).map_or(&[], Vec::as_slice)
    }
}

/// What a name alone says.
///
/// Loaders are PyTorch's `DataLoader` and its `torch/utils/data`, TensorFlow's `tf.data` iterators, and Grain.
fn name_bits(name: &str) -> u8 {
    const LOADERS: [&str; 7] =
        ["DataLoader", "utils/data/", "Iterator::", "IteratorGetNext", "tf_data", "data_loader", "grain/"];
    const COMPILERS: [&str; 3] = ["backend_compile", "XlaCompile", "Inductor"];
    let any = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let compiles = any(&COMPILERS) || makes_programs(name);
    const STREAM_WAITS: [&str; 2] = ["Stream Wait", "StreamWait"];
    let bits = [
        (any(&LOADERS), LOADING),
        (compiles, COMPILING),
        (name.contains("importlib"), IMPORTING),
        (name.starts_with("import "), IMPORT),
        (name.contains("GraphLaunch"), GRAPH),
        (any(&STREAM_WAITS), STREAM_WAIT),
        (is_drivers(name), DRIVER),
    ];
    let bits = bits.into_iter().filter(|(is, _)| *is).map(|(_, bit)| bit).sum::<u8>();
    if is_collective(name) { bits | COLLECTIVE } else { bits }
}

/// Whether overhead of that name is the CUDA driver's: CUPTI reports it beside the profiler's own, and Kineto and Nsight
/// Systems name it so.
pub(crate) fn is_drivers(name: &str) -> bool {
    matches!(
        name,
        "Driver Compiler" | "Runtime Triggered Module Loading" | "Lazy Function Loading" | "Command Buffer Full"
    )
}

/// The waits of each stream, in order of start.
///
/// Collectors write such a wait on its stream at the time of the host's call, not when the stream came to it; in an export
/// of Nsight Systems each lies within its `cudaStreamWaitEvent`. Other synchronization rows are waits of the host.
fn stream_waits(trace: &Trace, names: &[u8]) -> FxHashMap<u32, Vec<u32>> {
    let events = &trace.events;
    let may_hold = events.kind.contains(&(EventKind::Synchronization as u8));
    if !may_hold || !names.iter().any(|bits| bits & STREAM_WAIT != 0) {
        return FxHashMap::default();
    }
    let is_wait = |row: &u32| {
        let at = *row as usize;
        events.kind[at] == EventKind::Synchronization as u8 && names[events.name[at] as usize] & STREAM_WAIT != 0
    };
    let waits = trace.device_tracks().map(|track| (track.rows.start, track.rows.clone().filter(is_wait).collect()));
    waits.filter(|(_, waits): &(u32, Vec<u32>)| !waits.is_empty()).collect()
}

/// What encloses each host row, where anything in the trace loads, compiles or imports.
fn around(trace: &Trace, names: &[u8]) -> Vec<u8> {
    let events = &trace.events;
    let own = |row: usize| {
        let name = names[events.name[row] as usize];
        let compiles = events.kind[row] == EventKind::Compile as u8;
        let imports = name & IMPORT != 0 && events.kind[row] == EventKind::HostRange as u8;
        (name & ENCLOSES) | if compiles { COMPILING } else { 0 } | if imports { IMPORTING } else { 0 }
    };
    let any_name = names.iter().any(|bits| bits & (ENCLOSES | IMPORT) != 0);
    if !any_name && !events.kind.contains(&(EventKind::Compile as u8)) {
        return Vec::new();
    }
    let mut bits = vec![0; events.len()];
    for track in trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread) {
        for row in track.rows.start as usize..track.rows.end as usize {
            let parent = events.parent[row];
            bits[row] = own(row) | if parent == NONE { 0 } else { bits[parent as usize] };
        }
    }
    bits
}

/// The union of the profiler's own events, by process.
fn overhead(trace: &Trace, names: &[u8]) -> Vec<Vec<(i64, i64, u32)>> {
    let events = &trace.events;
    let mut spans: Vec<Vec<(i64, i64, u32)>> = vec![Vec::new(); trace.processes.len()];
    if !events.kind.contains(&(EventKind::Overhead as u8)) {
        return spans;
    }
    for track in &trace.tracks {
        let is_profilers = |row: usize| {
            events.kind[row] == EventKind::Overhead as u8 && names[events.name[row] as usize] & DRIVER == 0
        };
        let rows = track.rows.clone().filter(|row| is_profilers(*row as usize));
        let Some(own) = spans.get_mut(track.process as usize) else { continue };
        own.extend(rows.map(|row| (events.start_ns[row as usize], events.end_ns(row as usize), row)));
    }
    spans.into_iter().map(disjoint).collect()
}

/// The same time without overlaps, in order.
fn disjoint(mut spans: Vec<(i64, i64, u32)>) -> Vec<(i64, i64, u32)> {
    spans.sort_unstable();
    let mut until = i64::MIN;
    let cut = spans.into_iter().filter_map(|(start, end, row)| {
        let start = start.max(until);
        until = until.max(end);
        (end > start).then_some((start, end, row))
    });
    cut.collect()
}

/// Collectives and copies between devices of processes that have several devices, by end.
fn awaited(trace: &Trace, names: &[u8]) -> Vec<Awaited> {
    let events = &trace.events;
    let mut devices_of = vec![0; trace.processes.len()];
    for device in &trace.devices {
        if let Some(count) = devices_of.get_mut(device.process as usize) {
            *count += 1;
        }
    }
    let several = |process: u32| devices_of.get(process as usize).is_some_and(|count| *count > 1);
    let concerns = |row: usize| {
        let kind = EventKind::from_byte(events.kind[row]);
        kind == EventKind::CopyPeer || (kind.is_compute() && names[events.name[row] as usize] & COLLECTIVE != 0)
    };
    let may_hold =
        names.iter().any(|bits| bits & COLLECTIVE != 0) || events.kind.contains(&(EventKind::CopyPeer as u8));
    let tracks = trace.device_tracks().filter(|track| may_hold && several(track.process));
    let found = tracks.flat_map(|track| {
        let rows = (track.rows.start as usize..track.rows.end as usize).filter(|row| concerns(*row));
        let (device, process) = (track.device.unwrap_or(NONE), track.process);
        rows.map(move |row| Awaited {
            end: events.end_ns(row),
            start: events.start_ns[row],
            row: row as u32,
            device,
            process,
        })
    });
    let mut awaited: Vec<Awaited> = found.collect();
    awaited.sort_unstable_by_key(|work| (work.end, work.row));
    awaited
}
