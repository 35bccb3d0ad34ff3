//! First calls that load kernels or make the device's context have much of the capture: it is cold.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use crate::words::{distinct, list, percent};
use ridge_table::{Basis, Quantity, Subject};
use ridge_trace::{EventRow, NONE, StringId};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    id: "cold-start",
    group: Group::Host,
    summary: "First calls take much of the capture",
    document: include_str!("cold_start.md"),
    asks: &[],
    explains: &["host-pause", "host-bound-dispatch", "blocking-call", "unexplained-wait", "alloc-storm"],
    needs: &[],
    find: Find::Causes(find),
};

/// The least part of the capture that such calls have.
const LEAST: f64 = 0.2;
/// A call takes so many times what calls of that name take in the median, where it loads something.
const LONG: i64 = 20;
/// Shorter ones are within what a busy host does to any call, nanoseconds.
const SHORTEST_NS: i64 = 2_000_000;
/// Calls that are looked for in idle time, the longest.
const MOST: usize = 64;
/// Words of calls that wait for the device or copy: their length is that of other work.
const WAITS: [&str; 8] = ["ynchronize", "emcpy", "Query", "WaitEvent", "emset", "GraphLaunch", "Profiler", "EventElapsed"];

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    let whole = trace.wall_ns();
    if whole <= 0 || case.is_on_processors() {
        return Ok(Vec::new());
    }
    let rows = case.host_rows(|_, name| is_driver_call(name) && !WAITS.iter().any(|word| name.contains(word)));
    let mut by_name: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    rows.iter().for_each(|row| by_name.entry(trace.events.name[*row as usize]).or_default().push(*row));
    let mut cold: Vec<(i64, u32)> = Vec::new();
    for rows in by_name.values() {
        let mut lengths: Vec<i64> = rows.iter().map(|row| trace.events.dur_ns[*row as usize]).collect();
        lengths.sort_unstable();
        // The middle of few calls is itself a first one.
        let usual = if rows.len() < 3 { 0 } else { lengths[(lengths.len() - 1) / 2] };
        let is_long = |ns: i64| ns >= SHORTEST_NS && ns >= usual.saturating_mul(LONG);
        cold.extend(rows.iter().map(|row| (trace.events.dur_ns[*row as usize], *row)).filter(|(ns, _)| is_long(*ns)));
    }
    let ns = cold.iter().fold(0_i64, |sum, (ns, _)| sum.saturating_add(*ns)).min(whole);
    let share = ns as f64 / whole as f64;
    if share < LEAST {
        return Ok(Vec::new());
    }
    // In a program that runs such a call has its own reason.
    let first = first_launches(case);
    // A call that launched nothing makes the context or loads code.
    let is_first = |row: &u32| first.get(row).is_none_or(|is_first| *is_first);
    let early = cold.iter().filter(|(_, row)| is_first(row)).count();
    if early * 2 < cold.len() {
        return Ok(Vec::new());
    }
    cold.sort_by_key(|(ns, row)| (std::cmp::Reverse(*ns), *row));
    cold.truncate(MOST);
    let Some((longest_ns, longest)) = cold.first().copied() else { return Ok(Vec::new()) };
    let names = distinct(cold.iter().map(|(_, row)| trace.name(*row as usize)));
    let named: Vec<StringId> = cold.iter().map(|(_, row)| StringId(trace.events.name[*row as usize])).collect();
    let is_in_them = |name: &str| named.iter().any(|id| trace.strings.get(*id) == name);
    let inside = case.idle().filter(|idle| {
        idle.name.is_some_and(is_in_them)
            || idle.row.example.is_some_and(|row| overlaps(case, row.0, &cold))
    });
    let finding = Finding::new(format!("first calls that load kernels or create the context take {} of the capture", percent(share)))
        .at(case.line_of_row(longest))
        .about(EventRow::known(longest).map(Subject::Event))
        .number(format!("in {}", list(&names, 3)), Quantity::nanos(ns, Basis::Measured))
        .number("in the longest call", Quantity::nanos(longest_ns, Basis::Measured))
        .why("the first use of the device creates its context, and the first launch of a kernel loads, compiles or tunes its code; later launches don't")
        .help("warm up before the capture: run each kind of step once or twice, then record; for a program that runs only once, tune `CUDA_MODULE_LOADING` and cache compiled kernels")
        .claims(inside.map(|idle| (idle.at, 1.0)));
    Ok(vec![finding])
}

/// Whether a call is of the driver or its runtime.
fn is_driver_call(name: &str) -> bool {
    let after = |prefix: &str| name.strip_prefix(prefix).and_then(|rest| rest.chars().next());
    ["cuda", "hip", "cu"].iter().any(|prefix| after(prefix).is_some_and(|letter| letter.is_ascii_uppercase()))
}

/// The calls that launched something, and whether each was the first to launch something of that name.
fn first_launches(case: &Case<'_>) -> FxHashMap<u32, bool> {
    let events = &case.trace().events;
    let mut launches: Vec<(i64, u32, u32)> = Vec::new();
    for row in case.trace().device_tracks().flat_map(|track| track.rows.clone()).map(|row| row as usize) {
        if events.link[row] != NONE {
            launches.push((events.start_ns[row], events.link[row], events.name[row]));
        }
    }
    launches.sort_unstable();
    let (mut names, mut found) = (FxHashSet::default(), FxHashMap::default());
    for (_, call, name) in launches {
        let is_first = names.insert(name);
        found.entry(call).and_modify(|known: &mut bool| *known |= is_first).or_insert(is_first);
    }
    found
}

/// Whether one of the calls runs at the same time as the host's event `row`, around or inside it.
fn overlaps(case: &Case<'_>, row: u32, cold: &[(i64, u32)]) -> bool {
    let events = &case.trace().events;
    let (start, end) = (events.start_ns[row as usize], events.end_ns(row as usize));
    cold.iter().any(|(ns, call)| {
        let (from, until) = (events.start_ns[*call as usize], events.end_ns(*call as usize));
        let common = end.min(until).saturating_sub(start.max(from));
        common > 0 && common.saturating_mul(2) >= *ns
    })
}
