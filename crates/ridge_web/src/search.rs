//! Search: how many events are wanted, and those that come next.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use crate::wanted::Wanted;
use rayon::prelude::*;
use serde_json::{Value, json};

/// Hits of one answer.
const HITS: usize = 200;

/// `search?q=TEXT&after=ROW`: events whose name, or whose operation's, holds the text, or that its terms mean.
pub(crate) fn search(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let text = request.get("q").ok_or_else(|| Refusal::bad("expected `q=TEXT`, found none"))?;
    let wanted = Wanted::parse(text)?;
    let trace = page.session().trace();
    let after = request.number::<u32>("after")?.filter(|row| (*row as usize) < trace.events.len());
    let key = |row: u32| (trace.events.start_ns[row as usize], row);
    let matching = wanted.on(page);
    let mut found: Vec<u32> =
        (0..trace.events.len() as u32).into_par_iter().filter(|row| matching.holds(*row)).collect();
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
            "lane": page.timeline().lane_of(*row),
            "name": trace.name(at),
        })
    };
    Ok(json!({ "count": count, "before": count - left, "hits": found.iter().map(hit).collect::<Vec<_>>() }))
}
