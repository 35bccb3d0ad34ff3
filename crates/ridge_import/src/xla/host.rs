//! What host lines mean: pool regions and their causes, steps, annotations, and the operations a CPU ran.
//!
//! On a CPU every XLA thunk is an event on the thread that ran it, with an `end:` marker that may come later on
//! another thread. Thunks become operations of a device, as kernels are on a GPU; the markers only give their end.

use crate::import::Import;
use ridge_trace::{EventKind, NONE, Step, StringId, nest};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What a stat says that few events have, and that is kept beside the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SparseRole {
    ProducerType,
    ProducerId,
    ConsumerType,
    ConsumerId,
    StepNumber,
    IsRoot,
    RunId,
    DeviceOrdinal,
    GraphId,
}

/// Such a stat of one event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SparseStat {
    /// Row within what is being read, later within the trace.
    pub(crate) row: u32,
    pub(crate) role: SparseRole,
    pub(crate) value: u64,
}

/// A host line's place in the trace.
#[derive(Debug, Clone)]
pub(crate) struct HostLine {
    /// Its raw rows.
    pub(crate) rows: Range<u32>,
    /// Whether user code runs on it, rather than a runtime's own pool.
    pub(crate) is_user_thread: bool,
    /// Whether it is a compiler's worker.
    pub(crate) is_compiler: bool,
}

/// An operation that a CPU ran.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thunk {
    /// Raw row.
    pub(crate) row: u32,
    /// Execution it belongs to.
    pub(crate) run_id: u64,
    /// Which of the process's CPU devices ran it.
    pub(crate) device_ordinal: u32,
}

/// Flow stats of one row.
#[derive(Debug, Clone, Copy, Default)]
struct Flow {
    kind: u64,
    id: Option<u64>,
}

/// What the sparse stats of one event say together.
#[derive(Debug, Clone, Copy, Default)]
struct Sparse {
    produces: Flow,
    consumes: Flow,
    step: Option<i64>,
    is_root: bool,
    run_id: u64,
    device_ordinal: u32,
}

/// Interprets all host lines of one capture; returns its thunks in raw order.
///
/// `executions` are rows on devices that name the host event that caused them.
pub(crate) fn interpret(
    lines: &[HostLine],
    executions: &[Range<u32>],
    extras: &[SparseStat],
    import: &mut Import,
) -> Vec<Thunk> {
    let sparse = by_row(extras);
    let flows = Flows::collect(&sparse, import);
    let mut thunks = Vec::new();
    for rows in executions {
        link_consumers(rows, &sparse, &flows, import);
    }
    for line in lines {
        close_regions(line, import);
        link_consumers(&line.rows, &sparse, &flows, import);
        mark_steps(&line.rows, &sparse, import);
        // A line of launches alone, as long ones are, has nothing more to say.
        if let Some(nesting) = Nesting::of(line, import) {
            classify(line, &nesting, import);
            take_thunks(line, &nesting, &sparse, &flows, import, &mut thunks);
        }
    }
    thunks
}

/// Extras come row by row, so one walk groups them.
fn by_row(extras: &[SparseStat]) -> Vec<(u32, Sparse)> {
    let mut rows: Vec<(u32, Sparse)> = Vec::new();
    for extra in extras {
        if rows.last().is_none_or(|(row, _)| *row != extra.row) {
            rows.push((extra.row, Sparse::default()));
        }
        let Some((_, sparse)) = rows.last_mut() else { continue };
        match extra.role {
            SparseRole::ProducerType => sparse.produces.kind = extra.value,
            SparseRole::ProducerId => sparse.produces.id = Some(extra.value),
            SparseRole::ConsumerType => sparse.consumes.kind = extra.value,
            SparseRole::ConsumerId => sparse.consumes.id = Some(extra.value),
            SparseRole::StepNumber => sparse.step = Some(extra.value as i64),
            SparseRole::IsRoot => sparse.is_root = extra.value != 0,
            SparseRole::RunId => sparse.run_id = extra.value,
            SparseRole::DeviceOrdinal => sparse.device_ordinal = extra.value as u32,
            _ => {}
        }
    }
    rows
}

