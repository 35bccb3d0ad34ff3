//! The nodes of the graph: host calls and device work, lane by lane, with two instants each.
//!
//! A lane is a thread or a stream; its events are neighbors, sorted by start.
//! Instant `2 * event` is the event's start, the next one its end.
//! Only outermost calls are events: what a call calls in turn is part of its time.

use crate::calls::{Call, call_of};
use ridge_trace::{EventKind, Events, NONE, Trace, Track, TrackKind};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Times are within this of the clock's zero, so that their differences are numbers; it is 36 years.
const FURTHEST_NS: i64 = 1 << 60;
/// Of more streams, the first are looked at: what waits for what is a search over all of them.
const MOST_STREAMS: usize = 256;

/// What an event of the graph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// A call on a thread.
    Call(Call),
    /// Work on a device.
    Work(WorkKind),
    /// A point on a thread: a step begins or ends.
    Mark,
}

/// What the device does; each has latencies of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WorkKind {
    Compute,
    Copy,
    Memset,
}

/// A thread or a stream.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    pub(crate) events: Range<u32>,
    /// Row of the trace's tracks.
    pub(crate) track: u32,
    pub(crate) process: u32,
    /// Row of the devices table, or [`NONE`] for a thread.
    pub(crate) device: u32,
    /// Id of the stream or thread in the capture.
    pub(crate) native_id: i64,
    /// Operations rather than kernels: those of a processor, which run on its own threads, or of a TPU's core.
    pub(crate) is_operations: bool,
}

impl Lane {
    pub(crate) fn is_thread(&self) -> bool {
        self.device == NONE
    }

    pub(crate) fn range(&self) -> Range<usize> {
        self.events.start as usize..self.events.end as usize
    }
}

/// All events of the graph.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    /// Row of the trace.
    pub(crate) row: Vec<u32>,
    /// Start as captured, the device's clock corrected, nanoseconds.
    pub(crate) start: Vec<i64>,
    /// End as captured.
    pub(crate) end: Vec<i64>,
    pub(crate) kind: Vec<Node>,
    pub(crate) lanes: Vec<Lane>,
    /// The event of each row of the trace, or [`NONE`]; nested rows have that of the outermost.
    pub(crate) of_row: Vec<u32>,
}

/// The start of `event`.
pub(crate) fn start_of(event: usize) -> u32 {
    2 * event as u32
}

/// The end of `event`.
pub(crate) fn end_of(event: usize) -> u32 {
    2 * event as u32 + 1
}

impl Nodes {
    /// The events of `trace` that begin within `window`.
    pub(crate) fn new(trace: &Trace, window: Option<(i64, i64)>) -> Nodes {
        let mut nodes = Nodes { of_row: vec![NONE; trace.events.len()], ..Nodes::default() };
        let hints = Hints {
            calls: trace.strings.iter().map(call_of).collect(),
            awaits: trace.strings.iter().map(|name| name.ends_with("::Await")).collect(),
            causes: causes(trace),
            window: window.unwrap_or((i64::MIN, i64::MAX)),
        };
        for at in 0..trace.tracks.len() as u32 {
            match trace.tracks[at as usize].kind {
                TrackKind::HostThread => nodes.add_thread(trace, at, &hints),
                TrackKind::Stream | TrackKind::OperationLane => nodes.add_device_lane(trace, at, &hints),
                TrackKind::Derived => {}
            }
        }
        nodes
    }

    pub(crate) fn len(&self) -> usize {
        self.row.len()
    }

    /// When an instant was, as captured.
    #[inline]
    pub(crate) fn time(&self, instant: u32) -> i64 {
        let event = (instant >> 1) as usize;
        if instant & 1 == 0 { self.start[event] } else { self.end[event] }
    }

    /// The lane of an event.
    pub(crate) fn lane_of(&self, event: usize) -> usize {
        self.lanes.partition_point(|lane| lane.events.end as usize <= event)
    }

    fn push(&mut self, row: u32, start: i64, end: i64, kind: Node) {
        let start = start.clamp(-FURTHEST_NS, FURTHEST_NS);
        self.row.push(row);
        self.start.push(start);
        self.end.push(end.clamp(start, FURTHEST_NS));
        self.kind.push(kind);
    }

