//! The table of events: where, what, when, whose work, how launched, what moved.

use super::columns::{bytes, device_number, flags, id, reals, same, texts, wholes};
use super::table::{Parts, RawColumn, RawTable, Tables, flag, ids, real, text, whole};
use crate::names::Names;
use crate::tracks::track_name;
use arrow_array::ArrayRef;
use ridgeline::trace::{
    Attribution, Collective, EventKind, LaunchShape, Module, OperatorShape, StringId, Track, Transfer,
};
use std::ops::Range;

/// Every event, track by track, in order of its start.
pub(super) static EVENT: RawTable = RawTable {
    name: "event",
    about: "everything that happened: a row per kernel, copy, call, range",
    parts: Parts::Tracks,
    columns: COLUMNS,
};

/// The first thirteen are those of the CSV.
const COLUMNS: &[RawColumn] = &[
    whole("row", "its number, which other columns refer to", |_, rows| ids(rows)),
    text("process", "its process, in words", |tables, rows| {
        let process = track(tables, &rows).map(|track| tables.names.process(tables.trace, track.process as usize));
        same(process.as_deref(), rows.len())
    }),
    text("device", "its device; null for host events", |tables, rows| {
        let device = track(tables, &rows).and_then(|track| track.device);
        same(device.map(|device| Names::device(tables.trace, device as usize)).as_deref(), rows.len())
    }),
    text("track", "its thread, stream or lane", |tables, rows| {
        let name = track(tables, &rows).map(|track| track_name(track, &tables.names));
        same(name.as_deref(), rows.len())
    }),
    text("kind", "its kind: kernel, copy host to device, launch, annotation", |tables, rows| {
        texts(rows.map(|row| Some(tables.trace.events.kind(row).name())))
    }),
    text("name", "its name", |tables, rows| {
        tables.named(rows.map(|row| Some(StringId(tables.trace.events.name[row]))))
    }),
    whole("start_ns", "when it began, nanoseconds on the trace's clock", |tables, rows| {
        tables.numbers(rows, |row| Some(tables.trace.events.start_ns[row]))
    }),
    whole("dur_ns", "how long it took, nanoseconds", |tables, rows| {
        tables.numbers(rows, |row| Some(tables.trace.events.dur_ns[row]))
    }),
    whole("caused_by", "row of the event that caused it, such as its launch", |tables, rows| {
        tables.numbers(rows, |row| id(tables.trace.events.link[row]))
    }),
    text("operation", "its operation: an HLO instruction, or a framework's", |tables, rows| {
        tables.named(rows.map(|row| tables.trace.operation(row).map(|operation| operation.name)))
    }),
    text("module", "the compiled program of its operation", |tables, rows| {
        tables.named(rows.map(|row| module(tables, row).map(|module| module.name)))
    }),
    text("scope", "path of the scopes of its operation", |tables, rows| {
        tables.named(rows.map(|row| tables.trace.operation(row).map(|operation| operation.scope)))
    }),
    whole("bytes", "bytes that it copied or set", |tables, rows| {
        wholes(rows.map(|row| tables.trace.transfer(row).map(|transfer| bytes(transfer.bytes))))
    }),
    whole("end_ns", "when it ended, nanoseconds on the trace's clock", |tables, rows| {
        tables.numbers(rows, |row| Some(tables.trace.events.end_ns(row)))
    }),
    whole("self_ns", "its duration minus events directly inside, nanoseconds", |tables, rows| {
        tables.numbers(rows, |row| Some(tables.facts().self_ns(row)))
    }),
    whole("depth", "events of its track that enclose it", |tables, rows| {
        tables.numbers(rows, |row| Some(tables.facts().depth(row).into()))
    }),
    whole("parent", "row of the innermost event of its track that encloses it", |tables, rows| {
        tables.numbers(rows, |row| id(tables.trace.events.parent[row]))
    }),
    whole("track_id", "row of its track", |tables, rows| {
        let at = tables.trace.tracks.partition_point(|track| track.rows.start <= rows.start as u32) as i64 - 1;
        wholes(rows.map(|_| Some(at)))
    }),
    whole("process_id", "row of its process", |tables, rows| {
        let process = track(tables, &rows).map(|track| track.process.into());
        wholes(rows.map(|_| process))
    }),
    whole("device_id", "row of its device; null for host events", |tables, rows| {
        let device = track(tables, &rows).and_then(|track| track.device).map(i64::from);
        wholes(rows.map(|_| device))
    }),
    whole("pid", "process id of its process, if recorded", |tables, rows| {
        let process = track(tables, &rows).and_then(|track| tables.trace.processes.get(track.process as usize));
        wholes(rows.map(|_| process.and_then(|process| process.pid).map(bytes)))
    }),
    whole("device_number", "number of its device in its process, as in the name of its plane", |tables, rows| {
        let device = track(tables, &rows).and_then(|track| track.device);
        let number = device.and_then(|device| device_number(tables.trace, device as usize));
        wholes(rows.map(|_| number))
    }),
    whole("native_id", "number of its thread or stream in the capture", |tables, rows| {
        let id = track(tables, &rows).map(|track| track.native_id);
        wholes(rows.map(|_| id))
    }),
    whole("kind_id", "its kind as a number: 4 a launch, 16 a kernel, 18 to 22 copies", |tables, rows| {
        tables.numbers(rows, |row| Some(tables.trace.events.kind[row].into()))
    }),
    whole("name_id", "row of its name in `string`", |tables, rows| {
        tables.numbers(rows, |row| Some(tables.trace.events.name[row].into()))
    }),
    whole(
        "short_name_id",
        "row in `string` of a kernel's name without its template arguments and parameters",
        |tables, rows| wholes(rows.map(|row| short_name(tables, row).map(i64::from))),
    ),
    whole("operation_id", "row of its operation", |tables, rows| {
        tables.numbers(rows, |row| id(tables.trace.events.op[row]))
    }),
    text("category", "its kind of work: matmul, copy, collective", |tables, rows| {
        texts(rows.map(|row| Some(tables.facts().category(row))))
    }),
    text("attribution", "how its operation is known", |tables, rows| {
        texts(rows.map(|row| Some(Attribution::from_byte(tables.trace.events.attribution[row]).name())))
    }),
    whole("step", "number of the step that caused it, or that it is", |tables, rows| {
        tables.numbers(rows, |row| tables.facts().step(row))
    }),
    text("source_file", "file of the line that its operation came from", |tables, rows| {
        texts(rows.map(|row| tables.facts().line(row).map(|(file, _)| tables.names.shown(file))))
    }),
    whole("source_line", "number of that line", |tables, rows| {
        tables.numbers(rows, |row| tables.facts().line(row).map(|(_, line)| line.into()))
    }),
    real("flops", "floating-point operations, from its HLO or its operands", |tables, rows| {
        reals(rows.map(|row| tables.facts().work(row).map(|(flops, _)| flops)))
    }),
    real("work_bytes", "bytes that it has to read and write at least", |tables, rows| {
        reals(rows.map(|row| tables.facts().work(row).map(|(_, bytes)| bytes)))
    }),
    whole("grid_x", "blocks of its grid in x", |tables, rows| shapes(tables, rows, |shape| Some(shape.grid[0]))),
    whole("grid_y", "blocks of its grid in y", |tables, rows| shapes(tables, rows, |shape| Some(shape.grid[1]))),
    whole("grid_z", "blocks of its grid in z", |tables, rows| shapes(tables, rows, |shape| Some(shape.grid[2]))),
    whole("block_x", "threads of its blocks in x", |tables, rows| shapes(tables, rows, |shape| Some(shape.block[0]))),
    whole("block_y", "threads of its blocks in y", |tables, rows| shapes(tables, rows, |shape| Some(shape.block[1]))),
    whole("block_z", "threads of its blocks in z", |tables, rows| shapes(tables, rows, |shape| Some(shape.block[2]))),
    whole("registers", "registers per thread", |tables, rows| shapes(tables, rows, |shape| shape.registers)),
    whole("static_shared_bytes", "static shared memory per block, bytes", |tables, rows| {
        shapes(tables, rows, |shape| shape.static_shared_bytes)
    }),
    whole("dynamic_shared_bytes", "dynamic shared memory per block, bytes", |tables, rows| {
        shapes(tables, rows, |shape| shape.dynamic_shared_bytes)
    }),
    real("occupancy_pct", "theoretical occupancy, percent", |tables, rows| {
        reals(rows.map(|row| tables.trace.launch_shape(row).and_then(|shape| shape.occupancy_pct).map(f64::from)))
    }),
    text("source_memory", "memory that a copy read: pageable, pinned, device", |tables, rows| {
        texts(rows.map(|row| transfer(tables, row).map(|transfer| transfer.source.name())))
    }),
    text("destination_memory", "memory that a copy wrote", |tables, rows| {
        texts(rows.map(|row| transfer(tables, row).map(|transfer| transfer.destination.name())))
    }),
    flag("is_async", "whether the copy's call returned before it ended", |tables, rows| {
        flags(rows.map(|row| transfer(tables, row).and_then(|transfer| transfer.is_async)))
    }),
    text("input_dims", "sizes of an operator's inputs", |tables, rows| operators(tables, rows, |shape| shape.dims)),
    text("input_strides", "strides of an operator's inputs", |tables, rows| {
        operators(tables, rows, |shape| shape.strides)
    }),
    text("input_types", "element types of an operator's inputs", |tables, rows| {
        operators(tables, rows, |shape| shape.types)
    }),
    text("input_values", "an operator's arguments other than arrays", |tables, rows| {
        operators(tables, rows, |shape| shape.values)
    }),
    text("collective", "the kind of collective", |tables, rows| {
        tables.named(rows.map(|row| collective(tables, row).map(|found| found.name)))
    }),
    text("collective_group", "the group of processes it runs among", |tables, rows| {
        tables.named(rows.map(|row| collective(tables, row).map(|found| found.group)))
    }),
    whole("collective_sequence", "number of the call within its group", |tables, rows| {
        wholes(rows.map(|row| collective(tables, row).and_then(|found| found.sequence).map(bytes)))
    }),
    whole("collective_size", "processes in the group", |tables, rows| {
        wholes(rows.map(|row| collective(tables, row).and_then(|found| found.group_size).map(i64::from)))
    }),
    text("collective_type", "element type of a collective", |tables, rows| {
        tables.named(rows.map(|row| collective(tables, row).map(|found| found.element_type)))
    }),
    whole("bytes_in", "bytes that the process puts into a collective", |tables, rows| {
        wholes(rows.map(|row| collective(tables, row).and_then(|found| found.bytes_in).map(bytes)))
    }),
    whole("bytes_out", "bytes that the process gets out of a collective", |tables, rows| {
        wholes(rows.map(|row| collective(tables, row).and_then(|found| found.bytes_out).map(bytes)))
    }),
    whole("forward", "row of the forward operator, if it computes a gradient", |tables, rows| {
        let backwards = &tables.trace.backwards;
        let found = |row: usize| backwards.binary_search_by_key(&(row as u32), |backward| backward.event).ok();
        wholes(rows.map(|row| found(row).map(|at| backwards[at].forward.into())))
    }),
];