/// Rows of `sparse` within `line`.
fn of_line<'s>(sparse: &'s [(u32, Sparse)], line: &Range<u32>) -> &'s [(u32, Sparse)] {
    let first = sparse.partition_point(|(row, _)| *row < line.start);
    let end = sparse.partition_point(|(row, _)| *row < line.end);
    &sparse[first..end]
}

/// Who produced and who ended each flow.
struct Flows {
    producers: FxHashMap<(u64, u64), u32>,
    /// End of the `end:` marker of a thunk's flow.
    ends: FxHashMap<(u64, u64), i64>,
}

impl Flows {
    fn collect(sparse: &[(u32, Sparse)], import: &mut Import) -> Flows {
        let mut flows = Flows { producers: FxHashMap::default(), ends: FxHashMap::default() };
        for (row, events) in sparse {
            if let Some(id) = events.produces.id {
                flows.producers.insert((events.produces.kind, id), *row);
            }
            let Some(id) = events.consumes.id else { continue };
            let slices = import.builder.slices(*row..*row + 1);
            let (end, name) = (slices.start_ns[0].saturating_add(slices.dur_ns[0]), slices.name[0]);
            if import.builder.strings.get(StringId(name)).starts_with("end: ") {
                flows.ends.insert((events.consumes.kind, id), end);
                import.builder.drop_row(*row);
            }
        }
        flows
    }
}

/// Turns each pair of start and stop events of a pool worker into one region that lasts between them.
fn close_regions(line: &HostLine, import: &mut Import) {
    let ids = ["ThreadpoolListener::StartRegion", "ThreadpoolListener::StopRegion"]
        .map(|name| import.builder.strings.find(name));
    let [Some(start_name), stop_name] = ids else { return };
    let slices = import.builder.slices(line.rows.clone());
    let mut open: Option<usize> = None;
    let mut stopped = Vec::new();
    let mut last_end = i64::MIN;
    for row in 0..slices.len() {
        let name = StringId(slices.name[row]);
        if name == start_name {
            open = Some(row);
            slices.kind[row] = EventKind::PoolRegion as u8;
        } else if Some(name) == stop_name {
            stopped.push(line.rows.start + row as u32);
            if let Some(start) = open.take() {
                slices.dur_ns[start] = slices.start_ns[row].saturating_sub(slices.start_ns[start]).max(0);
            }
        }
        last_end = last_end.max(slices.start_ns[row].saturating_add(slices.dur_ns[row]));
    }
    // The capture stopped while the worker ran.
    if let Some(start) = open {
        slices.dur_ns[start] = last_end.saturating_sub(slices.start_ns[start]).max(0);
    }
    for row in stopped {
        import.builder.drop_row(row);
    }
}

/// Links what was caused on another thread to its cause.
fn link_consumers(line: &Range<u32>, sparse: &[(u32, Sparse)], flows: &Flows, import: &mut Import) {
    let slices = import.builder.slices(line.clone());
    for (row, events) in of_line(sparse, line) {
        let Some(id) = events.consumes.id else { continue };
        if let Some(&producer) = flows.producers.get(&(events.consumes.kind, id))
            && producer != *row
        {
            slices.link[(row - line.start) as usize] = producer;
        }
    }
}

fn mark_steps(line: &Range<u32>, sparse: &[(u32, Sparse)], import: &mut Import) {
    for (row, events) in of_line(sparse, line) {
        let Some(number) = events.step else { continue };
        // TensorFlow executors repeat the step's number on what belongs to it; only roots are steps.
        if !events.is_root {
            continue;
        }
        import.builder.steps.push(Step { event: *row, number });
        import.builder.slices(*row..*row + 1).kind[0] = EventKind::Step as u8;
    }
}

/// How the recorder marks what Python imports; the same text is in its harness.
const IMPORT_MARK: &str = "ridgeline import: ";

