//! What work waits for beside its own stream: its launch, the graph it is a node of, and work on other streams.

use crate::calls::Call;
use crate::classes::{LaunchClasses, is_slow, on_idle_stream};
use crate::edges::{Edge, Family};
use crate::lane_order::LaneOrder;
use crate::launches::Launches;
use crate::nodes::{Lane, Node, Nodes, end_of, start_of};
use ridge_trace::NONE;

/// A wait told to a stream this many launches ago still concerns this one.
const LAUNCHES_AFTER_WAIT: usize = 4;
/// How many calls are looked back over for those launches.
const MOST_CALLS_BACK: usize = 64;
/// How much work of another stream is looked back over for what was launched earlier.
const MOST_WORK_BACK: usize = 64;
/// With such a wait, work of another stream that ends within this before the start was waited for.
const TOLD_NS: i64 = 40_000;
/// Without one, within this.
const UNTOLD_NS: i64 = 8_000;
/// Work may seem to start this much before what it waits for has ended.
const OVERLAP_NS: i64 = 1_500;
/// Less than this needs no explanation.
const UNEXPLAINED_NS: i64 = 1_000;

/// The edges to the starts of work, the delays of other streams' as measured.
pub(crate) fn find(nodes: &Nodes, launches: &Launches, latencies: &LaunchClasses, order: &LaneOrder) -> Vec<Edge> {
    let heads = heads(nodes, launches);
    let streams = nodes.streams_by(|lane| lane.device);
    let mut edges = Vec::new();
    for (at, lane) in nodes.lanes.iter().enumerate().filter(|(_, lane)| !lane.is_thread()) {
        let others: Vec<&Lane> = match streams.get(&lane.device) {
            Some(streams) if !lane.is_operations => {
                streams.iter().filter(|other| **other != at).map(|other| &nodes.lanes[*other]).collect()
            }
            _ => Vec::new(),
        };
        let first = lane.events.start as usize;
        for event in lane.range() {
            if launches.continues(event, first) || launches.call[event] == NONE {
                continue;
            }
            let head = heads[launches.call[event] as usize];
            if head != event as u32 {
                edges.push(in_graph(nodes, head as usize, event));
                continue;
            }
            let launch = launch(nodes, launches, latencies, order, lane, event);
            edges.push(launch);
            if !others.is_empty() {
                edges.extend(stream_wait(nodes, launches, order, &others, &launch, event));
            }
        }
    }
    edges
}

/// The first work that each call launched, over all streams, or [`NONE`].
fn heads(nodes: &Nodes, launches: &Launches) -> Vec<u32> {
    let mut heads = vec![NONE; nodes.len()];
    for (event, call) in launches.call.iter().enumerate().filter(|(_, call)| **call != NONE) {
        let head = &mut heads[*call as usize];
        if *head == NONE || nodes.start[event] < nodes.start[*head as usize] {
            *head = event as u32;
        }
    }
    heads
}

fn in_graph(nodes: &Nodes, head: usize, event: usize) -> Edge {
    let delay = nodes.start[event] - nodes.start[head];
    Edge { from: start_of(head), to: start_of(event), family: Family::Graph, delay }
}

/// From the call to its work: the class, but as measured where the call itself took long or ran the work.
fn launch(
    nodes: &Nodes,
    launches: &Launches,
    latencies: &LaunchClasses,
    order: &LaneOrder,
    lane: &Lane,
    event: usize,
) -> Edge {
    let call = launches.call[event] as usize;
    let measured = nodes.start[event] - nodes.start[call];
    let runs_it = lane.is_operations && nodes.end[event] <= nodes.end[call];
    let is_kept = runs_it
        || (is_slow(nodes, launches, event)
            && on_idle_stream(nodes, launches, order, event)
            && nodes.start[event] <= nodes.end[call]);
    let Node::Work(kind) = nodes.kind[event] else { unreachable!("streams hold work") };
    let delay = if is_kept { measured } else { latencies.get(lane.device, kind) };
    let family = if runs_it { Family::Inline } else { Family::Launch };
    Edge { from: start_of(call), to: start_of(event), family, delay }
}

/// The work on another stream that `event` waited for, where its start shows that it waited.
fn stream_wait(
    nodes: &Nodes,
    launches: &Launches,
    order: &LaneOrder,
    others: &[&Lane],
    launch: &Edge,
    event: usize,
) -> Option<Edge> {
    let start = nodes.start[event];
    let call = launches.call[event] as usize;
    let on_stream = order.before[event];
    let stream_ready =
        if on_stream == NONE { i64::MIN } else { nodes.time(on_stream).saturating_add(order.delay[event]) };
    let ready = stream_ready.max(nodes.time(launch.from).saturating_add(launch.delay));
    let window = match () {
        () if was_told_to_wait(nodes, call) => TOLD_NS,
        () if start - ready > UNEXPLAINED_NS => UNTOLD_NS,
        () => return None,
    };
    let last = |lane: &&Lane| {
        let events = lane.range();
        let after = events.start + nodes.start[events.clone()].partition_point(|began| *began < start);
        let is_before =
            |work: &usize| nodes.end[*work] <= start + OVERLAP_NS && launches.time(nodes, *work) <= nodes.start[call];
        (events.start..after).rev().take(MOST_WORK_BACK).find(is_before)
    };
    let near = |work: &usize| nodes.end[*work] >= start - window;
    let work = others.iter().filter_map(last).filter(near).max_by_key(|work| nodes.end[*work])?;
    Some(Edge { from: end_of(work), to: start_of(event), family: Family::StreamWait, delay: start - nodes.end[work] })
}

/// Whether one of the last calls before `call` on its thread made a stream wait for an event.
fn was_told_to_wait(nodes: &Nodes, call: usize) -> bool {
    let first = nodes.lanes[nodes.lane_of(call)].events.start as usize;
    let mut launches = 0;
    for before in (first..call).rev().take(MOST_CALLS_BACK) {
        match nodes.kind[before] {
            Node::Call(Call::StreamWait) => return true,
            Node::Call(Call::Launch | Call::Copy) => launches += 1,
            _ => {}
        }
        if launches == LAUNCHES_AFTER_WAIT {
            return false;
        }
    }
    false
}
