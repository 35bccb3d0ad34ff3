//! The idle time of each device as facts: the windows, the causes, and how far the host ran ahead.

use crate::Analysis;
use crate::context::partition::ratio;
use crate::models::idle::{Cause, DeviceIdle, Idle};
use ridge_table::{Fact, FactValue, Section, Unit};

/// Devices with a section of their own; the table by device has them all.
const DEVICES_SHOWN: usize = 4;

/// A section for each device, those that were idle longest first.
pub(crate) fn sections(analysis: &Analysis<'_>, idle: &Idle) -> Vec<Section> {
    let devices = idle.by_device();
    let shown = devices.iter().take(DEVICES_SHOWN);
    let mut sections: Vec<Section> = shown.map(|device| section(analysis, device)).collect();
    sections.extend(others(idle, devices.len().saturating_sub(DEVICES_SHOWN)));
    sections
}

/// What the other sections leave out, where they do.
fn others(idle: &Idle, more: usize) -> Option<Section> {
    let count = |key, title, value: usize, definition| {
        (value > 0).then(|| fact(key, title, FactValue::Count(value as u64), None, definition))
    };
    let facts = [
        count("more_devices", "Devices not shown", more, "idle for a shorter time; `--by device` shows them"),
        count("unused_devices", "Devices without work", idle.unused.len(), "in the capture, and idle throughout"),
    ];
    let facts: Vec<Fact> = facts.into_iter().flatten().collect();
    (!facts.is_empty()).then(|| Section { title: "Other devices".to_owned(), facts })
}

fn fact(key: &str, title: &str, value: FactValue, share: Option<f64>, definition: &str) -> Fact {
    Fact::observed(key, title, value, definition).share(share)
}

fn section(analysis: &Analysis<'_>, device: &DeviceIdle) -> Section {
    let mut facts = windows(device);
    facts.extend(causes(device));
    facts.extend(launching(analysis, device));
    Section { title: format!("Idle time of {}", analysis.device_label(device.device)), facts }
}

/// The capture window and what it consists of.
fn windows(device: &DeviceIdle) -> Vec<Fact> {
    let capture = device.capture_ns();
    let part = |key, title, ns: i64, definition| fact(key, title, FactValue::Nanos(ns), ratio(ns, capture), definition);
    let head = device.sums.ns(Cause::BeforeFirst);
    let tail = device.sums.ns(Cause::AfterLast);
    vec![
        fact(
            "capture_ns",
            "Capture window",
            FactValue::Nanos(capture),
            None,
            "from the first event of the device's process to the last; the sum of the next four; shares are of it unless noted",
        ),
        part("head_ns", "Before the first work", head, Cause::BeforeFirst.definition()),
        part("busy_ns", "Busy", device.busy_ns, "union of the device's work over all its streams"),
        part(
            "idle_ns",
            "Idle in gaps",
            device.idle_ns(),
            "gaps of that union, from the first work to the end of the last; the sum of the causes below",
        ),
        part("tail_ns", "After the last work", tail, Cause::AfterLast.definition()),
        fact("gaps", "Gaps", FactValue::Count(device.gaps.len() as u64), None, "gaps between work"),
    ]
}

/// The causes of the gaps, which add up to the idle time.
fn causes(device: &DeviceIdle) -> impl Iterator<Item = Fact> + '_ {
    let inner = Cause::ALL.into_iter().filter(|cause| !matches!(cause, Cause::BeforeFirst | Cause::AfterLast));
    // Unknown is always shown: a zero is an answer.
    let shown = inner.filter(|cause| *cause == Cause::Unknown || device.sums.ns(*cause) > 0);
    shown.map(|cause| {
        let ns = device.sums.ns(cause);
        let share = ratio(ns, device.capture_ns());
        fact(cause.key(), &format!("Idle, {}", cause.name()), FactValue::Nanos(ns), share, cause.definition())
    })
}

/// How well the host kept the device fed; nothing where no launch is known.
fn launching(analysis: &Analysis<'_>, device: &DeviceIdle) -> Vec<Fact> {
    let (queue, small) = (&device.queue, &device.small);
    if queue.linked == 0 {
        return Vec::new();
    }
    let active = device.active_ns();
    let bound = device.launch_bound_ns(analysis);
    let mut facts = vec![
        fact(
            "launch_bound_ns",
            "Launch-bound",
            FactValue::Nanos(bound),
            ratio(bound, active),
            "idle while the host was in a launch call or the launch was on its way; the share, of the active window, is the launch-bound score",
        ),
        fact(
            "queue_empty_ns",
            "Queue empty",
            FactValue::Nanos(queue.empty_ns),
            ratio(queue.empty_ns, active),
            "time of the active window in which no launched work waited to begin; the share is of the active window",
        ),
        fact(
            "queue_mean_depth",
            "Mean queue depth",
            FactValue::Number(queue.mean_depth),
            None,
            "work launched but not started, averaged over the active window; the work of one call on one stream counts once",
        ),
        fact("queue_max_depth", "Max queue depth", FactValue::Count(queue.max_depth), None, "the most at any time"),
        fact(
            "launches_known",
            "Linked launches",
            FactValue::Real(queue.linked as f64 / queue.work.max(1) as f64, Unit::Share),
            None,
            "share of stream work with its launch call in the capture; queue metrics cover only this work",
        ),
    ];
    if let Some(latency) = device.latency {
        facts.push(fact(
            "launch_latency_median_ns",
            "Median launch latency",
            FactValue::Nanos(latency.median_ns),
            None,
            "from the start of the launch call to the start of the kernel, for launches into an empty stream, measured",
        ));
        facts.push(fact(
            "launch_latency_p95_ns",
            "p95 launch latency",
            FactValue::Nanos(latency.p95_ns),
            None,
            "the latency that 95% of them do not exceed, measured",
        ));
        facts.push(fact(
            "small_kernels",
            "Small kernels",
            FactValue::Count(small.small),
            (small.kernels > 0).then(|| small.small as f64 / small.kernels as f64),
            "kernels that ran shorter than the median launch latency; the share is of all kernels of the device",
        ));
        facts.push(fact(
            "small_kernels_ns",
            "Small kernels, time",
            FactValue::Nanos(small.small_ns),
            ratio(small.small_ns, small.kernels_ns),
            "their time; the share is of the time of all kernels of the device",
        ));
    }
    facts
}
