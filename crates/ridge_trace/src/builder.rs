//! Building a trace: raw rows in any order, then one pass that groups, sorts, nests and freezes them.
//!
//! An importer reserves as many rows as a line of its capture has and decodes into them in place
//! ([`TraceBuilder::reserve`]), so that nothing is copied when the capture is already in order, as big ones are.

mod bounds;
#[cfg(test)]
mod tests;

pub use bounds::OutOfBounds;

use crate::event::{Attribution, EventKind, Events, NONE};
use crate::framework_tables::{Backward, Collective, FusedKernel, OperatorShape};
use crate::links::link_by_correlation;
use crate::memory::Memory;
use crate::nesting::nest;
use crate::profiles::KernelProfiles;
use crate::python::PythonSamples;
use crate::side_tables::{
    Allocations, Counters, Device, LaunchShape, Module, Operation, Process, Step, Track, TrackKind, Transfer,
};
use crate::strings::{StringId, Strings};
use crate::trace::{PARALLEL_ROWS, Trace, process_spans};
use arrow_buffer::ScalarBuffer;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// An event as an importer adds it.
#[derive(Debug, Clone, Copy)]
pub struct NewEvent {
    /// What it is.
    pub kind: EventKind,
    /// Its name.
    pub name: StringId,
    /// Start on the trace clock, nanoseconds.
    pub start_ns: i64,
    /// Duration, nanoseconds.
    pub dur_ns: i64,
    /// Row of the operations table, or [`NONE`].
    pub op: u32,
    /// Row of its side table, or [`NONE`].
    pub detail: u32,
    /// Correlation id of its process, or 0.
    pub correlation: u32,
}

impl NewEvent {
    /// An event with no operation, no detail and no correlation.
    pub fn new(kind: EventKind, name: StringId, start_ns: i64, dur_ns: i64) -> NewEvent {
        NewEvent { kind, name, start_ns, dur_ns, op: NONE, detail: NONE, correlation: 0 }
    }
}

/// The raw columns of some rows, to decode into.
#[derive(Debug)]
pub struct EventSlices<'a> {
    /// Start, nanoseconds on the trace clock.
    pub start_ns: &'a mut [i64],
    /// Duration, nanoseconds.
    pub dur_ns: &'a mut [i64],
    /// String id of the name.
    pub name: &'a mut [u32],
    /// Row of the operations table, or [`NONE`].
    pub op: &'a mut [u32],
    /// Row of the side table, or [`NONE`].
    pub detail: &'a mut [u32],
    /// Correlation id, or 0.
    pub correlation: &'a mut [u32],
    /// Event that caused this one, a raw row, or [`NONE`].
    pub link: &'a mut [u32],
    /// [`EventKind`] as a byte.
    pub kind: &'a mut [u8],
    /// [`Attribution`] as a byte.
    pub attribution: &'a mut [u8],
}

impl<'a> EventSlices<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// Splits into the first `rows` rows and the rest, to decode both at once.
    pub fn split_at(self, rows: usize) -> (EventSlices<'a>, EventSlices<'a>) {
        let (start_a, start_b) = self.start_ns.split_at_mut(rows);
        let (dur_a, dur_b) = self.dur_ns.split_at_mut(rows);
        let (name_a, name_b) = self.name.split_at_mut(rows);
        let (op_a, op_b) = self.op.split_at_mut(rows);
        let (detail_a, detail_b) = self.detail.split_at_mut(rows);
        let (correlation_a, correlation_b) = self.correlation.split_at_mut(rows);
        let (link_a, link_b) = self.link.split_at_mut(rows);
        let (kind_a, kind_b) = self.kind.split_at_mut(rows);
        let (attribution_a, attribution_b) = self.attribution.split_at_mut(rows);
        let first = EventSlices {
            start_ns: start_a,
            dur_ns: dur_a,
            name: name_a,
            op: op_a,
            detail: detail_a,
            correlation: correlation_a,
            link: link_a,
            kind: kind_a,
            attribution: attribution_a,
        };
        let rest = EventSlices {
            start_ns: start_b,
            dur_ns: dur_b,
            name: name_b,
            op: op_b,
            detail: detail_b,
            correlation: correlation_b,
            link: link_b,
            kind: kind_b,
            attribution: attribution_b,
        };
        (first, rest)
    }
}

