//! What XLA's exporter writes (`*.trace.json.gz` of JAX and TensorFlow): the events of an XPlane file without most of
//! what it says of them.
//!
//! Tracks, names and arguments are those of the XPlane file, so they are read with the same rules.

use super::placed::Placed;
use super::row::{Extra, TrackKey};
use super::store::Store;
use crate::import::Import;
use crate::note::Severity;
use crate::xla::command_buffer::is_command_buffer;
use crate::xla::details::{launch_shape, transfer};
use crate::xla::host::{self, HostLine, SparseRole, SparseStat};
use crate::xla::lanes;
use crate::xla::operations::Operations;
use crate::xla::role::{LineRole, PlaneRole, device_kind, host_role, line_role};
use ridge_trace::{Attribution, EventKind, NONE, StringId};
use rustc_hash::FxHashMap;

/// Events after which the exporter stops.
///
/// Source: `kMaxEvents` in XLA's `trace_events_to_json` caller (`profiler/convert/xplane_to_trace_events.cc`).
const MOST_EVENTS: u64 = 1_000_000;

/// Whether the file is such an exporter's: its processes are called after planes.
pub(super) fn is_from_xla(store: &Store, import: &Import) -> bool {
    let text = |id: &StringId| import.builder.strings.get(*id);
    store.process_names.values().any(|name| ["/host:", "/device:"].iter().any(|start| text(name).starts_with(start)))
}

/// The track of a thread of a device's process; `None` for threads of the host.
pub(super) fn home_of(key: TrackKey<StringId>, store: &Store, process: u32, import: &mut Import) -> Option<u32> {
    let TrackKey::Thread(pid, tid) = key else { return None };
    let plane = device_of(key, store, import)?;
    let (name, id) = line_of(pid, tid, store, import);
    let device = import.builder.device(process, &plane);
    let role = line_role(&name, id, PlaneRole::Device);
    Some(import.builder.add_track(process, Some(device), role.track_kind(true), &name, id))
}

fn device_of(key: TrackKey<StringId>, store: &Store, import: &Import) -> Option<String> {
    let TrackKey::Thread(pid, _) = key else { return None };
    let plane = import.builder.strings.get(*store.process_names.get(&pid)?);
    plane.starts_with("/device:").then(|| plane.to_owned())
}

fn line_of(pid: StringId, tid: StringId, store: &Store, import: &Import) -> (String, i64) {
    let text = |id: StringId| import.builder.strings.get(id).to_owned();
    let name = store.thread_names.get(&(pid, tid)).map(|name| text(*name)).unwrap_or_default();
    (name, text(tid).parse().unwrap_or(0))
}

/// Gives the rows their kinds, operations, details and places.
pub(super) fn interpret(store: &Store, placed: &Placed, import: &mut Import) {
    if store.events >= MOST_EVENTS {
        let message = "XLA's exporter stops at a million events by default: later ones may be missing here, and are in the xplane.pb next to this file";
        let source = import.captures.last().map(|capture| capture.source.clone()).unwrap_or_default();
        import.note(Severity::Lost, &source, None, 1, message.to_owned());
    }
    let mut tables = Tables::new(placed.process, import);
    let mut sparse = Vec::new();
    let mut hosts: Vec<HostLine> = Vec::new();
    for track in placed.threads() {
        let TrackKey::Thread(pid, tid) = track.key else { continue };
        let (name, id) = line_of(pid, tid, store, import);
        let on_device = device_of(track.key, store, import).is_some();
        let plane = if on_device { PlaneRole::Device } else { PlaneRole::Host };
        let role = line_role(&name, id, plane);
        for (row, stored) in track.rows.clone().zip(&track.stored) {
            let extra = store.extras.get(stored.extra as usize).copied();
            place_row(row, role, on_device, extra, &mut tables, &mut sparse, import);
        }
        if !on_device {
            hosts.push(host_role(&name, track.rows.clone()));
        }
    }
    sparse.sort_by_key(|stat| stat.row);
    let thunks = host::interpret(&hosts, &[], &sparse, import);
    lanes::place(&thunks, placed.process, import);
    import.builder.link_launches(placed.first_row);
}

