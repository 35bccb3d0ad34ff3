//! Two stretches of time one above the other on one axis, and what differs: two steps, two captures, a capture and its
//! replay.
//!
//! What is narrower than a column of the picture is joined with what is in the same column; nothing is dropped but tracks
//! and lanes beyond a bound, which are counted.

mod differences;
mod half;
mod pieces;
mod steps;

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use crate::selection::Chosen;
use differences::differences;
pub(crate) use half::{Bit, Half, Names};
use pieces::pieces;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
pub(crate) use steps::steps;
use steps::{Marked, marked, median_and_outlier};

/// Tracks of a picture.
const MOST_TRACKS: usize = 16;

/// `beside?one=ROW&other=ROW&from=NS&to=NS`: two steps, by the events that mark them; the median and the outlier unless
/// they are named. With `against=1` the first is of the other capture.
pub(crate) fn beside(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let is_across = request.has("against");
    let first = if is_across { page.other()? } else { page };
    let (one, other) = (marked(first), marked(page));
    let (median, outlier) = median_and_outlier(&one).unzip();
    let second = if is_across { median_and_outlier(&other).map(|(median, _)| median) } else { outlier };
    let mut names = Names { is_across, ..Names::default() };
    let row = |key, usual: Option<u32>| Ok::<_, Refusal>(request.number::<u32>(key)?.or(usual));
    let one = Part::of(first, &one, row("one", median)?, &mut names)?;
    let other = Part::of(page, &other, row("other", second)?, &mut names)?;
    let differ = differences([(first, &one.chosen), (page, &other.chosen)]);
    let mut answer = drawn([one.half, other.half], &names, request)?;
    answer["differences"] = differ;
    Ok(answer)
}

/// One of the two: what is chosen of a page, and how it is drawn.
struct Part<'p> {
    chosen: Chosen<'p>,
    half: Half,
}

impl<'p> Part<'p> {
    /// The step that the event at `row` marks; the whole capture where none is meant.
    fn of(page: &'p Page, steps: &[Marked], row: Option<u32>, names: &mut Names) -> Result<Part<'p>, Refusal> {
        let Some(row) = row else {
            let (start, end) = page.timeline().span();
            let chosen = Chosen::all(page, (0, end.saturating_sub(start)));
            let half = Half::of(page, &chosen, page.title(), names);
            return Ok(Part { chosen, half });
        };
        let step = steps.iter().find(|step| step.row == row);
        let step = step.ok_or_else(|| Refusal::absent(format!("no step is marked by event {row}")))?;
        let chosen = Chosen::of_step(page, step.rows(page), (step.start, step.done));
        let half = Half::of(page, &chosen, format!("step {}", step.number), names);
        Ok(Part { chosen, half: Half { row: Some(row), ..half } })
    }
}

/// The picture of `halves`, of the part of it that the request has.
pub(crate) fn drawn(halves: [Half; 2], names: &Names, request: &Request) -> Result<Value, Refusal> {
    let long = halves.iter().map(|half| half.long_ns).max().unwrap_or(0).max(1);
    let from = request.number::<i64>("from")?.unwrap_or(0).clamp(0, long - 1);
    let to = request.number::<i64>("to")?.unwrap_or(long).clamp(from + 1, long);
    let busiest = busiest(&halves);
    let half = |half: &Half| {
        let track = |key: &String| {
            let bits = half.tracks.iter().find(|(name, _)| name == key).map_or(&[][..], |(_, bits)| bits.as_slice());
            json!({ "name": key, "pieces": pieces(bits, from, to) })
        };
        json!({
            "title": half.title,
            "row": half.row,
            "start_ns": half.start_ns,
            "long_ns": half.long_ns,
            "deeper_left_out": half.deeper,
            "tracks": busiest.iter().map(track).collect::<Vec<_>>(),
        })
    };
    let keys = halves.iter().flat_map(|half| half.tracks.iter().map(|(key, _)| key));
    Ok(json!({
        "long_ns": long,
        "from_ns": from,
        "to_ns": to,
        "names": names.names(),
        "categories": names.categories(),
        "piece": ["lane", "start_ns", "duration_ns", "category", "name", "nth", "count", "busy_ns", "row"],
        "tracks_left_out": keys.collect::<BTreeSet<_>>().len() - busiest.len(),
        "halves": halves.iter().map(half).collect::<Vec<_>>(),
    }))
}

/// The names of the tracks that are drawn, in the order of the first half, the others behind.
fn busiest(halves: &[Half; 2]) -> Vec<String> {
    let mut busy: BTreeMap<&String, (usize, i64)> = BTreeMap::new();
    for (at, (key, bits)) in halves.iter().flat_map(|half| &half.tracks).enumerate() {
        let known = busy.entry(key).or_insert((at, 0));
        known.1 = bits.iter().fold(known.1, |sum, bit| sum.saturating_add(bit.end.saturating_sub(bit.start)));
    }
    let mut all: Vec<(&String, (usize, i64))> = busy.into_iter().collect();
    all.sort_by_key(|(_, (_, ns))| std::cmp::Reverse(*ns));
    all.truncate(MOST_TRACKS);
    all.sort_by_key(|(_, (at, _))| *at);
    all.into_iter().map(|(key, _)| key.clone()).collect()
}
