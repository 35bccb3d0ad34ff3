//! From collected rows to tracks: processes, devices, streams and threads, each process's work linked to its calls.

use super::device::stream_name;
use super::names::Names;
use super::rows::{EventRow, Lane, Timeline};
use super::xla;
use crate::import::{Import, Source};
use crate::note::Severity;
use crate::xla::command_buffer::is_command_buffer;
use rayon::prelude::*;
use ridge_trace::{Attribution, EventKind, EventSlices, NONE, TrackKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Rows that a trace can name with 32 bits, less those that stand for "none".
const MAX_ROWS: usize = u32::MAX as usize - 16;

/// Streams and threads after which no more are read: each costs over a kilobyte to keep, and four bytes in a hostile
/// file.
const MAX_LANES: usize = 1 << 16;

/// Devices after which no more are read; each is looked for among all before it.
const MAX_DEVICES: usize = 1 << 12;

/// Rows that are moved before their memory is given back.
const ROWS_AT_ONCE: usize = 1 << 18;

/// Where processes and devices of the export stand in the trace.
#[derive(Debug, Default)]
pub(super) struct Placed {
    /// Row of the processes table by the upper bits of global ids.
    pub(super) processes: BTreeMap<u64, u32>,
    /// Row of the devices table by process and CUDA device id.
    pub(super) devices: BTreeMap<(u64, i64), u32>,
}

impl Placed {
    /// The process `pid`; the first where the export names one that did nothing.
    pub(super) fn process(&self, pid: u64) -> u32 {
        self.processes.get(&pid).or_else(|| self.processes.values().next()).copied().unwrap_or(0)
    }
}

/// Moves all rows into the trace; `shift_ns` is added to their times.
pub(super) fn place(
    mut timeline: Timeline,
    names: &Names,
    shift_ns: i64,
    source: Source<'_>,
    import: &mut Import,
) -> Placed {
    timeline.rows.par_iter_mut().for_each(|rows| rows.sort_by_key(|row| (row.start_ns, -row.dur_ns)));
    let total: usize = timeline.rows.iter().map(Vec::len).sum();
    if total > MAX_ROWS - import.builder.rows() as usize {
        let message = format!("it is not shown: a trace has at most {MAX_ROWS} events");
        import.note(Severity::Lost, source.name, None, total as u64, message);
        timeline = Timeline::default();
    }
    let mut placed = Placed::default();
    let lanes = lanes_of_processes(&mut timeline, source, import);
    import.builder.expect_rows(timeline.rows.iter().map(Vec::len).sum());
    if lanes.is_empty() {
        placed.processes.insert(0, import.builder.add_process(source.name, None));
    }
    let (several, mut unlinked) = (lanes.len() > 1, 0);
    for (pid, lanes) in lanes {
        let number = pid & 0xff_ffff;
        // The process's own name is private; its number tells it from the others.
        let name = if several { format!("{}/process {number}", source.name) } else { source.name.to_owned() };
        let process = import.builder.add_process(&name, Some(number));
        placed.processes.insert(pid, process);
        if !names.xla.is_empty() {
            xla::attribute(&mut timeline, &lanes, process, &names.xla, source, import);
        }
        unlinked += place_process(&mut timeline, lanes, pid, process, shift_ns, &mut placed, import);
    }
    if unlinked > 0 {
        let message = "device events have no launching call in the capture".to_owned();
        import.note(Severity::Info, source.name, None, unlinked as u64, message);
    }
    placed
}

/// The lanes of each process; those beyond any real number are left out.
fn lanes_of_processes(timeline: &mut Timeline, source: Source<'_>, import: &mut Import) -> BTreeMap<u64, Vec<usize>> {
    let mut lanes: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    let mut devices: BTreeSet<(u64, i64)> = BTreeSet::new();
    let mut left_out = 0;
    for (at, lane) in timeline.lanes.keys.iter().enumerate() {
        if let Lane::Stream { pid, device, .. } = *lane
            && devices.len() < MAX_DEVICES
        {
            devices.insert((pid, device));
        }
        let is_known = match *lane {
            Lane::Stream { pid, device, .. } => devices.contains(&(pid, device)),
            Lane::Thread { .. } => true,
        };
        if is_known && at < MAX_LANES {
            lanes.entry(lane.pid()).or_default().push(at);
        } else {
            left_out += std::mem::take(&mut timeline.rows[at]).len() as u64;
        }
    }
    if left_out > 0 {
        let message = format!("events beyond {MAX_LANES} streams and threads or {MAX_DEVICES} devices were left out");
        import.note(Severity::Lost, source.name, None, left_out, message);
    }
    lanes
}

/// Places one process; gives how much of its device work found no call.
fn place_process(
    timeline: &mut Timeline,
    mut lanes: Vec<usize>,
    pid: u64,
    process: u32,
    shift_ns: i64,
    placed: &mut Placed,
    import: &mut Import,
) -> usize {
    let keys = std::mem::take(&mut timeline.lanes.keys);
    lanes.sort_by_key(|lane| sort_key(keys[*lane]));
    let contexts = contexts_of_devices(lanes.iter().map(|lane| keys[*lane]));
    let first = import.builder.rows();
    let mut sizes = Vec::with_capacity(lanes.len());
    for lane in &lanes {
        let track = match keys[*lane] {
            Lane::Stream { device, context, stream, .. } => {
                let row = import.builder.device(process, &format!("/device:GPU:{device}"));
                placed.devices.insert((pid, device), row);
                let context = (contexts.get(&device).map_or(0, BTreeSet::len) > 1).then_some(context);
                import.builder.add_track(process, Some(row), TrackKind::Stream, &stream_name(stream, context), stream)
            }
            Lane::Thread { tid } => {
                let number = tid & 0xff_ffff;
                let name = format!("thread {number}");
                import.builder.add_track(process, None, TrackKind::HostThread, &name, number as i64)
            }
        };
        sizes.push(timeline.rows[*lane].len());
        import.builder.reserve(track, timeline.rows[*lane].len());
    }
    timeline.lanes.keys = keys;
    let end = import.builder.rows();
    let buffers = command_buffers(import);
    let mut rest = import.builder.slices(first..end);
    let mut jobs = Vec::with_capacity(lanes.len());
    for (lane, size) in lanes.iter().zip(sizes) {
        let (columns, after) = rest.split_at(size);
        rest = after;
        jobs.push((std::mem::take(&mut timeline.rows[*lane]), columns));
    }
    jobs.into_par_iter().for_each(|(rows, columns)| fill(rows, columns, shift_ns, &buffers));
    import.builder.link_launches(first)
}

fn contexts_of_devices(lanes: impl Iterator<Item = Lane>) -> FxHashMap<i64, BTreeSet<i64>> {
    let mut contexts: FxHashMap<i64, BTreeSet<i64>> = FxHashMap::default();
    for lane in lanes {
        if let Lane::Stream { device, context, .. } = lane {
            contexts.entry(device).or_default().insert(context);
        }
    }
    contexts
}

/// Devices first, each one's streams together.
fn sort_key(lane: Lane) -> (bool, i64, i64, i64) {
    match lane {
        Lane::Stream { device, context, stream, .. } => (false, device, context, stream),
        Lane::Thread { tid } => (true, 0, 0, (tid & 0xff_ffff) as i64),
    }
}

/// Operations that stand for all of a command buffer.
fn command_buffers(import: &Import) -> FxHashSet<u32> {
    let operations = import.builder.operations.iter().enumerate();
    let buffers = operations.filter(|(_, operation)| is_command_buffer(import.builder.strings.get(operation.name)));
    buffers.map(|(row, _)| row as u32).collect()
}

/// Fills the columns from the end on and gives back the memory of the rows meanwhile: both at once would be half as much
/// again.
fn fill(mut rows: Vec<EventRow>, mut columns: EventSlices<'_>, shift_ns: i64, buffers: &FxHashSet<u32>) {
    while let Some(last) = rows.len().checked_sub(1) {
        let first = last - last % ROWS_AT_ONCE;
        fill_from(first, &rows, &mut columns, shift_ns, buffers);
        rows.truncate(first);
        rows.shrink_to_fit();
    }
}

fn fill_from(first: usize, rows: &[EventRow], columns: &mut EventSlices<'_>, shift_ns: i64, buffers: &FxHashSet<u32>) {
    for (at, row) in rows.iter().enumerate().skip(first) {
        columns.start_ns[at] = row.start_ns.saturating_add(shift_ns);
        columns.dur_ns[at] = row.dur_ns;
        columns.name[at] = row.name;
        columns.op[at] = row.op;
        columns.detail[at] = row.detail;
        // Only calls that launch may be linked to.
        let links = row.kind == EventKind::Launch || row.kind.is_device_work();
        columns.correlation[at] = if links { row.correlation } else { 0 };
        columns.link[at] = NONE;
        columns.kind[at] = row.kind as u8;
        let attribution = match (row.kind.is_device_work(), row.op) {
            (false, _) => Attribution::NotAsked,
            (true, NONE) => Attribution::Unattributed,
            (true, op) if buffers.contains(&op) => Attribution::ModuleOnly,
            (true, _) => Attribution::ByLaunch,
        };
        columns.attribution[at] = attribution as u8;
    }
}
