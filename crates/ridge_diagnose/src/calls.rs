//! Calls of compiled functions from Python, and the time that devices are idle in them.

use crate::case::Case;
use crate::finding::Place;
use ridge_analysis::models::idle::IdlePart;
use ridge_analysis::{Activity, Cause, IdleGaps, Spans, TimeOwner};
use ridge_trace::{DeviceRow, EventKind};

/// What JAX 0.4 and later runs in Python for a program that its dispatch in C++ does not take: one that calls back, and the
/// first call of any.
const DISPATCH_IN_PYTHON: &str = "ExecuteReplicated.__call__";

/// Calls whose line is looked for.
pub(crate) const MOST_LOOKED_AT: usize = 4096;

/// A call of a compiled function that is in no other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    /// Its event.
    pub(crate) row: u32,
    /// The function.
    pub(crate) function: &'a str,
    /// The process that called.
    pub(crate) process: u32,
    /// When it began and ended, nanoseconds.
    pub(crate) span: (i64, i64),
    /// Time in the compiler, nanoseconds.
    pub(crate) compile_ns: i64,
    /// Whether Python launched the program.
    pub(crate) is_by_python: bool,
}

/// The function that jaxlib's `PjitFunction(f)` calls.
pub(crate) fn called(name: &str) -> Option<&str> {
    name.strip_prefix("PjitFunction(")?.strip_suffix(')')
}

impl<'a> Case<'a> {
    /// Calls of compiled functions; a call inside another is that one, or is only traced for it.
    pub(crate) fn calls(&self) -> Vec<Call<'a>> {
        let trace = self.trace();
        let rows = self.host_rows(|kind, name| kind == EventKind::HostRange && called(name).is_some());
        let is_outer = |row: &u32| !self.around(*row).skip(1).any(|row| called(trace.name(row as usize)).is_some());
        rows.into_iter().filter(is_outer).filter_map(|row| self.call(row)).collect()
    }

    /// The line at which the host was during calls of `function`, by looks.
    pub(crate) fn line_of_calls(&self, function: &str) -> Option<Place> {
        let calls = self.calls().into_iter().filter(|call| call.function == function).take(MOST_LOOKED_AT);
        self.seen_during(calls.map(|call| call.row)).map(|seen| seen.place)
    }

    fn call(&self, row: u32) -> Option<Call<'a>> {
        let trace = self.trace();
        let track = trace.track_of(row)?;
        let events = &trace.events;
        let span = (events.start_ns[row as usize], events.end_ns(row as usize));
        // Rows of a thread stand in order of start, so what is inside a row follows it.
        let inside = (row + 1..track.rows.end).map(|row| row as usize).take_while(|row| events.start_ns[*row] < span.1);
        let (mut compiled, mut is_by_python) = (Vec::new(), false);
        for inner in inside {
            match events.kind(inner) {
                EventKind::Compile => compiled.push((events.start_ns[inner], events.end_ns(inner).min(span.1))),
                _ => is_by_python |= trace.name(inner) == DISPATCH_IN_PYTHON,
            }
        }
        let compile_ns = Spans::of(compiled).total_ns();
        Some(Call {
            row,
            function: called(trace.name(row as usize))?,
            process: track.process,
            span,
            compile_ns,
            is_by_python,
        })
    }

    /// The rows of the breakdown in which devices wait for Python in `calls`, each with the part of it; launching itself and the
    /// profiler's own work are left out.
    pub(crate) fn idle_in<'c>(&self, calls: impl IntoIterator<Item = &'c Call<'c>>) -> Vec<(usize, f32)> {
        let (trace, idle) = (self.trace(), self.analysis.get::<IdleGaps>());
        let mut of_process: Vec<Vec<(i64, i64)>> = vec![Vec::new(); trace.processes.len()];
        for call in calls {
            of_process.get_mut(call.process as usize).into_iter().for_each(|spans| spans.push(call.span));
        }
        let of_process: Vec<Spans> = of_process.into_iter().map(Spans::of).collect();
        let mut held: Vec<(usize, f64)> = Vec::new();
        for (position, device) in idle.devices.iter().map(|device| DeviceRow(device.device)).enumerate() {
            let process = trace.devices.get(device.index()).map_or(0, |device| device.process) as usize;
            let Some((inside, judged)) = of_process.get(process).zip(self.analyzed().spans.get(process)) else {
                continue;
            };
            let add = |held: &mut Vec<(usize, f64)>, part: &IdlePart| {
                let owner = TimeOwner::Idle { cause: part.cause, activity: part.activity, name: part.name };
                let ns = common_ns(inside, judged, part.start_ns, part.end_ns());
                held.extend(self.breakdown().place(device, owner).filter(|_| ns > 0).map(|at| (at, ns as f64)));
            };
            let found = idle.visit(trace, position, 0, Vec::new, |held, gap| {
                gap.iter().filter(|part| is_pythons(part)).for_each(|part| add(held, part));
            });
            held.extend(found.into_iter().flatten());
        }
        self.parts_of(held)
    }
}

/// Whether the device waits because the host had not launched.
fn is_pythons(part: &IdlePart) -> bool {
    part.cause == Cause::HostLate && !matches!(part.activity, Activity::Profiler | Activity::Device)
}

/// What `inside` and `judged` both have of the time from `start` to `end`, nanoseconds.
fn common_ns(inside: &Spans, judged: &Spans, start: i64, end: i64) -> i64 {
    let spans = inside.as_slice();
    let first = spans.partition_point(|(_, until)| *until <= start);
    let spans = spans[first..].iter().take_while(|(from, _)| *from < end);
    spans.map(|(from, until)| judged.within_ns((*from).max(start), (*until).min(end))).sum()
}
