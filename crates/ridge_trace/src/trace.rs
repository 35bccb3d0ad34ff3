//! The finished trace and the questions every analysis asks of it.

use crate::event::{Events, NONE};
use crate::side_tables::{
    Allocations, Counters, Device, LaunchShape, Module, Operation, Process, Step, Track, TrackKind, Transfer,
};
use crate::strings::{StringId, Strings};

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
    /// Marked steps by event row.
    pub steps: Vec<Step>,
    pub(crate) span_ns: Option<(i64, i64)>,
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
        let moves = kind.is_copy() || kind == crate::EventKind::Memset;
        moves.then(|| self.transfers.get(self.events.detail[row] as usize)).flatten()
    }

    /// The tracks that hold device work: streams and operation lanes.
    pub fn device_tracks(&self) -> impl Iterator<Item = &Track> {
        self.tracks.iter().filter(|track| matches!(track.kind, TrackKind::Stream | TrackKind::OperationLane))
    }

    /// The tracks of the device at row `device` of the devices table.
    pub fn tracks_of_device(&self, device: u32) -> impl Iterator<Item = &Track> {
        self.device_tracks().filter(move |track| track.device == Some(device))
    }

    /// First start and last end over all counted events, nanoseconds on the trace clock; `None` without events.
    pub fn span_ns(&self) -> Option<(i64, i64)> {
        self.span_ns
    }
}

/// The span of all tracks but derived ones.
pub(crate) fn span_of(tracks: &[Track], events: &Events) -> Option<(i64, i64)> {
    let counted = tracks.iter().filter(|track| track.kind != TrackKind::Derived && !track.rows.is_empty());
    counted.fold(None, |span, track| {
        let rows = track.rows.start as usize..track.rows.end as usize;
        let first = events.start_ns[rows.start];
        let last = rows.map(|row| events.end_ns(row)).max().unwrap_or(first);
        let (low, high) = span.unwrap_or((first, last));
        Some((low.min(first), high.max(last)))
    })
}
