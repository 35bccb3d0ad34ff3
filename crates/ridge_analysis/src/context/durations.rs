//! Durations of the events of each group, sorted: what spreads are read from.

use crate::Group;
use crate::context::groups::{Nested, grouped};
use rayon::prelude::*;
use ridge_trace::Trace;

/// Values below this are sorted on one thread: starting others costs more.
const PARALLEL_VALUES: usize = 1 << 16;

/// Durations by group, nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Durations {
    by_group: Vec<Vec<i64>>,
}

impl Durations {
    /// Collects and sorts the durations of the device work of `trace`.
    pub(crate) fn new(trace: &Trace) -> Durations {
        let add = |durations: &mut Vec<i64>, row: usize, _| durations.push(trace.events.dur_ns[row]);
        let parts: Vec<Vec<Vec<i64>>> =
            grouped(trace, Nested::Ignored, add).into_iter().map(|(_, parts)| parts).collect();
        let by_group = if parts.iter().flatten().map(Vec::len).sum::<usize>() >= PARALLEL_VALUES {
            parts.into_par_iter().map(sorted).collect()
        } else {
            parts.into_iter().map(sorted).collect()
        };
        Durations { by_group }
    }

    /// Those of `group`, sorted.
    pub(crate) fn of(&self, group: &Group) -> &[i64] {
        &self.by_group[group.index]
    }
}

fn sorted(parts: Vec<Vec<i64>>) -> Vec<i64> {
    let mut durations = parts.concat();
    durations.sort_unstable();
    durations
}
