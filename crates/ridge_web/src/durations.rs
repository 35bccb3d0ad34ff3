//! How long the events like one of them are: by length, over the capture, and by step.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::number;
use ridgeline::trace::NONE;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Stretches of the histogram, and of the course over the capture.
const BUCKETS: usize = 32;
const COLUMNS: i64 = 240;
/// Steps that are listed.
const STEPS: usize = 2_000;

/// `durations/{row}`: events of the same operation, or of the same name where no operation is known.
pub(crate) fn durations(page: &Page, row: &str) -> Result<Value, Refusal> {
    let row = number::<u32>("the event", row)?;
    let trace = page.session().trace();
    let (events, at) = (&trace.events, row as usize);
    if at >= events.len() {
        return Err(Refusal::absent(format!("there is no event {row}")));
    }
    let (op, name, kind) = (events.op[at], events.name[at], events.kind[at]);
    let is_like = |other: &u32| {
        let other = *other as usize;
        let is_same = if op == NONE { events.name[other] == name } else { events.op[other] == op };
        is_same && events.kind[other] == kind
    };
    let mut rows: Vec<u32> = (0..events.len() as u32).filter(is_like).collect();
    rows.sort_by_key(|row| events.start_ns[*row as usize]);
    let length = |row: &u32| events.dur_ns[*row as usize];
    let mut sorted: Vec<i64> = rows.iter().map(length).collect();
    sorted.sort_unstable();
    let own = sorted.partition_point(|ns| *ns < events.dur_ns[at]);
    let longest = rows.iter().max_by_key(|row| (length(row), std::cmp::Reverse(**row)));
    Ok(json!({
        "of": if op == NONE { "name" } else { "operation" },
        "count": rows.len(),
        "total_ns": sorted.iter().fold(0, |sum: i64, ns| sum.saturating_add(*ns)),
        "least_ns": sorted.first(),
        "p50_ns": quantile(&sorted, 0.5),
        "p95_ns": quantile(&sorted, 0.95),
        "most_ns": sorted.last(),
        "longest": longest,
        "shorter_share": own as f64 / sorted.len() as f64,
        "buckets": buckets(&sorted),
        "over_time": over_time(page, &rows),
        "by_step": by_step(page, &rows),
    }))
}

fn quantile(sorted: &[i64], part: f64) -> i64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

/// `[from, count]` of stretches of equal ratio from the shortest to the longest, empty ones too.
fn buckets(sorted: &[i64]) -> Vec<(f64, u64)> {
    let (least, most) = (sorted[0].max(1) as f64, sorted[sorted.len() - 1].max(1) as f64);
    let ratio = most / least;
    let places = if ratio > 1.0 { BUCKETS.min(sorted.len().max(2)) } else { 1 };
    let from = |at: usize| least * ratio.powf(at as f64 / places as f64);
    let mut buckets: Vec<(f64, u64)> = (0..places).map(|at| (from(at), 0)).collect();
    for ns in sorted {
        let part = if ratio > 1.0 { ((*ns).max(1) as f64 / least).ln() / ratio.ln() } else { 0.0 };
        buckets[((part * places as f64) as usize).min(places - 1)].1 += 1;
    }
    buckets
}

/// `[start, count, least, median, most]` of equal stretches of the capture, from the first of `rows` to the last.
fn over_time(page: &Page, rows: &[u32]) -> Value {
    let events = &page.session().trace().events;
    let start = |row: u32| page.timeline().relative(events.start_ns[row as usize]);
    let (first, last) = (start(rows[0]), start(rows[rows.len() - 1]));
    let width = (last - first).div_euclid(COLUMNS) + 1;
    let mut columns: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for row in rows {
        columns.entry((start(*row) - first) / width).or_default().push(events.dur_ns[*row as usize]);
    }
    let column = |(at, mut lengths): (i64, Vec<i64>)| {
        lengths.sort_unstable();
        let (least, most) = (lengths[0], lengths[lengths.len() - 1]);
        json!([first + at * width, lengths.len(), least, quantile(&lengths, 0.5), most])
    };
    json!({ "column_ns": width, "columns": columns.into_iter().map(column).collect::<Vec<_>>() })
}

/// `[number, count, total, median, most]` of the steps that caused any of `rows`, in order of time.
fn by_step(page: &Page, rows: &[u32]) -> Vec<Value> {
    let (trace, owners) = (page.session().trace(), page.session().owners());
    let places: FxHashMap<u32, usize> = trace.steps.iter().enumerate().map(|(at, step)| (step.event, at)).collect();
    let mut steps: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
    for row in rows {
        if let Some(at) = owners.chain(trace, *row).find_map(|range| places.get(&range)) {
            steps.entry(*at).or_default().push(trace.events.dur_ns[*row as usize]);
        }
    }
    let mut steps: Vec<(usize, Vec<i64>)> = steps.into_iter().collect();
    steps.sort_by_key(|(at, _)| trace.events.start_ns[trace.steps[*at].event as usize]);
    let step = |(at, mut lengths): (usize, Vec<i64>)| {
        lengths.sort_unstable();
        let total = lengths.iter().fold(0, |sum: i64, ns| sum.saturating_add(*ns));
        json!([trace.steps[at].number, lengths.len(), total, quantile(&lengths, 0.5), lengths[lengths.len() - 1]])
    };
    steps.into_iter().take(STEPS).map(step).collect()
}
