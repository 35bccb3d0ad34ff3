//! The whole way of one XPlane file into the trace.

use super::attribute::{add_ran, resolve};
use super::decode::{Allocation, ChunkTables, DetailKey, EventClass, LineContext, Sample, decode};
use super::id_map::IdMap;
use super::metadata::{describe_device, space_facts};
use super::modules::{bare_name, number_in_name, read_modules};
use super::plane::{Line, Plane, StatTable, first_text, scan_line, split};
use super::space;
use super::stats::TextKey;
use super::windows::first_window;
use crate::import::{CaptureFacts, Import, ImportError, Source};
use crate::note::Severity;
use crate::xla::details::{launch_shape, transfer};
use crate::xla::host::{HostLine, SparseRole, SparseStat, interpret};
use crate::xla::lanes;
use crate::xla::operations::{Operations, Ran};
use crate::xla::role::{LineRole, PlaneRole, device_kind, host_role, line_role};
use crate::xla::tpu::{self, CoreLine};
use rayon::prelude::*;
use ridge_hlo::wire::text;
use ridge_trace::{Attribution, EventKind, EventSlices, NONE, StringId};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Times beyond this are Unix times, not times since the capture's start: 11 days in nanoseconds.
const LARGEST_RELATIVE_NS: i64 = 1_000_000_000_000_000;

/// Lines after which no more are read: a real capture has one a thread and a stream, and each costs over a kilobyte
/// to read where it may cost two bytes in a hostile file.
const MAX_LINES: usize = 1 << 16;

/// Rows that a trace can name with 32 bits, less those that stand for "none".
const MAX_ROWS: u32 = u32::MAX - 16;

/// Files smaller than this are read on one thread: starting others costs more.
const PARALLEL_BYTES: usize = 1 << 20;

/// Reads `source` into `import`.
pub(super) fn read(source: Source<'_>, import: &mut Import) -> Result<(), ImportError> {
    let space = space::split(&source);
    if space.planes.is_empty() && space.broken.as_ref().is_none_or(|(_, cut)| cut.is_none()) {
        let offset = space.broken.map_or(0, |(error, _)| error.offset as u64);
        let what = "not an XPlane file: expected planes (length-delimited field 1), found none".to_owned();
        return Err(ImportError::Broken { source_name: source.name.to_owned(), offset, what });
    }
    note_space(&space, &source, import);
    let mut planes: Vec<Plane<'_>> = space.planes.iter().map(|bytes| split(bytes)).collect();
    planes.extend(space.broken.and_then(|(_, cut)| cut).map(split));
    for plane in &planes {
        if let Some(error) = plane.broken {
            // The space's own note already says it where the plane was cut by the file's end.
            let message = format!("plane {} could not be read to its end: {}", text(plane.name), error.what);
            import.note(Severity::Lost, source.name, None, 1, message);
        }
    }
    Reader::new(source, &planes, import).run(import);
    Ok(())
}

fn note_space(space: &space::Space<'_>, source: &Source<'_>, import: &mut Import) {
    if let Some((error, _)) = &space.broken {
        let rest = source.bytes.len() - error.offset;
        let message = format!("{}; {rest} bytes from there on were read as far as possible", error.what);
        import.note(Severity::Lost, source.name, Some(error.offset as u64), 1, message);
    }
    for error in &space.errors {
        let message = format!("the profiler reported an error: {}", text(error));
        import.note(Severity::Lost, source.name, Some(source.offset_of(error)), 1, message);
    }
    for warning in &space.warnings {
        let message = format!("the profiler warned: {}", text(warning));
        import.note(Severity::Partial, source.name, Some(source.offset_of(warning)), 1, message);
    }
}

/// A line with its place in the trace.
struct PlacedLine<'a, 'p> {
    line: Line<'a>,
    plane: usize,
    track: u32,
    device: Option<u32>,
    rows: Range<u32>,
    context: LineContext<'a, 'p>,
}

