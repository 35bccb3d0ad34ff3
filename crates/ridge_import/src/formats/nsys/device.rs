//! Device work: kernels, copies, memory sets, graphs and synchronization, each from its own table.

use super::names::{NameKey, NameStyle, Names};
use super::rows::{DetailOf, EventRow, Lane, Part, Timeline};
use super::tables::Tables;
use crate::import::Import;
use crate::note::Severity;
use ridge_sqlite::Row;
use ridge_trace::{EventKind, NONE};
use rustc_hash::FxHashMap;

pub(super) const KERNELS: &str = "CUPTI_ACTIVITY_KIND_KERNEL";
pub(super) const COPIES: &str = "CUPTI_ACTIVITY_KIND_MEMCPY";
pub(super) const MEMORY_SETS: &str = "CUPTI_ACTIVITY_KIND_MEMSET";
pub(super) const GRAPHS: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
pub(super) const SYNCHRONIZATION: &str = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";

/// Columns that every device table has, in the order that [`common`] reads them.
const COMMON: [&str; 7] = ["start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"];

/// The stream id of what concerns no stream: `CUPTI_SYNCHRONIZATION_INVALID_VALUE`.
const NO_STREAM: i64 = 0xffff_ffff;

/// Reads every table of device events.
pub(super) fn read(tables: &impl Tables, timeline: &mut Timeline, names: &mut Names, import: &mut Import) {
    let mut incomplete = 0;
    scan_each(tables, KERNELS, &KERNEL_COLUMNS, kernel, |kernels| {
        incomplete += timeline.take_part(kernels, NameStyle::AsWritten, DetailOf::Shapes, names, import);
    });
    let mut take = |parts, detail| incomplete += timeline.take(parts, NameStyle::AsWritten, detail, names, import);
    take(scan(tables, COPIES, &["bytes", "copyKind", "srcKind", "dstKind"], copy), DetailOf::Transfers);
    take(scan(tables, MEMORY_SETS, &["bytes", "memKind"], memory_set), DetailOf::Transfers);
    let graphs = scan(tables, GRAPHS, &["graphId"], graph);
    let has_graphs = !graphs.is_empty();
    take(graphs, DetailOf::Nothing);
    let mut waits = scan(tables, SYNCHRONIZATION, &["syncType"], synchronization);
    let devices = devices_of_contexts(timeline);
    waits.iter_mut().for_each(|part| part.move_lanes(|lane| on_its_device(lane, &devices)));
    incomplete += timeline.take(waits, NameStyle::AsWritten, DetailOf::Nothing, names, import);
    if incomplete > 0 {
        let message = "device events without a start were left out".to_owned();
        import.note(Severity::Lost, &source_of(import), None, incomplete, message);
    }
    if has_graphs {
        let message = "CUDA graphs were traced whole, without their kernels; `nsys profile --cuda-graph-trace=node` \
                       records them"
            .to_owned();
        import.note(Severity::Partial, &source_of(import), None, 1, message);
    }
}

/// The device of each context of each process that had work there.
fn devices_of_contexts(timeline: &Timeline) -> FxHashMap<(u64, i64), i64> {
    let device = |lane: &Lane| match *lane {
        Lane::Stream { pid, device, context, .. } => Some(((pid, context), device)),
        Lane::Thread { .. } => None,
    };
    timeline.lanes.keys.iter().filter_map(device).collect()
}

/// The same stream on the device that its context is on: exports say device 0 of every synchronization.
fn on_its_device(lane: Lane, devices: &FxHashMap<(u64, i64), i64>) -> Lane {
    match lane {
        Lane::Stream { pid, device, context, stream } => {
            let device = devices.get(&(pid, context)).copied().unwrap_or(device);
            Lane::Stream { pid, device, context, stream }
        }
        thread @ Lane::Thread { .. } => thread,
    }
}

/// The source that is being read.
pub(super) fn source_of(import: &Import) -> String {
    import.captures.last().map(|capture| capture.source.clone()).unwrap_or_default()
}

