//! All launches of a selection: from each call to the work that it launched.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use crate::selection::Chosen;
use ridgeline::trace::NONE;
use serde_json::{Value, json};

/// Arrows that a picture can show; of more, one in so many.
const MOST: usize = 300;

/// `flows?from=NS&to=NS&tracks=…&step=N&where=TERMS`: `[call_ns, call_track, work_ns, work_track]` of work in a selection or of
/// calls in it.
pub(crate) fn flows(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let chosen = Chosen::of(page, request)?;
    let (trace, timeline) = (page.session().trace(), page.timeline());
    let events = &trace.events;
    let mut is_chosen = vec![false; trace.tracks.len()];
    chosen.tracks.iter().for_each(|track| is_chosen[*track] = true);
    // Both ends are looked at, because the calls of a selection may have launched work behind it.
    let holds = |row: u32| {
        let (start, end) = (events.start_ns[row as usize], events.end_ns(row as usize));
        let in_time = start < chosen.window.end && end >= chosen.window.start;
        in_time && is_chosen[timeline.track_of(row)] && chosen.has(row)
    };
    let of_devices = trace.tracks.iter().filter(|track| track.device.is_some());
    let launched = of_devices.flat_map(|track| track.rows.clone()).filter(|row| events.link[*row as usize] != NONE);
    let found: Vec<u32> = launched.filter(|row| holds(*row) || holds(events.link[*row as usize])).collect();
    let flow = |row: &u32| {
        let call = events.link[*row as usize];
        let [called, began] = [call, *row].map(|row| timeline.relative(events.start_ns[row as usize]));
        json!([called, timeline.track_of(call), began, timeline.track_of(*row)])
    };
    let each = found.len().div_ceil(MOST).max(1);
    Ok(json!({ "count": found.len(), "each": each, "flows": found.iter().step_by(each).map(flow).collect::<Vec<_>>() }))
}
