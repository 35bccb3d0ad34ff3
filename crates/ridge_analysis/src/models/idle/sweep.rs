//! When a device worked: the union of its streams, and the gaps that the union leaves.
//!
//! A long capture is cut into stretches of time that are swept in parallel; what each stretch has to know of those
//! before it is one number, the latest end so far.

use super::attribute::{Gap, work_end};
use crate::context::in_order::InOrder;
use rayon::prelude::*;
use ridge_trace::{EventKind, NONE, Trace, Track};
use std::ops::Range;

/// Rows of a device's longest track in one stretch.
const STRETCH: usize = 1 << 16;

/// When a device worked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Swept {
    /// Length of the union of its work, nanoseconds.
    pub(crate) busy_ns: i64,
    /// Its first work, and the work that ended last; `None` where it did none.
    pub(crate) ends: Option<(u32, u32)>,
    /// The gaps in between.
    pub(crate) gaps: Gaps,
}

/// Gaps as pairs of rows: the work whose end began one, and the work whose start ended it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gaps {
    /// By stretch of time, earliest first.
    stretches: Vec<Vec<(u32, u32)>>,
}

impl Gaps {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.stretches.iter().map(Vec::len).sum()
    }

    /// How many stretches of time they are kept by.
    pub(crate) fn stretches(&self) -> usize {
        self.stretches.len()
    }

    /// The gaps of one stretch, earliest first.
    pub(crate) fn of_stretch<'g>(&'g self, trace: &'g Trace, stretch: usize) -> impl Iterator<Item = Gap> + 'g {
        self.stretches[stretch].iter().map(|&(prev, next)| Gap::between(trace, prev, next))
    }

    /// All gaps, earliest first.
    #[cfg(test)]
    pub(crate) fn iter<'g>(&'g self, trace: &'g Trace) -> impl Iterator<Item = Gap> + 'g {
        (0..self.stretches()).flat_map(|stretch| self.of_stretch(trace, stretch))
    }
}

/// The latest end of some work, and the work that ended then.
type Latest = Option<(i64, u32)>;

/// Sweeps the work of `device` once.
pub(crate) fn sweep(trace: &Trace, device: u32) -> Swept {
    let tracks: Vec<&Track> = trace.tracks_of_device(device).filter(|track| !track.rows.is_empty()).collect();
    let stretches = stretches(trace, &tracks);
    let mut before: Vec<Latest> = stretches.par_iter().map(|rows| latest(trace, rows)).collect();
    let mut so_far: Latest = None;
    for slot in &mut before {
        let own = std::mem::replace(slot, so_far);
        so_far = later(so_far, own);
    }
    let swept: Vec<Swept> =
        stretches.into_par_iter().zip(before).map(|(rows, before)| sweep_stretch(trace, rows, before)).collect();
    let mut whole = Swept::default();
    for part in swept {
        whole.busy_ns = whole.busy_ns.saturating_add(part.busy_ns);
        whole.gaps.stretches.extend(part.gaps.stretches);
        whole.ends = match (whole.ends, part.ends) {
            (Some((first, _)), Some((_, last))) => Some((first, last)),
            (known, new) => known.or(new),
        };
    }
    whole
}

/// The rows of every track, cut at the same times.
fn stretches(trace: &Trace, tracks: &[&Track]) -> Vec<Vec<Range<u32>>> {
    let starts = &trace.events.start_ns;
    let Some(longest) = tracks.iter().max_by_key(|track| track.rows.len()) else { return Vec::new() };
    let cuts = longest.rows.clone().step_by(STRETCH).skip(1).map(|row| starts[row as usize]);
    let mut from: Vec<u32> = tracks.iter().map(|track| track.rows.start).collect();
    let mut stretches = Vec::new();
    for cut in cuts.map(Some).chain([None]) {
        let rows = tracks.iter().zip(&mut from).map(|(track, from)| {
            let left = &starts[*from as usize..track.rows.end as usize];
            let until = cut.map_or(left.len(), |time| left.partition_point(|start| *start < time));
            let rows = *from..*from + until as u32;
            *from = rows.end;
            rows
        });
        stretches.push(rows.collect());
    }
    stretches
}

/// The later of two ends.
fn later(a: Latest, b: Latest) -> Latest {
    match (a, b) {
        (Some((end, _)), Some((other, _))) if other > end => b,
        (None, _) => b,
        _ => a,
    }
}

/// The latest end of the work in `rows`.
fn latest(trace: &Trace, rows: &[Range<u32>]) -> Latest {
    let events = &trace.events;
    let mut found: Latest = None;
    for row in rows.iter().cloned().flatten() {
        if EventKind::from_byte_is_work(events.kind[row as usize]) {
            found = later(found, Some((work_end(trace, row as usize), row)));
        }
    }
    found
}

fn sweep_stretch(trace: &Trace, rows: Vec<Range<u32>>, before: Latest) -> Swept {
    let events = &trace.events;
    let mut swept = Swept::default();
    let (mut first, mut gaps) = (NONE, Vec::new());
    let (mut covered, mut last) = before.unwrap_or((i64::MIN, NONE));
    InOrder::new(trace, rows).for_each(|row| {
        if !EventKind::from_byte_is_work(events.kind[row]) {
            return;
        }
        let start = events.start_ns[row];
        let end = work_end(trace, row);
        if first == NONE {
            first = row as u32;
        }
        if last != NONE && start > covered {
            gaps.push((last, row as u32));
        }
        if end > covered {
            swept.busy_ns = swept.busy_ns.saturating_add(end.saturating_sub(start.max(covered)));
            (covered, last) = (end, row as u32);
        }
    });
    swept.gaps.stretches.push(gaps);
    swept.ends = (first != NONE).then_some((first, last));
    swept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_the_union_leaves() {
        let trace = ridge_test::trace(
            "stream 1 on gpu
               0 +4 a
               10 +2 b
               20 +0 point
               30 +5 d
             stream 2 on gpu
               2 +6 c
               33 +1 inside",
        );
        let swept = sweep(&trace, 0);
        let gaps: Vec<(i64, i64)> = swept.gaps.iter(&trace).map(|gap| (gap.start, gap.end)).collect();
        assert_eq!(gaps, [(8, 10), (12, 20), (20, 30)]);
        assert_eq!((swept.busy_ns, swept.gaps.len()), (15, 3));
    }
}
