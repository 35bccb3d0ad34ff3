//! The outline: devices and processes with their tracks, steps, counters, categories.

use crate::page::Page;
use ridgeline::OverTime;
use ridgeline::trace::{NONE, StringId, Trace, TrackKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Most steps that are listed.
const MOST_STEPS: usize = 20_000;

/// `timeline`.
pub(crate) fn outline(page: &Page) -> Value {
    let (trace, timeline) = (page.session().trace(), page.timeline());
    let span = timeline.span();
    let categories = page.session().event_categories();
    let named = categories.names.iter().enumerate();
    json!({
        "origin_ns": span.0,
        "span_ns": span.1.saturating_sub(span.0),
        "work": work(trace).map(|(start, end)| [timeline.relative(start), timeline.relative(end)]),
        "tile_columns": super::COLUMNS,
        "groups": groups(page),
        "categories": named.map(|(id, name)| json!({ "id": id, "name": name, "color_index": color(name) })).collect::<Vec<_>>(),
        "steps": steps(page),
        "steps_total": trace.steps.len(),
        "counters": counters(page),
    })
}

/// First start and last end of what ran on devices.
fn work(trace: &Trace) -> Option<(i64, i64)> {
    let rows =
        trace.device_tracks().filter(|track| track.kind != TrackKind::Derived).flat_map(|track| track.rows.clone());
    let spans = rows.map(|row| (trace.events.start_ns[row as usize], trace.events.end_ns(row as usize)));
    spans.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}

/// Colors that the page has, the last for what nothing is known of.
const COLORS: usize = 16;

/// A color by the name alone, so that a category has the same one in every capture; the families that matter most are
/// told apart.
pub(crate) fn color(name: &str) -> usize {
    const FAMILIES: [&[&str]; COLORS - 1] = [
        &["matrix product", "dot", "custom-call", "gemm"],
        &["convolution"],
        &["attention", "softmax"],
        &["reduction", "reduce", "scan", "normalization"],
        &["elementwise", "loop fusion", "fusion", "optimizer", "quantization"],
        &["copy", "memset", "device memory", "data formatting", "transpose"],
        &["collective", "all-", "reduce-scatter"],
        &["gather", "scatter", "indexing", "embedding", "dynamic-", "cache update"],
        &["while", "conditional", "call", "graph"],
        &["sort", "fast Fourier", "fft", "random"],
        &["compile"],
        &["launch", "synchronization"],
        &["Python"],
        &["annotation", "step", "range on a device"],
        &["host", "thread pool", "operator"],
    ];
    let is_of = |words: &&[&str]| words.iter().any(|word| name.contains(word));
    FAMILIES.iter().position(is_of).unwrap_or(COLORS - 1)
}

/// Devices first, each with its streams and lanes; then the threads of each process.
fn groups(page: &Page) -> Vec<Value> {
    let trace = page.session().trace();
    let labels = page.session().process_labels();
    let mut of: BTreeMap<(bool, u32), Vec<usize>> = BTreeMap::new();
    for (at, track) in trace.tracks.iter().enumerate().filter(|(_, track)| !track.rows.is_empty()) {
        let key = track.device.map_or((true, track.process), |device| (false, device));
        of.entry(key).or_default().push(at);
    }
    let group = |((is_host, row), tracks): ((bool, u32), Vec<usize>)| {
        let process = if is_host { row } else { trace.devices[row as usize].process };
        let label = labels.get(process as usize).filter(|label| !label.is_empty()).cloned();
        let label = label.map(|label| if page.is_redacted() { format!("process {process}") } else { label });
        let name = if is_host { "Host".to_owned() } else { device_name(trace, row) };
        let found = &trace.processes[process as usize];
        json!({
            "id": format!("{}{row}", if is_host { "process" } else { "device" }),
            "name": label.map_or(name.clone(), |label| format!("{name} · {label}")),
            "kind": if is_host { "host" } else { "device" },
            "row": row,
            "process": process,
            "pid": found.pid,
            "rank": found.rank,
            "tracks": tracks.into_iter().map(|at| track(page, at)).collect::<Vec<_>>(),
        })
    };
    of.into_iter().map(group).collect()
}

fn device_name(trace: &Trace, device: u32) -> String {
    let found = &trace.devices[device as usize];
    let model = found.model.as_deref().or(found.vendor.as_deref());
    model.map_or_else(|| found.plane.clone(), |model| format!("{} ({model})", found.plane))
}

fn track(page: &Page, at: usize) -> Value {
    let (trace, timeline) = (page.session().trace(), page.timeline());
    let track = &trace.tracks[at];
    json!({
        "id": at,
        "name": trace.strings.get(track.name),
        "kind": kind(track.kind),
        "lanes": timeline.lanes[at].count,
        "events": track.rows.len(),
        "levels": [0, timeline.top_level()],
    })
}

fn kind(kind: TrackKind) -> &'static str {
    match kind {
        TrackKind::HostThread => "thread",
        TrackKind::Stream => "stream",
        TrackKind::OperationLane => "lane",
        TrackKind::Derived => "derived",
    }
}

