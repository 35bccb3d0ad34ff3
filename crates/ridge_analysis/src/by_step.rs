//! Device time by step: each range that the program marked with a step number.

use crate::Analysis;
use crate::annotations::{Owners, is_range};
use crate::groups::time_inside;
use crate::roofline::{RooflineRow, WorkSums, add_event, rows_by_class, work_columns};
use crate::rows::table as build;
use ridge_trace::{Column, EventKind, NONE, Rank, StringId, Table, Trace, TrackKind, Unit};
use rustc_hash::FxHashMap;

/// The sums of one step.
#[derive(Debug, Default, Clone)]
struct StepSums {
    device_ns: i64,
    copies_ns: i64,
    events: u64,
    kernels: u64,
    first_ns: Option<i64>,
    last_ns: i64,
    /// By class of device.
    work: Vec<WorkSums>,
}

/// The sums of every step, in order of time.
fn sums(analysis: &Analysis<'_>) -> Vec<StepSums> {
    let trace = analysis.trace;
    let positions: FxHashMap<u32, usize> = trace.steps.iter().enumerate().map(|(at, step)| (step.event, at)).collect();
    let mut sums = vec![StepSums::default(); trace.steps.len()];
    if trace.steps.is_empty() {
        return sums;
    }
    let owners = analysis.owners();
    for_each_work(trace, |WorkRow { row, self_ns, device }| {
        let Some(at) = owners.chain(trace, row).find_map(|range| positions.get(&range)) else { return };
        let (kind, start) = (trace.events.kind(row as usize), trace.events.start_ns[row as usize]);
        let step = &mut sums[*at];
        step.device_ns += self_ns;
        step.copies_ns += if kind.is_copy() { self_ns } else { 0 };
        step.events += 1;
        step.kernels += u64::from(kind.is_compute());
        step.first_ns = Some(step.first_ns.map_or(start, |first| first.min(start)));
        step.last_ns = step.last_ns.max(trace.events.end_ns(row as usize));
        add_event(analysis, &mut step.work, row, self_ns, device);
    });
    sums
}

/// The work of each step on each class of device, for the roofline.
pub(crate) fn work(analysis: &Analysis<'_>) -> Vec<RooflineRow> {
    let trace = analysis.trace;
    let steps = trace.steps.iter().zip(sums(analysis));
    let rows = steps.flat_map(|(step, sums)| {
        let name = analysis.text(StringId(trace.events.name[step.event as usize])).to_owned();
        rows_by_class(name, Some(step.number.to_string()), sums.work)
    });
    rows.collect()
}

/// Steps in order of time, with the device work each caused.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let sums = sums(analysis);
    let mut footnotes = Vec::new();
    if trace.steps.is_empty() {
        footnotes.push("the program marked no step; `jax.profiler.StepTraceAnnotation` does".to_owned());
    } else {
        footnotes.extend(time_note(analysis.owners()));
    }
    let wall = |event: u32| trace.events.dur_ns[event as usize];
    let steps = || trace.steps.iter().zip(&sums);
    let mut columns = vec![
        Column::text(
            "step",
            "Step",
            "name of the range",
            trace.steps.iter().map(|step| analysis.text(StringId(trace.events.name[step.event as usize])).to_owned()),
        )
        .ranked(Rank::Key),
        Column::real(
            "number",
            "Number",
            "step number as the program gave it",
            Unit::Number,
            trace.steps.iter().map(|step| step.number as f64),
        )
        .ranked(Rank::Key),
        Column::nanos(
            "wall_ns",
            "Wall",
            "duration of the step's range on its thread, measured",
            trace.steps.iter().map(|step| wall(step.event)),
        )
        .ranked(Rank::Key),
        Column::nanos(
            "device_ns",
            "Device",
            "self times of the device work the step caused, measured",
            sums.iter().map(|step| step.device_ns),
        )
        .ranked(Rank::Key),
        Column::real(
            "device_share",
            "Device share",
            "device time as a part of the step's wall time; over 100 % where work overlaps or outlasts the range",
            Unit::Share,
            steps().map(|(step, sums)| match wall(step.event) {
                0 => 0.0,
                wall => sums.device_ns as f64 / wall as f64,
            }),
        ),
        Column::nanos(
            "copies_ns",
            "Copies",
            "part of the device time that is copies",
            sums.iter().map(|step| step.copies_ns),
        ),
        Column::whole(
            "kernels",
            "Kernels",
            "kernels and device operations",
            Unit::Count,
            sums.iter().map(|step| step.kernels),
        ),
        Column::whole(
            "events",
            "Events",
            "kernels, copies and device operations",
            Unit::Count,
            sums.iter().map(|step| step.events),
        ),
        Column::nanos(
            "device_span_ns",
            "Device span",
            "from the first start to the last end of its device work",
            sums.iter().map(|step| step.first_ns.map(|first| step.last_ns - first)),
        )
        .ranked(Rank::Detail),
    ];
    let work: Vec<WorkSums> = sums.iter().map(|step| WorkSums::all(&step.work)).collect();
    let after_share = 5;
    columns.splice(after_share..after_share, work_columns(analysis, &work));
    let mut table = build("step", "Steps", columns);
    table.footnotes = footnotes;
    table
}

/// The rows of all ranges that the program named.
pub(crate) fn ranges(trace: &Trace) -> impl Iterator<Item = u32> + '_ {
    let threads = trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread);
    threads.flat_map(|track| track.rows.clone()).filter(|row| is_range(trace, *row))
}

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

/// Says how much was attributed by time alone.
pub(crate) fn time_note(owners: &Owners) -> Option<String> {
    let what = match owners.by_time {
        0 => return None,
        1 => "1 event leads back to no range of its own thread and was".to_owned(),
        count => format!("{count} events lead back to no range of their own thread and were"),
    };
    Some(format!("{what} given to the innermost range open when the work began"))
}
