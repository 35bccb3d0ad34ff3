//! Event rows between the tables and the trace: collected part by part, then put together by stream and thread.

use super::names::{NameKey, NameStyle, Names};
use crate::import::Import;
use ridge_trace::{EventKind, LaunchShape, MemoryKind, NONE, StringId, Transfer};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// Where an event happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Lane {
    /// A stream of a device. Ids are per process and context.
    Stream { pid: u64, device: i64, context: i64, stream: i64 },
    /// A thread by its global id.
    Thread { tid: u64 },
}

impl Lane {
    /// The process: hardware, virtual machine and process id, the upper bits of every global id.
    pub(super) fn pid(self) -> u64 {
        match self {
            Lane::Stream { pid, .. } => pid,
            Lane::Thread { tid } => tid >> 24,
        }
    }
}

/// One event.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventRow {
    pub(super) start_ns: i64,
    pub(super) dur_ns: i64,
    /// A name of its part; a string id once the part is taken.
    pub(super) name: u32,
    /// A shape or transfer of its part; a row of the side table once the part is taken; or [`NONE`].
    pub(super) detail: u32,
    pub(super) op: u32,
    pub(super) correlation: u32,
    pub(super) kind: EventKind,
}

/// Distinct values in order of their first appearance.
#[derive(Debug)]
pub(super) struct Distinct<K> {
    pub(super) keys: Vec<K>,
    ids: FxHashMap<K, u32>,
}

impl<K> Default for Distinct<K> {
    fn default() -> Distinct<K> {
        Distinct { keys: Vec::new(), ids: FxHashMap::default() }
    }
}

impl Distinct<Box<str>> {
    /// The id of `text`, new or known; copied where it is new.
    pub(super) fn id_of(&mut self, text: &str) -> u32 {
        match self.ids.get(text) {
            Some(id) => *id,
            None => self.id(text.into()),
        }
    }
}

impl<K: Hash + Eq + Clone> Distinct<K> {
    /// The id of `key`, new or known.
    pub(super) fn id(&mut self, key: K) -> u32 {
        match self.ids.entry(key) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(place) => {
                let id = self.keys.len() as u32;
                self.keys.push(place.key().clone());
                *place.insert(id)
            }
        }
    }
}

/// A launch shape that can be compared: grid, block, registers, static and dynamic shared memory.
pub(super) type ShapeKey = ([u32; 3], [u32; 3], Option<u32>, Option<u32>, Option<u32>);

/// The events of one part of a table, with names and details of its own.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) names: Distinct<NameKey>,
    pub(super) shapes: Distinct<ShapeKey>,
    pub(super) transfers: Distinct<(u64, i64, i64)>,
    lanes: Distinct<Lane>,
    last: Option<(Lane, u32)>,
    rows: Vec<Vec<EventRow>>,
    /// Rows without a start or, for ranges, without an end.
    pub(super) incomplete: u64,
}

impl Part {
    /// Adds an event.
    #[inline]
    pub(super) fn push(&mut self, lane: Lane, row: EventRow) {
        let id = match self.last {
            Some((known, id)) if known == lane => id,
            _ => {
                let id = self.lanes.id(lane);
                self.rows.resize_with(self.lanes.keys.len(), Vec::new);
                self.last = Some((lane, id));
                id
            }
        };
        self.rows[id as usize].push(row);
    }

    /// Moves its events to other lanes.
    pub(super) fn move_lanes(&mut self, to: impl Fn(Lane) -> Lane) {
        self.lanes.keys.iter_mut().for_each(|lane| *lane = to(*lane));
    }

    /// Puts rows of a side table in place of the part's own detail ids.
    pub(super) fn set_details(&mut self, rows: &[u32]) {
        for row in self.rows.iter_mut().flatten() {
            row.detail = rows.get(row.detail as usize).copied().unwrap_or(NONE);
        }
    }
}

