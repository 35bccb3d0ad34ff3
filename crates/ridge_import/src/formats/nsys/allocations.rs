//! Device and pinned memory as the driver allocated and freed it (`--cuda-memory-usage=true`).
//!
//! The export has sizes and addresses; what is in use after each event is added up here, from the capture's start.

use super::names::{NameKey, NameStyle, Names};
use super::place::Placed;
use super::tables::Tables;
use crate::import::Import;
use ridge_sqlite::Row;
use rustc_hash::FxHashMap;

const TABLE: &str = "CUDA_GPU_MEMORY_USAGE_EVENTS";
const COLUMNS: [&str; 8] =
    ["start", "globalPid", "deviceId", "address", "bytes", "memKind", "memoryOperationType", "name"];

/// One event of the driver's allocator.
struct Event {
    time_ns: i64,
    pid: u64,
    device: i64,
    address: u64,
    delta_bytes: i64,
    kind: i64,
    name: Option<i64>,
}

fn event(row: &Row<'_>) -> Option<Event> {
    let bytes = row.int(4)?;
    Some(Event {
        time_ns: row.int(0)?,
        pid: row.int(1).unwrap_or(0) as u64 >> 24,
        device: row.int(2).unwrap_or(0),
        address: row.int(3).unwrap_or(0) as u64,
        // `ENUM_CUDA_DEV_MEM_EVENT_OPER`: 0 allocates, 1 frees.
        delta_bytes: if row.int(6) == Some(1) { bytes.saturating_neg() } else { bytes },
        kind: row.int(5).unwrap_or(-1),
        name: row.int(7),
    })
}

/// Reads every event; `shift_ns` is added to its time.
pub(super) fn read(tables: &impl Tables, placed: &Placed, names: &mut Names, shift_ns: i64, import: &mut Import) {
    let mut events = tables.collect(TABLE, &COLUMNS, event);
    events.sort_by_key(|event| event.time_ns);
    let mut in_use: FxHashMap<(u64, i64, i64), (i64, i64)> = FxHashMap::default();
    for event in events {
        let (now, peak) = in_use.entry((event.pid, event.device, event.kind)).or_default();
        *now = now.saturating_add(event.delta_bytes);
        *peak = (*peak).max(*now);
        let kind = super::rows::memory_kind(event.kind).name();
        let allocator = import.builder.strings.intern(&format!("GPU {} {kind} memory", event.device));
        let owner = event.name.map(|name| names.intern(&NameKey::Id(name), NameStyle::Api, import));
        let table = &mut import.builder.allocations;
        table.process.push(placed.process(event.pid));
        table.time_ns.push(event.time_ns.saturating_add(shift_ns));
        table.allocator.push(allocator);
        table.delta_bytes.push(event.delta_bytes);
        table.requested_bytes.push(event.delta_bytes.saturating_abs());
        table.in_use_bytes.push(*now);
        table.peak_bytes.push(*peak);
        table.reserved_bytes.push(-1);
        table.fragmentation.push(0.0);
        table.address.push(event.address);
        table.owner.push(owner.unwrap_or_default());
    }
}