/// Raw rows before they are grouped; the vectors may be longer than the rows in use.
#[derive(Debug, Default)]
struct RawColumns {
    rows: usize,
    start_ns: Vec<i64>,
    dur_ns: Vec<i64>,
    name: Vec<u32>,
    op: Vec<u32>,
    detail: Vec<u32>,
    correlation: Vec<u32>,
    link: Vec<u32>,
    kind: Vec<u8>,
    attribution: Vec<u8>,
}

impl RawColumns {
    /// Makes room for `capacity` rows in all.
    ///
    /// Zeroed memory that is asked for at once is not touched until it is used, so the threads that decode share the
    /// cost of its first touch.
    fn make_room(&mut self, capacity: usize) {
        fn grow<T: Copy + Default>(column: &mut Vec<T>, capacity: usize) {
            if column.is_empty() {
                *column = vec![T::default(); capacity];
            } else if column.len() < capacity {
                column.resize(capacity, T::default());
            }
        }
        grow(&mut self.start_ns, capacity);
        grow(&mut self.dur_ns, capacity);
        grow(&mut self.name, capacity);
        grow(&mut self.op, capacity);
        grow(&mut self.detail, capacity);
        grow(&mut self.correlation, capacity);
        grow(&mut self.link, capacity);
        grow(&mut self.kind, capacity);
        grow(&mut self.attribution, capacity);
    }

    /// Cuts the columns to the rows in use.
    fn trim(&mut self) {
        self.start_ns.truncate(self.rows);
        self.dur_ns.truncate(self.rows);
        self.name.truncate(self.rows);
        self.op.truncate(self.rows);
        self.detail.truncate(self.rows);
        self.correlation.truncate(self.rows);
        self.link.truncate(self.rows);
        self.kind.truncate(self.rows);
        self.attribution.truncate(self.rows);
    }
}

/// Names of what the recorder did inside the program that it recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecorderNames {
    /// Its work: on threads of the host it is overhead, with all that happened inside of it.
    pub work: Vec<StringId>,
    /// What threads of its own run.
    pub threads: Vec<StringId>,
}

/// Collects a trace; [`TraceBuilder::finish`] freezes it.
#[derive(Debug, Default)]
pub struct TraceBuilder {
    /// The string table.
    pub strings: Strings,
    /// Launch shapes that kernels refer to.
    pub launch_shapes: Vec<LaunchShape>,
    /// Transfers that copies refer to.
    pub transfers: Vec<Transfer>,
    /// Modules that operations refer to.
    pub modules: Vec<Module>,
    /// Operations that events refer to.
    pub operations: Vec<Operation>,
    /// Sampled values.
    pub counters: Counters,
    /// Allocator events, in any order.
    pub allocations: Allocations,
    /// Memory snapshots, call stacks and segments.
    pub memory: Memory,
    /// Kernels under a hardware profiler.
    pub profiles: KernelProfiles,
    /// Steps; `event` is a raw row until the trace is finished.
    pub steps: Vec<Step>,
    /// Operator shapes that operators refer to.
    pub operator_shapes: Vec<OperatorShape>,
    /// Kernels that a compiler of a framework made of operators.
    pub fused: Vec<FusedKernel>,
    /// Collectives; `event` is a raw row until the trace is finished.
    pub collectives: Vec<Collective>,
    /// Operators of the backward pass; both rows are raw ones until the trace is finished.
    pub backwards: Vec<Backward>,
    /// Operators for whose gradients autograd kept something; raw rows until the trace is finished.
    pub recorded: Vec<u32>,
    /// Names of what the recorder did inside the program.
    pub recorder_names: RecorderNames,
    processes: Vec<Process>,
    devices: Vec<Device>,
    /// Rows of the devices by process and plane.
    device_rows: FxHashMap<u32, FxHashMap<String, u32>>,
    tracks: Vec<Track>,
    pieces: Vec<(u32, Range<u32>)>,
    moved: Vec<(u32, u32)>,
    dropped: Vec<u32>,
    raw: RawColumns,
}

