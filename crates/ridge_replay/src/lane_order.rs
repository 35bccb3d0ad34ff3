//! What comes before each event on its own lane: the call before it, the work before it on the stream.

use crate::launches::Launches;
use crate::nodes::{Lane, Nodes, end_of, start_of};
use ridge_trace::NONE;

/// The instant before each event's start on its lane, and what lies between.
#[derive(Debug)]
pub(crate) struct LaneOrder {
    /// An instant, or [`NONE`] for the first event of a lane.
    pub(crate) before: Vec<u32>,
    /// Nanoseconds between the two: as measured, or of its class where `is_class` says so.
    pub(crate) delay: Vec<i64>,
    /// Whether the delay is the stream's own latency rather than time that something else used.
    pub(crate) is_class: Vec<bool>,
}

impl LaneOrder {
    pub(crate) fn new(nodes: &Nodes, launches: &Launches) -> LaneOrder {
        let count = nodes.len();
        let mut order = LaneOrder { before: vec![NONE; count], delay: vec![0; count], is_class: vec![false; count] };
        for lane in &nodes.lanes {
            if lane.is_thread() {
                order.fill_thread(nodes, lane);
            } else {
                order.fill_stream(nodes, launches, lane);
            }
        }
        order
    }

    fn fill_thread(&mut self, nodes: &Nodes, lane: &Lane) {
        for event in lane.range().skip(1) {
            self.before[event] = end_of(event - 1);
            self.delay[event] = nodes.start[event] - nodes.end[event - 1];
        }
    }

    /// Work that overlaps the work before it is ordered by starts, as dependent launches and processors do.
    fn fill_stream(&mut self, nodes: &Nodes, launches: &Launches, lane: &Lane) {
        let first = lane.events.start as usize;
        let mut last = first;
        for event in lane.range().skip(1) {
            let overlaps = nodes.start[event] < nodes.end[last];
            self.before[event] = if overlaps { start_of(event - 1) } else { end_of(last) };
            self.delay[event] = nodes.start[event] - nodes.time(self.before[event]);
            self.is_class[event] =
                !overlaps && launches.call[event] != NONE && !launches.continues(event, first) && !lane.is_operations;
            if nodes.end[event] >= nodes.end[last] {
                last = event;
            }
        }
    }
}
