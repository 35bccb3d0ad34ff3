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

/// The entries of one stream, or of all of a device.
#[derive(Debug, Default)]
struct Entries {
    /// All of them.
    launches: u64,
    /// When those that were in the queue for a time came in.
    begin_ns: Vec<i64>,
    /// When they went out: in order by stream.
    end_ns: Vec<i64>,
    linked: u64,
    work: u64,
}

/// The queue of `device`, whose active window is from `first_ns` to `last_ns`.
pub(crate) fn queue(trace: &Trace, device: u32, first_ns: i64, last_ns: i64) -> Queue {
    let streams: Vec<&Track> = trace.tracks_of_device(device).filter(|track| track.kind == TrackKind::Stream).collect();
    let entries: Vec<Entries> = streams.par_iter().map(|track| entries(trace, track)).collect();
    let mut all = entries.into_iter().reduce(Entries::with).unwrap_or_default();
    // One stream is in order already, and then this is one look.
    rayon::join(|| all.begin_ns.sort_unstable(), || all.end_ns.sort_unstable());
    all.queue(first_ns, last_ns)
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

impl Entries {
    /// With those of another stream.
    fn with(mut self, mut other: Entries) -> Entries {
        self.begin_ns.append(&mut other.begin_ns);
        self.end_ns.append(&mut other.end_ns);
        self.launches += other.launches;
        self.linked += other.linked;
        self.work += other.work;
        self
    }

    /// Sums over the time from `first_ns` to `last_ns`; both lists are sorted.
    ///
    /// At a time the depth is the begins up to it less the ends up to it. So it is zero from the `k`th end on until the
    /// next begin, and at the `k`th begin it is over `n` where the end `n` places earlier is still to come.
    fn queue(&self, first_ns: i64, last_ns: i64) -> Queue {
        let clip = |time: i64| time.clamp(first_ns, last_ns.max(first_ns));
        let (mut area, mut empty_ns, mut max_depth) = (0_i128, 0_i64, 0_usize);
        let mut ended = clip(first_ns);
        for (at, (begin, end)) in self.begin_ns.iter().zip(&self.end_ns).enumerate() {
            let (begin, end) = (clip(*begin), clip(*end));
            area += i128::from(end) - i128::from(begin);
            empty_ns = empty_ns.saturating_add(begin.saturating_sub(ended).max(0));
            ended = end;
            while max_depth <= at && clip(self.end_ns[at - max_depth]) > begin {
                max_depth += 1;
            }
        }
        let window = last_ns.saturating_sub(first_ns).max(0);
        Queue {
            launches: self.launches,
            linked: self.linked,
            work: self.work,
            mean_depth: if window > 0 { area as f64 / window as f64 } else { 0.0 },
            max_depth: max_depth as u64,
            empty_ns: empty_ns.saturating_add(clip(last_ns).saturating_sub(ended).max(0)),
        }
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
