//! Every piece of device work, with the time that it had for itself.

use crate::context::groups::time_inside;
use ridge_trace::{EventKind, NONE, Trace, TrackKind};

/// One event of device work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkRow {
    /// Its row in the event columns.
    pub(crate) row: u32,
    /// Its duration less what ran nested inside, nanoseconds.
    pub(crate) self_ns: i64,
    /// Row of the devices table, or [`NONE`].
    pub(crate) device: u32,
}

/// Calls `visit` with every row of device work.
pub(crate) fn for_each_work(trace: &Trace, mut visit: impl FnMut(WorkRow)) {
    let events = &trace.events;
    for track in trace.device_tracks() {
        let is_lane = track.kind == TrackKind::OperationLane;
        let inside = if is_lane { time_inside(trace, &track.rows) } else { Vec::new() };
        let device = track.device.unwrap_or(NONE);
        for row in track.rows.clone().filter(|row| EventKind::from_byte_is_work(events.kind[*row as usize])) {
            let within = inside.get((row - track.rows.start) as usize).copied().unwrap_or(0);
            visit(WorkRow { row, self_ns: (events.dur_ns[row as usize] - within).max(0), device });
        }
    }
}
