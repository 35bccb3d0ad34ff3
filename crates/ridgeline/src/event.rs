//! One event with all that is known of it, for whoever points at it.

use crate::session::Session;
use ridge_analysis::{Bound, EventLines, WorkSums};
use ridge_trace::{Attribution, EventRow, LaunchShape, NONE, OperatorShape, Transfer};

/// What is known of an event; what the capture does not say is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct EventDetails {
    /// Its row.
    pub row: EventRow,
    /// Row of its track.
    pub track: u32,
    /// What kind of work it is.
    pub category: String,
    /// Row of its operation.
    pub op: Option<u32>,
    /// How that is known, a few words.
    pub op_known: Option<&'static str>,
    /// Its module, with the program id where several share the name.
    pub module: Option<String>,
    /// Scope path of its operation.
    pub scope: Option<String>,
    /// The lines it came from, innermost first, and how they are known.
    pub lines: Option<EventLines>,
    /// The event that caused it: its launch, its scheduler.
    pub cause: Option<EventRow>,
    /// The innermost event of its track that encloses it.
    pub parent: Option<EventRow>,
    /// Its duration less what ran directly inside, nanoseconds.
    pub self_ns: i64,
    /// How it was launched.
    pub launch: Option<LaunchShape>,
    /// What it moved.
    pub transfer: Option<Transfer>,
    /// What it was called with.
    pub called_with: Option<OperatorShape>,
    /// What it had to compute and move.
    pub work: Option<EventWork>,
    /// Number of the step that it marks.
    pub step: Option<i64>,
}

/// What one event had to compute and move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EventWork {
    /// Floating-point operations, and those of integer matrix products.
    pub flops: f64,
    /// Compulsory traffic, bytes.
    pub bytes: f64,
    /// Operations per second.
    pub flops_per_sec: Option<f64>,
    /// Bytes of compulsory traffic per second.
    pub bytes_per_sec: Option<f64>,
    /// Measured time over the least time the device needs, where its roofs are known.
    pub headroom: Option<f64>,
    /// What bounds it.
    pub bound: Option<Bound>,
}

impl Session {
    /// All that is known of the event at `row`; `None` where there is no such event.
    pub fn event(&self, row: u32) -> Option<EventDetails> {
        let (trace, analysis, at) = (self.trace(), self.analysis(), row as usize);
        let track = trace.tracks.iter().position(|track| track.rows.contains(&row))?;
        let events = &trace.events;
        let op = (events.op[at] != NONE).then_some(events.op[at]);
        let work = if events.kind(at).is_compute() { analysis.work_of_event(row, events.dur_ns[at]) } else { None };
        let scope = op.and_then(|op| analysis.operation(op)).map(|op| analysis.text(op.scope).to_owned());
        Some(EventDetails {
            row: EventRow(row),
            track: track as u32,
            category: self.event_categories().name_of(events, at).to_owned(),
            op,
            op_known: op.map(|_| known_by(Attribution::from_byte(events.attribution[at]))),
            module: op.and_then(|op| ridge_analysis::op_module(&analysis, op)),
            scope: scope.filter(|scope| !scope.is_empty()),
            lines: ridge_analysis::lines_of_event(&analysis, row),
            cause: EventRow::known(events.link[at]),
            parent: EventRow::known(events.parent[at]),
            self_ns: events.dur_ns[at].saturating_sub(self.inside_ns(track, row)),
            launch: trace.launch_shape(at).copied(),
            transfer: trace.transfer(at).copied(),
            called_with: trace.operator_shape(at).copied(),
            work: work.and_then(|sums| event_work(&sums)),
            step: trace.steps.iter().find(|step| step.event == row).map(|step| step.number),
        })
    }

    /// Time of what ran directly inside of `row`: its children begin right behind it and before it ends.
    fn inside_ns(&self, track: usize, row: u32) -> i64 {
        let (events, end) = (&self.trace().events, self.trace().events.end_ns(row as usize));
        let behind = row + 1..self.trace().tracks[track].rows.end;
        let inside = behind.take_while(|other| events.start_ns[*other as usize] < end);
        let children = inside.filter(|other| events.parent[*other as usize] == row);
        children.fold(0, |sum: i64, other| sum.saturating_add(events.dur_ns[other as usize]))
    }
}

fn known_by(attribution: Attribution) -> &'static str {
    match attribution {
        Attribution::NotAsked => "by its own name",
        Attribution::ByStat => "named by the capture",
        Attribution::ByLaunch => "named by its launch",
        Attribution::ByModule => "inferred from the module and the kernel's name",
        Attribution::ByOrder => "inferred from the module and the kernel's place",
        Attribution::ModuleOnly => "the module is known, the operation is not",
        Attribution::Unattributed => "unattributed",
    }
}

fn event_work(sums: &WorkSums) -> Option<EventWork> {
    (sums.known_ns > 0.0).then(|| EventWork {
        flops: sums.flops,
        bytes: sums.bytes,
        flops_per_sec: sums.flops_per_sec(),
        bytes_per_sec: sums.bytes_per_sec(),
        headroom: sums.headroom(),
        bound: sums.bound().filter(|bound| *bound != Bound::Unknown),
    })
}
