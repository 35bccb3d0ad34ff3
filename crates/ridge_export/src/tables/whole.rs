//! What events refer to: tracks, processes, devices, strings; and counters.

use super::columns::{bytes, device_number, id, reals, texts, wholes};
use super::table::{Parts, RawTable, Tables, ids, real, text, whole};
use crate::names::Names;
use crate::tracks::track_name;
use arrow_array::ArrayRef;
use ridgeline::trace::{Device, Process, Track, TrackKind};
use std::ops::Range;

/// Threads, streams and lanes.
pub(super) static TRACK: RawTable = RawTable {
    name: "track",
    about: "threads, streams, and lanes of operations",
    parts: Parts::Rows(|tables| tables.trace.tracks.len()),
    columns: &[
        whole("track_id", "its number", |_, rows| ids(rows)),
        text("name", "its name", |tables, rows| tracks(tables, rows, |track| Some(track_name(track, &tables.names)))),
        text(
            "kind",
            "thread, stream, lane; `derived` for a viewer's own track, with events in no table",
            |tables, rows| {
                texts(rows.map(|row| {
                    Some(match tables.trace.tracks[row].kind {
                        TrackKind::HostThread => "thread",
                        TrackKind::Stream => "stream",
                        TrackKind::OperationLane => "lane",
                        TrackKind::Derived => "derived",
                    })
                }))
            },
        ),
        whole("process_id", "row of its process", |tables, rows| {
            wholes(rows.map(|row| Some(tables.trace.tracks[row].process.into())))
        }),
        whole("device_id", "row of its device; null for threads", |tables, rows| {
            wholes(rows.map(|row| tables.trace.tracks[row].device.map(i64::from)))
        }),
        whole("native_id", "its number in the capture: of a stream, of a thread", |tables, rows| {
            wholes(rows.map(|row| Some(tables.trace.tracks[row].native_id)))
        }),
        whole("pid", "process id of its process, if recorded", |tables, rows| {
            let process = |row: usize| tables.trace.processes.get(tables.trace.tracks[row].process as usize);
            wholes(rows.map(|row| process(row).and_then(|process| process.pid).map(bytes)))
        }),
        whole("name_id", "row in `string` of its name in the capture", |tables, rows| {
            wholes(rows.map(|row| Some(tables.trace.tracks[row].name.0.into())))
        }),
        whole("events", "events on it", |tables, rows| {
            wholes(rows.map(|row| Some(tables.trace.tracks[row].rows.len() as i64)))
        }),
    ],
};

fn tracks(tables: &Tables<'_>, rows: Range<usize>, value: impl Fn(&Track) -> Option<String>) -> ArrayRef {
    texts(rows.map(|row| value(&tables.trace.tracks[row])))
}

/// Captured processes.
pub(super) static PROCESS: RawTable = RawTable {
    name: "process",
    about: "captured processes: hosts, ranks",
    parts: Parts::Rows(|tables| tables.trace.processes.len()),
    columns: &[
        whole("process_id", "its number", |_, rows| ids(rows)),
        text("name", "its name", |tables, rows| texts(rows.map(|row| Some(tables.names.process(tables.trace, row))))),
        whole("pid", "its process id, if recorded", |tables, rows| {
            processes(tables, rows, |process| process.pid.map(bytes))
        }),
        whole("rank", "its rank, if recorded", |tables, rows| {
            processes(tables, rows, |process| process.rank.map(i64::from))
        }),
        whole("first_ns", "start of its first event, nanoseconds", |tables, rows| {
            wholes(rows.map(|row| tables.trace.process_span_ns(row as u32).map(|(first, _)| first)))
        }),
        whole("last_ns", "end of its last event, nanoseconds", |tables, rows| {
            wholes(rows.map(|row| tables.trace.process_span_ns(row as u32).map(|(_, last)| last)))
        }),
    ],
};

fn processes(tables: &Tables<'_>, rows: Range<usize>, value: fn(&Process) -> Option<i64>) -> ArrayRef {
    wholes(rows.map(|row| value(&tables.trace.processes[row])))
}

/// Devices of all processes.
pub(super) static DEVICE: RawTable = RawTable {
    name: "device",
    about: "devices of all processes",
    parts: Parts::Rows(|tables| tables.trace.devices.len()),
    columns: &[
        whole("device_id", "its number", |_, rows| ids(rows)),
        text("name", "its plane and its model", |tables, rows| {
            texts(rows.map(|row| Some(Names::device(tables.trace, row))))
        }),
        whole("process_id", "row of its process", |tables, rows| {
            devices(tables, rows, |device| Some(device.process.into()))
        }),
        text("plane", "its plane", |tables, rows| {
            texts(rows.map(|row| Some(tables.trace.devices[row].plane.as_str())))
        }),
        text("vendor", "its vendor", |tables, rows| texts(rows.map(|row| tables.trace.devices[row].vendor.as_deref()))),
        text("model", "its model", |tables, rows| texts(rows.map(|row| tables.trace.devices[row].model.as_deref()))),
        whole("device_number", "its number in its process, as in the name of its plane", |tables, rows| {
            wholes(rows.map(|row| device_number(tables.trace, row)))
        }),
        whole("cores", "multiprocessors or compute units", |tables, rows| {
            devices(tables, rows, |device| device.cores.map(bytes))
        }),
        whole("clock_khz", "core clock, kHz", |tables, rows| {
            devices(tables, rows, |device| device.clock_khz.map(bytes))
        }),
        whole("memory_bytes", "size of its memory, bytes", |tables, rows| {
            devices(tables, rows, |device| device.memory_bytes.map(bytes))
        }),
        whole(
            "memory_bytes_per_sec",
            "bandwidth of its memory as the driver has it, bytes per second",
            |tables, rows| devices(tables, rows, |device| device.memory_bytes_per_sec.map(bytes)),
        ),
    ],
};

fn devices(tables: &Tables<'_>, rows: Range<usize>, value: fn(&Device) -> Option<i64>) -> ArrayRef {
    wholes(rows.map(|row| value(&tables.trace.devices[row])))
}

/// Distinct names, and short names of kernels.
pub(super) static STRING: RawTable = RawTable {
    name: "string",
    about: "distinct names of events, and short names of kernels",
    parts: Parts::Rows(|tables| arrow_array::Array::len(&tables.texts().strings)),
    columns: &[
        whole("string_id", "its number", |_, rows| ids(rows)),
        text("value", "the text", |tables, rows| tables.strings_at(rows.map(|row| Some(row as u32)))),
    ],
};

/// Sampled values.
pub(super) static COUNTER: RawTable = RawTable {
    name: "counter",
    about: "sampled values: clocks, power, utilization",
    parts: Parts::Rows(|tables| tables.trace.counters.value.len()),
    columns: &[
        whole("time_ns", "when, nanoseconds on the trace's clock", |tables, rows| {
            wholes(rows.map(|row| Some(tables.trace.counters.time_ns[row])))
        }),
        text("metric", "what, with its unit", |tables, rows| {
            tables.named(rows.map(|row| Some(tables.trace.counters.metric[row])))
        }),
        whole("metric_id", "row of the metric in `string`", |tables, rows| {
            wholes(rows.map(|row| Some(tables.trace.counters.metric[row].0.into())))
        }),
        whole("device_id", "row of the device; null for the host's", |tables, rows| {
            wholes(rows.map(|row| id(tables.trace.counters.device[row])))
        }),
        real("value", "the value", |tables, rows| reals(rows.map(|row| Some(tables.trace.counters.value[row])))),
    ],
};
