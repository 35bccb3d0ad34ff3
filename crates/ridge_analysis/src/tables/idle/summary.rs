//! The tables of idle time that need no second look at the gaps: by device, by cause, by what the host did.

use crate::Analysis;
use crate::context::labels::{device_label, process_labels};
use crate::context::partition::ratio;
use crate::models::idle::activity::{Activity, DoingKey};
use crate::models::idle::cause::Cause;
use crate::models::idle::sums::{Sum, Sums};
use crate::models::idle::{DeviceIdle, Idle};
use crate::tables::time::table as build;
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};
use ridge_trace::{DeviceRow, EventKind, StringId, Trace};
use rustc_hash::FxHashMap;

impl Idle {
    /// One row a device: its windows, its greatest cause, and how the host kept it fed.
    pub(crate) fn by_device(&self, analysis: &Analysis<'_>) -> Table {
        let labels = process_labels(analysis.trace);
        let mut devices: Vec<&DeviceIdle> = self.devices.iter().map(AsRef::as_ref).collect();
        devices.sort_by_key(|device| (std::cmp::Reverse(device.idle_ns()), device.device));
        let rows = || devices.iter();
        let nanos = |key, title, definition, ns: fn(&DeviceIdle) -> i64| {
            Column::nanos(key, title, definition, rows().map(|device| ns(device))).basis(Basis::Measured)
        };
        build(
            "device",
            "Idle time by device",
            vec![
                Column::text(
                    "device",
                    "Device",
                    "the device",
                    rows().map(|device| device_label(analysis.trace, &labels, device.device)),
                )
                .ranked(Rank::Key),
                nanos("idle_ns", "Idle", "gaps between its first work and the end of its last", |device| device.idle_ns())
                    .ranked(Rank::Key),
                Column::real(
                    "idle_share",
                    "Share",
                    "idle time as a part of the active window",
                    Unit::Share,
                    rows().map(|device| ratio(device.idle_ns(), device.active_ns())),
                )
                .basis(Basis::Measured)
                .ranked(Rank::Key),
                Column::text(
                    "cause",
                    "Greatest cause",
                    "the cause with the most idle time of the active window",
                    rows().map(|device| greatest(&device.sums).map(|cause| cause.name().to_owned())),
                )
                .ranked(Rank::Key),
                nanos("busy_ns", "Busy", "union of its work over all its streams", |device| device.busy_ns),
                nanos("head_ns", "Before", Cause::BeforeFirst.definition(), |device| {
                    device.sums.ns(Cause::BeforeFirst)
                }),
                nanos("tail_ns", "After", Cause::AfterLast.definition(), |device| device.sums.ns(Cause::AfterLast)),
                nanos("active_ns", "Active window", "from its first work to the end of its last", |device| device.active_ns())
                    .ranked(Rank::Detail),
                nanos(
                    "capture_ns",
                    "Capture window",
                    "from the first event of its process to the last: before, busy, idle and after add up to it",
                    |device| device.capture_ns(),
                )
                .ranked(Rank::Detail),
                Column::whole(
                    "gaps",
                    "Gaps",
                    "gaps between work",
                    Unit::Count,
                    rows().map(|device| device.gaps.len() as u64),
                )
                .basis(Basis::Counted),
                Column::real(
                    "launch_bound_share",
                    "Launch-bound",
                    "part of the active window in which the device was idle while the host was in a launch call or the launch was on its way",
                    Unit::Share,
                    rows().map(|device| {
                        let known = device.queue.linked > 0;
                        known.then(|| ratio(device.launch_bound_ns(analysis), device.active_ns())).flatten()
                    }),
                )
                .basis(Basis::Measured),
                Column::real(
                    "queue_mean_depth",
                    "Queue depth",
                    "launched and not begun, averaged over the active window",
                    Unit::Number,
                    rows().map(|device| (device.queue.linked > 0).then_some(device.queue.mean_depth)),
                )
                .basis(Basis::Measured)
                .ranked(Rank::Detail),
                Column::real(
                    "small_kernel_share",
                    "Small kernels",
                    "part of the kernels that ran shorter than the capture's median launch latency",
                    Unit::Share,
                    rows().map(|device| {
                        let known = device.latency.is_some() && device.small.kernels > 0;
                        known.then(|| device.small.small as f64 / device.small.kernels as f64)
                    }),
                )
                .basis(Basis::Measured)
                .ranked(Rank::Detail),
            ],
        )
        .about(devices.iter().map(|device| Some(Subject::Device(DeviceRow(device.device)))))
    }

