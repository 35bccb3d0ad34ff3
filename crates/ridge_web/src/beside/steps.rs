//! The steps of a capture, how long each took, and which are compared first.
//!
//! A step is done when its range and all device work that it caused have ended, and no earlier than the step before it.
//! It takes the time since then, as in `ridgeline diff`; the first has nothing before it and takes the time from its start.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::Request;
use rustc_hash::FxHashSet;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Steps that are listed.
const MOST: usize = 20_000;

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marked {
    /// The event that marks it.
    pub(super) row: u32,
    pub(super) number: i64,
    /// Nanoseconds from the capture's start.
    pub(super) start: i64,
    /// When it is done.
    pub(super) done: i64,
    /// How long it takes, nanoseconds.
    pub(super) took: i64,
    /// How long any of its device work ran, nanoseconds.
    pub(super) busy: i64,
}

/// The steps of the thread that marks most, in order of time; a step inside another is a part of it.
pub(super) fn marked(page: &Page) -> Vec<Marked> {
    let (trace, timeline) = (page.session().trace(), page.timeline());
    let mut by_track: BTreeMap<usize, Vec<Marked>> = BTreeMap::new();
    for step in page.session().step_rows() {
        let (row, at) = (step.event.0, step.event.index());
        let start = timeline.relative(trace.events.start_ns[at]);
        let last = step.first_ns.map_or(i64::MIN, |_| timeline.relative(step.last_ns));
        let done = timeline.relative(trace.events.end_ns(at)).max(last);
        let found = Marked { row, number: step.number, start, done, took: 0, busy: step.busy_ns };
        by_track.entry(timeline.track_of(row)).or_default().push(found);
    }
    // Of equals the first track.
    let most = by_track.into_values().rev().max_by_key(Vec::len).unwrap_or_default();
    let mut steps: Vec<Marked> = Vec::with_capacity(most.len());
    let (mut until, mut most) = (i64::MIN, most);
    most.sort_by_key(|step| step.start);
    for mut step in most {
        let end = timeline.relative(trace.events.end_ns(step.row as usize));
        if step.start < until {
            continue;
        }
        until = until.max(end);
        let before = steps.last().map(|before| before.done);
        step.done = step.done.max(before.unwrap_or(i64::MIN));
        step.took = step.done.saturating_sub(before.unwrap_or(step.start));
        steps.push(step);
    }
    steps
}

impl Marked {
    /// The events that mark it in every process: those of its number that overlap it.
    pub(super) fn rows(&self, page: &Page) -> FxHashSet<u32> {
        let (trace, timeline) = (page.session().trace(), page.timeline());
        let overlaps = |row: usize| {
            let (start, end) = (trace.events.start_ns[row], trace.events.end_ns(row));
            timeline.relative(start) < self.done && timeline.relative(end) > self.start
        };
        let alike = trace.steps.iter().filter(|step| step.number == self.number && overlaps(step.event as usize));
        alike.map(|step| step.event).chain([self.row]).collect()
    }
}

/// The events of the step in the middle, and of the one that is furthest from it; the first, which warms up, is neither.
pub(super) fn median_and_outlier(steps: &[Marked]) -> Option<(u32, u32)> {
    let mut steady: Vec<&Marked> = if steps.len() > 2 { steps[1..].iter().collect() } else { steps.iter().collect() };
    steady.sort_by_key(|step| (step.took, step.row));
    let median = *steady.get(steady.len().checked_sub(1)? / 2)?;
    let far = |step: &&&Marked| (step.took - median.took).unsigned_abs();
    Some((median.row, steady.iter().max_by_key(far)?.row))
}

/// `steps`: each with how long it took, and the two that are compared first; with `against=1` those of the other capture.
pub(crate) fn steps(page: &Page, request: &Request) -> Result<Value, Refusal> {
    let steps = marked(if request.has("against") { page.other()? } else { page });
    let (median, outlier) = median_and_outlier(&steps).unzip();
    let row = |step: &Marked| json!([step.row, step.number, step.start, step.done, step.took, step.busy]);
    Ok(json!({
        "step": ["row", "number", "start_ns", "done_ns", "took_ns", "busy_ns"],
        "steps": steps.iter().take(MOST).map(row).collect::<Vec<_>>(),
        "total": steps.len(),
        "median": median,
        "outlier": outlier,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_neither_and_the_furthest_is_the_outlier() {
        let step = |row: u32, took: i64| Marked { row, number: 0, start: 0, done: 0, took, busy: 0 };
        let of = |times: &[i64]| {
            let steps: Vec<Marked> = times.iter().zip(0..).map(|(took, row)| step(row, *took)).collect();
            median_and_outlier(&steps)
        };
        assert_eq!(of(&[900, 10, 11, 12, 30]), Some((2, 4)));
        assert_eq!(of(&[900, 30, 31, 29, 2]), Some((3, 4)), "a short one may be furthest");
        assert_eq!((of(&[]), of(&[5]), of(&[5, 9])), (None, Some((0, 0)), Some((0, 1))));
    }
}
