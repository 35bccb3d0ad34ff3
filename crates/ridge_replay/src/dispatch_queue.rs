//! Dispatches that wait because too many programs are under way: XLA's client for processors takes some thirty, and the host
//! stays in the call until one of them has ended.

use crate::calls::DISPATCH;
use crate::edges::{Edge, Family};
use crate::nodes::{Lane, Node, Nodes, end_of, pool_region};
use ridge_trace::Trace;
use rustc_hash::FxHashMap;

/// Programs under way when dispatches begin to wait.
const UNDER_WAY: usize = 8;
/// Shorter calls wait for nothing.
const SHORTEST_NS: i64 = 50_000;

/// From the end of the program that ended last before a dispatch returned to that return.
pub(crate) fn find(trace: &Trace, nodes: &Nodes) -> Vec<Edge> {
    let mut threads: FxHashMap<u32, Vec<&Lane>> = FxHashMap::default();
    for lane in nodes.lanes.iter().filter(|lane| lane.is_thread()) {
        threads.entry(lane.process).or_default().push(lane);
    }
    threads.values().flat_map(|threads| of_process(trace, nodes, threads)).collect()
}

fn of_process(trace: &Trace, nodes: &Nodes, threads: &[&Lane]) -> Vec<Edge> {
    let calls =
        || threads.iter().flat_map(|lane| lane.range()).filter(|event| matches!(nodes.kind[*event], Node::Call(_)));
    let mut dispatches: Vec<usize> =
        calls().filter(|call| trace.name(nodes.row[*call] as usize).contains(DISPATCH)).collect();
    let mut programs: Vec<usize> =
        calls().filter(|call| pool_region(&trace.events, nodes.row[*call]).is_some()).collect();
    dispatches.sort_by_key(|call| nodes.start[*call]);
    programs.sort_by_key(|call| nodes.end[*call]);
    // Programs that ran within their own dispatch are on no worker.
    let within = dispatches.len().saturating_sub(programs.len());
    let mut ended = 0;
    let mut edges = Vec::new();
    for (taken, &call) in dispatches.iter().enumerate() {
        while ended < programs.len() && nodes.end[programs[ended]] <= nodes.end[call] {
            ended += 1;
        }
        let is_long = nodes.end[call] - nodes.start[call] > SHORTEST_NS;
        let Some(last) = ended.checked_sub(1).map(|last| programs[last]).filter(|_| is_long) else { continue };
        let under_way = (taken + 1).saturating_sub(within).saturating_sub(ended);
        if under_way >= UNDER_WAY && nodes.end[last] > nodes.start[call] {
            let delay = nodes.end[call] - nodes.end[last];
            edges.push(Edge { from: end_of(last), to: end_of(call), family: Family::FullQueue, delay });
        }
    }
    edges
}