/// The track of a part, which is of one track.
fn track<'s>(tables: &Tables<'s>, rows: &Range<usize>) -> Option<&'s Track> {
    tables.trace.track_of(rows.start as u32)
}

fn module<'s>(tables: &Tables<'s>, row: usize) -> Option<&'s Module> {
    tables.trace.modules.get(tables.trace.operation(row)?.module as usize)
}

fn short_name(tables: &Tables<'_>, row: usize) -> Option<u32> {
    let events = &tables.trace.events;
    let is_kernel = events.kind[row] == EventKind::Kernel as u8;
    is_kernel.then(|| tables.texts().short_names.get(events.name[row] as usize).copied().flatten()).flatten()
}

fn shapes(tables: &Tables<'_>, rows: Range<usize>, value: fn(&LaunchShape) -> Option<u32>) -> ArrayRef {
    wholes(rows.map(|row| tables.trace.launch_shape(row).and_then(value).map(i64::from)))
}

fn transfer<'s>(tables: &Tables<'s>, row: usize) -> Option<&'s Transfer> {
    tables.trace.transfer(row)
}

fn operators(tables: &Tables<'_>, rows: Range<usize>, value: fn(&OperatorShape) -> StringId) -> ArrayRef {
    tables.named(rows.map(|row| tables.trace.operator_shape(row).map(value)))
}

/// Collectives are sorted by their events.
fn collective<'s>(tables: &Tables<'s>, row: usize) -> Option<&'s Collective> {
    let all = &tables.trace.collectives;
    all.binary_search_by_key(&(row as u32), |found| found.event).ok().map(|at| &all[at])
}