impl TraceBuilder {
    /// An empty trace.
    pub fn new() -> TraceBuilder {
        TraceBuilder::default()
    }

    /// Adds a captured process and returns its row.
    pub fn add_process(&mut self, name: &str, pid: Option<u64>) -> u32 {
        let name = self.strings.intern(name);
        self.processes.push(Process { name, pid, rank: None });
        self.processes.len() as u32 - 1
    }

    /// The processes so far.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The raw rows of the tracks, piece by piece, before any was moved or dropped.
    pub fn pieces(&self) -> &[(u32, Range<u32>)] {
        &self.pieces
    }

    /// The process whose track raw row `row` was added to.
    pub fn process_of_row(&self, row: u32) -> Option<u32> {
        let piece = self.pieces.partition_point(|(_, rows)| rows.end <= row);
        let (track, _) = self.pieces.get(piece)?;
        Some(self.tracks[*track as usize].process)
    }

    /// Moves all times of a process by `shift_ns`: its events and its allocator's.
    pub fn shift_process(&mut self, process: u32, shift_ns: i64) {
        for (track, rows) in &self.pieces {
            if self.tracks[*track as usize].process == process {
                let times = &mut self.raw.start_ns[rows.start as usize..rows.end as usize];
                times.iter_mut().for_each(|time| *time = time.saturating_add(shift_ns));
            }
        }
        let table = &mut self.allocations;
        let of_process = table.time_ns.iter_mut().zip(&table.process).filter(|(_, found)| **found == process);
        of_process.for_each(|(time, _)| *time = time.saturating_add(shift_ns));
    }

    /// What is known of process `row`, to fill in.
    pub fn process_mut(&mut self, row: u32) -> &mut Process {
        &mut self.processes[row as usize]
    }

    /// The device of `process` with that plane name, new or known.
    pub fn device(&mut self, process: u32, plane: &str) -> u32 {
        let of_process = self.device_rows.entry(process).or_default();
        if let Some(row) = of_process.get(plane) {
            return *row;
        }
        let row = self.devices.len() as u32;
        of_process.insert(plane.to_owned(), row);
        self.devices.push(Device { process, plane: plane.to_owned(), ..Device::default() });
        row
    }

    /// What is known of device `row`, to fill in.
    pub fn device_mut(&mut self, row: u32) -> &mut Device {
        &mut self.devices[row as usize]
    }

    /// The devices so far.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Adds a track and returns its row.
    pub fn add_track(&mut self, process: u32, device: Option<u32>, kind: TrackKind, name: &str, native_id: i64) -> u32 {
        let name = self.strings.intern(name);
        self.tracks.push(Track { name, kind, process, device, native_id, rows: 0..0 });
        self.tracks.len() as u32 - 1
    }

    /// The tracks so far; their row ranges are set by [`TraceBuilder::finish`].
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Adds one event to a track and returns its raw row.
    pub fn push(&mut self, track: u32, event: NewEvent) -> u32 {
        let row = self.rows();
        self.reserve(track, 1);
        let raw = &mut self.raw;
        let at = row as usize;
        raw.start_ns[at] = event.start_ns;
        raw.dur_ns[at] = event.dur_ns;
        raw.name[at] = event.name.0;
        raw.op[at] = event.op;
        raw.detail[at] = event.detail;
        raw.correlation[at] = event.correlation;
        raw.link[at] = NONE;
        raw.kind[at] = event.kind as u8;
        if event.kind.is_device_work() {
            let known = event.op != NONE;
            let how = if known { Attribution::ByStat } else { Attribution::Unattributed };
            raw.attribution[at] = how as u8;
        }
        row
    }

    /// Number of raw rows so far.
    pub fn rows(&self) -> u32 {
        self.raw.rows as u32
    }

    /// Adds `count` rows to a track and returns the first; decode into them through [`TraceBuilder::slices`].
    ///
    /// The rows hold zeros until then: whoever decodes writes every column but the attribution.
    pub fn reserve(&mut self, track: u32, count: usize) -> u32 {
        let first = self.rows();
        let end = first as usize + count;
        if end > self.raw.kind.len() {
            // Rows pushed one by one double the room.
            self.raw.make_room(end.max(2 * first as usize));
        }
        self.raw.rows = end;
        match self.pieces.last_mut() {
            Some((last, rows)) if *last == track && rows.end == first => rows.end = end as u32,
            _ => self.pieces.push((track, first..end as u32)),
        }
        first
    }

