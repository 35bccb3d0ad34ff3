//! How far the host ran ahead of a device: launched work that had not begun, and kernels too short to be worth a launch.

use super::attribute::work_end;
use rayon::prelude::*;
use ridge_trace::{EventKind, NONE, Trace, Track, TrackKind};

/// The queue of one device in its active window.
///
/// An entry is what one launch call put on one stream: it is in the queue from the return of the call to the start of
/// its first work there, and never where the work starts before the call returns.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Queue {
    /// Entries.
    pub(crate) launches: u64,
    /// Pieces of work on streams whose launch is known.
    pub(crate) linked: u64,
    /// Pieces of work on streams.
    pub(crate) work: u64,
    /// Mean number of entries over the active window.
    pub(crate) mean_depth: f64,
    /// Most entries at a time.
    pub(crate) max_depth: u64,
    /// Time of the active window without an entry, nanoseconds.
    pub(crate) empty_ns: i64,
}

/// Kernels that run shorter than it takes to launch one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct SmallKernels {
    /// Kernels of the device.
    pub(crate) kernels: u64,
    /// Time of all kernels, nanoseconds.
    pub(crate) kernels_ns: i64,
    /// Those below the threshold.
    pub(crate) small: u64,
    /// Time of those, nanoseconds.
    pub(crate) small_ns: i64,
}

/// The entries of one stream.
#[derive(Debug, Default)]
struct Entries {
    begin_ns: Vec<i64>,
    end_ns: Vec<i64>,
    linked: u64,
    work: u64,
}

/// The queue of `device`, whose active window is from `first_ns` to `last_ns`.
pub(crate) fn queue(trace: &Trace, device: u32, first_ns: i64, last_ns: i64) -> Queue {
    let streams: Vec<&Track> = trace.tracks_of_device(device).filter(|track| track.kind == TrackKind::Stream).collect();
    let entries: Vec<Entries> = streams.par_iter().map(|track| entries(trace, track)).collect();
    let join = |of: fn(&Entries) -> &Vec<i64>| {
        let mut times = entries.iter().map(of).fold(Vec::new(), |mut all, times| {
            all.extend_from_slice(times);
            all
        });
        times.sort_unstable();
        times
    };
    let (begins, ends) = rayon::join(|| join(|entries| &entries.begin_ns), || join(|entries| &entries.end_ns));
    let counts = entries.iter().map(|entries| (entries.linked, entries.work));
    let (linked, work) = counts.fold((0, 0), |sums, counts| (sums.0 + counts.0, sums.1 + counts.1));
    Queue { linked, work, ..depth(&begins, &ends, first_ns, last_ns) }
}

fn entries(trace: &Trace, track: &Track) -> Entries {
    let events = &trace.events;
    let mut entries = Entries::default();
    let mut last_call = NONE;
    for row in track.rows.start as usize..track.rows.end as usize {
        if !EventKind::from_byte_is_work(events.kind[row]) {
            continue;
        }
        let call = events.link[row];
        entries.work += 1;
        entries.linked += u64::from(call != NONE);
        if call != NONE && call != last_call {
            let start = events.start_ns[row];
            entries.begin_ns.push(events.end_ns(call as usize).min(start));
            entries.end_ns.push(start);
        }
        last_call = call;
    }
    entries
}

/// Walks both sorted lists of times together.
fn depth(begins: &[i64], ends: &[i64], first_ns: i64, last_ns: i64) -> Queue {
    let (mut begun, mut ended) = (0, 0);
    let (mut time, mut area, mut empty_ns, mut max_depth) = (first_ns, 0_f64, 0_i64, 0);
    while time < last_ns {
        while begun < begins.len() && begins[begun] <= time {
            begun += 1;
        }
        while ended < ends.len() && ends[ended] <= time {
            ended += 1;
        }
        let depth = begun.saturating_sub(ended) as u64;
        let next = |times: &[i64], at: usize| times.get(at).copied().unwrap_or(last_ns);
        let until = next(begins, begun).min(next(ends, ended)).min(last_ns);
        let ns = until.saturating_sub(time);
        area += depth as f64 * ns as f64;
        empty_ns += if depth == 0 { ns } else { 0 };
        max_depth = max_depth.max(depth);
        time = until;
    }
    let window = last_ns.saturating_sub(first_ns);
    let mean_depth = if window > 0 { area / window as f64 } else { 0.0 };
    Queue { launches: begins.len() as u64, mean_depth, max_depth, empty_ns, ..Queue::default() }
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
}