    /// The streams that `key` puts together, at most [`MOST_STREAMS`] of each.
    pub(crate) fn streams_by(&self, key: impl Fn(&Lane) -> u32) -> FxHashMap<u32, Vec<usize>> {
        let mut streams: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (at, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| !lane.is_thread()) {
            let together = streams.entry(key(lane)).or_default();
            if together.len() < MOST_STREAMS {
                together.push(at);
            }
        }
        streams
    }

    fn close(&mut self, first: usize, at: u32, track: &Track, device: u32) {
        if self.len() > first {
            self.lanes.push(Lane {
                events: first as u32..self.len() as u32,
                track: at,
                process: track.process,
                device,
                native_id: track.native_id,
                is_operations: track.kind == TrackKind::OperationLane,
            });
        }
    }

    fn add_device_lane(&mut self, trace: &Trace, at: u32, hints: &Hints) {
        let track = &trace.tracks[at as usize];
        let (events, first) = (&trace.events, self.len());
        let nests = track.kind == TrackKind::OperationLane;
        for row in track.rows.clone() {
            let place = row as usize;
            if !EventKind::from_byte_is_work(events.kind[place]) || !hints.takes(events.start_ns[place]) {
                continue;
            }
            let parent = if nests { events.parent[place] } else { NONE };
            let around = if parent == NONE { NONE } else { self.of_row[parent as usize] };
            if around == NONE {
                self.of_row[place] = self.len() as u32;
                self.push(row, events.start_ns[place], events.end_ns(place), Node::Work(work_kind(events.kind(place))));
            } else {
                self.of_row[place] = around;
            }
        }
        self.close(first, at, track, track.device.unwrap_or(0));
    }

    fn add_thread(&mut self, trace: &Trace, at: u32, hints: &Hints) {
        let track = &trace.tracks[at as usize];
        let events = &trace.events;
        let mut found: Vec<Found> = Vec::new();
        let mut inside: Vec<(u32, u32)> = Vec::new();
        for row in track.rows.clone() {
            let call = found_call(events, row, track.rows.start, hints);
            let Some(call) = call.filter(|call| hints.takes(call.start)) else { continue };
            match found.last() {
                Some(open) if call.start < open.end && call.end <= open.end => {
                    inside.push((row, found.len() as u32 - 1))
                }
                _ => found.push(call),
            }
        }
        if found.is_empty() {
            return;
        }
        let rows: Vec<u32> = found.iter().map(|call| call.row).collect();
        found.extend(marks(trace, track).into_iter().filter(|mark| hints.takes(mark.start)));
        found.sort_by_key(|event| (event.start, event.kind != Node::Mark));
        let first = self.len();
        for event in &found {
            if event.kind != Node::Mark {
                self.of_row[event.row as usize] = self.len() as u32;
            }
            self.push(event.row, event.start, event.end, event.kind);
        }
        for (row, outer) in inside {
            self.of_row[row as usize] = self.of_row[rows[outer as usize] as usize];
        }
        self.close(first, at, track, NONE);
    }
}

/// What tells calls from other ranges.
struct Hints {
    /// By name.
    calls: Vec<Option<Call>>,
    /// By name: one end of a wait.
    awaits: Vec<bool>,
    /// By row: caused the operations of a processor.
    causes: Vec<bool>,
    /// What begins in it is taken.
    window: (i64, i64),
}

impl Hints {
    fn takes(&self, start: i64) -> bool {
        (self.window.0..=self.window.1).contains(&start)
    }
}

#[derive(Debug, Clone, Copy)]
struct Found {
    row: u32,
    start: i64,
    end: i64,
    kind: Node,
}

fn work_kind(kind: EventKind) -> WorkKind {
    match kind {
        EventKind::Memset => WorkKind::Memset,
        kind if kind.is_copy() => WorkKind::Copy,
        _ => WorkKind::Compute,
    }
}

