//! The finished trace and the questions every analysis asks of it.

use crate::event::{EventKind, Events, NONE};
use crate::framework_tables::{Backward, Collective, FusedKernel, OperatorShape};
use crate::memory::Memory;
use crate::profiles::KernelProfiles;
use crate::python::PythonSamples;
use crate::side_tables::{
    Allocations, Counters, Device, LaunchShape, Module, Operation, Process, Step, Track, TrackKind, Transfer,
};
use crate::strings::{StringId, Strings};
use rayon::prelude::*;

/// Traces with fewer rows are finished on one thread: starting others costs more.
pub(crate) const PARALLEL_ROWS: usize = 1 << 16;

/// What a program did: event columns and side tables, unchanging.
#[derive(Debug, Clone)]
pub struct Trace {
    /// The string table.
    pub strings: Strings,
    /// Captured processes.
    pub processes: Vec<Process>,
    /// Devices of all processes.
    pub devices: Vec<Device>,
    /// Tracks; each is a range of event rows.
    pub tracks: Vec<Track>,
    /// The event columns.
    pub events: Events,
    /// How kernels were launched.
    pub launch_shapes: Vec<LaunchShape>,
    /// What copies moved.
    pub transfers: Vec<Transfer>,
    /// Compiled programs.
    pub modules: Vec<Module>,
    /// Operations of modules and frameworks.
    pub operations: Vec<Operation>,
    /// Sampled values.
    pub counters: Counters,
    /// Allocator events by time.
    pub allocations: Allocations,
    /// Memory snapshots, call stacks and segments.
    pub memory: Memory,
    /// Kernels under a hardware profiler, with their metrics.
    pub profiles: KernelProfiles,
    /// Marked steps by event row.
    pub steps: Vec<Step>,
    /// What framework operators were called with.
    pub operator_shapes: Vec<OperatorShape>,
    /// Kernels that a compiler of a framework made of operators.
    pub fused: Vec<FusedKernel>,
    /// Collectives by event row.
    pub collectives: Vec<Collective>,
    /// Operators of the backward pass by event row.
    pub backwards: Vec<Backward>,
    /// Rows of the operators for whose gradients autograd kept something, ascending.
    pub recorded: Vec<u32>,
    /// Where the program's Python stood; whoever has it sets it when the trace is built.
    pub python: PythonSamples,
    pub(crate) process_spans: Vec<Option<(i64, i64)>>,
}

impl Trace {
    /// Name of event `row`.
    pub fn name(&self, row: usize) -> &str {
        self.strings.get(StringId(self.events.name[row]))
    }

    /// The operation of event `row`, where it is known.
    pub fn operation(&self, row: usize) -> Option<&Operation> {
        let op = self.events.op[row];
        if op == NONE { None } else { self.operations.get(op as usize) }
    }

    /// How the kernel at event `row` was launched, where it is a kernel and the capture says it.
    pub fn launch_shape(&self, row: usize) -> Option<&LaunchShape> {
        let is_kernel = self.events.kind(row).is_compute();
        is_kernel.then(|| self.launch_shapes.get(self.events.detail[row] as usize)).flatten()
    }

    /// What the copy or memory set at event `row` moved, where it is one and the capture says it.
    pub fn transfer(&self, row: usize) -> Option<&Transfer> {
        let kind = self.events.kind(row);
        let moves = kind.is_copy() || kind == EventKind::Memset;
        moves.then(|| self.transfers.get(self.events.detail[row] as usize)).flatten()
    }

    /// What the operator at event `row` was called with, where it is one and the capture says it.
    pub fn operator_shape(&self, row: usize) -> Option<&OperatorShape> {
        let is_operator = self.events.kind(row) == EventKind::Operator;
        is_operator.then(|| self.operator_shapes.get(self.events.detail[row] as usize)).flatten()
    }

    /// The tracks that hold device work: streams and operation lanes.
    pub fn device_tracks(&self) -> impl Iterator<Item = &Track> {
        self.tracks.iter().filter(|track| matches!(track.kind, TrackKind::Stream | TrackKind::OperationLane))
    }

