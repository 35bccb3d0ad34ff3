//! Totals of rows in which nothing counts twice: a loop and its body, where both are in one row.

use super::groups::Key;
use super::partition::WorkRow;
use crate::Analysis;
use ridge_trace::{EventKind, NONE, TrackKind};
use rustc_hash::FxHashMap;

/// Takes out of each total what ran inside other work of the same row.
///
/// Only lanes of operations hold work inside work.
pub(crate) fn count_once<K>(analysis: &Analysis<'_>, rows: &mut [WorkRow<K>]) {
    let trace = analysis.trace;
    let mut row_of: FxHashMap<(u32, Key), usize> = FxHashMap::default();
    for (at, row) in rows.iter().enumerate() {
        row_of.extend(row.time.groups(analysis).into_iter().map(|group| ((group.device, group.key()), at)));
    }
    let events = &trace.events;
    let mut open = Open { stack: Vec::new(), counts: vec![0; rows.len()] };
    for track in trace.device_tracks().filter(|track| track.kind == TrackKind::OperationLane) {
        for event in track.rows.clone() {
            open.close_up_to(events.parent[event as usize]);
            let is_work = EventKind::from_byte_is_work(events.kind[event as usize]);
            let key = (track.device.unwrap_or(NONE), Key::of(events, event as usize));
            let at = is_work.then(|| row_of.get(&key).copied()).flatten();
            if let Some(at) = at.filter(|at| open.counts[*at] > 0) {
                rows[at].time.total_ns = rows[at].time.total_ns.saturating_sub(events.dur_ns[event as usize]);
            }
            open.begin(event, at);
        }
        open.close_up_to(NONE);
    }
}

/// The events around the one that is looked at.
struct Open {
    /// Each with its row, the outermost first.
    stack: Vec<(u32, Option<usize>)>,
    /// By row, how many of them are its.
    counts: Vec<u32>,
}

impl Open {
    fn begin(&mut self, event: u32, row: Option<usize>) {
        row.into_iter().for_each(|row| self.counts[row] += 1);
        self.stack.push((event, row));
    }

    /// Ends those that are not around an event inside `parent`.
    fn close_up_to(&mut self, parent: u32) {
        while let Some((_, row)) = self.stack.pop_if(|(event, _)| *event != parent) {
            row.into_iter().for_each(|row| self.counts[row] -= 1);
        }
    }
}
