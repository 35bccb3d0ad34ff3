//! The parts of a program's life: what it compiled, what is judged, and the rest, which is start-up, end and pauses.

use crate::context::{Shared, Spans, windows_of_processes};
use crate::{Analysis, AnalyzedTime, Need};
use ridge_trace::{EventKind, Trace, TrackKind};

/// The recorded life of the process that was recorded longest, in all its windows together, nanoseconds; its parts add up to the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Life {
    /// From the first event to the last of each window.
    pub whole_ns: i64,
    /// Tracing, lowering and compiling, outside of what is judged or within it.
    pub compiling_ns: i64,
    /// What is judged, without what was compiled meanwhile.
    pub judged_ns: i64,
    /// Imports, data, warm-up, the end.
    pub rest_ns: i64,
}

impl Shared for Life {
    const NEEDS: &'static [Need] = &[Need::of::<AnalyzedTime>()];

    fn make(analysis: &Analysis<'_>) -> Life {
        let (trace, frame) = (analysis.trace, analysis.analyzed());
        let length = |windows: &Vec<u32>| windows.iter().map(|process| trace.process_wall_ns(*process)).sum::<i64>();
        let Some(windows) = windows_of_processes(trace).into_iter().max_by_key(length) else { return Life::default() };
        let mut life = Life::default();
        for process in windows {
            let Some(span) = trace.process_span_ns(process) else { continue };
            let whole = Spans::of([span]);
            let without = whole.without(&Spans::of(compilations(trace, process)));
            let judged = frame.spans.get(process as usize).map_or(&[][..], Spans::as_slice);
            let judged_ns: i64 = judged.iter().map(|(start, end)| without.within_ns(*start, *end)).sum();
            life.whole_ns += whole.total_ns();
            life.compiling_ns += whole.total_ns() - without.total_ns();
            life.judged_ns += judged_ns;
            life.rest_ns += without.total_ns().saturating_sub(judged_ns);
        }
        life
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
