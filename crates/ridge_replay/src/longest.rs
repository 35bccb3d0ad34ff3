//! The critical path of the capture: what each instant waited for, back from the last one.

use crate::graph::Graph;
use crate::nodes::{Node, end_of};

/// What a part of the critical path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OnPath {
    /// Device work.
    Device,
    /// A call.
    Call,
    /// The host between calls.
    Host,
    /// A launch, a gap, a return or another wait.
    Wait,
}

/// A part of the critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathPart {
    /// The work or the call, a row of the trace; for the host and waits, what came next.
    pub row: u32,
    /// When it begins, nanoseconds on the trace clock, the device's clock corrected.
    pub from_ns: i64,
    /// When it ends.
    pub until_ns: i64,
    /// What it is.
    pub what: OnPath,
}

/// Walks back from the last instant along what bound each.
pub(crate) fn parts(graph: &Graph) -> impl Iterator<Item = PathPart> + '_ {
    let nodes = &graph.nodes;
    let last = (0..nodes.len()).max_by_key(|event| nodes.end[*event]).map(end_of);
    let step = move |instant: u32| {
        let (before, _) = graph.binding(instant)?;
        let event = (instant >> 1) as usize;
        let is_own = instant & 1 == 1 && before == instant - 1;
        let what = match nodes.kind[event] {
            Node::Work(_) if is_own => OnPath::Device,
            Node::Call(_) if is_own => OnPath::Call,
            Node::Call(_) | Node::Mark if instant & 1 == 0 && graph.bound[instant as usize] == 0 => OnPath::Host,
            _ => OnPath::Wait,
        };
        let (from_ns, until_ns) = (nodes.time(before), nodes.time(instant));
        Some((PathPart { row: nodes.row[event], from_ns, until_ns, what }, before))
    };
    std::iter::successors(last.and_then(step), move |(_, before)| step(*before)).map(|(part, _)| part)
}
