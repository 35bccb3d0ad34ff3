//! Launches that wait because the device's queue is full: the host may be only so many launches ahead.

use crate::calls::Call;
use crate::classes::median;
use crate::edges::{Edge, Family};
use crate::launches::Launches;
use crate::nodes::{Node, Nodes, end_of, start_of};
use ridge_trace::NONE;

/// Work queued when launches began to wait, in the captures that showed it.
const QUEUED: usize = 900;
/// What a queue holds (CUDA).
const ROOM: usize = 1024;
/// A launch that waits takes this many times the median.
const TIMES_LONGER: i64 = 8;

/// From the start of work that made room to the end of the launch that waited for it.
pub(crate) fn find(nodes: &Nodes, launches: &Launches) -> Vec<Edge> {
    let Some(median) = median_launch(nodes) else { return Vec::new() };
    let mut edges = Vec::new();
    for lane in nodes.lanes.iter().filter(|lane| !lane.is_thread() && lane.range().len() > QUEUED) {
        let first = lane.events.start as usize;
        let starts = &nodes.start[lane.range()];
        for event in lane.range().skip(QUEUED).filter(|event| launches.call[*event] != NONE) {
            let call = launches.call[event] as usize;
            let took = nodes.end[call] - nodes.start[call];
            if took <= TIMES_LONGER.saturating_mul(median) || launches.continues(event, first) {
                continue;
            }
            let began = first + starts.partition_point(|start| *start < nodes.start[call]);
            if event.saturating_sub(began) < QUEUED {
                continue;
            }
            // The last work that started within the call made the room.
            let ended = first + starts.partition_point(|start| *start <= nodes.end[call]);
            let made_room = ended.saturating_sub(1).min(event.saturating_sub(QUEUED));
            if made_room >= began && event - made_room <= ROOM + QUEUED {
                let delay = nodes.end[call] - nodes.start[made_room];
                edges.push(Edge { from: start_of(made_room), to: end_of(call), family: Family::FullQueue, delay });
            }
        }
    }
    edges
}

fn median_launch(nodes: &Nodes) -> Option<i64> {
    let is_launch = |event: &usize| nodes.kind[*event] == Node::Call(Call::Launch);
    let mut times: Vec<i64> =
        (0..nodes.len()).filter(is_launch).map(|event| nodes.end[event] - nodes.start[event]).collect();
    median(&mut times)
}
