//! One chunk of a line's events, decoded in place into the trace's columns.
//!
//! Chunks run in parallel, so each keeps its own small tables of operations and details; a second pass puts the
//! trace-wide ids in their place.

use super::plane::StatTable;
use super::stats::{Role, TextKey, stat};
use crate::xla::host::SparseStat;
use crate::xla::role::LineRole;
use ridge_hlo::wire::{Fields, Value, varint};
use ridge_trace::{EventKind, EventSlices, NONE};
use rustc_hash::FxHashMap;

/// What decoding needs to know of an event's metadata.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventClass<'a> {
    /// String id of the name.
    pub(super) name: u32,
    /// What the name says the event is.
    pub(super) kind: EventKind,
    /// The stats that all events of this metadata share, serialized.
    pub(super) shared: &'a [u8],
    /// The instruction as text where the name is one (`%add.1 = …`, on TPUs); else empty.
    pub(super) instruction: &'a [u8],
    /// What the instruction is from its start to its end, where it starts a copy.
    pub(super) copy: Option<EventKind>,
}

impl<'a> EventClass<'a> {
    /// The name of the instruction that the event is, if it is one.
    fn instruction_name(&self) -> Option<&'a [u8]> {
        let name = self.instruction.strip_prefix(b"%")?;
        name.split(|byte| *byte == b' ').next()
    }
}

/// What an operation is known by on the event itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct OpKey<'a> {
    pub(super) hlo_op: TextKey<'a>,
    pub(super) hlo_module: TextKey<'a>,
    pub(super) framework_op: TextKey<'a>,
    pub(super) program_id: Option<u64>,
}

/// What an operation's first event says of its scope.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct OpScope<'a> {
    pub(super) name: TextKey<'a>,
    pub(super) prefix: TextKey<'a>,
}

/// What a detail row is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DetailKey<'a> {
    pub(super) text: TextKey<'a>,
    /// Bits of the theoretical occupancy, where a stat of its own says it.
    pub(super) occupancy: Option<u64>,
    pub(super) is_transfer: bool,
}

/// A sample of a counter line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) metric: &'a [u8],
    pub(super) time_ns: i64,
    pub(super) value: f64,
}

/// An allocator event.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Allocation<'a> {
    pub(super) row: u32,
    pub(super) time_ns: i64,
    pub(super) allocator: TextKey<'a>,
    pub(super) owner: TextKey<'a>,
    pub(super) bytes: i64,
    pub(super) requested: i64,
    pub(super) in_use: i64,
    pub(super) peak: i64,
    pub(super) fragmentation: f64,
    pub(super) address: u64,
}

/// What a chunk's events refer to; ids in the columns are positions here until they are mapped.
#[derive(Debug, Default)]
pub(super) struct ChunkTables<'a> {
    pub(super) ops: Vec<(OpKey<'a>, OpScope<'a>)>,
    pub(super) details: Vec<DetailKey<'a>>,
    pub(super) extras: Vec<SparseStat>,
    pub(super) samples: Vec<Sample<'a>>,
    pub(super) allocations: Vec<Allocation<'a>>,
    /// Events whose own bytes were broken: they keep what could be read.
    pub(super) broken_events: u64,
    op_ids: FxHashMap<OpKey<'a>, u32>,
    detail_ids: FxHashMap<DetailKey<'a>, u32>,
    last_op: Option<(OpKey<'a>, u32)>,
    last_detail: Option<(DetailKey<'a>, u32)>,
}

/// What all chunks of a line share.
#[derive(Debug, Clone, Copy)]
pub(super) struct LineContext<'a, 'p> {
    pub(super) stats: &'p StatTable<'a>,
    pub(super) classes: &'p super::id_map::IdMap<EventClass<'a>>,
    /// String id of the name for events whose metadata is missing.
    pub(super) nameless: u32,
    /// Nanoseconds on the trace clock of the line's offset 0.
    pub(super) zero_ns: i64,
    /// Whether the line belongs to a device.
    pub(super) on_device: bool,
    /// What events are when their name does not say.
    pub(super) default_kind: EventKind,
    /// What the line holds.
    pub(super) role: LineRole,
}

/// Decodes the events of `bytes` into `columns`, which has a row for each.
pub(super) fn decode<'a>(bytes: &'a [u8], line: LineContext<'a, '_>, mut columns: EventSlices<'_>) -> ChunkTables<'a> {
    let mut tables = ChunkTables::default();
    let mut row = 0;
    for field in Fields::new(bytes).map_while(Result::ok) {
        let (4, Value::Bytes(event)) = field else { continue };
        if row == columns.len() {
            break;
        }
        if decode_event(event, line, &mut columns, row, &mut tables).is_none() {
            tables.broken_events += 1;
        }
        row += 1;
    }
    // The scan counted an event for every row; if it was wrong, the rest is empty rather than nonsense.
    while row < columns.len() {
        decode_event(&[], line, &mut columns, row, &mut tables);
        row += 1;
    }
    tables.op_ids = FxHashMap::default();
    tables.detail_ids = FxHashMap::default();
    tables
}

/// The stats of one event that go into columns.
#[derive(Debug, Default)]
struct EventStats<'a> {
    op: OpKey<'a>,
    scope: OpScope<'a>,
    correlation: u64,
    detail: TextKey<'a>,
    is_transfer: bool,
    occupancy: Option<f64>,
    allocation: Allocation<'a>,
    sample: Option<(u64, f64)>,
}

