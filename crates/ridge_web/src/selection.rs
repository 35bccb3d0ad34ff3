//! What is in a selection: busy time, and what it was, apart for devices, the host and annotations.

mod chosen;
mod sides;

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
pub(crate) use chosen::Chosen;
use rayon::prelude::*;
use ridgeline::Spans;
use ridgeline::trace::{NONE, StringId};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
pub(crate) use sides::device_ops;
use sides::{Wish, sides};

/// Rows of each list, and most of them.
const ROWS: usize = 50;
const MOST_ROWS: usize = 2_000;

/// Time and events of like events.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    /// Time in the stretch less that of what ran inside, nanoseconds.
    self_ns: i64,
    /// Time in the stretch, nanoseconds.
    total_ns: i64,
    events: u64,
}

type Sums = FxHashMap<u32, Sum>;

/// What one track has in the stretch.
#[derive(Debug, Default)]
struct Part {
    events: u64,
    spans: Vec<(i64, i64)>,
    by_name: Sums,
    by_op: Sums,
    by_category: Sums,
}

/// `selection?from=NS&to=NS&tracks=1,4-7&step=N&where=TERMS&rows=N&lines=1`.
pub(crate) fn selection(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let chosen = Chosen::of(page, request)?;
    let (session, trace) = (page.session(), page.session().trace());
    let parts: Vec<Part> = chosen.tracks.par_iter().map(|track| part(page, &chosen, *track)).collect();
    let events: u64 = parts.iter().map(|part| part.events).sum();
    let busy_ns = Spans::of(parts.iter().flat_map(|part| part.spans.iter().copied())).total_ns();
    let merged = |of: fn(&Part) -> &Sums| {
        let mut all = Sums::default();
        for (key, sum) in parts.iter().flat_map(of) {
            let known = all.entry(*key).or_default();
            known.self_ns = known.self_ns.saturating_add(sum.self_ns);
            known.total_ns = known.total_ns.saturating_add(sum.total_ns);
            known.events += sum.events;
        }
        all
    };
    let name = |id: u32| trace.strings.get(StringId(id)).to_owned();
    let op = |op: u32| {
        trace.operations.get(op as usize).map_or_else(|| "(no operation known)".to_owned(), |op| name(op.name.0))
    };
    let rows = request.number::<usize>("rows")?.unwrap_or(ROWS).min(MOST_ROWS);
    let wish = Wish { rows, lines: request.has("lines") };
    let category = |at: u32| session.event_categories().names.get(at as usize).cloned().unwrap_or_default();
    Ok(json!({
        "from_ns": chosen.from,
        "to_ns": chosen.to,
        "tracks": chosen.tracks,
        "steps": chosen.steps(),
        "sides": sides(page, &chosen, wish),
        "busy_ns": busy_ns,
        "events": events,
        "by_kernel": listed(busy_ns, merged(|part| &part.by_name), name, |id| Some(format!("name:{id}"))),
        "by_op": listed(busy_ns, merged(|part| &part.by_op), op, |op| (op != NONE).then(|| format!("op:{op}"))),
        "by_category": listed(busy_ns, merged(|part| &part.by_category), category, |at| Some(format!("category:{}", category(at)))),
    }))
}

fn part(page: &Page, chosen: &Chosen<'_>, track: usize) -> Part {
    let (trace, categories) = (page.session().trace(), page.session().event_categories());
    let (events, rows) = (&trace.events, trace.tracks[track].rows.clone());
    let mut part = Part::default();
    for row in page.timeline().rows_within(trace, track, &chosen.window).filter(|row| chosen.has(*row)) {
        let at = row as usize;
        let (start, end) = chosen.clipped(at);
        let ns = end.saturating_sub(start).max(0);
        part.events += 1;
        match part.spans.last_mut().filter(|last| start <= last.1) {
            Some(last) => last.1 = last.1.max(end),
            None if ns > 0 => part.spans.push((start, end)),
            None => {}
        }
        let parent = events.parent[at];
        let inside = rows.contains(&parent).then_some(parent as usize);
        let category = |at: usize| u32::from(categories.of(events, at));
        for (sums, own, outer) in [
            (&mut part.by_name, events.name[at], inside.map(|at| events.name[at])),
            (&mut part.by_op, events.op[at], inside.map(|at| events.op[at])),
            (&mut part.by_category, category(at), inside.map(category)),
        ] {
            let sum = sums.entry(own).or_default();
            sum.events += 1;
            sum.total_ns = sum.total_ns.saturating_add(ns);
            sum.self_ns = sum.self_ns.saturating_add(ns);
            if let Some(outer) = outer {
                let sum = sums.entry(outer).or_default();
                sum.self_ns = sum.self_ns.saturating_sub(ns);
            }
        }
    }
    part
}

/// The longest, with their words and addresses.
fn listed(busy_ns: i64, sums: Sums, name: impl Fn(u32) -> String, address: impl Fn(u32) -> Option<String>) -> Value {
    let mut all: Vec<(u32, Sum)> = sums.into_iter().filter(|(_, sum)| sum.events > 0).collect();
    all.sort_unstable_by_key(|(key, sum)| (std::cmp::Reverse(sum.self_ns), *key));
    let row = |(key, sum): &(u32, Sum)| {
        json!({
            "name": name(*key),
            "subject": address(*key),
            "ns": sum.self_ns,
            "total_ns": sum.total_ns,
            "events": sum.events,
            "share": if busy_ns > 0 { sum.self_ns as f64 / busy_ns as f64 } else { 0.0 },
        })
    };
    all.iter().take(ROWS).map(row).collect()
}
