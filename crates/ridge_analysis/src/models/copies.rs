//! Copies and memory sets by what they do and between which memories.

use super::spread::Spread;
use crate::context::partition::part;
use crate::{Analysis, Shared};
use ridge_trace::{EventKind, MemoryKind};
use rustc_hash::FxHashMap;

/// Copies of one direction between two kinds of memory, or memory sets of one.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyRow {
    /// What was done.
    pub kind: EventKind,
    /// Memory that was read.
    pub source: MemoryKind,
    /// Memory that was written.
    pub destination: MemoryKind,
    /// Their durations.
    pub durations: Spread,
    /// Their time as a part of that of all rows.
    pub share: f64,
    /// What those moved or set whose bytes the capture says.
    pub sized: SizedCopies,
}

/// The copies whose bytes a capture says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SizedCopies {
    /// How many they are.
    pub count: u64,
    /// Sum of their bytes.
    pub bytes: u64,
    /// Bytes of the largest.
    pub largest_bytes: u64,
    /// Sum of their durations, nanoseconds.
    pub ns: i64,
}

impl SizedCopies {
    /// Bytes over the time of the copies that moved them.
    pub fn bytes_per_sec(&self) -> Option<f64> {
        (self.ns > 0).then(|| self.bytes as f64 / self.ns as f64 * 1e9)
    }
}

/// Copies by direction and memory, most time first.
#[derive(Debug)]
pub struct Copies(pub Vec<CopyRow>);

impl Shared for Copies {
    fn make(analysis: &Analysis<'_>) -> Copies {
        let trace = analysis.trace;
        let mut found: FxHashMap<(EventKind, MemoryKind, MemoryKind), (Vec<i64>, SizedCopies)> = FxHashMap::default();
        for row in trace.device_tracks().flat_map(|track| track.rows.clone()).map(|row| row as usize) {
            let kind = trace.events.kind(row);
            if !kind.is_copy() && kind != EventKind::Memset {
                continue;
            }
            let transfer = trace.transfer(row).copied();
            let memories = transfer.map_or_else(Default::default, |transfer| (transfer.source, transfer.destination));
            let (durations, sized) = found.entry((kind, memories.0, memories.1)).or_default();
            durations.push(trace.events.dur_ns[row]);
            if let Some(transfer) = transfer {
                sized.count += 1;
                sized.bytes = sized.bytes.saturating_add(transfer.bytes);
                sized.largest_bytes = sized.largest_bytes.max(transfer.bytes);
                sized.ns = sized.ns.saturating_add(trace.events.dur_ns[row]);
            }
        }
        let row = |((kind, source, destination), (durations, sized))| CopyRow {
            kind,
            source,
            destination,
            durations: Spread::of(durations),
            share: 0.0,
            sized,
        };
        let mut rows: Vec<CopyRow> = found.into_iter().map(row).collect();
        rows.sort_by_key(|row| {
            (std::cmp::Reverse(row.durations.total_ns), row.kind, row.source.name(), row.destination.name())
        });
        let all = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(row.durations.total_ns));
        rows.iter_mut().for_each(|row| row.share = part(row.durations.total_ns, all));
        Copies(rows)
    }
}
