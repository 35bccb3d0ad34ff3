//! The dependency graph of a capture, and what the capture would take under edits.
//!
//! Host calls and device work are nodes of two instants each.
//! An instant waits for others: the call before it on its thread, the work before it on its stream, a launch, the end of the
//! work that a blocking call waits for, work on another stream, another thread.
//! A [`Replay`] computes all instants anew: with the delays of the capture that gives the capture back to the nanosecond, and
//! with an [`Edit`] it gives what the capture would have taken.
//!
//! Waits are recorded by few formats; the others are inferred, and [`Replay::baseline`] says how well that explains the
//! capture: the error with usual delays, the share of time that no edit can reach, and whether a number may be given.
//! No file is opened here, and no format is known.
//!
//! ```
//! use ridge_replay::{Action, Edit, Options, Replay};
//! let trace = ridge_test::trace("
//!     thread python
//!       0 +5 cudaLaunchKernel launch id=1
//!       10 +100 cudaStreamSynchronize
//!     stream 7 on gpu
//!       8 +100 gemm id=1
//! ");
//! let replay = Replay::new(&trace, &Options::default());
//! assert_eq!(replay.baseline().own_error_ns, 0);
//! let faster = replay.apply(&[Edit { rows: vec![2], action: Action::Scale(0.5) }]);
//! assert!(faster.refused.is_none() && (faster.low_ns..=faster.high_ns).contains(&50));
//! ```

mod baseline;
mod calls;
mod classes;
mod edges;
mod edit;
mod full_queue;
mod graph;
mod lane_order;
mod launches;
mod longest;
mod nodes;
mod options;
mod order;
mod overlay;
mod pass;
mod predict;
mod reason;
mod retimed;
mod skew;
mod steps;
mod syncs;
#[cfg(test)]
mod tests;
mod thread_edges;
mod work_edges;

pub use baseline::{Baseline, Path, Stretch};
pub use edit::{Action, Edit};
pub use longest::{OnPath, PathPart};
pub use options::Options;
pub use predict::{Basis, PerStep, Prediction};
pub use reason::Reason;
pub use retimed::{Moved, Retimed};

use baseline::Replayed;
use graph::Graph;
use ridge_trace::{Device, Trace};
use steps::Steps;

/// A capture's graph, ready for edits.
#[derive(Debug)]
pub struct Replay<'t> {
    trace: &'t Trace,
    graph: Graph,
    steps: Steps,
    options: Options,
    baseline: Baseline,
    replayed: Replayed,
    /// Whether the device is the processor that the host's threads share.
    is_cpu: bool,
}

impl<'t> Replay<'t> {
    /// Builds the graph of `trace` and replays it without edits.
    pub fn new(trace: &'t Trace, options: &Options) -> Replay<'t> {
        let graph = Graph::new(trace, options.window);
        let steps = Steps::new(trace, &graph);
        let (baseline, replayed) = baseline::measure(&graph, &steps, options);
        let is_cpu = trace.devices.iter().any(Device::is_processor);
        Replay { trace, graph, steps, options: options.clone(), baseline, replayed, is_cpu }
    }

    /// How well the replay explains the unchanged capture.
    pub fn baseline(&self) -> &Baseline {
        &self.baseline
    }

    /// What the capture's duration depended on, in order of time, without a gap.
    pub fn critical_path(&self) -> Vec<PathPart> {
        let mut parts: Vec<PathPart> = longest::parts(&self.graph).collect();
        parts.reverse();
        parts
    }
}