/// Rows of the trace's tables by the texts that name them.
#[derive(Debug)]
struct Tables {
    operations: Operations,
    by_texts: FxHashMap<[u32; 3], u32>,
    details: FxHashMap<(u32, bool), u32>,
}

fn place_row(
    row: u32,
    role: LineRole,
    on_device: bool,
    extra: Option<Extra>,
    tables: &mut Tables,
    sparse: &mut Vec<SparseStat>,
    import: &mut Import,
) {
    let name = StringId(import.builder.slices(row..row + 1).name[0]);
    let text = import.builder.strings.get(name);
    if !on_device && text.starts_with("end: ") {
        // Its operation has its true duration here already.
        return import.builder.drop_row(row);
    }
    let by_name = device_kind(text);
    let launches = !on_device && import.builder.slices(row..row + 1).correlation[0] != 0;
    let mut kind = match (on_device, by_name) {
        (true, EventKind::HostRange) => role.default_kind(),
        (true, by_name) => by_name,
        _ if launches => EventKind::Launch,
        _ => EventKind::HostRange,
    };
    let (mut op, mut detail) = (NONE, NONE);
    if let Some(Extra::Xla { op: op_name, module, scope, details, step, run_id, device_ordinal }) = extra {
        op = tables.operation([op_name.0, module.0, scope.0], import);
        if op != NONE && !on_device && kind == EventKind::HostRange {
            kind = EventKind::DeviceOp;
        }
        detail = tables.detail(details.0, kind, import);
        let mut say = |role, value| sparse.push(SparseStat { row, role, value });
        if let Some(step) = step.filter(|_| !on_device) {
            say(SparseRole::StepNumber, step as u64);
            say(SparseRole::IsRoot, 1);
        }
        if kind == EventKind::DeviceOp {
            say(SparseRole::RunId, run_id);
            say(SparseRole::DeviceOrdinal, u64::from(device_ordinal));
        }
    }
    let named = import.builder.operations.get(op as usize).map(|operation| operation.name);
    let how = match (kind.is_device_work(), named) {
        (false, _) => Attribution::NotAsked,
        (true, None) => Attribution::Unattributed,
        (true, Some(name)) if is_command_buffer(import.builder.strings.get(name)) => Attribution::ModuleOnly,
        (true, Some(_)) => Attribution::ByStat,
    };
    let slices = import.builder.slices(row..row + 1);
    slices.kind[0] = kind as u8;
    slices.op[0] = op;
    slices.detail[0] = detail;
    slices.attribution[0] = how as u8;
}

impl Tables {
    fn new(process: u32, import: &Import) -> Tables {
        let operations = Operations::new(process, import);
        Tables { operations, by_texts: FxHashMap::default(), details: FxHashMap::default() }
    }

    /// The operation of these texts: its name, its module's and its scope.
    fn operation(&mut self, texts: [u32; 3], import: &mut Import) -> u32 {
        if let Some(&known) = self.by_texts.get(&texts) {
            return known;
        }
        let found = self.operations.of_texts(texts, import);
        self.by_texts.insert(texts, found);
        found
    }

    fn detail(&mut self, words: u32, kind: EventKind, import: &mut Import) -> u32 {
        if words == 0 {
            return NONE;
        }
        let moves = kind.is_copy() || kind == EventKind::Memset;
        if !moves && kind != EventKind::Kernel {
            return NONE;
        }
        let text = import.builder.strings.get(StringId(words)).to_owned();
        *self.details.entry((words, moves)).or_insert_with(|| {
            if moves {
                import.builder.transfers.push(transfer(&text));
                return import.builder.transfers.len() as u32 - 1;
            }
            import.builder.launch_shapes.push(launch_shape(&text));
            import.builder.launch_shapes.len() as u32 - 1
        })
    }
}
