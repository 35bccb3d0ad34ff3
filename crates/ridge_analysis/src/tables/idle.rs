//! Views of idle time.

mod sections;
#[cfg(test)]
mod tests;

use crate::context::Need;
use crate::context::partition::ratio;
use crate::models::idle::{Activity, Cause, CauseRow, DeviceIdle, GapRow, HostRow, Idle, NextRow};
use crate::view::{Ask, Field, Sheet, Shown, Topic, View, columns};
use crate::{Analysis, Owners};
use ridge_table::{Section, Subject, Table};
use ridge_trace::{DeviceRow, EventKind, EventRow, NONE, StringId, Trace};
use ridge_units::Share;

/// How many enclosing events of the host are shown for a gap.
const ENCLOSING_SHOWN: usize = 3;

/// The idle time of the devices asked for.
fn asked<T>(analysis: &Analysis<'_>, ask: &Ask<'_>, answer: impl FnOnce(&Idle) -> T) -> T {
    match ask.devices {
        None => answer(analysis.get()),
        Some(devices) => answer(&analysis.get::<Idle>().only(devices)),
    }
}

/// A section for each device.
pub(crate) fn sections(analysis: &Analysis<'_>, ask: &Ask<'_>) -> Vec<Section> {
    asked(analysis, ask, |idle| sections::sections(analysis, idle))
}

/// What all of them have in common.
const OF_IDLE: View =
    View { shown: Shown::WithRows(1), needs: &[Need::of::<Owners>(), Need::of::<Idle>()], ..View::of(Topic::Idle) };

/// Idle time by device: its windows, its greatest cause, and how the host kept it fed.
pub(crate) static BY_DEVICE: View = View {
    id: "device",
    about: "device",
    shown: Shown::WithRows(2),
    make: |analysis, ask| {
        asked(analysis, ask, |idle| {
            let about = |_: &_, row: &DeviceIdle| Some(Subject::Device(DeviceRow(row.device)));
            Sheet::over(analysis, idle.by_device()).about(about).show(DEVICES).table("Idle time by device")
        })
    },
    ..OF_IDLE
};

/// Idle time by device and cause.
pub(crate) static BY_CAUSE: View = View {
    id: "cause",
    about: "cause",
    shown: Shown::WhenNamed,
    make: |analysis, ask| {
        asked(analysis, ask, |idle| {
            let rows = idle.by_cause();
            let about = |_: &_, row: &CauseRow| Some(Subject::Device(row.device));
            Sheet::over(analysis, &rows).about(about).show(CAUSES).table("Idle time by cause")
        })
    },
    ..OF_IDLE
};

/// Idle time by cause and what the host did.
pub(crate) static BY_HOST: View = View {
    id: "host",
    about: "host activity during idle time",
    make: |analysis, ask| {
        asked(analysis, ask, |idle| {
            let rows = idle.by_host(analysis);
            let about = |_: &_, row: &HostRow| row.name.map(Subject::Named);
            let mut table =
                Sheet::over(analysis, &rows).about(about).show(HOST).table("Host activity during idle time");
            table.footnotes.extend(tracer_note(analysis.trace, &rows));
            table
        })
    },
    ..OF_IDLE
};

/// Idle time by the next operation.
pub(crate) static BY_OP: View = View {
    id: "op",
    about: "operation of the next work",
    make: |analysis, ask| {
        asked(analysis, ask, |idle| next(analysis, &idle.by_op(analysis), OP, "Idle time by next operation"))
    },
    ..OF_IDLE
};

/// Idle time by range of the next work.
pub(crate) static BY_RANGE: View = View {
    id: "range",
    documented: Some("annotation"),
    about: "named range (TraceAnnotation) that caused the next work",
    aliases: &["annotation"],
    make: |analysis, ask| {
        asked(analysis, ask, |idle| {
            next(analysis, &idle.by_range(analysis), RANGE, "Idle time by range of the next work")
        })
    },
    ..OF_IDLE
};

/// Idle time by source line of the next work.
pub(crate) static BY_SOURCE: View = View {
    id: "source",
    about: "source line of the next work",
    shown: Shown::WhenNamed,
    make: |analysis, ask| {
        asked(analysis, ask, |idle| {
            next(analysis, &idle.by_source(analysis), SOURCE, "Idle time by source line of the next work")
        })
    },
    ..OF_IDLE
};