/// Says of plain ranges whether they are the user's own, Python's, or compilation.
fn classify(line: &HostLine, nesting: &Nesting, import: &mut Import) {
    let mut names: FxHashMap<u32, NameKind> = FxHashMap::default();
    let slices = import.builder.slices(line.rows.clone());
    let is_plain = |row: &usize| slices.kind[*row] == EventKind::HostRange as u8;
    let mut plain: Vec<u32> = (0..slices.len()).filter(is_plain).map(|row| slices.name[row]).collect();
    plain.sort_unstable();
    plain.dedup();
    for name in plain {
        let strings = &import.builder.strings;
        names.entry(name).or_insert_with(|| NameKind::of(strings.get(StringId(name))));
    }
    let marked = names.iter().filter(|(_, kind)| **kind == NameKind::Import).map(|(name, _)| *name);
    let marked: Vec<u32> = marked.collect();
    let shown = |name: u32| {
        let text = import.builder.strings.get(StringId(name));
        let shown = format!("import {}", text.trim_start_matches(IMPORT_MARK));
        (name, import.builder.strings.intern(&shown).0)
    };
    let shown: FxHashMap<u32, u32> = marked.into_iter().map(shown).collect();
    let slices = import.builder.slices(line.rows.clone());
    // The user's ranges are those with nothing of the runtime's around them.
    let mut is_outer = vec![true; slices.len()];
    for &row in &nesting.order {
        let row = row as usize;
        let parent = nesting.parents[row];
        let inside_user = parent == NONE || is_outer[parent as usize];
        let kind = EventKind::from_byte(slices.kind[row]);
        let named = names.get(&slices.name[row]).copied().unwrap_or(NameKind::Runtime);
        let new = match (kind, named) {
            (EventKind::HostRange, _) if line.is_compiler => EventKind::Compile,
            (EventKind::HostRange, NameKind::Compile) => EventKind::Compile,
            (EventKind::HostRange, NameKind::Python) => EventKind::PythonCall,
            (EventKind::HostRange, NameKind::Recorder) => EventKind::Overhead,
            (EventKind::HostRange, NameKind::Import) => EventKind::HostRange,
            (EventKind::HostRange, _) if slices.dur_ns[row] == 0 => EventKind::Instant,
            (EventKind::HostRange, NameKind::Free) if line.is_user_thread && inside_user => EventKind::Annotation,
            (kind, _) => kind,
        };
        slices.kind[row] = new as u8;
        if named == NameKind::Import {
            slices.name[row] = shown[&slices.name[row]];
        }
        let is_users = matches!(new, EventKind::Annotation | EventKind::Step | EventKind::PythonCall);
        is_outer[row] = inside_user && is_users;
    }
}

/// Which row of a line encloses which; rows are counted from the line's first.
struct Nesting {
    /// The rows by start, enclosing ones first.
    order: Vec<u32>,
    /// The innermost row around each, or [`NONE`].
    parents: Vec<u32>,
}

impl Nesting {
    /// The nesting of a line; `None` where it holds neither plain ranges nor operations, which alone need it.
    fn of(line: &HostLine, import: &mut Import) -> Option<Nesting> {
        let slices = import.builder.slices(line.rows.clone());
        let needs_it = |kind: &u8| [EventKind::HostRange as u8, EventKind::DeviceOp as u8].contains(kind);
        if !slices.kind.iter().any(needs_it) {
            return None;
        }
        let mut order: Vec<u32> = (0..slices.len() as u32).collect();
        let key = |row: &u32| (slices.start_ns[*row as usize], -slices.dur_ns[*row as usize]);
        if !order.is_sorted_by_key(key) {
            order.sort_by_key(key);
        }
        let spans = order.iter().map(|&row| {
            let start = slices.start_ns[row as usize];
            (start, start.saturating_add(slices.dur_ns[row as usize]))
        });
        let mut parents = vec![NONE; order.len()];
        nest(spans, |position, parent| {
            parents[order[position] as usize] = if parent == NONE { NONE } else { order[parent as usize] };
        });
        Some(Nesting { order, parents })
    }
}

