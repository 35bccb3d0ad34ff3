//! The graph of a capture: nodes, what each waits for, and which wait bound it in the capture.

use crate::classes::{LaunchClasses, Samples, set_gaps};
use crate::edges::{Edge, Edges, Family, LEFT_OUT};
use crate::lane_order::LaneOrder;
use crate::launches::Launches;
use crate::nodes::{Node, Nodes, end_of};
use crate::order::Order;
use crate::{full_queue, skew, syncs, thread_edges, work_edges};
use ridge_trace::{NONE, Trace};
use rustc_hash::FxHashMap;

/// All that a replay needs.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: Nodes,
    pub(crate) launches: Launches,
    pub(crate) lane_order: LaneOrder,
    pub(crate) edges: Edges,
    pub(crate) order: Order,
    /// What each event costs of its own: its duration, less the wait of a blocking call.
    pub(crate) own_ns: Vec<i64>,
    /// Which wait bound each instant in the capture: 0 the one on its lane, then its edges in turn.
    pub(crate) bound: Vec<u8>,
}

impl Graph {
    /// The graph of what begins within `window` of `trace`.
    pub(crate) fn new(trace: &Trace, window: Option<(i64, i64)>) -> Graph {
        let mut nodes = Nodes::new(trace, window);
        let launches = Launches::new(trace, &nodes);
        skew::correct(&mut nodes, &launches);
        let mut lane_order = LaneOrder::new(&nodes, &launches);
        let latencies = LaunchClasses::new(&nodes, &launches, &lane_order);
        set_gaps(&nodes, &launches, &latencies, &mut lane_order);
        let mut found = syncs::find(trace, &nodes, &launches);
        found.extend(full_queue::find(&nodes, &launches));
        found.extend(work_edges::find(&nodes, &launches, &latencies, &lane_order));
        found.extend(thread_edges::find(trace, &nodes, &launches, &mut lane_order));
        set_classes(&nodes, &mut found);
        let mut edges = Edges::new(&nodes, &found);
        drop(found);
        let order = Order::new(&nodes, &mut edges);
        let own_ns = own_times(&nodes, &edges);
        let mut graph = Graph { nodes, launches, lane_order, edges, order, own_ns, bound: Vec::new() };
        graph.bound = graph.bound();
        graph
    }

    /// The instant before `instant` on its lane and the delay from it; [`NONE`] for the first of a lane.
    #[inline]
    pub(crate) fn before(&self, instant: u32) -> (u32, i64) {
        let event = (instant >> 1) as usize;
        if instant & 1 == 0 {
            (self.lane_order.before[event], self.lane_order.delay[event])
        } else {
            (instant - 1, self.own_ns[event])
        }
    }

    fn bound(&self) -> Vec<u8> {
        (0..2 * self.nodes.len() as u32).map(|instant| self.bound_of(instant)).collect()
    }

    /// The wait that ends last by captured times and class delays.
    fn bound_of(&self, instant: u32) -> u8 {
        let (before, delay) = self.before(instant);
        let mut latest = if before == NONE { i64::MIN } else { self.nodes.time(before).saturating_add(delay) };
        let mut bound = 0;
        // More waits than a byte can tell apart are none that a capture has.
        for (at, edge) in self.edges.to(instant).take(usize::from(u8::MAX)).enumerate() {
            let from = self.edges.from[edge];
            if from == LEFT_OUT {
                continue;
            }
            let ready = self.nodes.time(from).saturating_add(self.edges.delay[edge]);
            if ready > latest {
                (latest, bound) = (ready, at as u8 + 1);
            }
        }
        bound
    }

    /// The instant that bound `instant` in the capture and the usual delay from it; `None` for one that waits for nothing.
    pub(crate) fn binding(&self, instant: u32) -> Option<(u32, i64)> {
        let binding = match self.bound[instant as usize] {
            0 => self.before(instant),
            nth => {
                let edge = self.edges.to(instant).start + usize::from(nth) - 1;
                (self.edges.from[edge], self.edges.delay[edge])
            }
        };
        Some(binding).filter(|(from, _)| *from != NONE)
    }
}

/// Gives returns from waits and waits between streams the usual delay of their device.
///
/// What a processor does within the call is kept as measured: it is the call's own.
fn set_classes(nodes: &Nodes, edges: &mut [Edge]) {
    let key = |edge: &Edge| {
        let has_class = matches!(edge.family, Family::Return | Family::StreamWait);
        let lane = &nodes.lanes[nodes.lane_of((edge.from >> 1) as usize)];
        let is_copy = matches!(nodes.kind[(edge.to >> 1) as usize], Node::Call(call) if !call.may_wait());
        (has_class && !lane.is_operations).then_some((lane.device, edge.family, is_copy))
    };
    let keys: Vec<_> = edges.iter().map(key).collect();
    let mut samples: FxHashMap<_, Samples> = FxHashMap::default();
    for (edge, key) in edges.iter().zip(&keys) {
        if let Some(key) = key {
            samples.entry(*key).or_default().add(edge.delay);
        }
    }
    let classes: FxHashMap<_, i64> = samples.into_iter().map(|(key, mut samples)| (key, samples.class())).collect();
    for (edge, key) in edges.iter_mut().zip(&keys) {
        edge.delay = key.and_then(|key| classes.get(&key).copied()).unwrap_or(edge.delay);
    }
}

/// Durations, less the time that a call waited for what its edges come from.
fn own_times(nodes: &Nodes, edges: &Edges) -> Vec<i64> {
    let own = |event: usize| {
        let took = nodes.end[event] - nodes.start[event];
        let waits = edges.to(end_of(event)).filter(|edge| edges.from[*edge] != LEFT_OUT);
        let waited = waits.map(|edge| nodes.time(edges.from[edge]) - nodes.start[event]).max().unwrap_or(0);
        took - waited.clamp(0, took)
    };
    (0..nodes.len()).map(own).collect()
}