/// An event's own fields but its stats.
#[derive(Debug, Default)]
struct EventHead {
    metadata: u64,
    offset_ps: i64,
    dur_ps: i64,
}

/// Reads an event's fields up to the first broken one; `None` where there is one.
fn walk_event<'a>(
    event: &'a [u8],
    line: LineContext<'a, '_>,
    row: usize,
    head: &mut EventHead,
    stats: &mut EventStats<'a>,
    tables: &mut ChunkTables<'a>,
) -> Option<()> {
    let mut at = 0;
    while at < event.len() {
        match event[at] {
            0x08 => head.metadata = number(event, &mut at)?,
            0x10 => head.offset_ps = number(event, &mut at)? as i64,
            0x18 => head.dur_ps = number(event, &mut at)? as i64,
            0x22 => {
                at += 1;
                let length = usize::try_from(varint(event, &mut at)?).ok()?;
                let bytes = event.get(at..at.checked_add(length)?)?;
                at += length;
                take_stat(bytes, line, row, stats, tables);
            }
            _ => {
                let mut fields = Fields::new(&event[at..]);
                fields.next()?.ok()?;
                at += fields.offset();
            }
        }
    }
    Some(())
}

/// Decodes one event into its row; `None` where it is broken, and then the row has what could be read.
fn decode_event<'a>(
    event: &'a [u8],
    line: LineContext<'a, '_>,
    columns: &mut EventSlices<'_>,
    row: usize,
    tables: &mut ChunkTables<'a>,
) -> Option<()> {
    let (mut head, mut stats) = (EventHead::default(), EventStats::default());
    let whole = walk_event(event, line, row, &mut head, &mut stats, tables);
    let EventHead { metadata, offset_ps, dur_ps } = head;
    let class = line.classes.get(metadata);
    if let Some(class) = class.filter(|class| !class.shared.is_empty()) {
        take_shared(class.shared, line, row, &mut stats, tables);
    }
    if let Some(name) = class.and_then(EventClass::instruction_name) {
        stats.op.hlo_op = TextKey::Inline(name);
        // The path of an instruction is what a framework's operation is elsewhere.
        stats.scope.name = std::mem::take(&mut stats.op.framework_op);
    }
    columns.start_ns[row] = line.zero_ns.saturating_add(offset_ps.div_euclid(1000));
    columns.dur_ns[row] = nearest_ns(dur_ps);
    columns.link[row] = NONE;
    columns.name[row] = class.map_or(line.nameless, |class| class.name);
    columns.correlation[row] = fold_correlation(stats.correlation);
    let mut by_name = class.map_or(EventKind::HostRange, |class| class.kind);
    if let Some(class) = class.filter(|_| line.role == LineRole::AsyncOps)
        && let Some(copy) = class.copy
    {
        by_name = copy;
        (stats.detail, stats.is_transfer) = (TextKey::Inline(class.instruction), true);
    }
    columns.kind[row] = kind_of(by_name, line, &stats) as u8;
    columns.op[row] = tables.op(&stats);
    columns.detail[row] = tables.detail(&stats);
    if line.role == LineRole::Counters {
        let metric = stats.sample.and_then(|(id, _)| line.stats.name(id)).unwrap_or_default();
        let value = stats.sample.map_or(0.0, |(_, value)| value);
        tables.samples.push(Sample { metric, time_ns: columns.start_ns[row], value });
    }
    if stats.allocation.allocator != TextKey::None {
        let time_ns = columns.start_ns[row];
        let owner = stats.op.framework_op;
        tables.allocations.push(Allocation { row: row as u32, time_ns, owner, ..stats.allocation });
    }
    whole
}

fn number(event: &[u8], at: &mut usize) -> Option<u64> {
    *at += 1;
    varint(event, at)
}

/// Nanoseconds nearest to a span in picoseconds; negative spans, which no collector means, are 0.
fn nearest_ns(picos: i64) -> i64 {
    picos.max(0).saturating_add(500) / 1000
}

