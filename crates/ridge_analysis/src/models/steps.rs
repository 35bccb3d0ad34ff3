//! Device work by step: each range that the program marked with a step number.

use super::each_work::{WorkRow, for_each_work};
use super::work::{WorkSums, add_event};
use crate::context::coverage::Union;
use crate::context::in_order::InOrder;
use crate::context::{Owners, Shared};
use crate::{Analysis, Need, Workload};
use ridge_trace::{EventRow, StringId};
use rustc_hash::FxHashMap;

/// The steps of a trace in order of time.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    /// One row for each.
    pub rows: Vec<StepRow>,
}

/// One step.
#[derive(Debug, Clone)]
pub struct StepRow {
    /// Its range.
    pub event: EventRow,
    /// Name of the range.
    pub name: StringId,
    /// Its number, as the program gave it.
    pub number: i64,
    /// Duration of its range on its thread, nanoseconds.
    pub wall_ns: i64,
    /// Self times of the device work it caused, nanoseconds.
    pub device_ns: i64,
    /// Length of the union of that work over all devices, nanoseconds.
    pub busy_ns: i64,
    /// The part of the device time that is copies, nanoseconds.
    pub copies_ns: i64,
    /// Kernels, copies and device operations.
    pub events: u64,
    /// Kernels and device operations.
    pub kernels: u64,
    /// First start of its device work, nanoseconds on the trace clock; `None` where it caused none.
    pub first_ns: Option<i64>,
    /// Last end of its device work, nanoseconds on the trace clock.
    pub last_ns: i64,
    /// Its work by kind of device.
    pub work: Vec<WorkSums>,
}

impl Shared for Steps {
    const NEEDS: &'static [Need] = &[Need::of::<Owners>(), Need::of::<Workload>()];

    fn make(analysis: &Analysis<'_>) -> Steps {
        let trace = analysis.trace;
        let positions: FxHashMap<u32, usize> =
            trace.steps.iter().enumerate().map(|(at, step)| (step.event, at)).collect();
        let mut rows: Vec<StepRow> =
            trace.steps.iter().map(|step| StepRow::new(analysis, step.event, step.number)).collect();
        if rows.is_empty() {
            return Steps::default();
        }
        let owners = analysis.owners();
        let step_of = |row: u32| owners.chain(trace, row).find_map(|range| positions.get(&range)).copied();
        for_each_work(trace, |work| {
            if let Some(at) = step_of(work.row) {
                rows[at].add(analysis, work);
            }
        });
        let mut busy = vec![Union::default(); rows.len()];
        InOrder::new(trace, trace.device_tracks().map(|track| track.rows.clone())).for_each(|row| {
            let is_work = trace.events.kind(row).is_device_work();
            if let Some(at) = step_of(row as u32).filter(|_| is_work) {
                busy[at].add(trace.events.start_ns[row], trace.events.end_ns(row));
            }
        });
        rows.iter_mut().zip(busy).for_each(|(row, busy)| row.busy_ns = busy.total_ns());
        Steps { rows }
    }
}

impl StepRow {
    fn new(analysis: &Analysis<'_>, event: u32, number: i64) -> StepRow {
        let events = &analysis.trace.events;
        StepRow {
            event: EventRow(event),
            name: StringId(events.name[event as usize]),
            number,
            wall_ns: events.dur_ns[event as usize],
            device_ns: 0,
            busy_ns: 0,
            copies_ns: 0,
            events: 0,
            kernels: 0,
            first_ns: None,
            last_ns: 0,
            work: Vec::new(),
        }
    }

    fn add(&mut self, analysis: &Analysis<'_>, WorkRow { row, self_ns, device }: WorkRow) {
        let events = &analysis.trace.events;
        let (kind, start) = (events.kind(row as usize), events.start_ns[row as usize]);
        self.device_ns += self_ns;
        self.copies_ns += if kind.is_copy() { self_ns } else { 0 };
        self.events += 1;
        self.kernels += u64::from(kind.is_compute());
        self.first_ns = Some(self.first_ns.map_or(start, |first| first.min(start)));
        self.last_ns = self.last_ns.max(events.end_ns(row as usize));
        add_event(analysis, &mut self.work, row, self_ns, device);
    }

    /// From the first start to the last end of its device work, nanoseconds.
    pub fn device_span_ns(&self) -> Option<i64> {
        self.first_ns.map(|first| self.last_ns - first)
    }
}

impl<'a> Analysis<'a> {
    /// Device work by step.
    pub fn steps(&self) -> &'a Steps {
        self.get()
    }
}