/// The call at `row`, if it is one: by its name, or because it caused device work.
fn found_call(events: &Events, row: u32, first: u32, hints: &Hints) -> Option<Found> {
    let at = row as usize;
    let kind = events.kind(at);
    let (mut start, end) = (events.start_ns[at], events.end_ns(at));
    let name = events.name[at] as usize;
    let named = hints.calls[name];
    let call = match kind {
        EventKind::Launch => Some(named.unwrap_or(Call::Launch)),
        EventKind::Annotation | EventKind::Step | EventKind::Operator | EventKind::Overhead => None,
        _ => named.or(hints.causes[at].then_some(Call::Launch)),
    };
    // XLA marks the beginning and the end of a wait by two events, the second linked to the first.
    let link = events.link[at];
    if hints.awaits[name] && (first..row).contains(&link) {
        start = start.min(events.start_ns[link as usize]);
        return Some(Found { row, start, end, kind: Node::Call(Call::WaitDevice) });
    }
    call.map(|call| Found { row, start, end, kind: Node::Call(call) })
}

/// The bounds of the steps on a thread.
fn marks(trace: &Trace, track: &Track) -> Vec<Found> {
    let events = &trace.events;
    let point = |row: u32, time: i64| Found { row, start: time, end: time, kind: Node::Mark };
    let mut marks = Vec::new();
    let first = trace.steps.partition_point(|step| step.event < track.rows.start);
    for step in trace.steps[first..].iter().take_while(|step| step.event < track.rows.end) {
        let row = step.event as usize;
        marks.extend([point(step.event, events.start_ns[row]), point(step.event, events.end_ns(row))]);
    }
    marks
}

/// Host rows that caused device work and are no launches by kind: XLA on a processor runs its operations from ranges.
fn causes(trace: &Trace) -> Vec<bool> {
    let mut causes = vec![false; trace.events.len()];
    for track in trace.device_tracks().filter(|track| track.kind == TrackKind::OperationLane) {
        // What a loop runs is part of the loop.
        for row in track.rows.clone().filter(|row| trace.events.parent[*row as usize] == NONE) {
            let cause = cause_of(&trace.events, row);
            if cause != NONE {
                causes[cause as usize] = true;
            }
        }
    }
    causes
}

/// How many hand-overs between threads are followed.
const MOST_HOPS: usize = 8;

/// The host row that caused the work at `row`: its launch, or what handed it to the pool that ran it; or [`NONE`].
pub(crate) fn cause_of(events: &Events, row: u32) -> u32 {
    let mut cause = events.link[row as usize];
    for _ in 0..MOST_HOPS {
        match (cause != NONE).then(|| pool_region(events, cause)).flatten() {
            Some(region) if events.link[region as usize] != NONE => cause = events.link[region as usize],
            _ => break,
        }
    }
    if cause == NONE || events.kind[cause as usize] == EventKind::PoolRegion as u8 {
        return NONE;
    }
    // A point inside the range that handed over.
    let around = events.parent[cause as usize];
    let is_point = events.kind[cause as usize] == EventKind::Instant as u8;
    let takes = is_point && around != NONE && events.kind[around as usize] == EventKind::HostRange as u8;
    if takes { around } else { cause }
}

/// The pool's region at or around `row`, which another thread handed to the pool; a launch is one wherever it is.
fn pool_region(events: &Events, row: u32) -> Option<u32> {
    let mut around = row;
    for _ in 0..MOST_HOPS {
        match events.kind(around as usize) {
            EventKind::PoolRegion => return Some(around),
            EventKind::Launch => return None,
            _ if events.parent[around as usize] == NONE => return None,
            _ => around = events.parent[around as usize],
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_test::trace;

    #[test]
    fn nested_calls_are_one_event_and_threads_without_calls_are_none() {
        let trace = trace(
            "thread python
               0 +100 train step=1
               10 +20 cudaLaunchKernel launch id=1
               12 +10 cuLaunchKernel launch id=2
               50 +5 cudaMalloc
             thread idle
               0 +5 poll
             stream 7 on gpu
               20 +5 k id=2",
        );
        let nodes = Nodes::new(&trace, None);
        let marks = nodes.kind.iter().filter(|kind| **kind == Node::Mark).count();
        assert_eq!((nodes.len(), marks, nodes.lanes.len()), (5, 2, 2));
        assert_eq!(nodes.of_row[1], nodes.of_row[2]);
    }
}
