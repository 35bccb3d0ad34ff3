//! How long the capture's own launches take on an empty stream: the measure of what a wait for a kernel may be.

use crate::context::quantiles::quantile;
use ridge_trace::{EventKind, NONE, Trace, Track, TrackKind};

/// Kernels looked at per device; of more, every n-th.
const SAMPLES: usize = 1 << 16;
/// Rows that are no work and lie between two kernels of a stream: more are not stepped over.
const STEP_BACK: usize = 16;

/// Launch latencies of one device: from the start of the launch call to the start of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Latency {
    /// Half of the launches took no longer, nanoseconds.
    pub median_ns: i64,
    /// 95% of the launches took no longer, nanoseconds.
    pub p95_ns: i64,
    /// Launches measured.
    pub launches: u64,
}

impl Latency {
    /// The latencies of the kernels of `device` whose stream had nothing left to do when their launch call began.
    pub fn measure(trace: &Trace, device: u32) -> Option<Latency> {
        let streams: Vec<&Track> =
            trace.tracks_of_device(device).filter(|track| track.kind == TrackKind::Stream).collect();
        let rows: usize = streams.iter().map(|track| track.rows.len()).sum();
        let step = rows.div_ceil(SAMPLES).max(1);
        let sampled = streams.iter().flat_map(|track| {
            track.rows.clone().step_by(step).filter_map(|row| latency_on_empty_stream(trace, track, row as usize))
        });
        let mut latencies: Vec<i64> = sampled.collect();
        latencies.sort_unstable();
        Some(Latency {
            median_ns: quantile(&[&latencies], 0.5)?,
            p95_ns: quantile(&[&latencies], 0.95)?,
            launches: latencies.len() as u64,
        })
    }

    /// How long a wait for launched work is ordinary, nanoseconds: 95% of the latencies, but no more than ten medians.
    pub fn ordinary_ns(&self) -> i64 {
        self.p95_ns.min(self.median_ns.saturating_mul(10))
    }
}

/// From the launch call's start to the kernel's, where the stream was empty in between; nanoseconds.
fn latency_on_empty_stream(trace: &Trace, track: &Track, row: usize) -> Option<i64> {
    let events = &trace.events;
    let link = events.link[row];
    let is_launched = events.kind[row] == EventKind::Kernel as u8 && link != NONE;
    if !is_launched || events.kind[link as usize] != EventKind::Launch as u8 {
        return None;
    }
    let called = events.start_ns[link as usize];
    let was_empty = match previous_work(trace, track, row) {
        Some(previous) => events.end_ns(previous) <= called && events.link[previous] != link,
        None => true,
    };
    was_empty.then(|| events.start_ns[row].saturating_sub(called).max(0))
}

/// The work before `row` on its track.
fn previous_work(trace: &Trace, track: &Track, row: usize) -> Option<usize> {
    let first = (track.rows.start as usize).max(row.saturating_sub(STEP_BACK));
    (first..row).rev().find(|before| EventKind::from_byte_is_work(trace.events.kind[*before]))
}
