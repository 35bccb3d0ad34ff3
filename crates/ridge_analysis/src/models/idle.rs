//! Why each device was idle: every gap of the union of its streams, with its causes.
//!
//! A device's *capture window* is the time of its process, first event to last; its *active window* is from its first
//! work to the end of its last. The capture window is the sum of a head, the active window's busy time and gaps, and a
//! tail; each gap is the sum of its parts. All of it is whole nanoseconds, so the sums are exact.
//!
//! [`Idle`] sweeps each device once, attributes each gap once, and sums what the tables that were asked for need. It
//! keeps gaps as pairs of rows; what a gap's parts are is worked out again only where a table shows that gap.

pub(crate) mod activity;
pub(crate) mod attribute;
pub(crate) mod before;
pub(crate) mod cause;
pub(crate) mod context;
mod latency;
mod queue;
pub(crate) mod sums;
mod sweep;
#[cfg(test)]
mod tests;
mod threads;

pub use activity::Activity;
pub use attribute::Gap;
pub use cause::Cause;
pub use latency::Latency;
pub use queue::{Queue, SmallKernels};
pub use sums::Sum;

use crate::{Analysis, Need, Owners, Shared};
use activity::DoingKey;
use attribute::{Attributor, work_end};
use context::Context;
use rayon::prelude::*;
use ridge_trace::{DeviceRow, EventRow, NONE, StringId, Trace};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use sums::{SumBy, Sums};
use sweep::{Gaps, Swept, sweep};

/// The idle time of devices, attributed.
#[derive(Debug)]
pub struct Idle {
    pub(crate) context: Arc<Context>,
    /// The devices that worked, in the order of the devices table.
    pub devices: Vec<Arc<DeviceIdle>>,
    /// Devices that did no work.
    pub unused: Vec<DeviceRow>,
}

impl Shared for Idle {
    const NEEDS: &'static [Need] = &[Need::of::<Owners>()];

    fn make(analysis: &Analysis<'_>) -> Idle {
        let trace = analysis.trace;
        let context = Context::new(trace);
        let all = 0..trace.devices.len() as u32;
        let found: Vec<Option<DeviceIdle>> =
            all.clone().into_par_iter().map(|device| DeviceIdle::without_sums(trace, &context, device)).collect();
        let unused =
            all.zip(&found).filter(|(_, found)| found.is_none()).map(|(device, _)| DeviceRow(device)).collect();
        let mut devices: Vec<DeviceIdle> = found.into_iter().flatten().collect();
        let by = SumBy { work: true, ranges: Some(analysis.owners()) };
        devices.par_iter_mut().for_each(|device| device.sums = device.attribute(trace, &context, by));
        Idle { devices: devices.into_iter().map(Arc::new).collect(), context: Arc::new(context), unused }
    }
}

/// The idle time of one device.
#[derive(Debug)]
pub struct DeviceIdle {
    /// Row of the devices table.
    pub device: u32,
    /// First and last event of its process, nanoseconds.
    pub capture: (i64, i64),
    /// Start of its first work and end of its last, nanoseconds.
    pub active: (i64, i64),
    /// Length of the union of its work, nanoseconds.
    pub busy_ns: i64,
    /// Its gaps, without head and tail.
    pub(crate) gaps: Gaps,
    /// What is before its first work and after its last.
    outer: [Gap; 2],
    pub(crate) sums: Sums,
    /// From a launch to the start of its work, where enough launches found the device idle.
    pub latency: Option<Latency>,
    /// How far the host ran ahead.
    pub queue: Queue,
    /// Kernels that take less time than starting one.
    pub small: SmallKernels,
}

impl Idle {
    /// The idle time of `devices` alone.
    pub(crate) fn only(&self, devices: &[DeviceRow]) -> Idle {
        let (context, mut chosen, mut unused) = (Arc::clone(&self.context), self.devices.clone(), self.unused.clone());
        chosen.retain(|device| devices.contains(&DeviceRow(device.device)));
        unused.retain(|device| devices.contains(device));
        Idle { context, devices: chosen, unused }
    }

    /// How many gaps there are, over all devices, without heads and tails.
    pub fn gap_count(&self) -> usize {
        self.devices.iter().map(|device| device.gaps.len()).sum()
    }

