//! When everything would have run under edits, for whoever draws it beside what was captured.

use crate::Replay;
use crate::baseline::Baseline;
use crate::edit::Edit;
use crate::nodes::{Node, end_of, start_of};
use crate::overlay::Overlay;
use crate::pass::Delays;
use crate::reason::Reason;

/// One event, as captured and as replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// Row of the event columns.
    pub row: u32,
    /// Start and end as captured, the device's clock corrected, nanoseconds on the trace clock.
    pub captured: (i64, i64),
    /// The same as replayed.
    pub replayed: (i64, i64),
    /// Whether the edits take it away.
    pub is_gone: bool,
}

/// A capture replayed with edits, event by event.
#[derive(Debug, Clone)]
pub struct Retimed {
    /// Outermost calls and device work, lane by lane, in order of their captured start.
    pub events: Vec<Moved>,
    /// The marked steps, in order of time.
    pub steps: Vec<Moved>,
    /// How well the replay explains the unchanged capture.
    pub baseline: Baseline,
}

impl Replay<'_> {
    /// When every event would have run under `edits`, by the replay with its own latencies: without edits it is the capture.
    ///
    /// # Errors
    /// The reason for which [`Replay::apply`] gives no number, either.
    pub fn retimed(&self, edits: &[Edit]) -> Result<Retimed, Reason> {
        if let Some(reason) = self.apply(edits).refused {
            return Err(reason);
        }
        let overlay = Overlay::of(edits, &self.graph, self.trace);
        let times = self.graph.pass(Delays::Own, &overlay);
        let nodes = &self.graph.nodes;
        let moved = |row: u32, first: u32, last: u32| Moved {
            row,
            captured: (nodes.time(first), nodes.time(last)),
            replayed: (times[first as usize], times[last as usize]),
            is_gone: overlay.is_dropped(first),
        };
        let events = (0..nodes.len()).filter(|event| nodes.kind[*event] != Node::Mark);
        let steps = self.steps.spans.iter();
        Ok(Retimed {
            events: events.map(|event| moved(nodes.row[event], start_of(event), end_of(event))).collect(),
            steps: steps.map(|(first, last)| moved(nodes.row[(first >> 1) as usize], *first, *last)).collect(),
            baseline: self.baseline.clone(),
        })
    }
}