    /// Processes that launched kernels and of whose devices nothing was recorded, each with how many it launched.
    ///
    /// Nothing is known of their devices: they were neither busy nor idle as far as the capture says.
    pub fn processes_without_device_activity(&self) -> Vec<(u32, u64)> {
        let kinds = |track: &Track| &self.events.kind[track.rows.start as usize..track.rows.end as usize];
        let mut launches = vec![0_u64; self.processes.len()];
        // One piece of work is enough to know that devices were recorded; then no name of a launch is looked at.
        for track in &self.tracks {
            if kinds(track).iter().any(|kind| EventKind::from_byte_is_work(*kind)) {
                launches[track.process as usize] = u64::MAX;
            }
        }
        for track in &self.tracks {
            if launches[track.process as usize] == u64::MAX {
                continue;
            }
            let rows = kinds(track).iter().zip(track.rows.clone());
            let found = rows.filter(|(kind, row)| self.launches_a_kernel(**kind, *row)).count();
            launches[track.process as usize] += found as u64;
        }
        let counted = (0..).zip(launches);
        counted.filter(|(_, launches)| (1..u64::MAX).contains(launches)).collect()
    }

    fn launches_a_kernel(&self, kind: u8, row: u32) -> bool {
        kind == EventKind::Launch as u8 && self.name(row as usize).contains("Launch")
    }

    /// The track that holds event `row`; `None` where there is no such event.
    pub fn track_of(&self, row: u32) -> Option<&Track> {
        let after = self.tracks.partition_point(|track| track.rows.start <= row);
        after.checked_sub(1).map(|at| &self.tracks[at]).filter(|track| track.rows.contains(&row))
    }

    /// The tracks of the device at row `device` of the devices table.
    pub fn tracks_of_device(&self, device: u32) -> impl Iterator<Item = &Track> {
        self.device_tracks().filter(move |track| track.device == Some(device))
    }

    /// First start and last end over all counted events, nanoseconds on the trace clock; `None` without events.
    pub fn span_ns(&self) -> Option<(i64, i64)> {
        let spans = || self.process_spans.iter().flatten();
        let first = spans().map(|(first, _)| *first).min()?;
        Some((first, spans().map(|(_, last)| *last).max()?))
    }

    /// Wall time of the captures, nanoseconds: from the first event to the last of each process, overlaps counted once.
    ///
    /// Time between captures that follow one another is nobody's and does not count.
    pub fn wall_ns(&self) -> i64 {
        let mut spans: Vec<(i64, i64)> = self.process_spans.iter().flatten().copied().collect();
        spans.sort_unstable();
        let (mut wall, mut until) = (0, i64::MIN);
        for (first, last) in spans {
            wall += (last - first.max(until)).max(0);
            until = until.max(last);
        }
        wall
    }

    /// First start and last end of the counted events of one process, nanoseconds on the trace clock.
    pub fn process_span_ns(&self, process: u32) -> Option<(i64, i64)> {
        self.process_spans.get(process as usize).copied().flatten()
    }

    /// Wall time of one process, nanoseconds: from its first event to its last.
    pub fn process_wall_ns(&self, process: u32) -> i64 {
        self.process_spans.get(process as usize).copied().flatten().map_or(0, |(first, last)| last - first)
    }
}

/// First start and last end of every process that has counted events.
pub(crate) fn process_spans(processes: usize, tracks: &[Track], events: &Events) -> Vec<Option<(i64, i64)>> {
    let counted: Vec<&Track> =
        tracks.iter().filter(|track| track.kind != TrackKind::Derived && !track.rows.is_empty()).collect();
    let span = |track: &&Track| {
        let rows = track.rows.start as usize..track.rows.end as usize;
        let first = events.start_ns[rows.start];
        (track.process, first, rows.map(|row| events.end_ns(row)).max().unwrap_or(first))
    };
    let found: Vec<(u32, i64, i64)> = if events.len() >= PARALLEL_ROWS {
        counted.par_iter().map(span).collect()
    } else {
        counted.iter().map(span).collect()
    };
    let mut spans: Vec<Option<(i64, i64)>> = vec![None; processes];
    for (process, first, last) in found {
        if let Some(span) = spans.get_mut(process as usize) {
            let (low, high) = span.unwrap_or((first, last));
            *span = Some((low.min(first), high.max(last)));
        }
    }
    spans
}
