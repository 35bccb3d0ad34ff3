//! Which range of the program caused which device work.
//!
//! Device work links to the host event that launched it; that event's thread says what was open around it; work handed
//! to a pool thread leads back through the region's link to who handed it over.
//! Where no such chain reaches a range, the range is the innermost one that was open, on any thread, when the work
//! began: that is right for programs that wait inside their ranges, and said in the footnote.

use crate::context::stretches::stretches;
use rayon::prelude::*;
use ridge_trace::{EventKind, NONE, Trace, TrackKind};
use std::ops::Range;

/// For every event of a trace, the innermost annotation or step that caused it.
#[derive(Debug)]
pub struct Owners {
    owner: Vec<u32>,
    /// How many device rows were given to a range by time rather than by their chain.
    pub(crate) by_time: u64,
}

/// Chains longer than this are cycles of a broken capture.
const LONGEST_CHAIN: usize = 1 << 12;

impl Owners {
    /// Follows every chain once.
    pub fn new(trace: &Trace) -> Owners {
        let events = &trace.events;
        let mut owner = vec![UNKNOWN; events.len()];
        let mut chain = Vec::new();
        for track in trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread) {
            for row in track.rows.clone() {
                resolve(trace, row, &mut owner, &mut chain);
            }
        }
        let ranges = open_ranges(trace);
        let rows: Vec<Range<u32>> =
            trace.device_tracks().flat_map(|track| stretches(track.rows.clone(), STRETCH)).collect();
        // Host rows are done, and device rows ask for nothing else.
        let found: Vec<(Vec<u32>, u64)> =
            rows.par_iter().map(|rows| of_device_rows(trace, rows.clone(), &owner, &ranges)).collect();
        let mut by_time = 0;
        for (rows, (owners, given)) in rows.iter().zip(&found) {
            owner[rows.start as usize..rows.end as usize].copy_from_slice(owners);
            by_time += given;
        }
        Owners { owner, by_time }
    }

    /// The annotation or step that caused event `row`, or [`NONE`].
    pub(crate) fn of(&self, row: u32) -> u32 {
        match self.owner[row as usize] {
            UNKNOWN => NONE,
            owner => owner,
        }
    }

    /// The ranges that caused event `row`, innermost first.
    pub(crate) fn chain<'o>(&'o self, trace: &'o Trace, row: u32) -> impl Iterator<Item = u32> + 'o {
        let mut next = self.of(row);
        let mut left = 256;
        std::iter::from_fn(move || {
            if next == NONE || left == 0 {
                return None;
            }
            left -= 1;
            let range = next;
            let above = trace.events.parent[range as usize];
            next = if above == NONE { NONE } else { self.of(above) };
            Some(range)
        })
    }
}

/// Device rows of one task.
const STRETCH: u32 = 1 << 17;

/// The owners of device rows, those of host rows known, and how many were given by time.
fn of_device_rows(trace: &Trace, rows: Range<u32>, owner: &[u32], ranges: &OpenRanges) -> (Vec<u32>, u64) {
    let events = &trace.events;
    let mut by_time = 0;
    let of_row = |row: u32| {
        let link = events.link[row as usize];
        let found = if link == NONE { NONE } else { owner[link as usize] };
        if found != NONE {
            return found;
        }
        let open = ranges.at(events.start_ns[row as usize]);
        by_time += u64::from(open != NONE);
        open
    };
    (rows.map(of_row).collect(), by_time)
}

/// Not looked at yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// Whether event `row` is a range that the program named.
pub(crate) fn is_range(trace: &Trace, row: u32) -> bool {
    matches!(trace.events.kind(row as usize), EventKind::Annotation | EventKind::Step)
}

/// The owner of a host row: itself if it is a range, else its parent's, else its cause's.
///
/// `chain` is room to work in, so that no row allocates.
fn resolve(trace: &Trace, row: u32, owner: &mut [u32], chain: &mut Vec<u32>) {
    let mut at = row;
    let found = loop {
        if owner[at as usize] != UNKNOWN {
            break owner[at as usize];
        }
        if is_range(trace, at) {
            break at;
        }
        chain.push(at);
        let parent = trace.events.parent[at as usize];
        let next = if parent == NONE { trace.events.link[at as usize] } else { parent };
        // A cause begins no later than its effect; anything else would turn in circles.
        let is_earlier = next != NONE && trace.events.start_ns[next as usize] <= trace.events.start_ns[at as usize];
        if !is_earlier || chain.len() > LONGEST_CHAIN {
            break NONE;
        }
        at = next;
    };
    owner[at as usize] = if is_range(trace, at) { at } else { found };
    for row in chain.drain(..) {
        owner[row as usize] = found;
    }
}

/// The innermost range open at each time, over all threads.
struct OpenRanges {
    times: Vec<i64>,
    ranges: Vec<u32>,
}

impl OpenRanges {
    fn at(&self, time: i64) -> u32 {
        let position = self.times.partition_point(|start| *start <= time);
        if position == 0 { NONE } else { self.ranges[position - 1] }
    }
}

fn open_ranges(trace: &Trace) -> OpenRanges {
    let threads = trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread);
    // A range of no length is open at no time.
    let is_open = |row: &u32| is_range(trace, *row) && trace.events.dur_ns[*row as usize] > 0;
    let rows = threads.flat_map(|track| track.rows.clone()).filter(is_open);
    let mut changes: Vec<(i64, bool, u32)> = Vec::new();
    for row in rows {
        changes.push((trace.events.start_ns[row as usize], true, row));
        changes.push((trace.events.end_ns(row as usize), false, row));
    }
    // Ends before starts at one instant: ranges that touch do not overlap.
    changes.sort_by_key(|(time, begins, row)| (*time, *begins, *row));
    let mut open: Vec<u32> = Vec::new();
    let mut ranges = OpenRanges { times: Vec::new(), ranges: Vec::new() };
    for (time, begins, row) in changes {
        if begins {
            open.push(row);
        } else if let Some(position) = open.iter().rposition(|known| *known == row) {
            open.remove(position);
        }
        // The innermost is the one that began last.
        ranges.times.push(time);
        ranges.ranges.push(open.last().copied().unwrap_or(NONE));
    }
    ranges
}