/// What the side-table ids of a part's rows mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DetailOf {
    Shapes,
    Transfers,
    /// They are rows of a side table already.
    Final,
    Nothing,
}

/// All events by lane.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pub(super) lanes: Distinct<Lane>,
    /// Rows by lane.
    pub(super) rows: Vec<Vec<EventRow>>,
    shapes: FxHashMap<ShapeKey, u32>,
    transfers: FxHashMap<(u64, i64, i64), u32>,
}

impl Timeline {
    /// Takes the events of `parts`; names are interned in `style`. Returns how many rows were incomplete.
    pub(super) fn take(
        &mut self,
        parts: Vec<Part>,
        style: NameStyle,
        detail: DetailOf,
        names: &mut Names,
        import: &mut Import,
    ) -> u64 {
        parts.into_iter().map(|part| self.take_part(part, style, detail, names, import)).sum()
    }

    /// Takes the events of one part.
    pub(super) fn take_part(
        &mut self,
        part: Part,
        style: NameStyle,
        detail: DetailOf,
        names: &mut Names,
        import: &mut Import,
    ) -> u64 {
        let ids: Vec<StringId> = part.names.keys.iter().map(|key| names.intern(key, style, import)).collect();
        let details: Vec<u32> = match detail {
            DetailOf::Shapes => part.shapes.keys.iter().map(|key| self.shape(*key, import)).collect(),
            DetailOf::Transfers => part.transfers.keys.iter().map(|key| self.transfer(*key, import)).collect(),
            DetailOf::Final | DetailOf::Nothing => Vec::new(),
        };
        let is_final = detail == DetailOf::Final;
        // Ranges of XLA look like the program's own until their name is known.
        let kinds: Vec<Option<EventKind>> = ids.iter().map(|id| names.kind_of(*id)).collect();
        for (lane, rows) in part.lanes.keys.into_iter().zip(part.rows) {
            let lane = self.lanes.id(lane) as usize;
            self.rows.resize_with(self.lanes.keys.len(), Vec::new);
            self.rows[lane].extend(rows.into_iter().map(|row| EventRow {
                name: ids[row.name as usize].0,
                kind: kinds[row.name as usize].filter(|_| row.kind == EventKind::Annotation).unwrap_or(row.kind),
                detail: match details.get(row.detail as usize) {
                    Some(detail) => *detail,
                    None if is_final => row.detail,
                    None => NONE,
                },
                ..row
            }));
        }
        part.incomplete
    }

    fn shape(&mut self, key: ShapeKey, import: &mut Import) -> u32 {
        *self.shapes.entry(key).or_insert_with(|| {
            let (grid, block, registers, static_shared_bytes, dynamic_shared_bytes) = key;
            let shapes = &mut import.builder.launch_shapes;
            shapes.push(LaunchShape {
                grid,
                block,
                registers,
                static_shared_bytes,
                dynamic_shared_bytes,
                ..LaunchShape::default()
            });
            shapes.len() as u32 - 1
        })
    }

    fn transfer(&mut self, key: (u64, i64, i64), import: &mut Import) -> u32 {
        *self.transfers.entry(key).or_insert_with(|| {
            let (bytes, source, destination) = key;
            let kind = memory_kind;
            let transfer = Transfer { bytes, source: kind(source), destination: kind(destination), is_async: None };
            import.builder.transfers.push(transfer);
            import.builder.transfers.len() as u32 - 1
        })
    }
}

/// `ENUM_CUDA_MEM_KIND` of the exports, which counts from 0 where CUPTI's own counts from 1.
pub(super) fn memory_kind(kind: i64) -> MemoryKind {
    match kind {
        0 => MemoryKind::Pageable,
        1 => MemoryKind::Pinned,
        2 | 5 => MemoryKind::Device,
        3 => MemoryKind::Array,
        4 | 6 => MemoryKind::Managed,
        _ => MemoryKind::Unknown,
    }
}
