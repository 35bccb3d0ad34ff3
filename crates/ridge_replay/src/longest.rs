//! The critical path of the capture: what each instant waited for, back from the last one.

use crate::Replay;
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

impl Replay<'_> {
    /// What the capture's duration depended on, in order of time, without a gap.
    pub fn critical_path(&self) -> Vec<PathPart> {
        let mut parts: Vec<PathPart> = parts(&self.graph).collect();
        parts.reverse();
        parts
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[test]
    fn the_path_goes_through_what_was_waited_for_without_a_gap() {
        let trace = ridge_test::trace(
            "thread python
               0 +5 cudaLaunchKernel launch id=1
               10 +100 cudaStreamSynchronize
             stream 7 on gpu
               8 +100 gemm id=1
             stream 8 on gpu
               20 +10 aside",
        );
        let replay = Replay::new(&trace, &Options::default());
        let path = replay.critical_path();
        assert!(path.windows(2).all(|two| two[0].until_ns == two[1].from_ns), "{path:?}");
        assert_eq!((path[0].from_ns, path.last().map(|part| part.until_ns)), (0, Some(110)));
        let gemm = PathPart { row: 2, from_ns: 8, until_ns: 108, what: OnPath::Device };
        assert!(path.contains(&gemm) && path.iter().all(|part| part.row != 3), "{path:?}");
        let device: i64 =
            path.iter().filter(|part| part.what == OnPath::Device).map(|part| part.until_ns - part.from_ns).sum();
        assert!((replay.baseline().path.device - device as f64 / 110.0).abs() < 1e-9, "{:?}", replay.baseline());
    }
}
