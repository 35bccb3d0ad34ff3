//! What an instant waits for beside the one before it on its lane.

use crate::nodes::Nodes;

/// Why one instant comes after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    /// The call starts, then its work.
    Launch,
    /// The call itself runs the work, after what it does before.
    Inline,
    /// The work ends, then the call that waits for it.
    Return,
    /// Work on another stream ends, then this one starts.
    StreamWait,
    /// One thread hands over to another, or waits for its start.
    HandOver,
    /// The queue of the device is full: work starts, then the launch that waited for room ends.
    FullQueue,
    /// A graph's first piece of work starts, then its first one on another stream.
    Graph,
    /// The work ends, then the thread that waits without a call goes on.
    HiddenWait,
}

/// A dependency between two instants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) family: Family,
    /// Nanoseconds from one to the other with the delay of its class.
    pub(crate) delay: i64,
}

/// All edges between lanes, by the instant they lead to.
#[derive(Debug, Default)]
pub(crate) struct Edges {
    first: Vec<u32>,
    pub(crate) from: Vec<u32>,
    pub(crate) delay: Vec<i64>,
    pub(crate) family: Vec<Family>,
}

/// In `from`: the edge was left out, because it closed a circle.
pub(crate) const LEFT_OUT: u32 = u32::MAX;

impl Edges {
    /// Sorts `edges` by where they lead.
    pub(crate) fn new(nodes: &Nodes, edges: &[Edge]) -> Edges {
        let instants = 2 * nodes.len();
        let mut first = vec![0_u32; instants + 1];
        edges.iter().for_each(|edge| first[edge.to as usize + 1] += 1);
        (0..instants).for_each(|at| first[at + 1] += first[at]);
        let mut next = first.clone();
        let mut sorted = Edges {
            first,
            from: vec![0; edges.len()],
            delay: vec![0; edges.len()],
            family: vec![Family::Launch; edges.len()],
        };
        for edge in edges {
            let at = next[edge.to as usize] as usize;
            next[edge.to as usize] += 1;
            sorted.from[at] = edge.from;
            sorted.delay[at] = edge.delay;
            sorted.family[at] = edge.family;
        }
        sorted
    }

    /// The places of the edges to `instant`.
    #[inline]
    pub(crate) fn to(&self, instant: u32) -> std::ops::Range<usize> {
        self.first[instant as usize] as usize..self.first[instant as usize + 1] as usize
    }
}