/// The gaps, longest first.
pub(crate) static GAPS: View = View {
    id: "gap",
    about: "each gap by itself",
    make: |analysis, ask| {
        asked(analysis, ask, |idle| {
            let rows = idle.longest(analysis, ask.rows.unwrap_or(usize::MAX));
            let about =
                |_: &_, row: &GapRow| Some(Subject::Gap { prev: EventRow(row.gap.prev), next: EventRow(row.gap.next) });
            let table = Sheet::over(analysis, &rows).about(about).show(EACH).table("Longest gaps");
            Table { rows_total: idle.gap_count(), ..table }
        })
    },
    ..OF_IDLE
};

fn next(analysis: &Analysis<'_>, rows: &[NextRow], names: &[Field<NextRow>], title: &str) -> Table {
    Sheet::over(analysis, rows).about(|_, row| row.subject.clone()).show(names).show(BEFORE).table(title)
}

/// How to see what the host did, where most idle time has no name and calls of Python were not recorded.
fn tracer_note(trace: &Trace, rows: &[HostRow]) -> Option<String> {
    let ns = |is_counted: fn(&HostRow) -> bool| {
        rows.iter().filter(|row| is_counted(row)).fold(0_i64, |sum, row| sum.saturating_add(row.sum.ns))
    };
    let traces_python = || trace.events.kind.contains(&(EventKind::PythonCall as u8));
    let share = ratio(ns(|row| row.activity == Activity::Nothing), ns(|_| true));
    let share = share.filter(|share| *share >= 0.5 && !traces_python())?;
    Some(format!(
        "{} of it has nothing recorded; of a Python program, `ridgeline record --python-tracer`, or \
         `with_stack=True` of PyTorch's profiler, records what ran then",
        Share(share).rounded()
    ))
}

/// An event of the host and what encloses it, innermost first.
fn enclosing(trace: &Trace, row: EventRow) -> String {
    let parents = std::iter::successors(Some(row), |row| EventRow::known(trace.events.parent[row.index()]));
    let names: Vec<&str> = parents.take(ENCLOSING_SHOWN).map(|row| trace.name(row.index())).collect();
    names.join(" < ")
}

fn launch<'a>(trace: &'a Trace, row: &GapRow) -> Option<&'a str> {
    let link = trace.events.link[row.gap.next as usize];
    (link != NONE).then(|| trace.name(link as usize))
}

fn next_op<'a>(analysis: &Analysis<'a>, row: &GapRow) -> Option<&'a str> {
    let op = analysis.trace.operation(row.gap.next as usize)?;
    (op.name != StringId(0)).then(|| analysis.text(op.name))
}

