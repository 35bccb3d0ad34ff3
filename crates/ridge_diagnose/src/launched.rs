//! What the host launched, and what of it the capture has on the device.
//!
//! Work and its call are joined by the capture's own ids, so a call without work is one whose work was not recorded, or
//! one that was only put into a graph.

use ridge_analysis::{Analysis, Shared};
use ridge_trace::{EventKind, NONE, StringId, Trace, Track, TrackKind};
use rustc_hash::FxHashMap;

/// The launches of one process, and the work of its devices.
#[derive(Debug, Clone, Default)]
pub(crate) struct Launched {
    /// Calls that launch one kernel each.
    pub(crate) kernels: Vec<Call>,
    /// Calls that launch a whole graph each.
    pub(crate) graphs: Vec<Call>,
    /// Kernels and operations on its devices' streams.
    pub(crate) work: u64,
    /// Those whose call is not in the capture.
    pub(crate) unlinked: u64,
    /// Time of the work on streams, copies too, nanoseconds.
    pub(crate) work_ns: i64,
    /// The part of it whose call is not in the capture, nanoseconds.
    pub(crate) unlinked_ns: i64,
    /// When the last work ended, nanoseconds on the trace clock.
    pub(crate) last_end_ns: i64,
}

/// A call that launched something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    /// When it began, nanoseconds on the trace clock.
    pub(crate) start_ns: i64,
    /// Whether any of its work is in the capture.
    pub(crate) has_work: bool,
}

impl Launched {
    /// Whether links tell anything: most work has its call.
    pub(crate) fn is_linked(&self) -> bool {
        self.unlinked.saturating_mul(2) < self.work
    }
}

/// How many of `calls` have no work in the capture.
pub(crate) fn without_work(calls: &[Call]) -> u64 {
    calls.iter().filter(|call| !call.has_work).count() as u64
}

/// What a call does, by its name: captures have no other word for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Kernel,
    Graph,
    /// From here on launches of the thread go into a graph.
    BeginCapture,
    EndCapture,
    Other,
}

fn does(name: &str) -> Does {
    match name {
        _ if name.contains("GraphLaunch") => Does::Graph,
        _ if name.contains("LaunchKernel") || name.contains("LaunchCooperativeKernel") => Does::Kernel,
        _ if name.contains("StreamBeginCapture") => Does::BeginCapture,
        _ if name.contains("StreamEndCapture") => Does::EndCapture,
        _ => Does::Other,
    }
}

/// The launches and the work of each process, by row of the processes table.
#[derive(Debug)]
pub(crate) struct Launches(pub(crate) Vec<Launched>);

impl Shared for Launches {
    fn make(analysis: &Analysis<'_>) -> Launches {
        Launches(launched(analysis.trace))
    }
}

fn launched(trace: &Trace) -> Vec<Launched> {
    let events = &trace.events;
    let mut found = vec![Launched { last_end_ns: i64::MIN, ..Launched::default() }; trace.processes.len()];
    let mut has_work = vec![false; events.len()];
    for track in trace.device_tracks() {
        let Some(of) = found.get_mut(track.process as usize) else { continue };
        for row in track.rows.clone().map(|row| row as usize) {
            if !EventKind::from_byte_is_work(events.kind[row]) {
                continue;
            }
            of.last_end_ns = of.last_end_ns.max(events.end_ns(row));
            let link = has_work.get_mut(events.link[row] as usize);
            if track.kind == TrackKind::Stream {
                let (is_compute, is_linked) = (events.kind(row).is_compute(), link.is_some());
                let ns = events.dur_ns[row].max(0);
                of.work += u64::from(is_compute);
                of.unlinked += u64::from(is_compute && !is_linked);
                of.work_ns = of.work_ns.saturating_add(ns);
                of.unlinked_ns = of.unlinked_ns.saturating_add(if is_linked { 0 } else { ns });
            }
            if let Some(link) = link {
                *link = true;
            }
        }
    }
    let mut known: FxHashMap<u32, Does> = FxHashMap::default();
    for track in trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread) {
        if let Some(of) = found.get_mut(track.process as usize) {
            calls_of(trace, track, &mut has_work, &mut known, of);
        }
    }
    found.iter_mut().for_each(|of| {
        of.kernels.sort_by_key(|call| call.start_ns);
        of.graphs.sort_by_key(|call| call.start_ns);
    });
    found
}

/// Adds the launches of one thread to `found`.
fn calls_of(
    trace: &Trace,
    track: &Track,
    has_work: &mut [bool],
    known: &mut FxHashMap<u32, Does>,
    found: &mut Launched,
) {
    let events = &trace.events;
    let mut does = |row: usize| {
        let name = events.name[row];
        *known.entry(name).or_insert_with(|| does(trace.strings.get(StringId(name))))
    };
    let is_call = |row: usize| matches!(events.kind(row), EventKind::Launch | EventKind::HostRange);
    let mut launch_around = |row: usize| {
        let parent = events.parent[row];
        let is_launch = parent != NONE
            && events.kind[parent as usize] == EventKind::Launch as u8
            && matches!(does(parent as usize), Does::Kernel | Does::Graph);
        is_launch.then_some(parent as usize)
    };
    // A call of the runtime may hold one of the driver, and either may be the one that work links to.
    for row in track.rows.clone().rev().map(|row| row as usize) {
        if let Some(around) = launch_around(row).filter(|_| has_work[row]) {
            has_work[around] = true;
        }
    }
    let rows = track.rows.clone().map(|row| row as usize).filter(|row| is_call(*row));
    let calls: Vec<usize> = rows.filter(|row| launch_around(*row).is_none()).collect();
    let mut is_capturing = false;
    for row in calls {
        let call = Call { start_ns: events.start_ns[row], has_work: has_work[row] };
        let is_launch = events.kind[row] == EventKind::Launch as u8 && (!is_capturing || call.has_work);
        match does(row) {
            Does::BeginCapture => is_capturing = true,
            Does::EndCapture => is_capturing = false,
            Does::Kernel if is_launch => found.kernels.push(call),
            Does::Graph if is_launch => found.graphs.push(call),
            Does::Kernel | Does::Graph | Does::Other => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_within_calls_count_once_and_captured_ones_not_at_all() {
        let trace = ridge_test::trace(
            "thread python
               0 +9 cudaLaunchKernel launch
               2 +4 cuLaunchKernel launch id=1
               10 +1 cudaStreamBeginCapture_v10000
               12 +1 cudaLaunchKernel launch id=2
               14 +1 cudaStreamEndCapture
               16 +2 cudaGraphLaunch launch id=3
               19 +2 cudaGraphLaunch launch id=4
               22 +2 cudaLaunchHostFunc launch id=5
             stream 7 on gpu
               10 +5 gemm id=1
               20 +5 gemm id=3
               25 +5 gemm id=3
               30 +5 gemm id=9",
        );
        let found = &launched(&trace)[0];
        assert_eq!((found.kernels.len(), without_work(&found.kernels)), (1, 0));
        assert_eq!((found.graphs.len(), without_work(&found.graphs)), (2, 1));
        assert_eq!((found.work, found.unlinked, found.work_ns, found.unlinked_ns), (4, 1, 20, 5));
        assert!(found.is_linked());
    }
}
