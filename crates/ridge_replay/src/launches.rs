//! Which call launched which work, and which work belongs to one launch.

use crate::nodes::{Nodes, cause_of};
use ridge_trace::{NONE, Trace};

/// For each event the call that launched it, or [`NONE`].
#[derive(Debug)]
pub(crate) struct Launches {
    pub(crate) call: Vec<u32>,
}

impl Launches {
    pub(crate) fn new(trace: &Trace, nodes: &Nodes) -> Launches {
        let mut call = vec![NONE; nodes.len()];
        for lane in nodes.lanes.iter().filter(|lane| !lane.is_thread()) {
            for event in lane.range() {
                let cause = cause_of(&trace.events, nodes.row[event]);
                call[event] = if cause == NONE { NONE } else { nodes.of_row[cause as usize] };
            }
        }
        Launches { call }
    }

    /// Whether `event` continues what the event before it on its lane began: the next node of a graph, the next operation
    /// of an execution.
    pub(crate) fn continues(&self, event: usize, first: usize) -> bool {
        event > first && self.call[event] != NONE && self.call[event] == self.call[event - 1]
    }

    /// When `event` was launched; the distant past where nothing says it.
    pub(crate) fn time(&self, nodes: &Nodes, event: usize) -> i64 {
        match self.call[event] {
            NONE => i64::MIN,
            call => nodes.start[call as usize],
        }
    }
}