    /// Calls `visit` with every part of every gap of the device at `position`, and of what is before and after its work.
    pub fn visit_parts(&self, trace: &Trace, position: usize, mut visit: impl FnMut(IdlePart)) {
        let Some(device) = self.devices.get(position) else { return };
        let mut attributor = Attributor::new(trace, &self.context, device.device);
        let mut activities: FxHashMap<DoingKey, Activity> = FxHashMap::default();
        let inner = (0..device.gaps.stretches()).flat_map(|stretch| device.gaps.of_stretch(trace, stretch));
        for gap in inner.chain(device.outer).filter(|gap| gap.length() > 0) {
            for part in attributor.parts(&gap) {
                let key = DoingKey::of(trace, &self.context, part.doing);
                let name = part.doing.row().map(|_| StringId(key.name));
                let known = activities.entry(key);
                let activity = *known.or_insert_with(|| key.activity(name.map_or("", |name| trace.strings.get(name))));
                let (start_ns, ns, cause) = (part.start, part.ns, part.cause);
                let row = part.doing.row().map(EventRow).or(EventRow::known(gap.next));
                visit(IdlePart { start_ns, ns, cause, activity, name, row });
            }
        }
    }

    /// Calls `visit` with the position of each device and of each of its stretches of gaps, in parallel.
    pub(crate) fn map_stretches<T: Send>(&self, visit: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
        let devices = self.devices.iter().enumerate();
        let tasks: Vec<(usize, usize)> =
            devices.flat_map(|(index, device)| (0..device.gaps.stretches()).map(move |at| (index, at))).collect();
        tasks.into_par_iter().map(|(index, stretch)| visit(index, stretch)).collect()
    }
}

/// A stretch of idle time with one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdlePart {
    /// When it begins, nanoseconds on the trace clock.
    pub start_ns: i64,
    /// Its length, nanoseconds.
    pub ns: i64,
    /// Why the device was idle.
    pub cause: Cause,
    /// What the host did meanwhile.
    pub activity: Activity,
    /// Name of the event that did it, or that was waited for.
    pub name: Option<StringId>,
    /// That event; else the work that ended the gap, where there is one.
    pub row: Option<EventRow>,
}

impl DeviceIdle {
    /// What is known before gaps are attributed; `None` where the device did no work.
    fn without_sums(trace: &Trace, context: &Context, device: u32) -> Option<DeviceIdle> {
        let Swept { busy_ns, ends, gaps } = sweep(trace, device);
        let (first, last) = ends?;
        let active = (trace.events.start_ns[first as usize], work_end(trace, last as usize));
        let process = trace.devices[device as usize].process;
        let (from, until) = trace.process_span_ns(process).unwrap_or(active);
        let capture = (from.min(active.0), until.max(active.1));
        let head = Gap { start: capture.0, end: active.0, prev: NONE, next: first };
        let tail = Gap { start: active.1, end: capture.1, prev: last, next: NONE };
        let latency = context.latencies[device as usize];
        let threshold = latency.map_or(0, |latency| latency.median_ns);
        let (queue, small) = rayon::join(
            || queue::queue(trace, device, active.0, active.1),
            || queue::small_kernels(trace, device, threshold),
        );
        let (outer, sums) = ([head, tail], Sums::default());
        Some(DeviceIdle { device, capture, active, busy_ns, gaps, outer, sums, latency, queue, small })
    }

    /// The sums over all of its gaps, its head and its tail.
    ///
    /// Head and tail are before no work that ended a gap, so `by` is about the gaps alone.
    fn attribute(&self, trace: &Trace, context: &Context, by: SumBy<'_>) -> Sums {
        let of = |stretch| Sums::of(trace, context, self.device, self.gaps.of_stretch(trace, stretch), by);
        let parts: Vec<Sums> = (0..self.gaps.stretches()).into_par_iter().map(of).collect();
        let outer = self.outer.into_iter().filter(|gap| gap.length() > 0);
        let mut sums = Sums::of(trace, context, self.device, outer, SumBy::default());
        parts.into_iter().for_each(|part| sums.merge(part));
        sums
    }

    /// Length of the capture window, nanoseconds.
    pub fn capture_ns(&self) -> i64 {
        self.capture.1.saturating_sub(self.capture.0)
    }

    /// Length of the active window, nanoseconds.
    pub fn active_ns(&self) -> i64 {
        self.active.1.saturating_sub(self.active.0)
    }

    /// Idle time of one cause, head and tail included, nanoseconds.
    pub fn cause_ns(&self, cause: Cause) -> i64 {
        self.sums.ns(cause)
    }

    /// Idle time inside the active window, nanoseconds.
    pub fn idle_ns(&self) -> i64 {
        self.active_ns().saturating_sub(self.busy_ns)
    }
}
