//! What is known of every event beyond its own columns: its own time, how deep it is nested, the step that it belongs to.
//!
//! The numbers are those that tables sum: the self times of an operation's events here are the self time of its row there.

use super::each_work::{WorkRow, for_each_work};
use crate::context::{Owners, Shared};
use crate::{Analysis, Need};
use ridge_trace::{NONE, Trace};
use rustc_hash::FxHashMap;

/// Columns beside those of the events, row by row.
#[derive(Debug, Clone, Default)]
pub struct EventFacts {
    /// Duration less what ran directly inside, nanoseconds.
    pub self_ns: Vec<i64>,
    /// Events of the same track that enclose it.
    pub depth: Vec<u32>,
    /// Row of [`Trace::steps`] that it belongs to, or [`NONE`].
    pub step: Vec<u32>,
}

impl Shared for EventFacts {
    const NEEDS: &'static [Need] = &[Need::of::<Owners>()];

    fn make(analysis: &Analysis<'_>) -> EventFacts {
        let trace = analysis.trace;
        EventFacts { self_ns: self_times(trace), depth: depths(trace), step: steps(analysis) }
    }
}

fn self_times(trace: &Trace) -> Vec<i64> {
    let events = &trace.events;
    let mut own: Vec<i64> = events.dur_ns.to_vec();
    for (row, parent) in events.parent.iter().enumerate() {
        if let Some(time) = own.get_mut(*parent as usize) {
            *time = time.saturating_sub(events.dur_ns[row]);
        }
    }
    // Kernels side by side on one stream hold nothing of one another, and a lane's own nesting knows broken captures.
    for_each_work(trace, |WorkRow { row, self_ns, .. }| own[row as usize] = self_ns);
    own
}

fn depths(trace: &Trace) -> Vec<u32> {
    let parents = &trace.events.parent;
    let mut depths: Vec<u32> = Vec::with_capacity(parents.len());
    for parent in parents.iter() {
        // Rows of a track are sorted, so what encloses a row stands before it.
        depths.push(depths.get(*parent as usize).map_or(0, |depth| depth + 1));
    }
    depths
}

/// The step whose work a row is, as the table of steps counts it, and of a step the step itself.
fn steps(analysis: &Analysis<'_>) -> Vec<u32> {
    let trace = analysis.trace;
    if trace.steps.is_empty() {
        return vec![NONE; trace.events.len()];
    }
    let positions: FxHashMap<u32, u32> = (0..).zip(&trace.steps).map(|(at, step)| (step.event, at)).collect();
    let owners = analysis.owners();
    let of_row = |row: u32| {
        let itself = positions.get(&row);
        itself.or_else(|| owners.chain(trace, row).find_map(|range| positions.get(&range))).copied().unwrap_or(NONE)
    };
    (0..trace.events.len() as u32).map(of_row).collect()
}

impl<'a> Analysis<'a> {
    /// What is known of every event beyond its own columns.
    pub fn event_facts(&self) -> &'a EventFacts {
        self.get()
    }
}
