//! When the instructions of a module first ran, to give lifetimes in time beside those in positions.
//!
//! Operations that leave no event of their own (tuples, bitcasts) take the time of their neighbors in the schedule.

use super::schedule::Schedule;
use ridge_hlo::InstructionId;
use ridge_trace::{EventKind, NONE, Operation, Trace};

/// Starts and ends of the first device events of each position.
#[derive(Debug, Default)]
pub(crate) struct FirstRuns {
    /// Start of the first event at or after each position in schedule order: position of that event, start.
    next: Vec<Option<(u32, i64)>>,
    /// Position of the last one with events at or before each position.
    before: Vec<Option<u32>>,
    /// Start and end of every event by position, in order of start.
    events: Vec<Vec<(i64, i64)>>,
}

impl FirstRuns {
    /// The events of the module at row `module` of the modules table.
    pub(crate) fn new(trace: &Trace, module: u32, schedule: &Schedule) -> FirstRuns {
        let mut events = events_by_position(trace, module, schedule);
        events.iter_mut().for_each(|events| events.sort_unstable());
        let positions = schedule.len();
        let first = |position: u32| events.get(position as usize).and_then(|events| events.first());
        let (mut next, mut before) = (vec![None; positions as usize], vec![None; positions as usize]);
        let (mut later, mut earlier) = (None, None);
        for position in (0..positions).rev() {
            later = first(position).map(|(start, _)| (position, *start)).or(later);
            next[position as usize] = later;
        }
        for position in 0..positions {
            earlier = if first(position).is_some() { Some(position) } else { earlier };
            before[position as usize] = earlier;
        }
        FirstRuns { next, before, events }
    }

    /// Time from the first event of position `from` to the end of the next one of position `to`, nanoseconds.
    pub(crate) fn between(&self, (from, to): (u32, u32)) -> Option<i64> {
        let (first, start) = self.next.get(from as usize).copied().flatten()?;
        let last = self.before.get(to as usize).copied().flatten().filter(|last| *last >= first)?;
        let after = self.events.get(last as usize)?.iter().find(|(begin, _)| *begin >= start)?;
        Some(after.1 - start)
    }
}

fn events_by_position(trace: &Trace, module: u32, schedule: &Schedule) -> Vec<Vec<(i64, i64)>> {
    let position = |op: &Operation| {
        let is_ours = op.module == module && op.instruction != NONE;
        is_ours.then(|| schedule.position(InstructionId(op.instruction))).flatten()
    };
    let position_of_op: Vec<Option<u32>> = trace.operations.iter().map(position).collect();
    if position_of_op.iter().all(Option::is_none) {
        return Vec::new();
    }
    let mut events: Vec<Vec<(i64, i64)>> = vec![Vec::new(); schedule.len() as usize];
    // Runs on several devices overlap, so the first device that ran it is enough.
    let mut device = None;
    for track in trace.device_tracks() {
        if device.is_some_and(|device| device != track.device) {
            continue;
        }
        for row in track.rows.start as usize..track.rows.end as usize {
            let position = position_of_op.get(trace.events.op[row] as usize).copied().flatten();
            let is_work = EventKind::from_byte_is_work(trace.events.kind[row]);
            if let Some(position) = position.filter(|_| is_work) {
                device = Some(track.device);
                events[position as usize].push((trace.events.start_ns[row], trace.events.end_ns(row)));
            }
        }
    }
    events
}
