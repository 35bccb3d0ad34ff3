//! Search by name: how many events, and those that come next.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use rayon::prelude::*;
use ridgeline::trace::{NONE, StringId, Trace};
use serde_json::{Value, json};

/// Hits of one answer.
const HITS: usize = 200;

/// `search?q=TEXT&after=ROW`: events whose name, or whose operation's, holds the text; letters may be of either case.
pub(crate) fn search(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let text = request.get("q").ok_or_else(|| Refusal::bad("expected `q=TEXT`, found none"))?.to_lowercase();
    let trace = page.session().trace();
    let after = request.number::<u32>("after")?.filter(|row| (*row as usize) < trace.events.len());
    let key = |row: u32| (trace.events.start_ns[row as usize], row);
    let mut found = matching(trace, &text);
    let count = found.len();
    if let Some(after) = after {
        found.retain(|row| key(*row) > key(after));
    }
    let left = found.len();
    if found.len() > HITS {
        found.select_nth_unstable_by_key(HITS, |row| key(*row));
        found.truncate(HITS);
    }
    found.sort_unstable_by_key(|row| key(*row));
    let hit = |row: &u32| {
        let at = *row as usize;
        json!({
            "row": row,
            "start_ns": page.timeline().relative(trace.events.start_ns[at]),
            "duration_ns": trace.events.dur_ns[at],
            "track": page.timeline().track_of(*row),
            "name": trace.name(at),
        })
    };
    Ok(json!({ "count": count, "before": count - left, "hits": found.iter().map(hit).collect::<Vec<_>>() }))
}

/// The events that `text`, in lower case, means.
fn matching(trace: &Trace, text: &str) -> Vec<u32> {
    let texts: Vec<&str> = trace.strings.iter().collect();
    let names: Vec<bool> = texts.par_iter().map(|name| name.to_lowercase().contains(text)).collect();
    let is_named = |name: u32| names.get(name as usize) == Some(&true);
    let ops: Vec<bool> = trace.operations.iter().map(|op| is_named(op.name.0)).collect();
    let events = &trace.events;
    let is_it = |row: &u32| {
        let at = *row as usize;
        let op = events.op[at];
        is_named(StringId(events.name[at]).0) || (op != NONE && ops.get(op as usize) == Some(&true))
    };
    (0..events.len() as u32).into_par_iter().filter(is_it).collect()
}
