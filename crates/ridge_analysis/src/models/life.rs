//! The parts of a program's life: what it compiled, what is judged, and the rest, which is start-up, end and pauses.

use crate::context::{Shared, Spans};
use crate::{Analysis, Frame, Need};
use ridge_trace::{EventKind, Trace, TrackKind};

/// The recorded life of the process that was recorded longest, nanoseconds; its parts add up to the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Life {
    /// From its first event to its last.
    pub whole_ns: i64,
    /// Tracing, lowering and compiling, outside of what is judged or within it.
    pub compiling_ns: i64,
    /// What is judged, without what was compiled meanwhile.
    pub judged_ns: i64,
    /// Imports, data, warm-up, the end.
    pub rest_ns: i64,
}

impl Shared for Life {
    const NEEDS: &'static [Need] = &[Need::of::<Frame>()];

    fn make(analysis: &Analysis<'_>) -> Life {
        let trace = analysis.trace;
        let processes = 0..trace.processes.len() as u32;
        let Some(process) = processes.max_by_key(|process| trace.process_wall_ns(*process)) else {
            return Life::default();
        };
        let Some(span) = trace.process_span_ns(process) else { return Life::default() };
        let whole = Spans::of([span]);
        let compiled = Spans::of(compilations(trace, process));
        let without = whole.without(&compiled);
        let judged_ns = analysis
            .frame()
            .spans
            .get(process as usize)
            .map_or(0, |judged| judged.as_slice().iter().map(|(start, end)| without.within_ns(*start, *end)).sum());
        let (whole_ns, left_ns) = (whole.total_ns(), without.total_ns());
        Life { whole_ns, compiling_ns: whole_ns - left_ns, judged_ns, rest_ns: left_ns.saturating_sub(judged_ns) }
    }
}

/// The starts and ends of what a process compiled.
fn compilations(trace: &Trace, process: u32) -> impl Iterator<Item = (i64, i64)> {
    let events = &trace.events;
    let threads =
        trace.tracks.iter().filter(move |track| track.kind == TrackKind::HostThread && track.process == process);
    let rows = threads.flat_map(|track| track.rows.clone()).map(|row| row as usize);
    rows.filter(|row| events.kind[*row] == EventKind::Compile as u8)
        .map(|row| (events.start_ns[row], events.end_ns(row)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prepared;

    #[test]
    fn the_parts_add_up() {
        let trace = ridge_test::trace(
            "thread python
               0 +100 import
               100 +50 XlaCompile compile
               120 +10 inner compile
             stream 1 on gpu
               160 +10 a
               190 +10 b",
        );
        let prepared = Prepared::with_sheets(&trace);
        let analysis = prepared.analysis(&trace, &[]);
        let expected = Life { whole_ns: 200, compiling_ns: 50, judged_ns: 40, rest_ns: 110 };
        assert_eq!(*analysis.get::<Life>(), expected);
    }
}