    /// Makes room for `count` more rows at once, so that [`TraceBuilder::reserve`] need not copy.
    pub fn expect_rows(&mut self, count: usize) {
        self.raw.make_room(self.raw.rows + count);
    }

    /// The raw columns of `rows`.
    pub fn slices(&mut self, rows: Range<u32>) -> EventSlices<'_> {
        let rows = rows.start as usize..rows.end as usize;
        let raw = &mut self.raw;
        EventSlices {
            start_ns: &mut raw.start_ns[rows.clone()],
            dur_ns: &mut raw.dur_ns[rows.clone()],
            name: &mut raw.name[rows.clone()],
            op: &mut raw.op[rows.clone()],
            detail: &mut raw.detail[rows.clone()],
            correlation: &mut raw.correlation[rows.clone()],
            link: &mut raw.link[rows.clone()],
            kind: &mut raw.kind[rows.clone()],
            attribution: &mut raw.attribution[rows],
        }
    }

    /// Takes a raw row out of its track and puts it on another.
    pub fn move_row(&mut self, row: u32, track: u32) {
        self.moved.push((row, track));
    }

    /// Takes a raw row out of the trace; its content went to a side table.
    pub fn drop_row(&mut self, row: u32) {
        self.dropped.push(row);
    }

    /// Links the device rows added since `first` to their launches by correlation id, for one process.
    ///
    /// Returns how many device rows have an id that no launch has.
    pub fn link_launches(&mut self, first: u32) -> usize {
        let rows = first as usize..self.raw.rows;
        link_by_correlation(rows, &self.raw.kind, &self.raw.correlation, &mut self.raw.link)
    }

    /// Moves the trace clock's zero to `zero_ns`, for captures of which the earliest was not the first to be read.
    pub fn set_zero(&mut self, zero_ns: i64) {
        let segments = &mut self.memory.segments.time_ns;
        let times = [&mut self.raw.start_ns, &mut self.counters.time_ns, &mut self.allocations.time_ns, segments];
        times.into_iter().flatten().for_each(|time| *time = time.saturating_sub(zero_ns));
    }

    /// Groups rows by track, sorts them by start, nests them and freezes all.
    pub fn finish(mut self) -> Trace {
        self.raw.trim();
        self.raw.correlation = Vec::new();
        let order = self.order();
        let total = self.tracks.last().map_or(0, |track| track.rows.end as usize);
        let raw = std::mem::take(&mut self.raw);
        let events = match order {
            None => frozen(raw, &mut self.tracks, &self.recorder_names),
            Some(order) => {
                debug_assert_eq!(order.len(), total);
                self.remap_side_tables(&order, raw.kind.len());
                frozen(gathered(raw, &order), &mut self.tracks, &self.recorder_names)
            }
        };
        sort_allocations(&mut self.allocations);
        self.steps.sort_by_key(|step| step.event);
        self.collectives.sort_by_key(|collective| collective.event);
        self.backwards.sort_by_key(|backward| backward.event);
        self.recorded.sort_unstable();
        Trace {
            process_spans: process_spans(self.processes.len(), &self.tracks, &events),
            strings: self.strings,
            processes: self.processes,
            devices: self.devices,
            tracks: self.tracks,
            events,
            launch_shapes: self.launch_shapes,
            transfers: self.transfers,
            modules: self.modules,
            operations: self.operations,
            counters: self.counters,
            allocations: self.allocations,
            memory: self.memory,
            profiles: self.profiles,
            steps: self.steps,
            operator_shapes: self.operator_shapes,
            fused: self.fused,
            collectives: self.collectives,
            backwards: self.backwards,
            recorded: self.recorded,
            python: PythonSamples::default(),
        }
    }

    /// Sets every track's rows and returns the raw rows in final order; `None` where they are in it already.
    fn order(&mut self) -> Option<Vec<u32>> {
        if self.is_in_order() {
            return None;
        }
        let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); self.tracks.len()];
        let mut home = vec![NONE; self.raw.kind.len()];
        for (track, rows) in &self.pieces {
            home[rows.start as usize..rows.end as usize].fill(*track);
        }
        for &(row, track) in &self.moved {
            home[row as usize] = track;
        }
        for &row in &self.dropped {
            home[row as usize] = NONE;
        }
        for (row, &track) in home.iter().enumerate() {
            if track != NONE {
                rows_of[track as usize].push(row as u32);
            }
        }
        drop(home);
        let mut order = Vec::with_capacity(self.raw.kind.len());
        for (track, mut rows) in rows_of.into_iter().enumerate() {
            let key = |row: &u32| sort_key(&self.raw, *row as usize);
            if !rows.is_sorted_by_key(key) {
                rows.sort_by_key(key);
            }
            let first = order.len() as u32;
            order.append(&mut rows);
            self.tracks[track].rows = first..order.len() as u32;
        }
        Some(order)
    }

    /// Whether the raw rows are the final ones: one sorted piece a track, in track order, nothing moved or dropped.
    fn is_in_order(&mut self) -> bool {
        if !self.moved.is_empty() || !self.dropped.is_empty() {
            return false;
        }
        let is_sorted = |(_, rows): &(u32, Range<u32>)| {
            let mut pairs = rows.start as usize + 1..rows.end as usize;
            pairs.all(|row| sort_key(&self.raw, row - 1) <= sort_key(&self.raw, row))
        };
        let in_parallel = self.raw.rows >= PARALLEL_ROWS;
        let all_sorted =
            if in_parallel { self.pieces.par_iter().all(is_sorted) } else { self.pieces.iter().all(is_sorted) };
        if !all_sorted {
            return false;
        }
        let mut next_track = 0;
        for (track, rows) in &self.pieces {
            if *track < next_track {
                return false;
            }
            for skipped in next_track..*track {
                self.tracks[skipped as usize].rows = rows.start..rows.start;
            }
            self.tracks[*track as usize].rows = rows.clone();
            next_track = track + 1;
        }
        let end = self.rows();
        for track in &mut self.tracks[next_track as usize..] {
            track.rows = end..end;
        }
        true
    }

    fn remap_side_tables(&mut self, order: &[u32], raw_rows: usize) {
        let position = inverse(order, raw_rows);
        for step in &mut self.steps {
            step.event = position[step.event as usize];
        }
        self.steps.retain(|step| step.event != NONE);
        for collective in &mut self.collectives {
            collective.event = position[collective.event as usize];
        }
        self.collectives.retain(|collective| collective.event != NONE);
        for backward in &mut self.backwards {
            backward.event = position[backward.event as usize];
            backward.forward = position[backward.forward as usize];
        }
        self.backwards.retain(|backward| backward.event != NONE && backward.forward != NONE);
        for row in &mut self.recorded {
            *row = position[*row as usize];
        }
        self.recorded.retain(|row| *row != NONE);
    }
}

