//! What is in a stretch of time: busy time, and what it was by kernel, operation and category.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::{Request, number};
use crate::timeline::Timeline;
use rayon::prelude::*;
use ridgeline::trace::{NONE, StringId, Trace};
use ridgeline::{Session, Spans};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::ops::Range;

/// Rows of each list.
const ROWS: usize = 50;

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

/// `selection?from=NS&to=NS&tracks=a,b`: all tracks of devices where none are named, all others where there is none.
pub(crate) fn selection(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let (from, to): (i64, i64) = (request.needed("from")?, request.needed("to")?);
    let (session, timeline) = (page.session(), page.timeline());
    let trace = session.trace();
    let origin = timeline.span().0;
    let stretch = origin.saturating_add(from.min(to))..origin.saturating_add(from.max(to));
    let tracks = tracks(trace, request)?;
    let parts: Vec<Part> = tracks.par_iter().map(|track| part(session, timeline, *track, &stretch)).collect();
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
    let category = |at: u32| session.event_categories().names.get(at as usize).cloned().unwrap_or_default();
    Ok(json!({
        "from_ns": from.min(to),
        "to_ns": from.max(to),
        "tracks": tracks,
        "busy_ns": busy_ns,
        "events": events,
        "by_kernel": listed(busy_ns, merged(|part| &part.by_name), name, |id| Some(format!("name:{id}"))),
        "by_op": listed(busy_ns, merged(|part| &part.by_op), op, |op| (op != NONE).then(|| format!("op:{op}"))),
        "by_category": listed(busy_ns, merged(|part| &part.by_category), category, |at| Some(format!("category:{}", category(at)))),
    }))
}

fn tracks(trace: &Trace, request: &Request) -> Result<Vec<usize>, Refusal> {
    if let Some(named) = request.get("tracks") {
        let tracks =
            named.split(',').map(|track| number::<usize>("the track", track)).collect::<Result<Vec<_>, _>>()?;
        return match tracks.iter().find(|track| **track >= trace.tracks.len()) {
            Some(track) => Err(Refusal::absent(format!("no track has the number {track}"))),
            None => Ok(tracks),
        };
    }
    let all = || 0..trace.tracks.len();
    let of_devices: Vec<usize> = all().filter(|track| trace.tracks[*track].device.is_some()).collect();
    Ok(if of_devices.is_empty() { all().collect() } else { of_devices })
}

fn part(session: &Session, timeline: &Timeline, track: usize, stretch: &Range<i64>) -> Part {
    let (trace, categories) = (session.trace(), session.event_categories());
    let (events, rows) = (&trace.events, trace.tracks[track].rows.clone());
    let mut part = Part::default();
    let clipped = |at: usize| (events.start_ns[at].max(stretch.start), events.end_ns(at).min(stretch.end));
    for row in timeline.rows_within(trace, track, stretch) {
        let at = row as usize;
        let (start, end) = clipped(at);
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
