//! What is chosen: time, tracks, a step, a filter. Everything that answers about a selection asks this.

use crate::answer::Refusal;
use crate::page::Page;
use crate::request::{Request, number};
use crate::wanted::{Matching, Wanted};
use ridgeline::trace::Trace;
use rustc_hash::FxHashSet;
use std::ops::Range;

/// A selection: what is in its time and on its tracks, of its step and as its filter wants it.
pub(crate) struct Chosen<'p> {
    page: &'p Page,
    /// Nanoseconds from the capture's start.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// The same on the trace clock.
    pub(crate) window: Range<i64>,
    pub(crate) tracks: Vec<usize>,
    /// The events that mark the step.
    step: Option<FxHashSet<u32>>,
    wanted: Option<Matching<'p>>,
}

impl<'p> Chosen<'p> {
    /// Everything from one time to another, nanoseconds from the capture's start.
    pub(crate) fn all(page: &'p Page, (from, to): (i64, i64)) -> Chosen<'p> {
        let (trace, origin) = (page.session().trace(), page.timeline().span().0);
        let window = origin.saturating_add(from)..origin.saturating_add(to);
        Chosen { page, from, to, window, tracks: (0..trace.tracks.len()).collect(), step: None, wanted: None }
    }

    /// What the step that `rows` mark caused between these times.
    pub(crate) fn of_step(page: &'p Page, rows: FxHashSet<u32>, between: (i64, i64)) -> Chosen<'p> {
        Chosen { step: Some(rows), ..Chosen::all(page, between) }
    }

    /// `from=NS&to=NS&tracks=1,4-7&step=N&where=TERMS`: all tracks of devices where none are named, all others where there
    /// is none.
    pub(crate) fn of(page: &'p Page, request: &Request) -> Result<Chosen<'p>, Refusal> {
        let (from, to): (i64, i64) = (request.needed("from")?, request.needed("to")?);
        let (trace, origin) = (page.session().trace(), page.timeline().span().0);
        let (from, to) = (from.min(to), from.max(to));
        let step = request.number::<i64>("step")?.map(|number| step(trace, number)).transpose()?;
        let wanted = request.get("where").map(Wanted::parse).transpose()?;
        Ok(Chosen {
            page,
            from,
            to,
            window: origin.saturating_add(from)..origin.saturating_add(to),
            tracks: tracks(trace, request)?,
            step,
            wanted: wanted.map(|wanted| wanted.on(page)),
        })
    }

    /// Whether a row in its time and on its tracks is of its step, and as its filter wants it.
    pub(crate) fn has(&self, row: u32) -> bool {
        let (trace, owners) = (self.page.session().trace(), self.page.session().owners());
        let is_of = |steps: &FxHashSet<u32>| {
            steps.contains(&row) || owners.chain(trace, row).any(|range| steps.contains(&range))
        };
        self.step.as_ref().is_none_or(is_of) && self.wanted.as_ref().is_none_or(|wanted| wanted.holds(row))
    }

    /// The part of an event that is in its time, start and end on the trace clock.
    pub(crate) fn clipped(&self, at: usize) -> (i64, i64) {
        let events = &self.page.session().trace().events;
        (events.start_ns[at].max(self.window.start), events.end_ns(at).min(self.window.end))
    }

    /// How many steps begin in its time, by their numbers.
    pub(crate) fn steps(&self) -> usize {
        let trace = self.page.session().trace();
        let begins = |row: u32| self.window.contains(&trace.events.start_ns[row as usize]);
        let of_it = trace.steps.iter().filter(|step| begins(step.event));
        let of_it = of_it.filter(|step| self.step.as_ref().is_none_or(|rows| rows.contains(&step.event)));
        of_it.map(|step| step.number).collect::<FxHashSet<i64>>().len()
    }
}

fn step(trace: &Trace, number: i64) -> Result<FxHashSet<u32>, Refusal> {
    let rows: FxHashSet<u32> = trace.steps.iter().filter(|step| step.number == number).map(|step| step.event).collect();
    if rows.is_empty() { Err(Refusal::absent(format!("no step has the number {number}"))) } else { Ok(rows) }
}

fn tracks(trace: &Trace, request: &Request) -> Result<Vec<usize>, Refusal> {
    if let Some(named) = request.get("tracks") {
        let mut tracks = Vec::new();
        for part in named.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number::<usize>("the track", first)?, number::<usize>("the track", last)?);
            if let Some(absent) = [first, last].into_iter().find(|track| *track >= trace.tracks.len()) {
                return Err(Refusal::absent(format!("no track has the number {absent}")));
            }
            tracks.extend(first..=last);
        }
        tracks.sort_unstable();
        tracks.dedup();
        return Ok(tracks);
    }
    let all = || 0..trace.tracks.len();
    let of_devices: Vec<usize> = all().filter(|track| trace.tracks[*track].device.is_some()).collect();
    Ok(if of_devices.is_empty() { all().collect() } else { of_devices })
}
