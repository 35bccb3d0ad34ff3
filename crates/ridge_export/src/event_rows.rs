//! The events as rows of a table: the same columns in every form that is one.

use crate::names::Names;
use crate::tracks::Tracks;
use ridgeline::Trace;
use ridgeline::trace::{EventKind, NONE, Operation, StringId, Track};

/// Names of the columns, in order.
pub(crate) const COLUMNS: [&str; 13] = [
    "row",
    "process",
    "device",
    "track",
    "kind",
    "name",
    "start_ns",
    "dur_ns",
    "caused_by",
    "operation",
    "module",
    "scope",
    "bytes",
];

/// What the columns `process`, `device` and `track` say of every event of `track`; the device is empty for a host's.
pub(crate) fn place(trace: &Trace, tracks: &Tracks<'_>, track: &Track, names: &Names<'_>) -> [String; 3] {
    [
        names.process(trace, track.process as usize),
        track.device.map(|device| Names::device(trace, device as usize)).unwrap_or_default(),
        tracks.name(track, names),
    ]
}

/// The columns of one event behind those of its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventRow {
    pub(crate) kind: EventKind,
    pub(crate) name: StringId,
    /// On the clock of the trace, nanoseconds.
    pub(crate) start_ns: i64,
    /// Nanoseconds.
    pub(crate) dur_ns: i64,
    /// The row of the event that caused it.
    pub(crate) caused_by: Option<u32>,
    pub(crate) operation: Option<StringId>,
    pub(crate) module: Option<StringId>,
    pub(crate) scope: Option<StringId>,
    /// Bytes that it copied.
    pub(crate) bytes: Option<u64>,
}

impl EventRow {
    /// The event at `row`.
    pub(crate) fn new(trace: &Trace, row: usize) -> EventRow {
        let events = &trace.events;
        let operation: Option<&Operation> = trace.operation(row);
        let module = operation.and_then(|operation| trace.modules.get(operation.module as usize));
        EventRow {
            kind: events.kind(row),
            name: StringId(events.name[row]),
            start_ns: events.start_ns[row],
            dur_ns: events.dur_ns[row],
            caused_by: Some(events.link[row]).filter(|link| *link != NONE),
            operation: operation.map(|operation| operation.name),
            module: module.map(|module| module.name),
            scope: operation.map(|operation| operation.scope),
            bytes: trace.transfer(row).map(|transfer| transfer.bytes),
        }
    }
}