/// Correlation ids are 32-bit counters; wider ones are folded, and 0 stays "none".
fn fold_correlation(id: u64) -> u32 {
    let folded = (id ^ (id >> 32)) as u32;
    if id != 0 && folded == 0 { 1 } else { folded }
}

fn kind_of(by_name: EventKind, line: LineContext<'_, '_>, stats: &EventStats<'_>) -> EventKind {
    if line.on_device {
        return if by_name == EventKind::HostRange { line.default_kind } else { by_name };
    }
    let has_op = stats.op.hlo_op != TextKey::None;
    match by_name {
        _ if stats.correlation != 0 => EventKind::Launch,
        EventKind::HostRange if has_op => EventKind::DeviceOp,
        kind => kind,
    }
}

fn take_stat<'a>(
    bytes: &'a [u8],
    line: LineContext<'a, '_>,
    row: usize,
    stats: &mut EventStats<'a>,
    tables: &mut ChunkTables<'a>,
) {
    let Some((id, value)) = stat(bytes) else { return };
    let role = line.stats.role(id);
    match role {
        Role::Other => {
            if line.role == LineRole::Counters && stats.sample.is_none() {
                stats.sample = value.real().map(|number| (id, number));
            }
        }
        Role::HloOp => stats.op.hlo_op = value.text(),
        Role::HloModule => stats.op.hlo_module = value.text(),
        Role::ProgramId => stats.op.program_id = value.integer(),
        Role::FrameworkOp => stats.op.framework_op = value.text(),
        Role::OpName => stats.scope.name = value.text(),
        Role::OpPrefix => stats.scope.prefix = value.text(),
        Role::CorrelationId => stats.correlation = value.integer().unwrap_or(0),
        Role::KernelDetails => stats.detail = value.text(),
        Role::TransferDetails => {
            stats.detail = value.text();
            stats.is_transfer = true;
        }
        Role::Occupancy => stats.occupancy = value.real(),
        Role::Allocator => stats.allocation.allocator = value.text(),
        Role::AllocationBytes => stats.allocation.bytes = value.integer().unwrap_or(0) as i64,
        Role::RequestedBytes => stats.allocation.requested = value.integer().unwrap_or(0) as i64,
        Role::BytesInUse => stats.allocation.in_use = value.integer().unwrap_or(0) as i64,
        Role::PeakBytes => stats.allocation.peak = value.integer().unwrap_or(0) as i64,
        Role::Fragmentation => stats.allocation.fragmentation = value.real().unwrap_or(0.0),
        Role::Address => stats.allocation.address = value.integer().unwrap_or(0),
        Role::Sparse(role) => {
            if let Some(value) = value.integer() {
                tables.extras.push(SparseStat { row: row as u32, role, value });
            }
        }
    }
}

/// Stats of the metadata count where the event has none of its own; they come last and never overwrite.
fn take_shared<'a>(
    shared: &'a [u8],
    line: LineContext<'a, '_>,
    row: usize,
    stats: &mut EventStats<'a>,
    tables: &mut ChunkTables<'a>,
) {
    let own = (stats.op, stats.scope);
    for field in Fields::new(shared).map_while(Result::ok) {
        if let (5, Value::Bytes(bytes)) = field {
            take_stat(bytes, line, row, stats, tables);
        }
    }
    if own.0.hlo_op != TextKey::None {
        stats.op = own.0;
    }
    if own.1.name != TextKey::None {
        stats.scope = own.1;
    }
}

impl<'a> ChunkTables<'a> {
    fn op(&mut self, stats: &EventStats<'a>) -> u32 {
        if stats.op.hlo_op == TextKey::None && stats.op.framework_op == TextKey::None {
            return NONE;
        }
        if let Some((key, id)) = self.last_op
            && key == stats.op
        {
            return id;
        }
        let ops = &mut self.ops;
        let id = *self.op_ids.entry(stats.op).or_insert_with(|| {
            ops.push((stats.op, stats.scope));
            ops.len() as u32 - 1
        });
        self.last_op = Some((stats.op, id));
        id
    }

    fn detail(&mut self, stats: &EventStats<'a>) -> u32 {
        if stats.detail == TextKey::None {
            return NONE;
        }
        let occupancy = stats.occupancy.map(f64::to_bits);
        let key = DetailKey { text: stats.detail, occupancy, is_transfer: stats.is_transfer };
        if let Some((last, id)) = self.last_detail
            && last == key
        {
            return id;
        }
        let details = &mut self.details;
        let id = *self.detail_ids.entry(key).or_insert_with(|| {
            details.push(key);
            details.len() as u32 - 1
        });
        self.last_detail = Some((key, id));
        id
    }
}
