//! The marked steps: their first and last instants, and how long each takes in a replay.

use crate::graph::Graph;
use crate::nodes::{Node, start_of};
use ridge_trace::Trace;
use rustc_hash::FxHashMap;

/// The marked steps by their bounds.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    /// First and last instant of each step, in order of time.
    pub(crate) spans: Vec<(u32, u32)>,
}

impl Steps {
    pub(crate) fn new(trace: &Trace, graph: &Graph) -> Steps {
        let nodes = &graph.nodes;
        let rows: Vec<u32> = trace.steps.iter().map(|step| step.event).collect();
        let mut bounds: FxHashMap<(u32, i64), u32> = FxHashMap::default();
        for event in (0..nodes.len()).filter(|event| nodes.kind[*event] == Node::Mark) {
            bounds.insert((nodes.row[event], nodes.start[event]), start_of(event));
        }
        let bound = |row: u32, time: i64| bounds.get(&(row, time)).copied();
        let span = |row: &u32| {
            let (start, end) = (trace.events.start_ns[*row as usize], trace.events.end_ns(*row as usize));
            Some((bound(*row, start)?, bound(*row, end)?)).filter(|_| end > start)
        };
        let mut spans: Vec<(u32, u32)> = rows.iter().filter_map(span).collect();
        spans.sort_by_key(|(first, _)| nodes.time(*first));
        Steps { spans }
    }

    /// How long each step takes; the first, which warms up, is left out where there are more.
    pub(crate) fn times(&self, times: impl Fn(u32) -> i64) -> Vec<i64> {
        let steady = usize::from(self.spans.len() > 1);
        self.spans[steady..].iter().map(|(first, last)| times(*last).saturating_sub(times(*first))).collect()
    }
}
