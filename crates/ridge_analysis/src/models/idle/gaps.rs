//! The gaps of every device, and the parts of each: what is known before anything is summed.

use super::activity::{Activity, DoingKey};
use super::attribute::{Attributor, Doing, Gap, Part, work_end};
use super::cause::Cause;
use super::context::Context;
use super::latency::Latency;
use super::queue::{self, Queue, SmallKernels};
use super::sums::{SumBy, Sums};
use super::sweep::{Gaps, Swept, sweep};
use crate::{Analysis, Per, Shared};
use rayon::prelude::*;
use ridge_trace::{DeviceRow, EventRow, NONE, StringId, Trace};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The gaps of every device.
#[derive(Debug)]
pub struct IdleGaps {
    pub(crate) context: Arc<Context>,
    /// The devices that worked, in the order of the devices table.
    pub devices: Vec<Arc<DeviceGaps>>,
    /// Devices that did no work.
    pub unused: Vec<DeviceRow>,
}

/// The gaps of one device.
#[derive(Debug)]
pub struct DeviceGaps {
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
    /// From a launch to the start of its work, where enough launches found the device idle.
    pub latency: Option<Latency>,
    /// How far the host ran ahead.
    pub queue: Queue,
    /// Kernels that take less time than starting one.
    pub small: SmallKernels,
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
    /// The same, but for time before a device's first work and after its last: what was late then.
    pub inner: Cause,
    /// Host activity during idle time; nothing where the cause is unknown, because what the host did then explains nothing.
    pub activity: Activity,
    /// Name of the event that did it, or that was waited for.
    pub name: Option<StringId>,
    /// That event; else the work that ended the gap, where there is one.
    pub row: Option<EventRow>,
}

impl IdlePart {
    /// Why the device was idle in time that is judged `per` that: steps are a program's own, and what is before a device's
    /// first work in one comes again in the next; of a capture it is only where recording began.
    pub fn cause_per(&self, per: Per) -> Cause {
        match per {
            Per::Step => self.inner,
            Per::Capture => self.cause,
        }
    }

    /// When it ends, nanoseconds on the trace clock.
    pub fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add(self.ns)
    }
}

impl Shared for IdleGaps {
    fn make(analysis: &Analysis<'_>) -> IdleGaps {
        let trace = analysis.trace;
        let context = Context::new(trace);
        let all = 0..trace.devices.len() as u32;
        let found: Vec<Option<DeviceGaps>> =
            all.clone().into_par_iter().map(|device| DeviceGaps::of(trace, &context, device)).collect();
        let unused =
            all.zip(&found).filter(|(_, found)| found.is_none()).map(|(device, _)| DeviceRow(device)).collect();
        let devices = found.into_iter().flatten().map(Arc::new).collect();
        IdleGaps { devices, context: Arc::new(context), unused }
    }
}

impl IdleGaps {
    /// The parts, in order of time, of the gap between the end of `prev` and the start of `next`, work of one device; none
    /// where they are no such pair.
    pub fn between(&self, trace: &Trace, prev: EventRow, next: EventRow) -> Vec<IdlePart> {
        let device = |row: EventRow| trace.track_of(row.0).and_then(|track| track.device);
        let known =
            (prev.index() < trace.events.len() && next.index() < trace.events.len()).then(|| device(next)).flatten();
        let Some(device) = known.filter(|known| device(prev) == Some(*known)) else { return Vec::new() };
        let gap = Gap {
            start: work_end(trace, prev.index()),
            end: trace.events.start_ns[next.index()],
            prev: prev.0,
            next: next.0,
        };
        if gap.length() <= 0 { Vec::new() } else { Walk::new(trace, &self.context, device).parts(&gap).to_vec() }
    }

    /// Shows `visit` the parts, in order of time, of each gap of the device at `position` that is at least `least_ns` long,
    /// and of what is before and after its work.
    ///
    /// Stretches of time are visited in parallel, each with what `new` makes; they come back earliest first.
    pub fn visit<T: Send>(
        &self,
        trace: &Trace,
        position: usize,
        least_ns: i64,
        new: impl Fn() -> T + Sync,
        visit: impl Fn(&mut T, &[IdlePart]) + Sync,
    ) -> Vec<T> {
        let Some(device) = self.devices.get(position) else { return Vec::new() };
        let of = |gaps: &mut dyn Iterator<Item = Gap>| {
            let (mut found, mut walk) = (new(), Walk::new(trace, &self.context, device.device));
            for gap in gaps.filter(|gap| gap.length() >= least_ns.max(1)) {
                visit(&mut found, walk.parts(&gap));
            }
            found
        };
        let [head, tail] = device.outer;
        let stretches = (0..device.gaps.stretches()).into_par_iter();
        let inner = stretches.map(|stretch| of(&mut device.gaps.of_stretch(trace, stretch)));
        let mut found = vec![of(&mut [head].into_iter())];
        found.par_extend(inner);
        found.push(of(&mut [tail].into_iter()));
        found
    }
}

/// Gaps of one device, one after the other.
struct Walk<'t> {
    trace: &'t Trace,
    context: &'t Context,
    attributor: Attributor<'t>,
    /// Names are read once each.
    activities: FxHashMap<DoingKey, Activity>,
    parts: Vec<IdlePart>,
}

impl<'t> Walk<'t> {
    fn new(trace: &'t Trace, context: &'t Context, device: u32) -> Walk<'t> {
        let attributor = Attributor::new(trace, context, device);
        Walk { trace, context, attributor, activities: FxHashMap::default(), parts: Vec::new() }
    }

    fn parts(&mut self, gap: &Gap) -> &[IdlePart] {
        self.parts.clear();
        for part in self.attributor.parts(gap) {
            let is_unknown = part.cause == Cause::Unknown || part.inner == Cause::Unknown;
            let doing = if is_unknown { Doing::Nothing } else { part.doing };
            let key = DoingKey::of(self.trace, self.context, doing);
            let name = doing.row().map(|_| StringId(key.name));
            let known = self.activities.entry(key);
            let activity = *known.or_insert_with(|| key.activity(name.map_or("", |name| self.trace.strings.get(name))));
            let row = doing.row().map(EventRow).or(EventRow::known(gap.next));
            let before = self.parts.last_mut().filter(|last| last.cause == Cause::Unknown && part.cause == last.cause);
            if let Some(before) = before.filter(|before| before.end_ns() == part.start) {
                before.ns = before.ns.saturating_add(part.ns);
                continue;
            }
            let Part { cause, inner, start, ns, .. } = *part;
            self.parts.push(IdlePart { start_ns: start, ns, cause, inner, activity, name, row });
        }
        self.parts.sort_by_key(|part| part.start_ns);
        &self.parts
    }
}

impl DeviceGaps {
    /// The gaps of `device`; `None` where it did no work.
    fn of(trace: &Trace, context: &Context, device: u32) -> Option<DeviceGaps> {
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
        Some(DeviceGaps { device, capture, active, busy_ns, gaps, outer: [head, tail], latency, queue, small })
    }

    /// The sums over all of its gaps, its head and its tail.
    ///
    /// Head and tail are before no work that ended a gap, so `by` is about the gaps alone.
    pub(super) fn attribute(&self, trace: &Trace, context: &Context, by: SumBy<'_>) -> Sums {
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

    /// Idle time inside the active window, nanoseconds.
    pub fn idle_ns(&self) -> i64 {
        self.active_ns().saturating_sub(self.busy_ns)
    }
}
