//! Copies and memory sets by what they do and between which memories: time, bytes and rate.

use crate::Analysis;
use crate::tables::spread::{Spread, columns, share};
use crate::tables::time::table as build;
use crate::view::{Shown, Topic, View, has_events};
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};
use ridge_trace::{EventKind, MemoryKind};
use rustc_hash::FxHashMap;

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "copy",
    about: "copy or memory set, by direction and memory",
    aliases: &["cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "gpumemtimesum", "gpumemsizesum"],
    shown: Shown::WhenNamed,
    needs: &[],
    answers: has_events,
    charts: None,
    make: |analysis, _| table(analysis),
};

type Key = (EventKind, MemoryKind, MemoryKind);

#[derive(Debug, Default)]
struct Copies {
    durations: Spread,
    bytes: u64,
    largest: u64,
    known: u64,
    /// Time of those whose bytes are known, nanoseconds.
    known_ns: i64,
}

/// Copies by direction and memory, most time first.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let mut found: FxHashMap<Key, Copies> = FxHashMap::default();
    for row in trace.device_tracks().flat_map(|track| track.rows.clone()).map(|row| row as usize) {
        let kind = trace.events.kind(row);
        if !kind.is_copy() && kind != EventKind::Memset {
            continue;
        }
        let transfer = trace.transfer(row).copied();
        let memories = transfer.map_or_else(Default::default, |transfer| (transfer.source, transfer.destination));
        let copies = found.entry((kind, memories.0, memories.1)).or_default();
        copies.durations.push(trace.events.dur_ns[row]);
        if let Some(transfer) = transfer {
            copies.bytes = copies.bytes.saturating_add(transfer.bytes);
            copies.largest = copies.largest.max(transfer.bytes);
            copies.known += 1;
            copies.known_ns = copies.known_ns.saturating_add(trace.events.dur_ns[row]);
        }
    }
    let mut rows: Vec<(Key, Copies)> = found.into_iter().collect();
    rows.iter_mut().for_each(|(_, copies)| copies.durations.sort());
    rows.sort_by_key(|(key, copies)| {
        (std::cmp::Reverse(copies.durations.total_ns()), key.0, key.1.name(), key.2.name())
    });
    let all = rows.iter().fold(0_i64, |sum, (_, copies)| sum.saturating_add(copies.durations.total_ns()));
    let known = |copies: &Copies, value: u64| (copies.known > 0).then_some(value);
    let mut shown = vec![
        Column::text("copy", "Copy", "what was done", rows.iter().map(|(key, _)| key.0.name().to_owned()))
            .ranked(Rank::Key),
        Column::text("source", "From", "memory that was read", rows.iter().map(|(key, _)| key.1.name().to_owned())),
        Column::text(
            "destination",
            "To",
            "memory that was written",
            rows.iter().map(|(key, _)| key.2.name().to_owned()),
        ),
        Column::nanos(
            "total_ns",
            "Total",
            "sum of durations",
            rows.iter().map(|(_, copies)| copies.durations.total_ns()),
        )
        .ranked(Rank::Key)
        .basis(Basis::Measured),
        Column::real(
            "total_share",
            "Share",
            "total as a part of the totals of all rows",
            Unit::Share,
            rows.iter().map(|(_, copies)| share(copies.durations.total_ns(), all)),
        )
        .basis(Basis::Measured),
        Column::whole(
            "count",
            "Count",
            "how many",
            Unit::Count,
            rows.iter().map(|(_, copies)| copies.durations.count()),
        )
        .basis(Basis::Counted),
        Column::whole(
            "bytes",
            "Bytes",
            "sum of what was moved or set, where the capture says it",
            Unit::Bytes,
            rows.iter().map(|(_, copies)| known(copies, copies.bytes)),
        )
        .ranked(Rank::Key)
        .basis(Basis::Measured),
        Column::whole(
            "largest_bytes",
            "Largest",
            "largest of them",
            Unit::Bytes,
            rows.iter().map(|(_, copies)| known(copies, copies.largest)),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Detail),
        Column::real(
            "bytes_per_sec",
            "Rate",
            "bytes over the time of the copies that moved them",
            Unit::BytesPerSec,
            rows.iter()
                .map(|(_, copies)| (copies.known_ns > 0).then(|| copies.bytes as f64 / copies.known_ns as f64 * 1e9)),
        )
        .basis(Basis::Measured),
    ];
    shown.extend(columns(rows.iter().map(|(_, copies)| &copies.durations)));
    build("copy", "Copies", shown).about(rows.iter().map(|(key, _)| Some(Subject::Copies(key.0))))
}