columns! {
    DEVICES: DeviceIdle {
        device: text Key "Device", "the device", |at, row| at.device_label(row.device);
        idle_ns: nanos Key Measured "Idle", "gaps between its first work and the end of its last", |_, row| row.idle_ns();
        idle_share: share Key Measured "Share",
            "idle time as a part of the active window", |_, row| ratio(row.idle_ns(), row.active_ns());
        cause: text Key "Greatest cause", "the cause with the most idle time of the active window",
            |_, row| row.greatest_cause().map(Cause::name);
        busy_ns: nanos Measured "Busy", "union of its work over all its streams", |_, row| row.busy_ns;
        head_ns: nanos Measured "Before", Cause::BeforeFirst.definition(), |_, row| row.cause_ns(Cause::BeforeFirst);
        tail_ns: nanos Measured "After", Cause::AfterLast.definition(), |_, row| row.cause_ns(Cause::AfterLast);
        active_ns: nanos Detail Measured "Active window",
            "from its first work to the end of its last", |_, row| row.active_ns();
        capture_ns: nanos Detail Measured "Capture window",
            "from the first event of its process to the last: before, busy, idle and after add up to it",
            |_, row| row.capture_ns();
        gaps: count Counted "Gaps", "gaps between work", |_, row| row.gap_count();
        launch_bound_share: share Measured "Launch-bound",
            "part of the active window in which the device was idle while the host was in a launch call or the launch was on its way",
            |at, row| if row.queue.linked > 0 { ratio(row.launch_bound_ns(at), row.active_ns()) } else { None };
        queue_mean_depth: real(Number) Detail Measured "Queue depth",
            "launched and not begun, averaged over the active window",
            |_, row| (row.queue.linked > 0).then_some(row.queue.mean_depth);
        small_kernel_share: share Detail Measured "Small kernels",
            "part of the kernels that ran shorter than the capture's median launch latency", |_, row| {
                let is_known = row.latency.is_some() && row.small.kernels > 0;
                is_known.then(|| row.small.small as f64 / row.small.kernels as f64)
            };
    }
    CAUSES: CauseRow {
        cause: text Key "Cause", "why the device was idle; see docs/idle.md for the rules", |_, row| row.cause.name();
        device: text "Device", "the device", |at, row| at.device_label(row.device.0);
        idle_ns: nanos Key Measured "Idle", "idle time, measured", |_, row| row.sum.ns;
        window_share: share Key Measured "Share", "part of the device's capture window", |_, row| row.share;
        gaps: count Counted "Gaps", "gaps with time of this cause", |_, row| row.sum.count;
        longest_ns: nanos Measured "Longest", "the longest of them", |_, row| row.sum.longest_ns;
    }
    HOST: HostRow {
        host: text Key "Host",
            "innermost event of the thread that launched the next work; for a wait, the event that explains it",
            |at, row| row.name.map(|name| at.text(name));
        activity: text "Activity", "the kind of that event, or of the event enclosing it", |_, row| row.activity.name();
        cause: text Key "Cause", "why the device was idle", |_, row| row.cause.name();
        idle_ns: nanos Key Measured "Idle", "idle time, measured", |_, row| row.sum.ns;
        idle_share: share Key Measured "Share",
            "part of all idle time, heads and tails included, over all devices", |_, row| row.share;
        parts: count Counted "Parts", "stretches of idle time", |_, row| row.sum.count;
        longest_ns: nanos Measured "Longest", "the longest of them", |_, row| row.sum.longest_ns;
    }
    OP: NextRow {
        op: text Key "Next operation", "operation or kernel that ended the gap by starting", |_, row| row.name.as_str();
        module: text "Module", "its module", |_, row| row.module.as_deref();
    }
    RANGE: NextRow {
        annotation: text Key "Range", "innermost range that caused the next work", |_, row| row.name.as_str();
    }
    SOURCE: NextRow {
        source: text Key "Line", "innermost source line of the next work's operation", |_, row| row.name.as_str();
    }
    BEFORE: NextRow {
        idle_ns: nanos Key Measured "Idle", "idle time, measured", |_, row| row.before.idle_ns();
        idle_share: share Key Measured "Share",
            "part of the idle time between work, over all devices", |_, row| row.share;
        gaps: count Counted "Gaps", "gaps before it", |_, row| row.before.gaps;
        host_late_ns: nanos Measured "Host late", Cause::HostLate.definition(), |_, row| row.before.ns(&[Cause::HostLate]);
        launch_ns: nanos Measured "Launch", "idle in the launch call, by launch latency, or between queued work",
            |_, row| row.before.ns(&[Cause::LaunchCall, Cause::LaunchLatency, Cause::Queued]);
        wait_ns: nanos Measured "Waits", "idle waiting for a copy, another stream or a collective",
            |_, row| row.before.ns(&[Cause::Copy, Cause::OtherStream]);
        inside_ns: nanos Measured "Inside", "idle inside a graph replay or a program run",
            |_, row| row.before.ns(&[Cause::Graph, Cause::Run]);
        other_ns: nanos Measured "Other", "idle by the profiler's own overhead, or for a cause that is unknown",
            |_, row| row.before.ns(&[Cause::Profiler, Cause::Unknown]);
        longest_ns: nanos Measured "Longest", "longest gap", |_, row| row.before.longest_ns;
    }
    EACH: GapRow {
        start_ns: nanos Key Measured "Start", "start of the gap on the trace clock", |_, row| row.gap.start;
        length_ns: nanos Key Measured "Length", "how long the device was idle", |_, row| row.gap.length();
        device: text "Device", "the device", |at, row| at.device_label(row.device.0);
        cause: text Key "Cause", "the cause with the most time of the gap", |_, row| row.cause.name();
        cause_ns: nanos Measured "From this cause", "time of the gap with that cause", |_, row| row.cause_ns;
        host: text Key "Host",
            "host activity for the longest part of that time: the innermost event, then the events enclosing it",
            |at, row| row.host.map(|host| enclosing(at.trace, host));
        activity: text Detail "Activity", "the kind of that event", |_, row| row.activity.map(Activity::name);
        next: text "Next work",
            "the work that ended the gap by starting", |at, row| at.trace.name(row.gap.next as usize);
        next_op: text Detail "Its operation", "operation of the next work", |at, row| next_op(at, row);
        launch: text Detail "Its launch", "the call that launched the next work", |at, row| launch(at.trace, row);
        previous: text Detail "Work before",
            "the work that began the gap by ending", |at, row| at.trace.name(row.gap.prev as usize);
    }
}