/// `[start, end, name]` of each step that the program marked.
fn steps(page: &Page) -> Vec<Value> {
    let (trace, timeline) = (page.session().trace(), page.timeline());
    let step = |step: &ridgeline::trace::Step| {
        let row = step.event as usize;
        let end = timeline.relative(trace.events.end_ns(row));
        json!([timeline.relative(trace.events.start_ns[row]), end, format!("step {}", step.number), step.event])
    };
    trace.steps.iter().take(MOST_STEPS).map(step).collect()
}

/// What was sampled, and what allocators held, over time.
fn counters(page: &Page) -> Vec<Value> {
    let trace = page.session().trace();
    let mut sampled: BTreeMap<(u32, StringId), u64> = BTreeMap::new();
    for (device, metric) in trace.counters.device.iter().zip(&trace.counters.metric) {
        *sampled.entry((*device, *metric)).or_default() += 1;
    }
    let of_samples = sampled.into_iter().map(|((device, metric), samples)| {
        let name = trace.strings.get(metric);
        let owner = trace.devices.get(device as usize).map_or("host", |device| device.plane.as_str());
        let row = (device != NONE).then_some(device);
        let id = format!("sample-{device}-{}", metric.0);
        json!({ "id": id, "name": name, "of": owner, "device": row, "unit": unit(name), "samples": samples })
    });
    let allocators = page.session().memory_allocators();
    let of_allocators = allocators.into_iter().enumerate().map(|(at, (name, events))| {
        json!({ "id": format!("memory-{at}"), "name": name, "of": "memory", "device": null, "unit": "bytes", "samples": events })
    });
    of_samples.chain(of_allocators).chain(over_time(page)).collect()
}

/// Lines that are counted from events: the queues of streams, and how fast copies went.
fn over_time(page: &Page) -> Vec<Value> {
    let trace = page.session().trace();
    let lines = page.session().over_time();
    let line = |line: &ridgeline::OverTimeLine| {
        let device = line.device.0;
        let (id, name, unit, stream) = match line.of {
            OverTime::Queue(track) => {
                let stream = trace.strings.get(trace.tracks[track as usize].name);
                (format!("queue-{track}"), format!("Queue of {stream}"), "", Some(track))
            }
            OverTime::Rate(kind) => {
                (format!("rate-{device}-{}", kind as u8), format!("Rate: {}", kind.name()), "bytes/s", None)
            }
        };
        let (of, samples) = (trace.devices[device as usize].plane.as_str(), line.changes);
        json!({
            "id": id, "name": name, "of": of, "device": device, "track": stream, "unit": unit, "samples": samples,
        })
    };
    lines.iter().map(line).collect()
}

/// The unit that a metric's name ends in, as captures and monitors write it.
fn unit(name: &str) -> &str {
    if let Some((_, unit)) = name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
        return unit;
    }
    let known = [
        ("_mw", "mW"),
        ("_bytes", "bytes"),
        ("_pct", "%"),
        ("_mhz", "MHz"),
        ("_c", "°C"),
        ("_w", "W"),
        ("temperature.gpu", "°C"),
    ];
    known.into_iter().find(|(suffix, _)| name.ends_with(suffix)).map_or("", |(_, unit)| unit)
}
