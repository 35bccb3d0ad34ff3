//! How far the host ran ahead of a device: launched work that had not begun, and kernels too short to be worth a launch.

use super::attribute::work_end;
use crate::context::stretches::stretches;
use rayon::prelude::*;
use ridge_trace::{EventKind, NONE, Trace, Track, TrackKind};
use std::ops::Range;

/// Rows of a stream that one task looks at.
const STRETCH: u32 = 1 << 16;

/// The queue of one device in its active window.
///
/// An entry is what one launch call put on one stream: it is in the queue from the return of the call to the start of
/// its first work there, and never where the work starts before the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Queue {
    /// Entries.
    pub launches: u64,
    /// Pieces of work on streams whose launch is known.
    pub linked: u64,
    /// Pieces of work on streams.
    pub work: u64,
    /// Mean number of entries over the active window.
    pub mean_depth: f64,
    /// Most entries at a time.
    pub max_depth: u64,
    /// Time of the active window without an entry, nanoseconds.
    pub empty_ns: i64,
}

/// Kernels that run shorter than it takes to launch one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SmallKernels {
    /// Kernels of the device.
    pub kernels: u64,
    /// Time of all kernels, nanoseconds.
    pub kernels_ns: i64,
    /// Those below the threshold.
    pub small: u64,
    /// Time of those, nanoseconds.
    pub small_ns: i64,
}

/// The entries of some rows of a stream.
#[derive(Debug, Default)]
struct Entries {
    /// All of them.
    launches: u64,
    /// When those that were in the queue for a time came in.
    begin_ns: Vec<i64>,
    /// When they went out, in order.
    end_ns: Vec<i64>,
    linked: u64,
    work: u64,
}

/// The queue of `device`, whose active window is from `first_ns` to `last_ns`.
pub(crate) fn queue(trace: &Trace, device: u32, first_ns: i64, last_ns: i64) -> Queue {
    let streams: Vec<&Track> = trace.tracks_of_device(device).filter(|track| track.kind == TrackKind::Stream).collect();
    let pieces = streams.iter().flat_map(|track| stretches(track.rows.clone(), STRETCH).map(|rows| (*track, rows)));
    let pieces: Vec<(&Track, Range<u32>)> = pieces.collect();
    let found: Vec<Entries> = pieces.into_par_iter().map(|(track, rows)| entries(trace, track, rows)).collect();
    let sum = |of: fn(&Entries) -> u64| found.iter().map(of).sum();
    let (launches, linked, work) = (sum(|found| found.launches), sum(|found| found.linked), sum(|found| found.work));
    let times = depth(&in_order(found), first_ns, last_ns);
    Queue { launches, linked, work, ..times }
}

fn entries(trace: &Trace, track: &Track, rows: Range<u32>) -> Entries {
    let events = &trace.events;
    let is_work = |row: &usize| EventKind::from_byte_is_work(events.kind[*row]);
    let mut entries = Entries::default();
    let before = (track.rows.start as usize..rows.start as usize).rev().find(is_work);
    let mut last_call = before.map_or(NONE, |row| events.link[row]);
    for row in (rows.start as usize..rows.end as usize).filter(is_work) {
        let call = events.link[row];
        entries.work += 1;
        entries.linked += u64::from(call != NONE);
        if call != NONE && call != last_call {
            let (begin, end) = (events.end_ns(call as usize), events.start_ns[row]);
            entries.launches += 1;
            if begin < end {
                entries.begin_ns.push(begin);
                entries.end_ns.push(end);
            }
        }
        last_call = call;
    }
    entries
}

/// All entries with both of their lists in order; one stream whose calls returned in order is so already.
fn in_order(entries: Vec<Entries>) -> Vec<Entries> {
    let begins = || entries.iter().flat_map(|entries| &entries.begin_ns);
    let ends = || entries.iter().flat_map(|entries| &entries.end_ns);
    if begins().is_sorted() && ends().is_sorted() {
        return entries;
    }
    let (mut begin_ns, mut end_ns): (Vec<i64>, Vec<i64>) = (begins().copied().collect(), ends().copied().collect());
    rayon::join(|| begin_ns.par_sort_unstable(), || end_ns.par_sort_unstable());
    vec![Entries { begin_ns, end_ns, ..Entries::default() }]
}

/// Sums over the time from `first_ns` to `last_ns` of entries in order.
///
/// At a time the depth is the begins up to it less the ends up to it. So it is zero from the `k`th end on until the next
/// begin, and at the `k`th begin it is over `n` where the end `n` places earlier is still to come.
fn depth(entries: &[Entries], first_ns: i64, last_ns: i64) -> Queue {
    let clip = |time: &i64| (*time).clamp(first_ns, last_ns.max(first_ns));
    let (mut area, mut empty_ns, mut max_depth) = (0_i128, 0_i64, 0);
    let mut earlier = entries.iter().flat_map(|entries| &entries.end_ns).map(clip).peekable();
    let mut ended = first_ns;
    for (begin, end) in entries.iter().flat_map(|entries| entries.begin_ns.iter().zip(&entries.end_ns)) {
        let (begin, end) = (clip(begin), clip(end));
        area += i128::from(end.saturating_sub(begin));
        empty_ns = empty_ns.saturating_add(begin.saturating_sub(ended).max(0));
        ended = end;
        // A begin adds one at most.
        if earlier.next_if(|end| *end <= begin).is_none() {
            max_depth += 1;
        }
    }
    let window = last_ns.saturating_sub(first_ns).max(0);
    Queue {
        mean_depth: if window > 0 { area as f64 / window as f64 } else { 0.0 },
        max_depth,
        empty_ns: empty_ns.saturating_add(last_ns.saturating_sub(ended).max(0)),
        ..Queue::default()
    }
}