/// Start, then longest first, so that what encloses comes before what it encloses.
fn sort_key(raw: &RawColumns, row: usize) -> (i64, i64) {
    (raw.start_ns[row], -raw.dur_ns[row])
}

fn inverse(order: &[u32], raw_rows: usize) -> Vec<u32> {
    let mut position = vec![NONE; raw_rows];
    for (new, &old) in order.iter().enumerate() {
        position[old as usize] = new as u32;
    }
    position
}

/// The raw columns in final order, with links pointing at final rows.
fn gathered(raw: RawColumns, order: &[u32]) -> RawColumns {
    fn pick<T: Copy>(column: Vec<T>, order: &[u32]) -> Vec<T> {
        order.iter().map(|&row| column[row as usize]).collect()
    }
    let position = inverse(order, raw.kind.len());
    let mut link = pick(raw.link, order);
    for target in &mut link {
        if *target != NONE {
            *target = position[*target as usize];
        }
    }
    RawColumns {
        rows: order.len(),
        start_ns: pick(raw.start_ns, order),
        dur_ns: pick(raw.dur_ns, order),
        name: pick(raw.name, order),
        op: pick(raw.op, order),
        detail: pick(raw.detail, order),
        correlation: Vec::new(),
        link,
        kind: pick(raw.kind, order),
        attribution: pick(raw.attribution, order),
    }
}