/// Visits a device table with the common columns and `columns` behind them.
fn scan(
    tables: &impl Tables,
    name: &str,
    columns: &[&str],
    visit: impl Fn(&mut Part, &Row<'_>, EventRow) -> EventRow + Sync,
) -> Vec<Part> {
    let mut parts = Vec::new();
    scan_each(tables, name, columns, visit, |part| parts.push(part));
    parts
}

fn scan_each(
    tables: &impl Tables,
    name: &str,
    columns: &[&str],
    visit: impl Fn(&mut Part, &Row<'_>, EventRow) -> EventRow + Sync,
    each: impl FnMut(Part),
) {
    let all: Vec<&str> = COMMON.iter().chain(columns).copied().collect();
    let add = |part: &mut Part, row: &Row<'_>| match common(row) {
        Some((lane, event)) => {
            let event = visit(part, row, event);
            part.push(lane, event);
        }
        None => part.incomplete += 1,
    };
    tables.scan_each(name, &all, add, each);
}

#[inline]
fn common(row: &Row<'_>) -> Option<(Lane, EventRow)> {
    let start_ns = row.int(0)?;
    let dur_ns = row.int(1).map_or(0, |end| end.saturating_sub(start_ns)).max(0);
    let number = |at| row.int(at).unwrap_or(0);
    let lane = Lane::Stream { pid: number(6) as u64 >> 24, device: number(2), context: number(3), stream: number(4) };
    let correlation = u32::try_from(number(5)).unwrap_or(0);
    let event = EventRow { start_ns, dur_ns, name: 0, detail: NONE, op: NONE, correlation, kind: EventKind::Kernel };
    Some((lane, event))
}

/// What a kernel's row says beside the common columns, from place 7 on.
const KERNEL_COLUMNS: [&str; 12] = [
    "demangledName",
    "shortName",
    "mangledName",
    "registersPerThread",
    "gridX",
    "gridY",
    "gridZ",
    "blockX",
    "blockY",
    "blockZ",
    "staticSharedMemory",
    "dynamicSharedMemory",
];

fn kernel(part: &mut Part, row: &Row<'_>, event: EventRow) -> EventRow {
    let whole = |at| row.int(at).and_then(|value| u32::try_from(value).ok());
    let triple = |at| [at, at + 1, at + 2].map(|at| whole(at).unwrap_or(0));
    let name = NameKey::FirstOf([7, 8, 9].map(|at| row.int(at).unwrap_or(-1)));
    let shape = (triple(11), triple(14), whole(10), whole(17), whole(18));
    EventRow { name: part.names.id(name), detail: part.shapes.id(shape), ..event }
}

fn copy(part: &mut Part, row: &Row<'_>, event: EventRow) -> EventRow {
    let (name, kind) = copy_kind(row.int(8).unwrap_or(0));
    let bytes = row.int(7).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
    let detail = part.transfers.id((bytes, row.int(9).unwrap_or(-1), row.int(10).unwrap_or(-1)));
    EventRow { name: part.names.id(NameKey::Fixed(name)), detail, kind, ..event }
}

fn memory_set(part: &mut Part, row: &Row<'_>, event: EventRow) -> EventRow {
    let bytes = row.int(7).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0);
    let detail = part.transfers.id((bytes, -1, row.int(8).unwrap_or(-1)));
    EventRow { name: part.names.id(NameKey::Fixed("Memset")), detail, kind: EventKind::Memset, ..event }
}

fn graph(part: &mut Part, row: &Row<'_>, event: EventRow) -> EventRow {
    let name = part.names.id(NameKey::Graph(row.int(7).unwrap_or(0)));
    EventRow { name, kind: EventKind::GraphLaunch, ..event }
}

fn synchronization(part: &mut Part, row: &Row<'_>, event: EventRow) -> EventRow {
    // `ENUM_CUPTI_SYNC_TYPE` of the exports.
    let name = match row.int(7) {
        Some(1) => "Event Sync",
        Some(2) => "Stream Wait Event",
        Some(3) => "Stream Sync",
        Some(4) => "Context Sync",
        _ => "Sync",
    };
    EventRow { name: part.names.id(NameKey::Fixed(name)), kind: EventKind::Synchronization, ..event }
}

/// The name of a stream in its track.
pub(super) fn stream_name(stream: i64, context: Option<i64>) -> String {
    match (stream, context) {
        (NO_STREAM, None) => "(no stream)".to_owned(),
        (NO_STREAM, Some(context)) => format!("(no stream) of context {context}"),
        (stream, None) => format!("Stream #{stream}"),
        (stream, Some(context)) => format!("Stream #{stream} of context {context}"),
    }
}

/// `ENUM_CUDA_MEMCPY_OPER` of the exports, with the names that other captures give these copies.
fn copy_kind(kind: i64) -> (&'static str, EventKind) {
    match kind {
        1 | 3 | 11 => ("MemcpyH2D", EventKind::CopyHostToDevice),
        2 | 4 | 12 => ("MemcpyD2H", EventKind::CopyDeviceToHost),
        5..=8 | 13 => ("MemcpyD2D", EventKind::CopyDeviceToDevice),
        9 => ("MemcpyH2H", EventKind::CopyOther),
        10 => ("MemcpyP2P", EventKind::CopyPeer),
        _ => ("Memcpy", EventKind::CopyOther),
    }
}
