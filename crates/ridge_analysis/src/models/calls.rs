//! Calls of the host by name: runtime and driver API, libraries, the operating system.

use super::spread::Spread;
use crate::context::partition::part;
use crate::{Analysis, Shared};
use ridge_trace::{EventKind, StringId, TrackKind};
use rustc_hash::FxHashMap;

/// Calls of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRow {
    /// Their name.
    pub name: StringId,
    /// Whether they cause device work.
    pub launches: bool,
    /// Their durations on all threads; calls inside other calls count in both.
    pub durations: Spread,
    /// Their time as a part of that of all calls.
    pub share: f64,
}

/// Calls by name, most time first; ranges that the program named are not calls.
#[derive(Debug)]
pub struct Calls(pub Vec<CallRow>);

impl Shared for Calls {
    fn make(analysis: &Analysis<'_>) -> Calls {
        let trace = analysis.trace;
        let mut by_name: FxHashMap<(u32, bool), Vec<i64>> = FxHashMap::default();
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
        let row = |((name, launches), durations)| CallRow {
            name: StringId(name),
            launches,
            durations: Spread::of(durations),
            share: 0.0,
        };
        let mut rows: Vec<CallRow> = by_name.into_iter().map(row).collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.durations.total_ns), row.name));
        let all = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(row.durations.total_ns));
        rows.iter_mut().for_each(|row| row.share = part(row.durations.total_ns, all));
        Calls(rows)
    }
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
