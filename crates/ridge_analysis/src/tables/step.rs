//! Steps in order of time, with the device work each caused.

use super::work::work_columns;
use crate::context::Need;
use crate::models::steps::StepRow;
use crate::models::steps::Steps;
use crate::view::{Shown, Topic, View};
use crate::{Analysis, Owners, WorkSums};
use ridge_table::{Basis, Columns, Subject, Table, Unit};
use ridge_trace::Trace;

/// The view.
pub(crate) static VIEW: View = View {
    id: "step",
    about: "step (StepTraceAnnotation)",
    shown: Shown::InReport,
    needs: &[Need::of::<Steps>()],
    make: |analysis, _| table(analysis),
    ..View::of(Topic::Time)
};

/// Steps in order of time.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let rows = &analysis.steps().rows;
    let work: Vec<WorkSums> = rows.iter().map(|step| WorkSums::all(&step.work)).collect();
    // Of a capture that saw no device nothing is known of what steps caused, which is not nothing.
    let is_seen = sees_devices(analysis.trace);
    let mut table = Columns::over(rows)
        .about(|step| Some(Subject::Event(step.event)))
        .text("step", "Step", "name of the range", |step| analysis.text(step.name).to_owned())
        .key()
        .real("number", "Number", "step number as the program gave it", (Unit::Number, Basis::Capture), |step| {
            step.number as f64
        })
        .key()
        .nanos("wall_ns", "Wall", "duration of the step's range on its thread, measured", Basis::Measured, |step| {
            step.wall_ns
        })
        .key()
        .nanos(
            "device_ns",
            "Device",
            "self times of the device work the step caused, measured",
            Basis::Measured,
            |step| is_seen.then_some(step.device_ns),
        )
        .key()
        .share(
            "device_share",
            "Device share",
            "time in which any of its device work ran, as a part of the step's wall time; work may outlast the range",
            Basis::Measured,
            |step| is_seen.then(|| device_share(step)),
        )
        .columns(work_columns(analysis, &work))
        .nanos(
            "busy_ns",
            "Busy",
            "time in which any of its device work ran, on any device: overlaps count once",
            Basis::Measured,
            |step| is_seen.then_some(step.busy_ns),
        )
        .detail()
        .nanos("copies_ns", "Copies", "part of the device time that is copies", Basis::Measured, |step| {
            is_seen.then_some(step.copies_ns)
        })
        .count("kernels", "Kernels", "kernels and device operations", Basis::Counted, |step| {
            is_seen.then_some(step.kernels)
        })
        .count("events", "Events", "kernels, copies and device operations", Basis::Counted, |step| {
            is_seen.then_some(step.events)
        })
        .nanos(
            "device_span_ns",
            "Device span",
            "from the first start to the last end of its device work",
            Basis::Measured,
            StepRow::device_span_ns,
        )
        .detail()
        .table("step", "Steps");
    if rows.is_empty() {
        table.footnotes.push(
            "no steps found; mark them with `jax.profiler.StepTraceAnnotation`, or PyTorch's with `profiler.step()`"
                .to_owned(),
        );
    } else {
        table.footnotes.extend(time_note(analysis.owners()));
    }
    table
}

/// Whether any work of a device was recorded.
fn sees_devices(trace: &Trace) -> bool {
    trace.device_tracks().any(|track| track.rows.clone().any(|row| trace.events.kind(row as usize).is_device_work()))
}

fn device_share(step: &StepRow) -> f64 {
    match step.wall_ns {
        0 => 0.0,
        wall => step.busy_ns as f64 / wall as f64,
    }
}

/// Says how much was given to ranges otherwise than by the chain of causes that the capture recorded.
pub(crate) fn time_note(owners: &Owners) -> Vec<String> {
    let events = |count: u64| if count == 1 { "1 event was".to_owned() } else { format!("{count} events were") };
    let mut notes = Vec::new();
    if owners.by_launch_time > 0 {
        let what = events(owners.by_launch_time);
        notes.push(format!(
            "{what} launched by threads that work for others: attributed to the range open at their launch"
        ));
    }
    if owners.by_time > 0 {
        let what = events(owners.by_time);
        notes.push(format!("{what} attributed to the range open at the time: no launch on that device was recorded"));
    }
    notes
}
