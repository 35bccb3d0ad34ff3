//! What is in a selection: busy time, and what it was, apart for devices, the host and annotations.

mod chosen;
mod sides;
mod sums;

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
pub(crate) use chosen::Chosen;
use ridgeline::Spans;
use serde_json::{Value, json};
use sides::{By, Part, Wish, all_named, listed, of_sides, walked};
pub(crate) use sides::{SideSums, device_ops, sums_of_sides};
pub(crate) use sums::Sum;

/// Rows of each list, and most of them.
const ROWS: usize = 50;
const MOST_ROWS: usize = 2_000;

/// `selection?from=NS&to=NS&tracks=1,4-7&step=N&where=TERMS&rows=N&lines=1`.
pub(crate) fn selection(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let chosen = Chosen::of(page, request)?;
    let rows = request.number::<usize>("rows")?.unwrap_or(ROWS).min(MOST_ROWS);
    let wish = Wish { rows, lines: request.has("lines") };
    let walked = walked(page, &chosen, wish);
    let all: Vec<&Part> = walked.iter().map(|track| &track.all).collect();
    let busy_ns = Spans::of(all.iter().flat_map(|part| part.spans.0.iter().copied())).total_ns();
    let list = |by: By| {
        let mut rows = listed(all_named(page, by, &all), busy_ns, ROWS)["rows"].take();
        for row in rows.as_array_mut().into_iter().flatten() {
            row["ns"] = row["self_ns"].clone();
        }
        rows
    };
    Ok(json!({
        "from_ns": chosen.from,
        "to_ns": chosen.to,
        "tracks": chosen.tracks,
        "steps": chosen.steps(),
        "sides": of_sides(page, &chosen, &walked, wish),
        "busy_ns": busy_ns,
        "events": all.iter().map(|part| part.events).sum::<u64>(),
        "by_kernel": list(By::Name),
        "by_op": list(By::Op),
        "by_category": list(By::Category),
    }))
}
