//! From ranges to tracks: operations on lanes of their device, ranges on their threads, each operation linked to its
//! range.

use super::dump::Dumped;
use super::machine::Machine;
use super::ranges::{HostRange, Ranges};
use super::replica::Replica;
use crate::import::Import;
use crate::note::Severity;
use crate::xla::collectives::collective;
use crate::xla::operations::Operations;
use crate::xla::ranges::XlaRange;
use ridge_trace::{Collective, EventKind, Module, NONE, NewEvent, TrackKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Rows that a trace can name with 32 bits, less those that stand for "none".
const MAX_ROWS: usize = u32::MAX as usize - 16;

/// Processes and threads after which no more are read: each costs over a kilobyte to keep.
const MAX_THREADS: usize = 1 << 12;

/// Operations that run at once on one device after which further ones share a lane; devices have 128 queues.
const MAX_LANES: usize = 128;

/// Ranges inside ranges; XLA's own go six deep.
const MAX_DEPTH: usize = 64;

/// Places all ranges of `replica`.
pub(super) fn place(
    replica: &Replica<'_, '_>,
    ranges: Ranges,
    machine: &Machine,
    modules: &[Dumped],
    import: &mut Import,
) {
    let source = replica.name();
    let total = ranges.projected.len() + ranges.host.len();
    if total > MAX_ROWS - import.builder.rows() as usize {
        let message = format!("it is not shown: a trace has at most {MAX_ROWS} events");
        import.note(Severity::Lost, &source, None, total as u64, message);
        return;
    }
    let mut processes = Processes::new(&ranges, machine, modules, &source, import);
    let host_rows = place_host(&ranges, machine, &mut processes, &source, import);
    place_work(&ranges, machine, &mut processes, &host_rows, &source, import);
}

/// Rows of the processes table, and of their threads, by their numbers.
struct Processes {
    rows: BTreeMap<i64, u32>,
    threads: BTreeMap<(i64, i64), u32>,
    /// The process of threads whose table does not say it.
    of_threads: FxHashMap<i64, i64>,
    left_out: u64,
}

impl Processes {
    fn new(ranges: &Ranges, machine: &Machine, modules: &[Dumped], source: &str, import: &mut Import) -> Processes {
        let of_work = ranges.projected.iter().map(|range| (range.tid, range.pid));
        let of_host = ranges.host.iter().filter_map(|range| Some((range.tid, range.pid?)));
        let of_threads: FxHashMap<i64, i64> = of_work.chain(of_host).collect();
        let mut pids: Vec<i64> = of_threads.values().copied().collect();
        pids.extend(ranges.host.iter().filter_map(|range| machine.process_of(range.tid)));
        pids.sort_unstable();
        pids.dedup();
        pids.truncate(MAX_THREADS);
        if pids.is_empty() {
            pids.push(0);
        }
        let mut rows = BTreeMap::new();
        for pid in &pids {
            let name = if pids.len() > 1 { format!("{source}/process {pid}") } else { source.to_owned() };
            let row = import.builder.add_process(&name, u64::try_from(*pid).ok().filter(|pid| *pid > 0));
            import.builder.process_mut(row).rank = machine.rank_of(*pid);
            rows.insert(*pid, row);
            for module in modules {
                let name = import.builder.strings.intern(&module.name);
                let (program_id, hlo) = (module.program_id, Some(module.hlo));
                import.builder.modules.push(Module { process: row, name, program_id, hlo });
            }
        }
        Processes { rows, threads: BTreeMap::new(), of_threads, left_out: 0 }
    }

    /// The track of a thread.
    fn thread(&mut self, pid: i64, tid: i64, import: &mut Import) -> Option<u32> {
        if let Some(known) = self.threads.get(&(pid, tid)) {
            return Some(*known);
        }
        let process = *self.rows.get(&pid).filter(|_| self.threads.len() < MAX_THREADS)?;
        let name = format!("thread {tid}");
        let track = import.builder.add_track(process, None, TrackKind::HostThread, &name, tid);
        self.threads.insert((pid, tid), track);
        Some(track)
    }

    /// The process of a range whose table may not say it.
    fn pid_of(&self, range: &HostRange, machine: &Machine) -> i64 {
        let known = range.pid.or_else(|| self.of_threads.get(&range.tid).copied());
        let known = known.or_else(|| machine.process_of(range.tid));
        known.or_else(|| self.rows.keys().next().copied()).unwrap_or(0)
    }
}

/// Puts ranges on their threads; gives the row of each by its id.
fn place_host(
    ranges: &Ranges,
    machine: &Machine,
    processes: &mut Processes,
    source: &str,
    import: &mut Import,
) -> FxHashMap<i64, u32> {
    let mut by_thread: BTreeMap<(i64, i64), Vec<&HostRange>> = BTreeMap::new();
    for range in &ranges.host {
        by_thread.entry((processes.pid_of(range, machine), range.tid)).or_default().push(range);
    }
    let mut rows = FxHashMap::default();
    for ((pid, tid), mut found) in by_thread {
        let Some(track) = processes.thread(pid, tid, import) else {
            processes.left_out += found.len() as u64;
            continue;
        };
        found.sort_by_key(|range| (range.start_ns, std::cmp::Reverse(range.dur_ns)));
        for range in found {
            let kind = match ranges.xla.get(&range.name.0) {
                Some(XlaRange::Compile) => EventKind::Compile,
                Some(XlaRange::Module { .. } | XlaRange::Thunk { .. }) => EventKind::HostRange,
                None => kind_by_name(import.builder.strings.get(range.name)),
            };
            rows.insert(
                range.id,
                import.builder.push(track, NewEvent::new(kind, range.name, range.start_ns, range.dur_ns)),
            );
        }
    }
    if processes.left_out > 0 {
        let message = format!("ranges beyond {MAX_THREADS} processes and threads were left out");
        import.note(Severity::Lost, source, None, processes.left_out, message);
    }
    rows
}

/// Libraries' own ranges are told by their domain; all others are the program's.
fn kind_by_name(name: &str) -> EventKind {
    let is_librarys =
        ["NCCL:", "cuBLAS:", "cuDNN:", "cuSOLVER:", "TSL:Xla"].iter().any(|start| name.starts_with(start));
    if is_librarys { EventKind::HostRange } else { EventKind::Annotation }
}

/// What the ranges are to each other.
struct Family {
    /// By place in the projection: that of the module around a thunk.
    modules: FxHashMap<usize, usize>,
    /// Places of thunks that hold other thunks, as CUDA graphs do.
    outer: FxHashSet<usize>,
    /// Pieces of device work of all ranges, where the archive says so.
    pieces: u64,
}

fn family(ranges: &Ranges) -> Family {
    let places: FxHashMap<i64, usize> = ranges.projected.iter().enumerate().map(|(at, range)| (range.id, at)).collect();
    let above = |at: usize| ranges.projected[at].parent.and_then(|id| places.get(&id)).copied();
    let said = |at: usize| ranges.xla.get(&ranges.projected[at].name.0);
    let mut family =
        Family { modules: FxHashMap::default(), outer: FxHashSet::default(), pieces: ranges.pieces_of_none };
    for at in 0..ranges.projected.len() {
        if above(at).is_none() {
            family.pieces = family.pieces.saturating_add(ranges.projected[at].pieces.unwrap_or(0));
        }
        if !matches!(said(at), Some(XlaRange::Thunk { .. })) {
            continue;
        }
        let mut outer = at;
        for _ in 0..MAX_DEPTH {
            let Some(next) = above(outer) else { break };
            outer = next;
            match said(outer) {
                Some(XlaRange::Module { .. }) => {
                    family.modules.insert(at, outer);
                    break;
                }
                Some(XlaRange::Thunk { .. }) => {
                    family.outer.insert(outer);
                }
                _ => {}
            }
        }
    }
    family
}

/// Puts operations on lanes of their devices, and other ranges beside them as ranges.
fn place_work(
    ranges: &Ranges,
    machine: &Machine,
    processes: &mut Processes,
    host_rows: &FxHashMap<i64, u32>,
    source: &str,
    import: &mut Import,
) {
    let family = family(ranges);
    let mut devices: BTreeMap<(u32, u32), (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    let mut homes: FxHashMap<(i64, i64), (u32, u32, bool)> = FxHashMap::default();
    let (mut guessed, mut left_out) = (0, 0);
    for (at, range) in ranges.projected.iter().enumerate() {
        let thread = (range.pid, range.tid);
        let known = homes.get(&thread).copied();
        let home = known.or_else(|| {
            let process = *processes.rows.get(&range.pid).filter(|_| homes.len() < MAX_THREADS)?;
            let (gpu, is_guess) = machine.gpu_of(range.pid, range.tid);
            let plane = format!("/device:GPU:{}", gpu.map_or(0, |gpu| gpu.cuda));
            Some((process, import.builder.device(process, &plane), is_guess))
        });
        let Some((process, device, is_guess)) = home else {
            left_out += 1;
            continue;
        };
        homes.insert(thread, (process, device, is_guess));
        let (work, others) = devices.entry((process, device)).or_default();
        let is_thunk = matches!(ranges.xla.get(&range.name.0), Some(XlaRange::Thunk { .. }));
        if is_thunk && !family.outer.contains(&at) {
            guessed += u64::from(is_guess);
            work.push(at);
        } else {
            others.push(at);
        }
    }
    if left_out > 0 {
        let message = format!("work of threads beyond {MAX_THREADS} was left out");
        import.note(Severity::Lost, source, None, left_out, message);
    }
    if guessed > 0 {
        let message = "operations were launched by threads that XLA does not name after a device: they count toward \
                       their process's first device"
            .to_owned();
        import.note(Severity::Partial, source, None, guessed, message);
    }
    let work = || devices.values().flat_map(|(work, _)| work).map(|at| &ranges.projected[*at]);
    let of_work: u64 = work().filter_map(|range| range.pieces).fold(0, u64::saturating_add);
    let several = work().filter(|range| range.pieces > Some(1)).count() as u64;
    for ((process, device), (mut work, others)) in devices {
        describe(device, machine, import);
        place_ranges(&others, ranges, process, device, import);
        work.sort_by_key(|at| (ranges.projected[*at].start_ns, std::cmp::Reverse(ranges.projected[*at].dur_ns)));
        Work { ranges, family: &family, host_rows, process, device, collectives: FxHashMap::default() }
            .place(&work, import);
    }
    if several > 0 {
        let message =
            "operations consist of several pieces of work: their time is from the first start to the last end"
                .to_owned();
        import.note(Severity::Info, source, None, several, message);
    }
    if family.pieces > of_work {
        let message =
            "pieces of work ran outside of XLA's operations; the archive doesn't record when, so they are not in any sum"
            .to_owned();
        import.note(Severity::Partial, source, None, family.pieces - of_work, message);
    }
}

fn describe(device: u32, machine: &Machine, import: &mut Import) {
    let plane = import.builder.devices()[device as usize].plane.clone();
    let Some(gpu) = machine.gpus.iter().find(|gpu| plane == format!("/device:GPU:{}", gpu.cuda)) else { return };
    let device = import.builder.device_mut(device);
    device.vendor = Some("Nvidia".to_owned());
    device.model = gpu.model.clone();
    device.cores = gpu.cores;
    device.clock_khz = gpu.clock_hz.map(|hz| hz / 1000);
    device.memory_bytes = gpu.memory_bytes;
    device.memory_bytes_per_sec = gpu.memory_bytes_per_sec;
    device.compute_capability = gpu.compute_capability;
}

fn place_ranges(others: &[usize], ranges: &Ranges, process: u32, device: u32, import: &mut Import) {
    if others.is_empty() {
        return;
    }
    let track = import.builder.add_track(process, Some(device), TrackKind::OperationLane, "Ranges", -1);
    for at in others {
        let range = &ranges.projected[*at];
        import.builder.push(track, NewEvent::new(EventKind::DeviceRange, range.name, range.start_ns, range.dur_ns));
    }
}

/// The work of one device while it is placed.
struct Work<'r> {
    ranges: &'r Ranges,
    family: &'r Family,
    host_rows: &'r FxHashMap<i64, u32>,
    process: u32,
    device: u32,
    /// By operation: what it is as a collective, if it is one.
    collectives: FxHashMap<u32, Option<Collective>>,
}

impl Work<'_> {
    /// Places thunks that are sorted by start: each on the first lane that is free.
    fn place(&mut self, work: &[usize], import: &mut Import) {
        let mut operations = Operations::new(self.process, import);
        let mut lanes: Vec<(i64, u32)> = Vec::new();
        for at in work {
            let range = self.ranges.projected[*at];
            let free = lanes.iter().position(|(end_ns, _)| *end_ns <= range.start_ns);
            let lane = free.unwrap_or(lanes.len()).min(MAX_LANES - 1);
            if lane == lanes.len() {
                let name = format!("XLA operations, lane {lane}");
                let kind = TrackKind::OperationLane;
                lanes.push((0, import.builder.add_track(self.process, Some(self.device), kind, &name, lane as i64)));
            }
            let (end_ns, track) = &mut lanes[lane];
            *end_ns = range.start_ns.saturating_add(range.dur_ns);
            let op = self.operation(*at, &mut operations, import);
            let name = import.builder.operations.get(op as usize).map_or(range.name, |operation| operation.name);
            let event = NewEvent { op, ..NewEvent::new(EventKind::DeviceOp, name, range.start_ns, range.dur_ns) };
            let row = import.builder.push(*track, event);
            import.builder.slices(row..row + 1).link[0] = self.host_rows.get(&range.id).copied().unwrap_or(NONE);
            let collective = *self.collectives.entry(op).or_insert_with(|| collective(op, import));
            import.builder.collectives.extend(collective.map(|found| Collective { event: row, ..found }));
        }
    }

    /// The operation of a thunk in the module around it.
    fn operation(&self, at: usize, operations: &mut Operations, import: &mut Import) -> u32 {
        let said = |at: usize| self.ranges.xla.get(&self.ranges.projected[at].name.0);
        let Some(XlaRange::Thunk { op, scope }) = said(at) else { return NONE };
        let module = match self.family.modules.get(&at).and_then(|module| said(*module)) {
            Some(XlaRange::Module { name, program_id }) => operations.module(*program_id, name, import),
            _ => NONE,
        };
        operations.operation(module, op, scope, import)
    }
}
