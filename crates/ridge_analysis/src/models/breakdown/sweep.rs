//! A walk through the time of one device, which divides every moment among what is at work in it.

use super::succession::Succession;
use super::sums::Sums;
use crate::Spans;

/// An event that goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) end: i64,
    /// What has its moments.
    pub(super) row: usize,
    pub(super) op: u32,
    /// Whether it has nothing while other work runs.
    pub(super) yields: bool,
}

/// A walk through time that knows what is at work.
#[derive(Debug)]
pub(super) struct Sweep<'s> {
    spans: &'s Spans,
    cuts: &'s [i64],
    /// Cuts that are behind.
    stretch: usize,
    /// What is open on each track, innermost last.
    active: Vec<Vec<Open>>,
    /// Tracks on which something is open.
    working: Vec<usize>,
    now: i64,
}

impl<'s> Sweep<'s> {
    /// A walk over work on so many tracks, of which what is within `spans` counts.
    pub(super) fn new(spans: &'s Spans, cuts: &'s [i64], tracks: usize) -> Sweep<'s> {
        let active = vec![Vec::new(); tracks];
        Sweep { spans, cuts, stretch: 0, active, working: Vec::new(), now: i64::MIN }
    }

    /// Something begins on a track, inside what is open there.
    pub(super) fn begin(&mut self, track: usize, open: Open) {
        if open.end <= self.now {
            return;
        }
        if self.active[track].is_empty() {
            self.working.push(track);
        }
        self.active[track].push(open);
    }

    /// What must have ended before `op` began goes on in name only.
    pub(super) fn end_before(&mut self, op: u32, succession: &Succession) {
        for track in &self.working {
            self.active[*track].iter_mut().for_each(|open| open.yields |= succession.shows_end(op, open.op));
        }
    }

    /// Goes on to `time`, giving each moment to what is at work in it.
    pub(super) fn until(&mut self, time: i64, sums: &mut Sums) {
        while !self.working.is_empty() && self.now < time {
            self.pass_cuts();
            let ends = self.working.iter().filter_map(|track| self.active[*track].last()).map(|open| open.end);
            let cut = self.cuts.get(self.stretch).copied().unwrap_or(i64::MAX);
            let next = ends.min().unwrap_or(time).min(time).min(cut);
            self.divide(next, sums);
            self.now = next;
            let Sweep { active, working, .. } = self;
            working.retain(|track| {
                let open = &mut active[*track];
                while open.last().is_some_and(|open| open.end <= next) {
                    open.pop();
                }
                !open.is_empty()
            });
        }
        self.now = self.now.max(time);
    }

    fn pass_cuts(&mut self) {
        while self.cuts.get(self.stretch).is_some_and(|cut| *cut <= self.now) {
            self.stretch += 1;
        }
    }

    fn divide(&self, until: i64, sums: &mut Sums) {
        let ns = self.spans.within_ns(self.now, until);
        let innermost = || self.working.iter().filter_map(|track| self.active[*track].last());
        let others = innermost().filter(|open| !open.yields).count();
        let count = if others > 0 { others } else { self.working.len() } as i64;
        let sharing = innermost().filter(|open| others == 0 || !open.yields);
        for (at, open) in (0..).zip(sharing) {
            let part = ns / count + i64::from(at < ns % count);
            sums.add(open.row, self.stretch, part);
        }
    }
}
