//! Time of the host's calls: runtime and driver API, libraries, the operating system.

use crate::Analysis;
use crate::tables::spread::{Spread, columns, share};
use crate::tables::time::table as build;
use crate::view::{Shown, Topic, View, has_events};
use ridge_table::{Basis, Column, Rank, Subject, Table, Unit};
use ridge_trace::{EventKind, StringId, TrackKind};
use rustc_hash::FxHashMap;

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "call",
    about: "call of the host: runtime and driver API, libraries",
    aliases: &["cuda_api_sum", "osrt_sum", "cudaapisum"],
    shown: Shown::WhenNamed,
    needs: &[],
    answers: has_events,
    charts: None,
    make: |analysis, _| table(analysis),
};

/// Calls by name, most time first; ranges that the program named are not calls.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let trace = analysis.trace;
    let mut by_name: FxHashMap<(u32, bool), Spread> = FxHashMap::default();
    for track in trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread) {
        for row in track.rows.start as usize..track.rows.end as usize {
            let kind = trace.events.kind(row);
            let is_call = matches!(kind, EventKind::Launch | EventKind::HostRange);
            if is_call && !is_seen_twice(analysis, row) {
                let key = (trace.events.name[row], kind == EventKind::Launch);
                by_name.entry(key).or_default().push(trace.events.dur_ns[row]);
            }
        }
    }
    let mut rows: Vec<((u32, bool), Spread)> = by_name.into_iter().collect();
    rows.iter_mut().for_each(|(_, spread)| spread.sort());
    rows.sort_by_key(|((name, _), spread)| (std::cmp::Reverse(spread.total_ns()), *name));
    let all = rows.iter().fold(0_i64, |sum, (_, spread)| sum.saturating_add(spread.total_ns()));
    let spreads = || rows.iter().map(|(_, spread)| spread);
    let mut shown = vec![
        Column::text(
            "call",
            "Call",
            "name of the call",
            rows.iter().map(|((name, _), _)| analysis.text(StringId(*name)).to_owned()),
        )
        .ranked(Rank::Key),
        Column::nanos(
            "total_ns",
            "Total",
            "sum of durations on all threads; calls inside other calls count in both",
            spreads().map(Spread::total_ns),
        )
        .ranked(Rank::Key)
        .basis(Basis::Measured),
        Column::real(
            "total_share",
            "Share",
            "total as a part of the totals of all calls listed",
            Unit::Share,
            spreads().map(|spread| share(spread.total_ns(), all)),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
        Column::whole("count", "Count", "how often it was called", Unit::Count, spreads().map(Spread::count))
            .basis(Basis::Counted),
        Column::flag(
            "launches",
            "Launches",
            "whether it causes device work",
            rows.iter().map(|((_, launches), _)| *launches),
        )
        .ranked(Rank::Detail),
    ];
    shown.extend(columns(spreads()));
    build("call", "Host calls", shown).about(rows.iter().map(|((name, _), _)| Some(Subject::Named(StringId(*name)))))
}

/// Whether the event around `row` is the same call: profilers record some at two levels, such as `cudaMalloc` around
/// `cudaMalloc_v3020`, and `PjitFunction(f)` around itself.
fn is_seen_twice(analysis: &Analysis<'_>, row: usize) -> bool {
    let events = &analysis.trace.events;
    let outer = events.parent[row] as usize;
    let Some(outer_ns) = events.dur_ns.get(outer) else { return false };
    let name = |row: usize| base_name(analysis.trace.name(row));
    // A function that calls itself does so for a part of its time.
    events.dur_ns[row] > outer_ns / 2 && name(row) == name(outer)
}

/// A call's name without the version that CUDA's headers give it: `cudaMalloc_v3020` is `cudaMalloc`.
fn base_name(name: &str) -> &str {
    let name = name.strip_suffix("_ptsz").unwrap_or(name);
    match name.rsplit_once("_v") {
        Some((base, version)) if !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => name,
    }
}