/// One capture being read.
struct Reader<'a, 'p> {
    source: Source<'a>,
    planes: &'p [Plane<'a>],
    process: u32,
    /// The process that has the modules and operations: this one, or its first window.
    program: u32,
    /// Added to a line's own time to give the trace clock.
    shift_ns: i64,
    in_parallel: bool,
}

impl<'a, 'p> Reader<'a, 'p> {
    fn new(source: Source<'a>, planes: &'p [Plane<'a>], import: &mut Import) -> Reader<'a, 'p> {
        let facts = space_facts(planes);
        let process = import.builder.add_process(source.name, facts.process_id);
        let open = facts.unix_start_ns.zip(facts.unix_stop_ns).map(|(start, stop)| start..stop);
        let program = first_window(&mut import.windows, process, facts.process_id, open);
        let zero = import.captures.iter().find_map(|capture| capture.unix_zero_ns);
        // Several captures share the clock of the first; they differ by when their sessions began.
        let shift_ns = match (zero, facts.unix_start_ns) {
            (Some(zero), Some(start)) => start.wrapping_sub(zero) as i64,
            _ => 0,
        };
        import.captures.push(CaptureFacts {
            source: source.name.to_owned(),
            format: "xplane",
            bytes: source.bytes.len() as u64,
            facts: facts.facts,
            start_ns: shift_ns,
            unix_zero_ns: zero.or(facts.unix_start_ns),
        });
        let in_parallel = source.bytes.len() >= PARALLEL_BYTES;
        Reader { source, planes, process, program, shift_ns, in_parallel }
    }

    fn run(&self, import: &mut Import) {
        let first_row = import.builder.rows();
        read_modules(self.planes, &self.source, self.program, import);
        let tables: Vec<StatTable<'a>> = self.planes.iter().map(|plane| StatTable::new(&plane.stat_names)).collect();
        let classes: Vec<IdMap<EventClass<'a>>> =
            self.planes.iter().map(|plane| event_classes(plane, import)).collect();
        let lines = self.place_lines(&tables, &classes, import);
        let chunks = self.decode_all(&lines, first_row, import);
        let mut operations = Operations::new(self.program, import);
        name_modules_of_cores(self.planes, &mut operations, import);
        let mut ran = Ran::default();
        for (line, chunk) in &chunks {
            let stats = &tables[lines[*line].plane];
            chunk.tables.ops.iter().for_each(|(key, _)| add_ran(&mut ran, key, stats));
        }
        self.note_renumbered(operations.find_renumbered(&ran, import), import);
        let mut extras = Vec::new();
        let resolved: Vec<ChunkRows> = (chunks.iter())
            .map(|(line, chunk)| ChunkRows::resolve(chunk, &tables[lines[*line].plane], &mut operations, import))
            .collect();
        self.apply_all(&resolved, &chunks, first_row, import);
        for (line, chunk) in chunks {
            let stats = &tables[lines[line].plane];
            self.keep_samples(&chunk.tables.samples, &lines[line], chunk.rows.clone(), import);
            self.keep_allocations(&chunk.tables.allocations, stats, chunk.rows.start, import);
            let first = chunk.rows.start;
            extras.extend(chunk.tables.extras.iter().map(|extra| SparseStat { row: first + extra.row, ..*extra }));
            self.note_broken(&chunk, &lines[line], import);
        }
        let hosts: Vec<HostLine> = lines.iter().filter(|line| !line.context.on_device).map(host_line).collect();
        let cores: Vec<CoreLine> = lines.iter().filter_map(core_line).collect();
        let executions = cores.iter().filter(|line| line.role == LineRole::Modules).map(|line| line.rows.clone());
        let thunks = interpret(&hosts, &executions.collect::<Vec<_>>(), &extras, import);
        lanes::place(&thunks, self.process, import);
        import.builder.link_launches(first_row);
        tpu::interpret(&cores, import);
        self.drop_graphs_with_nodes(&extras, first_row, import);
    }

    fn note_renumbered(&self, (found, unclear): (u64, u64), import: &mut Import) {
        if found > 0 {
            let message = "modules ran with a program id that differs from their HLO's, as with JAX's compilation cache: they are matched by name and operations";
            import.note(Severity::Info, self.source.name, None, found, message.to_owned());
        }
        if unclear > 0 {
            let message = "modules ran with a program id that differs from their HLO's, as with JAX's compilation cache, and several modules have their name: their work is unknown; \
                           record with JAX_ENABLE_COMPILATION_CACHE=false";
            import.note(Severity::Partial, self.source.name, None, unclear, message.to_owned());
        }
    }

    /// Finds every line's track and reserves its rows, so that decoding only fills them.
    fn place_lines(
        &self,
        tables: &'p [StatTable<'a>],
        classes: &'p [IdMap<EventClass<'a>>],
        import: &mut Import,
    ) -> Vec<PlacedLine<'a, 'p>>
    where
        'a: 'p,
    {
        let lines = || {
            let planes = self.planes.iter().enumerate();
            planes.flat_map(|(plane, parts)| parts.lines.iter().map(move |line| (plane, *line)))
        };
        let all: Vec<(usize, &'a [u8])> = lines().take(MAX_LINES).collect();
        let left_out = lines().count() - all.len();
        if left_out > 0 {
            let message = format!("lines beyond the first {MAX_LINES} were not read");
            import.note(Severity::Lost, self.source.name, None, left_out as u64, message);
        }
        let scan = |(plane, bytes): &(usize, &'a [u8])| (*plane, scan_line(bytes));
        let scanned: Vec<(usize, Line<'a>)> =
            if self.in_parallel { all.par_iter().map(scan).collect() } else { all.iter().map(scan).collect() };
        import.builder.expect_rows(scanned.iter().map(|(_, line)| line.events).sum());
        let epoch_ns = epoch_of(&scanned, import);
        let nameless = import.builder.strings.intern("(event without metadata)").0;
        let devices: Vec<Option<u32>> =
            (self.planes.iter().zip(tables)).map(|(plane, table)| self.device_of(plane, table, import)).collect();
        let mut tracks: FxHashMap<(Option<u32>, i64, &'a [u8]), u32> = FxHashMap::default();
        let mut placed = Vec::new();
        let mut derived = 0;
        for (plane, line) in scanned {
            let device = devices[plane];
            let role = line_role(&text(line.name), line.id, PlaneRole::of(&text(self.planes[plane].name)));
            if role == LineRole::Derived {
                derived += line.events as u64;
                continue;
            }
            if line.events as u64 > u64::from(MAX_ROWS.saturating_sub(import.builder.rows())) {
                let message = format!("line {} was left out: a trace has at most {MAX_ROWS} events", text(line.name));
                import.note(Severity::Lost, self.source.name, None, line.events as u64, message);
                continue;
            }
            // Planes and lines that repeat share a track.
            let track = *tracks.entry((device, line.id, line.name)).or_insert_with(|| {
                let kind = role.track_kind(device.is_some());
                import.builder.add_track(self.process, device, kind, &text(line.name), line.id)
            });
            let first = import.builder.reserve(track, line.events);
            let rows = first..first + line.events as u32;
            let context = LineContext {
                stats: &tables[plane],
                classes: &classes[plane],
                nameless,
                zero_ns: line.timestamp_ns.saturating_sub(epoch_ns).saturating_add(self.shift_ns),
                on_device: device.is_some(),
                default_kind: role.default_kind(),
                role,
            };
            placed.push(PlacedLine { line, plane, track, device, rows, context });
        }
        if derived > 0 {
            let message = "events on lines that a viewer derived from others were left out".to_owned();
            import.note(Severity::Info, self.source.name, None, derived, message);
        }
        placed
    }

    /// The device that a plane is, if it is one.
    fn device_of(&self, plane: &Plane<'a>, table: &StatTable<'a>, import: &mut Import) -> Option<u32> {
        let name = text(plane.name);
        if !name.starts_with("/device:") {
            return None;
        }
        let device = import.builder.device(self.process, &name);
        describe_device(import.builder.device_mut(device), plane, table);
        Some(device)
    }

    fn decode_all(
        &self,
        lines: &[PlacedLine<'a, 'p>],
        first_row: u32,
        import: &mut Import,
    ) -> Vec<(usize, DecodedChunk<'a>)> {
        let end = import.builder.rows();
        let mut rest = import.builder.slices(first_row..end);
        let mut jobs = Vec::new();
        for (index, placed) in lines.iter().enumerate() {
            let mut row = placed.rows.start;
            for (bytes, events) in &placed.line.chunks {
                let (columns, after) = rest.split_at(*events);
                rest = after;
                let rows = row..row + *events as u32;
                row = rows.end;
                jobs.push((index, &placed.line.bytes[bytes.clone()], rows, columns));
            }
        }
        let work = |(index, bytes, rows, columns)| {
            let placed: &PlacedLine<'a, 'p> = &lines[index];
            (index, DecodedChunk { rows, tables: decode(bytes, placed.context, columns) })
        };
        if self.in_parallel { jobs.into_par_iter().map(work).collect() } else { jobs.into_iter().map(work).collect() }
    }

    /// Puts trace-wide rows in place of the chunks' own positions of operations and details.
    fn apply_all(
        &self,
        resolved: &[ChunkRows],
        chunks: &[(usize, DecodedChunk<'a>)],
        first_row: u32,
        import: &mut Import,
    ) {
        let end = import.builder.rows();
        let mut rest = import.builder.slices(first_row..end);
        let mut jobs = Vec::new();
        for (rows, (_, chunk)) in resolved.iter().zip(chunks) {
            let (columns, after) = rest.split_at(chunk.rows.len());
            rest = after;
            jobs.push((rows, columns));
        }
        let work = |(rows, columns): (&ChunkRows, _)| rows.apply(columns);
        if self.in_parallel { jobs.into_par_iter().for_each(work) } else { jobs.into_iter().for_each(work) }
    }

    fn keep_samples(&self, samples: &[Sample<'a>], line: &PlacedLine<'a, 'p>, rows: Range<u32>, import: &mut Import) {
        if samples.is_empty() {
            return;
        }
        let plane = text(self.planes[line.plane].name).into_owned();
        let device = import.builder.device(self.process, &plane);
        for sample in samples {
            let metric = import.builder.strings.intern(&text(sample.metric));
            let counters = &mut import.builder.counters;
            counters.device.push(device);
            counters.metric.push(metric);
            counters.time_ns.push(sample.time_ns);
            counters.value.push(sample.value);
        }
        rows.for_each(|row| import.builder.drop_row(row));
    }

    fn keep_allocations(&self, events: &[Allocation<'a>], stats: &StatTable<'a>, first: u32, import: &mut Import) {
        for event in events {
            let row = first + event.row;
            let name = StringId(import.builder.slices(row..row + 1).name[0]);
            let is_free = import.builder.strings.get(name) == "MemoryDeallocation";
            let lookup = |key: TextKey<'a>| match key {
                TextKey::None => text(b""),
                TextKey::Inline(bytes) => text(bytes),
                TextKey::Ref(id) => text(stats.name(id).unwrap_or_default()),
            };
            let allocator = import.builder.strings.intern(&lookup(event.allocator));
            let owner = import.builder.strings.intern(&lookup(event.owner));
            let table = &mut import.builder.allocations;
            table.process.push(self.process);
            table.time_ns.push(event.time_ns);
            table.allocator.push(allocator);
            table.delta_bytes.push(if is_free { event.bytes.saturating_neg() } else { event.bytes });
            table.requested_bytes.push(event.requested);
            table.in_use_bytes.push(event.in_use);
            table.peak_bytes.push(event.peak);
            table.reserved_bytes.push(-1);
            table.fragmentation.push(event.fragmentation);
            table.address.push(event.address);
            table.owner.push(owner);
            import.builder.drop_row(row);
        }
    }

    fn note_broken(&self, chunk: &DecodedChunk<'a>, line: &PlacedLine<'a, 'p>, import: &mut Import) {
        let offset = Some(self.source.offset_of(line.line.bytes));
        let name = text(line.line.name);
        if chunk.tables.broken_events > 0 {
            let message = format!("events of line {name} are damaged; their readable parts are shown");
            import.note(Severity::Lost, self.source.name, offset, chunk.tables.broken_events, message);
        }
        let is_last = chunk.rows.end == line.rows.end;
        if let Some(error) = line.line.broken.filter(|_| is_last) {
            let at = offset.map(|offset| offset + error.offset as u64);
            let message = format!("line {name} ends early: {}", error.what);
            import.note(Severity::Lost, self.source.name, at, 1, message);
        }
    }

    /// Where a capture has a graph's nodes, the event of the whole graph would count them twice.
    fn drop_graphs_with_nodes(&self, extras: &[SparseStat], first_row: u32, import: &mut Import) {
        if !extras.iter().any(|extra| extra.role == SparseRole::GraphId) {
            return;
        }
        let rows = first_row..import.builder.rows();
        let kinds = import.builder.slices(rows).kind.to_vec();
        for (index, kind) in kinds.into_iter().enumerate() {
            if kind == EventKind::GraphLaunch as u8 {
                import.builder.drop_row(first_row + index as u32);
            }
        }
    }
}

/// Unix times in a capture are moved to its session's start.
fn epoch_of(lines: &[(usize, Line<'_>)], import: &Import) -> i64 {
    let earliest = lines.iter().filter(|(_, line)| line.events > 0).map(|(_, line)| line.timestamp_ns).min();
    let Some(earliest) = earliest.filter(|time| *time > LARGEST_RELATIVE_NS) else { return 0 };
    let start = import.captures.last().and_then(|capture| capture.unix_zero_ns);
    start.and_then(|start| i64::try_from(start).ok()).filter(|start| *start <= earliest).unwrap_or(earliest)
}

/// A decoded chunk and its raw rows.
struct DecodedChunk<'a> {
    rows: Range<u32>,
    tables: ChunkTables<'a>,
}

/// The trace-wide rows of a chunk's operations and details, by their positions in the chunk.
struct ChunkRows {
    ops: Vec<u32>,
    /// Row and whether it is one of the transfers rather than of the launch shapes.
    details: Vec<(u32, bool)>,
}

impl ChunkRows {
    fn resolve<'a>(
        chunk: &DecodedChunk<'a>,
        stats: &StatTable<'a>,
        operations: &mut Operations,
        import: &mut Import,
    ) -> ChunkRows {
        let ops = &chunk.tables.ops;
        ChunkRows {
            ops: ops.iter().map(|(key, scope)| resolve(operations, key, scope, stats, import)).collect(),
            details: (chunk.tables.details.iter())
                .map(|key| (detail_row(key, stats, import), key.is_transfer))
                .collect(),
        }
    }

    fn apply(&self, columns: EventSlices<'_>) {
        for row in 0..columns.len() {
            if let Some(op) = self.ops.get(columns.op[row] as usize) {
                columns.op[row] = *op;
            }
            if let Some((detail, is_transfer)) = self.details.get(columns.detail[row] as usize) {
                // A kernel described as a copy, or a copy as a kernel, is described wrongly.
                let moves_memory = !EventKind::from_byte(columns.kind[row]).is_compute();
                columns.detail[row] = if moves_memory == *is_transfer { *detail } else { NONE };
            }
            if EventKind::from_byte_is_work(columns.kind[row]) {
                let is_known = columns.op[row] != NONE;
                let how = if is_known { Attribution::ByStat } else { Attribution::Unattributed };
                columns.attribution[row] = how as u8;
            }
        }
    }
}

fn detail_row(key: &DetailKey<'_>, stats: &StatTable<'_>, import: &mut Import) -> u32 {
    let words = match key.text {
        TextKey::None => text(b""),
        TextKey::Inline(bytes) => text(bytes),
        TextKey::Ref(id) => text(stats.name(id).unwrap_or_default()),
    };
    if key.is_transfer {
        let found = tpu::started_copy(&words).map_or_else(|| transfer(&words), |(_, copy)| copy);
        let table = &mut import.builder.transfers;
        return position_or_push(table, found);
    }
    let mut shape = launch_shape(&words);
    let said = key.occupancy.map(|bits| f64::from_bits(bits) as f32).filter(|percent| *percent > 0.0);
    shape.occupancy_pct = said.or(shape.occupancy_pct);
    position_or_push(&mut import.builder.launch_shapes, shape)
}

/// Captures have few distinct shapes; the last ones repeat most.
fn position_or_push<T: PartialEq>(table: &mut Vec<T>, row: T) -> u32 {
    const NEAR: usize = 64;
    let from = table.len().saturating_sub(NEAR);
    if let Some(position) = table[from..].iter().rposition(|known| *known == row) {
        return (from + position) as u32;
    }
    table.push(row);
    table.len() as u32 - 1
}

fn host_line(placed: &PlacedLine<'_, '_>) -> HostLine {
    host_role(&text(placed.line.name), placed.rows.clone())
}

fn core_line(placed: &PlacedLine<'_, '_>) -> Option<CoreLine> {
    let (role, device) = (placed.context.role, placed.device?);
    let is_core = matches!(role, LineRole::Modules | LineRole::AsyncOps | LineRole::DeviceOps);
    is_core.then(|| CoreLine { role, device, track: placed.track, rows: placed.rows.clone() })
}

/// Executions on a TPU's cores are called `jit_f(15)`: the names of modules whose HLO the capture may not have.
fn name_modules_of_cores(planes: &[Plane<'_>], operations: &mut Operations, import: &mut Import) {
    let cores = planes.iter().filter(|plane| PlaneRole::of(&text(plane.name)) == PlaneRole::TpuCore);
    for (_, message) in cores.flat_map(|plane| &plane.event_metadata) {
        let name = first_text(message, 2);
        if let Some(program_id) = number_in_name(name).filter(|_| !name.starts_with(b"%")) {
            operations.module(Some(program_id), &bare_name(name), import);
        }
    }
}

/// What every event of a metadata entry is; each name is interned once.
fn event_classes<'a>(plane: &Plane<'a>, import: &mut Import) -> IdMap<EventClass<'a>> {
    let mut known: FxHashMap<&'a [u8], (u32, EventKind)> = FxHashMap::default();
    let entries = plane.event_metadata.iter().map(|(id, message)| {
        let full = first_text(message, 2);
        // Device planes of TPUs put the whole instruction in the name and its short form beside it.
        let short = first_text(message, 4);
        let name = if full.starts_with(b"%") && !short.is_empty() { short } else { full };
        let (name, kind) = *known.entry(name).or_insert_with(|| {
            let words = text(name);
            (import.builder.strings.intern(&words).0, device_kind(&words))
        });
        let has_stats = ridge_hlo::wire::Fields::new(message).map_while(Result::ok).any(|(number, _)| number == 5);
        let is_modules = plane.name == b"/host:metadata";
        let instruction: &'a [u8] = if full.starts_with(b"%") { full } else { b"" };
        let copy = tpu::started_copy(&text(instruction)).map(|(kind, _)| kind);
        let shared: &'a [u8] = if has_stats && !is_modules { message } else { b"" };
        (*id, EventClass { name, kind, shared, instruction, copy })
    });
    IdMap::collect(entries.collect())
}