    /// One row for each device and cause.
    pub(crate) fn by_cause(&self, analysis: &Analysis<'_>) -> Table {
        let labels = process_labels(analysis.trace);
        let rows: Vec<(&DeviceIdle, Cause, Sum)> = self
            .devices
            .iter()
            .map(AsRef::as_ref)
            .flat_map(|device: &DeviceIdle| {
                Cause::ALL.into_iter().map(move |cause| (device, cause, device.sums.causes[cause as usize]))
            })
            .filter(|(_, _, sum)| sum.ns > 0)
            .collect();
        let rows = sorted(rows, |(device, cause, sum)| (sum.ns, (device.device, *cause)));
        build(
            "cause",
            "Idle time by cause",
            vec![
                Column::text(
                    "cause",
                    "Cause",
                    "why the device was idle; see docs/idle.md for the rules",
                    rows.iter().map(|(_, cause, _)| cause.name().to_owned()),
                )
                .ranked(Rank::Key),
                Column::text(
                    "device",
                    "Device",
                    "the device",
                    rows.iter().map(|(device, _, _)| device_label(analysis.trace, &labels, device.device)),
                ),
                idle_column(rows.iter().map(|(_, _, sum)| sum.ns)),
                Column::real(
                    "window_share",
                    "Share",
                    "part of the device's capture window",
                    Unit::Share,
                    rows.iter().map(|(device, _, sum)| ratio(sum.ns, device.capture_ns())),
                )
                .basis(Basis::Measured)
                .ranked(Rank::Key),
                Column::whole(
                    "gaps",
                    "Gaps",
                    "gaps that hold time of this cause",
                    Unit::Count,
                    rows.iter().map(|(_, _, sum)| sum.count),
                )
                .basis(Basis::Counted),
                longest_column(rows.iter().map(|(_, _, sum)| sum.longest_ns)),
            ],
        )
        .about(rows.iter().map(|(device, ..)| Some(Subject::Device(DeviceRow(device.device)))))
    }

    /// One row for each cause and thing that the host did meanwhile, over all devices.
    pub(crate) fn by_host(&self, analysis: &Analysis<'_>) -> Table {
        let mut sums: FxHashMap<(Cause, Activity, u32), Sum> = FxHashMap::default();
        let doings = self.devices.iter().flat_map(|device| &device.sums.doings);
        for ((cause, key), sum) in doings {
            let DoingKey { name, .. } = *key;
            let activity = key.activity(analysis.text(StringId(name)));
            sums.entry((*cause, activity, name)).or_default().merge(sum);
        }
        let all: i64 = sums.values().fold(0, |all, sum| all.saturating_add(sum.ns));
        let rows = sorted(sums.into_iter().collect(), |(key, sum)| (sum.ns, *key));
        let unnamed = rows.iter().filter(|((_, activity, _), _)| *activity == Activity::Nothing);
        let unnamed: i64 = unnamed.fold(0, |sum, (_, row)| sum.saturating_add(row.ns));
        let mut table = build(
            "host",
            "What the host did meanwhile",
            vec![
                Column::text(
                    "host",
                    "Host",
                    "innermost event of the thread that launched the next work; for a wait, the event that explains it",
                    rows.iter().map(|((_, _, name), _)| {
                        let text = analysis.text(StringId(*name));
                        (!text.is_empty()).then(|| text.to_owned())
                    }),
                )
                .ranked(Rank::Key),
                Column::text(
                    "activity",
                    "Activity",
                    "what kind of event that is, or what encloses it",
                    rows.iter().map(|((_, activity, _), _)| activity.name().to_owned()),
                ),
                Column::text(
                    "cause",
                    "Cause",
                    "why the device was idle",
                    rows.iter().map(|((cause, _, _), _)| cause.name().to_owned()),
                )
                .ranked(Rank::Key),
                idle_column(rows.iter().map(|(_, sum)| sum.ns)),
                Column::real(
                    "idle_share",
                    "Share",
                    "part of all idle time, heads and tails included, over all devices",
                    Unit::Share,
                    rows.iter().map(|(_, sum)| ratio(sum.ns, all)),
                )
                .basis(Basis::Measured)
                .ranked(Rank::Key),
                Column::whole(
                    "parts",
                    "Parts",
                    "stretches of idle time",
                    Unit::Count,
                    rows.iter().map(|(_, sum)| sum.count),
                )
                .basis(Basis::Counted),
                longest_column(rows.iter().map(|(_, sum)| sum.longest_ns)),
            ],
        )
        .about(rows.iter().map(|((.., name), _)| (*name != 0).then_some(Subject::Named(StringId(*name)))));
        table.footnotes.extend(tracer_note(analysis.trace, unnamed, all));
        table
    }
}

/// How to see what the host did, where most idle time has no name and calls of Python were not recorded.
fn tracer_note(trace: &Trace, unnamed_ns: i64, all_ns: i64) -> Option<String> {
    let traces_python = || trace.events.kind.contains(&(EventKind::PythonCall as u8));
    let share = ratio(unnamed_ns, all_ns).filter(|share| *share >= 0.5 && !traces_python())?;
    Some(format!(
        "{:.0} % of it has nothing recorded; of a Python program, `ridgeline record --python-tracer`, or \
         `with_stack=True` of PyTorch's profiler, records what ran then",
        100.0 * share
    ))
}

/// The cause with the most idle time of the active window.
fn greatest(sums: &Sums) -> Option<Cause> {
    let inner = Cause::ALL.into_iter().filter(|cause| !matches!(cause, Cause::BeforeFirst | Cause::AfterLast));
    inner.filter(|cause| sums.ns(*cause) > 0).max_by_key(|cause| sums.ns(*cause))
}

/// `rows` with the most time first; ties in the order of what tells them apart.
pub(crate) fn sorted<T, K: Ord>(mut rows: Vec<T>, key: impl Fn(&T) -> (i64, K)) -> Vec<T> {
    rows.sort_by_key(|row| {
        let (ns, identity) = key(row);
        (std::cmp::Reverse(ns), identity)
    });
    rows
}

pub(crate) fn idle_column(values: impl Iterator<Item = i64>) -> Column {
    Column::nanos("idle_ns", "Idle", "idle time, measured", values).basis(Basis::Measured).ranked(Rank::Key)
}

fn longest_column(values: impl Iterator<Item = i64>) -> Column {
    Column::nanos("longest_ns", "Longest", "the longest of them", values).basis(Basis::Measured)
}
