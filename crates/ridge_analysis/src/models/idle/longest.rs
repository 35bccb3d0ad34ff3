//! The longest gaps, each with its greatest cause and what the host did then.

use super::activity::{Activity, DoingKey};
use super::attribute::{Attributor, Doing, Gap, Part, by_cause};
use super::cause::Cause;
use super::{DeviceIdle, Idle};
use crate::Analysis;
use rayon::prelude::*;
use ridge_trace::{DeviceRow, EventRow};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Gaps that one task attributes.
const GAPS_PER_TASK: usize = 1 << 15;
/// Half the gaps that are kept before the longest are selected, where fewer are asked for.
const SELECTED_AT_ONCE: usize = 1 << 10;

/// A gap with what explains most of it.
#[derive(Debug, Clone, Copy)]
pub struct GapRow {
    /// The device.
    pub device: DeviceRow,
    /// The gap.
    pub gap: Gap,
    /// The cause with the most time of the gap.
    pub cause: Cause,
    /// Time of the gap with that cause, nanoseconds.
    pub cause_ns: i64,
    /// What the host did for the longest part of that time.
    pub activity: Option<Activity>,
    /// The event of the host that says so.
    pub host: Option<EventRow>,
}

impl Idle {
    /// The gaps, longest first, at most `rows` of them.
    pub fn longest(&self, analysis: &Analysis<'_>, rows: usize) -> Vec<GapRow> {
        let of = |device: usize, stretch: usize| {
            let found = self.devices[device].gaps.gaps.of_stretch(analysis.trace, stretch);
            longest(found.zip(0..).map(|(gap, at)| GapPlace { gap, device, stretch, at }), rows)
        };
        let mut gaps = self.map_stretches(of).concat();
        select(&mut gaps, rows);
        gaps.sort_unstable_by_key(GapPlace::order);
        let row = |place: &GapPlace| self.explained(analysis, &self.devices[place.device], place.gap);
        gaps.par_iter().with_min_len(GAPS_PER_TASK).map(row).collect()
    }

    fn explained(&self, analysis: &Analysis<'_>, device: &DeviceIdle, gap: Gap) -> GapRow {
        let trace = analysis.trace;
        let mut attributor = Attributor::new(trace, &self.context, device.device);
        let parts = attributor.parts(&gap);
        let causes = by_cause(parts);
        let greatest = Cause::ALL.into_iter().max_by_key(|cause| (causes[*cause as usize], Reverse(*cause)));
        let cause = greatest.unwrap_or(Cause::Unknown);
        let doing = longest_doing(parts, cause);
        let host = doing.and_then(Doing::row);
        let name = host.map_or("", |row| trace.name(row as usize));
        GapRow {
            device: DeviceRow(device.device),
            gap,
            cause,
            cause_ns: causes[cause as usize],
            activity: doing.map(|doing| DoingKey::of(trace, &self.context, doing).activity(name)),
            host: host.map(EventRow),
        }
    }
}

/// A gap, and where it is: the position of its device among those asked for, its stretch of time, its place there.
#[derive(Debug, Clone, Copy)]
struct GapPlace {
    gap: Gap,
    device: usize,
    stretch: usize,
    at: usize,
}

impl GapPlace {
    /// Longest first; ties in the order of devices, then of time.
    fn order(&self) -> (Reverse<i64>, usize, usize, usize) {
        (Reverse(self.gap.length()), self.device, self.stretch, self.at)
    }
}

/// The `rows` first of `gaps` by [`GapPlace::order`], in no order; `gaps` come in the order of ties.
fn longest(gaps: impl Iterator<Item = GapPlace>, rows: usize) -> Vec<GapPlace> {
    let mut kept = Vec::new();
    let mut beyond_ns = i64::MIN;
    for place in gaps {
        if place.gap.length() <= beyond_ns {
            continue;
        }
        kept.push(place);
        if kept.len() / 2 >= rows.max(SELECTED_AT_ONCE) {
            // Of those that are still to come, what is no longer than the first one left out is behind it.
            beyond_ns = select(&mut kept, rows).unwrap_or(beyond_ns);
        }
    }
    select(&mut kept, rows);
    kept
}

/// Leaves the `rows` first; gives the length of the first one left out, nanoseconds.
fn select(gaps: &mut Vec<GapPlace>, rows: usize) -> Option<i64> {
    if rows >= gaps.len() {
        return None;
    }
    let (_, beyond, _) = gaps.select_nth_unstable_by_key(rows, GapPlace::order);
    let length = beyond.gap.length();
    gaps.truncate(rows);
    Some(length)
}

/// What the host did for longest in the parts of `cause`, those of one event taken together.
fn longest_doing(parts: &[Part], cause: Cause) -> Option<Doing> {
    let mut sums: FxHashMap<Doing, i64> = FxHashMap::default();
    for part in parts.iter().filter(|part| part.cause == cause) {
        *sums.entry(part.doing).or_default() += part.ns;
    }
    let longest = sums.into_iter().max_by_key(|(doing, ns)| (*ns, doing.row()));
    longest.map(|(doing, _)| doing)
}