/// Counts the kernels of `device` that are shorter than `threshold_ns`.
pub(crate) fn small_kernels(trace: &Trace, device: u32, threshold_ns: i64) -> SmallKernels {
    let events = &trace.events;
    let streams: Vec<&Track> = trace.tracks_of_device(device).filter(|track| track.kind == TrackKind::Stream).collect();
    let count = |track: &&Track| {
        let mut counts = SmallKernels::default();
        let rows = track.rows.start as usize..track.rows.end as usize;
        for row in rows.filter(|row| events.kind[*row] == EventKind::Kernel as u8) {
            let ns = work_end(trace, row).saturating_sub(events.start_ns[row]);
            let is_small = ns < threshold_ns;
            counts.kernels += 1;
            counts.kernels_ns = counts.kernels_ns.saturating_add(ns);
            counts.small += u64::from(is_small);
            counts.small_ns = counts.small_ns.saturating_add(if is_small { ns } else { 0 });
        }
        counts
    };
    streams.par_iter().map(count).reduce(SmallKernels::default, |a, b| SmallKernels {
        kernels: a.kernels + b.kernels,
        kernels_ns: a.kernels_ns.saturating_add(b.kernels_ns),
        small: a.small + b.small,
        small_ns: a.small_ns.saturating_add(b.small_ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::random;

    #[test]
    fn depth_is_launched_and_not_begun() {
        let trace = ridge_test::trace(
            "thread python
               0 +2 launch launch id=1
               2 +2 launch launch id=2
               4 +2 launch launch id=3
             stream 1 on gpu
               10 +10 a id=1
               20 +10 b id=2
               40 +10 c id=3
               60 +10 unlinked",
        );
        // In the window from 10 to 70: two entries to 20, one to 40, none after.
        let found = queue(&trace, 0, 10, 70);
        assert_eq!((found.launches, found.linked, found.work, found.max_depth, found.empty_ns), (3, 3, 4, 2, 30));
        assert!((found.mean_depth - 40.0 / 60.0).abs() < 1e-12, "{}", found.mean_depth);
    }

    #[test]
    fn work_that_starts_inside_its_call_was_never_queued() {
        let trace = ridge_test::trace(
            "thread python
               0 +20 launch launch id=1
             stream 1 on gpu
               5 +10 a id=1",
        );
        assert_eq!(queue(&trace, 0, 5, 15).max_depth, 0);
    }

    /// Depth at each nanosecond of the window, by its definition.
    fn by_counting(trace: &Trace, window: Range<i64>) -> Queue {
        let events = &trace.events;
        let works = |row: &usize| EventKind::from_byte_is_work(events.kind[*row]) && events.link[*row] != NONE;
        let entry = |row: usize| (events.end_ns(events.link[row] as usize), events.start_ns[row]);
        let entries: Vec<(i64, i64)> = (0..events.len()).filter(works).map(entry).collect();
        let depth_at = |time| entries.iter().filter(|(begin, end)| *begin <= time && time < *end).count() as u64;
        let depths: Vec<u64> = window.map(depth_at).collect();
        Queue {
            mean_depth: depths.iter().sum::<u64>() as f64 / depths.len() as f64,
            max_depth: depths.iter().copied().max().unwrap_or(0),
            empty_ns: depths.iter().filter(|depth| **depth == 0).count() as i64,
            ..Queue::default()
        }
    }

    #[test]
    fn streams_that_overlap_and_calls_that_overtake() {
        for seed in 1..40_u64 {
            let mut random = random(seed);
            let (mut calls, mut text) = (String::new(), String::new());
            for stream in 0..3 {
                text.push_str(&format!("stream {stream} on gpu\n"));
                let mut start = random(30);
                for id in 0..4 {
                    let id = stream * 10 + id + 1;
                    calls.push_str(&format!("thread t{id}\n{} +{} launch launch id={id}\n", random(60), random(12)));
                    text.push_str(&format!("{start} +{} k id={id}\n", random(9)));
                    start += 9 + random(20);
                }
            }
            let trace = ridge_test::trace(&(calls + &text));
            let window = (random(20) as i64, 60 + random(20) as i64);
            let Queue { mean_depth, max_depth, empty_ns, .. } = queue(&trace, 0, window.0, window.1);
            let expected = by_counting(&trace, window.0..window.1);
            assert_eq!((max_depth, empty_ns), (expected.max_depth, expected.empty_ns), "seed {seed}");
            assert!((mean_depth - expected.mean_depth).abs() < 1e-12, "seed {seed}: {mean_depth}");
        }
    }
}