/// What a range's name alone says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameKind {
    /// The runtime's own.
    Runtime,
    /// Tracing, lowering or compiling.
    Compile,
    /// A Python function from the Python tracer.
    Python,
    /// The recorder's own work inside the program.
    Recorder,
    /// Python loads a library, as the recorder marks it.
    Import,
    /// Nothing known: the user's, if nothing of the runtime's is around it.
    Free,
}

impl NameKind {
    /// Names are those that jaxlib 0.4 to 0.11 and XLA write on the threads of user code.
    fn of(name: &str) -> NameKind {
        const COMPILE: [&str; 8] = [
            "backend_compile",
            "lower_",
            "trace_to_jaxpr",
            "_create_pjit_jaxpr",
            "infer_params",
            "pxla_lower",
            "compile_or_get_cached",
            "XlaCompile",
        ];
        const RUNTIME: [&str; 22] = [
            "PjitFunction(",
            "ParseArguments",
            "DevicePut",
            "CopyToMemorySpace",
            "np.asarray(jax.Array)",
            "Wait for ",
            "Handle inputs",
            "Handle input",
            "AllocateOutput",
            "AllocateDestination",
            "ExecuteReplicated",
            "Execute (",
            "ExecuteHelper",
            "shard_args",
            "cpp_pjit",
            "batched_device_put",
            "PJRT_",
            "PyClient",
            "PyArray",
            "HostCallback",
            "pmap_fallback",
            "apply_primitive",
        ];
        if name.starts_with('$') {
            NameKind::Python
        } else if name.starts_with("ridgeline: ") {
            NameKind::Recorder
        } else if name.starts_with(IMPORT_MARK) {
            NameKind::Import
        } else if COMPILE.iter().any(|start| name.starts_with(start)) || name.ends_with("::Compile") {
            NameKind::Compile
        } else if name.contains("::") || RUNTIME.iter().any(|start| name.starts_with(start)) {
            NameKind::Runtime
        } else {
            NameKind::Free
        }
    }
}

/// Collects a line's thunks, gives each its true end and the host event that ran it.
fn take_thunks(
    line: &HostLine,
    nesting: &Nesting,
    sparse: &[(u32, Sparse)],
    flows: &Flows,
    import: &mut Import,
    thunks: &mut Vec<Thunk>,
) {
    let first = line.rows.start;
    let slices = import.builder.slices(line.rows.clone());
    let is_thunk = |kind: u8| kind == EventKind::DeviceOp as u8;
    if !slices.kind.iter().any(|kind| is_thunk(*kind)) {
        return;
    }
    // The innermost host event around a thunk, past the thunks it is inside of.
    let mut runner = vec![NONE; slices.len()];
    for &row in &nesting.order {
        let parent = nesting.parents[row as usize];
        if parent != NONE {
            let inside_thunk = is_thunk(slices.kind[parent as usize]);
            runner[row as usize] = if inside_thunk { runner[parent as usize] } else { parent };
        }
    }
    let known = of_line(sparse, &line.rows);
    for (row, &runner) in runner.iter().enumerate() {
        if !is_thunk(slices.kind[row]) {
            continue;
        }
        let raw = first + row as u32;
        let found = known.binary_search_by_key(&raw, |(row, _)| *row).map(|at| known[at].1);
        let events = found.unwrap_or_default();
        if runner != NONE {
            slices.link[row] = first + runner;
        }
        // An asynchronous thunk returns before its work ends; the marker says when that was.
        if let Some(&end) = events.produces.id.and_then(|id| flows.ends.get(&(events.produces.kind, id))) {
            slices.dur_ns[row] = slices.dur_ns[row].max(end.saturating_sub(slices.start_ns[row]));
        }
        thunks.push(Thunk { row: raw, run_id: events.run_id, device_ordinal: events.device_ordinal });
    }
}