fn frozen(mut raw: RawColumns, tracks: &mut [Track], recorder_names: &RecorderNames) -> Events {
    let mut parent = vec![NONE; raw.kind.len()];
    let mut parts = Vec::with_capacity(tracks.len());
    let mut rest = parent.as_mut_slice();
    for track in &*tracks {
        let (part, after) = rest.split_at_mut(track.rows.len());
        rest = after;
        parts.push((track, part));
    }
    let nest_track = |(track, part): (&Track, &mut [u32])| {
        let first = track.rows.start;
        let spans = track.rows.clone().map(|row| {
            let start = raw.start_ns[row as usize];
            (start, start.saturating_add(raw.dur_ns[row as usize]))
        });
        nest(spans, |position, above| part[position] = if above == NONE { NONE } else { first + above });
    };
    if raw.kind.len() >= PARALLEL_ROWS {
        parts.into_par_iter().for_each(nest_track);
    } else {
        parts.into_iter().for_each(nest_track);
    }
    mark_recorder(&mut raw, &parent, tracks, recorder_names);
    Events {
        start_ns: ScalarBuffer::from(raw.start_ns),
        dur_ns: ScalarBuffer::from(raw.dur_ns),
        name: ScalarBuffer::from(raw.name),
        op: ScalarBuffer::from(raw.op),
        link: ScalarBuffer::from(raw.link),
        detail: ScalarBuffer::from(raw.detail),
        parent: ScalarBuffer::from(parent),
        kind: ScalarBuffer::from(raw.kind),
        attribution: ScalarBuffer::from(raw.attribution),
    }
}

/// Makes overhead of what the recorder did on threads of the host, and of the calls inside of it; its own threads are lines
/// that do not count.
fn mark_recorder(raw: &mut RawColumns, parent: &[u32], tracks: &mut [Track], names: &RecorderNames) {
    if names.work.is_empty() && names.threads.is_empty() {
        return;
    }
    let set = |names: &[StringId]| names.iter().map(|name| name.0).collect::<FxHashSet<u32>>();
    let (names, threads) = (set(&names.work), set(&names.threads));
    let mut is_ours = vec![false; raw.kind.len()];
    for track in tracks.iter_mut().filter(|track| track.kind == TrackKind::HostThread) {
        let rows = track.rows.start as usize..track.rows.end as usize;
        if !threads.is_empty() && raw.name[rows].iter().any(|name| threads.contains(name)) {
            track.kind = TrackKind::Derived;
        }
        // What encloses comes first.
        for row in track.rows.start as usize..track.rows.end as usize {
            let is_inside = is_ours.get(parent[row] as usize).is_some_and(|is_ours| *is_ours);
            is_ours[row] = is_inside || names.contains(&raw.name[row]);
            let is_call = [EventKind::PythonCall as u8, EventKind::HostRange as u8].contains(&raw.kind[row]);
            if is_ours[row] && is_call {
                raw.kind[row] = EventKind::Overhead as u8;
            }
        }
    }
}

/// Sorts allocator events by time; events at one instant keep the order of the capture.
fn sort_allocations(table: &mut Allocations) {
    table.pad_optional();
    if table.time_ns.is_sorted() {
        return;
    }
    let mut order: Vec<usize> = (0..table.time_ns.len()).collect();
    order.sort_by_key(|&row| table.time_ns[row]);
    fn pick<T: Copy>(column: &mut Vec<T>, order: &[usize]) {
        *column = order.iter().map(|&row| column[row]).collect();
    }
    pick(&mut table.process, &order);
    pick(&mut table.time_ns, &order);
    pick(&mut table.allocator, &order);
    pick(&mut table.delta_bytes, &order);
    pick(&mut table.requested_bytes, &order);
    pick(&mut table.in_use_bytes, &order);
    pick(&mut table.peak_bytes, &order);
    pick(&mut table.reserved_bytes, &order);
    pick(&mut table.fragmentation, &order);
    pick(&mut table.address, &order);
    pick(&mut table.owner, &order);
    pick(&mut table.stack, &order);
    pick(&mut table.is_older, &order);
}
