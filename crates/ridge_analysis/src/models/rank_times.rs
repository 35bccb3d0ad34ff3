//! What the devices of each rank did with the time from their first work to their last: computed, communicated, copied, or
//! nothing.
//!
//! Time in which a rank computes and communicates counts as computing; communication and copies are what is left of theirs.
//! So the four parts add up to the span, as HolisticTraceAnalysis and TraceLens define them.

use crate::context::coverage::Union;
use crate::context::in_order::InOrder;
use crate::kernel_category;
use ridge_trace::{EventKind, Trace};
use rustc_hash::FxHashMap;

/// The times of one process, summed over its devices, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankTimes {
    /// From the first work to the last.
    pub span_ns: i64,
    /// Kernels and operations that are no collectives, and memory sets.
    pub computing_ns: i64,
    /// Collectives while nothing was computed.
    pub communicating_ns: i64,
    /// Copies while nothing else ran.
    pub copying_ns: i64,
}

impl RankTimes {
    /// The part of the span in which nothing ran.
    pub fn idle_ns(&self) -> i64 {
        let busy = self.computing_ns.saturating_add(self.communicating_ns).saturating_add(self.copying_ns);
        self.span_ns.saturating_sub(busy)
    }
}

/// The times of each process, by row of the processes table.
pub fn rank_times(trace: &Trace) -> Vec<RankTimes> {
    let mut found = vec![RankTimes::default(); trace.processes.len()];
    let mut collectives: FxHashMap<u32, bool> = FxHashMap::default();
    let events = &trace.events;
    for (device, of) in (0..).zip(&trace.devices) {
        let (mut computing, mut both, mut all) = (Union::default(), Union::default(), Union::default());
        let mut window: Option<(i64, i64)> = None;
        let tracks = trace.tracks_of_device(device).map(|track| track.rows.clone());
        InOrder::new(trace, tracks).for_each(|row| {
            let kind = events.kind(row);
            if !kind.is_device_work() {
                return;
            }
            let (start, end) = (events.start_ns[row], events.end_ns(row));
            let (first, last) = window.unwrap_or((start, end));
            window = Some((first, last.max(end)));
            let name = events.name[row];
            let computes = kind.is_compute() || kind == EventKind::Memset;
            let communicates = kind.is_compute()
                && *collectives.entry(name).or_insert_with(|| kernel_category(trace.name(row)) == "collective");
            if computes && !communicates {
                computing.add(start, end);
            }
            if computes {
                both.add(start, end);
            }
            all.add(start, end);
        });
        let (Some((first, last)), Some(times)) = (window, found.get_mut(of.process as usize)) else { continue };
        let more = |sum: &mut i64, ns: i64| *sum = sum.saturating_add(ns);
        more(&mut times.span_ns, last.saturating_sub(first));
        more(&mut times.computing_ns, computing.total_ns());
        more(&mut times.communicating_ns, both.total_ns().saturating_sub(computing.total_ns()));
        more(&mut times.copying_ns, all.total_ns().saturating_sub(both.total_ns()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_at_once_counts_for_the_first_of_computing_communicating_and_copying() {
        let trace = ridge_test::trace(
            "stream 1 on gpu
               0 +10 gemm
               30 +10 gemm
             stream 2 on gpu
               5 +20 ncclDevKernel_AllReduce
               35 +10 copy h2d bytes=8",
        );
        let found = rank_times(&trace)[0];
        let expected = RankTimes { span_ns: 45, computing_ns: 20, communicating_ns: 15, copying_ns: 5 };
        assert_eq!((found, found.idle_ns()), (expected, 5));
    }
}
