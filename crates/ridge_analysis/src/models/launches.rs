//! From call to kernel: how long the call took, how long the kernel waited in its queue, how long it ran.

use super::spread::Spread;
use crate::{Analysis, Shared};
use ridge_trace::{NONE, StringId};
use rustc_hash::FxHashMap;

/// Kernels of one name that calls of one name launched.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchRow {
    /// Name of the call.
    pub call: StringId,
    /// Name of the kernel.
    pub kernel: StringId,
    /// Durations of the calls.
    pub calls: Spread,
    /// From the call's end to the kernel's start; 0 where it began before.
    pub queue: Spread,
    /// Durations of the kernels.
    pub kernels: Spread,
    /// From the call's start to the kernel's end.
    pub total: Spread,
}

/// Launched kernels by call and kernel, longest in all first.
#[derive(Debug)]
pub struct Launches {
    /// Those whose call is in the capture.
    pub rows: Vec<LaunchRow>,
    /// Kernels whose call is not.
    pub unlinked: u64,
}

impl Shared for Launches {
    fn make(analysis: &Analysis<'_>) -> Launches {
        let (trace, events) = (analysis.trace, &analysis.trace.events);
        let mut found: FxHashMap<(u32, u32), [Vec<i64>; 4]> = FxHashMap::default();
        let mut unlinked = 0_u64;
        for row in trace.device_tracks().flat_map(|track| track.rows.clone()).map(|row| row as usize) {
            if !events.kind(row).is_compute() {
                continue;
            }
            let link = events.link[row];
            if link == NONE {
                unlinked += 1;
                continue;
            }
            let call = link as usize;
            // A kernel may begin before its call returns: then it waited for nothing.
            let queue = events.start_ns[row].saturating_sub(events.end_ns(call)).max(0);
            let total = events.end_ns(row).saturating_sub(events.start_ns[call]);
            let parts = found.entry((events.name[call], events.name[row])).or_default();
            let durations = [events.dur_ns[call], queue, events.dur_ns[row], total];
            parts.iter_mut().zip(durations).for_each(|(part, ns)| part.push(ns));
        }
        let row = |((call, kernel), parts): ((u32, u32), [Vec<i64>; 4])| {
            let [calls, queue, kernels, total] = parts.map(Spread::of);
            LaunchRow { call: StringId(call), kernel: StringId(kernel), calls, queue, kernels, total }
        };
        let mut rows: Vec<LaunchRow> = found.into_iter().map(row).collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.total.total_ns), row.call, row.kernel));
        Launches { rows, unlinked }
    }
}
