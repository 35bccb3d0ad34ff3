//! The owner of a moment of a device, and all moments of one owner.

use crate::models::idle::{Activity, Cause};
use ridge_trace::{DeviceRow, EventKind, EventRow, StringId, Trace};

/// The owner of a moment of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeOwner {
    /// Work of one operation and name.
    Work {
        /// Row of the operations table, or [`ridge_trace::NONE`].
        op: u32,
        /// Name of the events.
        name: StringId,
        /// What they are.
        kind: EventKind,
    },
    /// Nothing ran.
    Idle {
        /// Why.
        cause: Cause,
        /// Host activity during idle time.
        activity: Activity,
        /// Name of the event that did it, or that was waited for.
        name: Option<StringId>,
    },
}

impl TimeOwner {
    /// What the work at event `row` is.
    pub fn work(trace: &Trace, row: usize) -> TimeOwner {
        let events = &trace.events;
        TimeOwner::Work { op: events.op[row], name: StringId(events.name[row]), kind: events.kind(row) }
    }
}

/// The moments of one device with one owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakdownRow {
    /// The device.
    pub device: DeviceRow,
    /// Their owner.
    pub owner: TimeOwner,
    /// How much of the device's time it has, nanoseconds.
    pub ns: i64,
    /// Events that began in that time, or stretches of idle time.
    pub events: u64,
    /// The longest of them, nanoseconds.
    pub longest_ns: i64,
    /// The longest piece of work, or what the host did in the longest stretch; where nothing was recorded of it, the work that
    /// ended the stretch.
    pub example: Option<EventRow>,
}

impl BreakdownRow {
    /// One that is `ns` long was seen.
    pub(super) fn lengthen(&mut self, ns: i64, row: Option<EventRow>) {
        if ns > self.longest_ns {
            (self.longest_ns, self.example) = (ns, row);
        }
    }
}

/// A row, with what it has of each stretch between cuts, nanoseconds.
pub(super) type CutRow = (BreakdownRow, Vec<i64>);
