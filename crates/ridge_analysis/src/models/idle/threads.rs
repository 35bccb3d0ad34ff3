//! The host's threads as timelines: which range was the innermost at a time, and which thread stands beside another.
//!
//! Some collectors write launch calls on lines of their own, apart from the thread that made them. Such a line has a
//! *companion*: the thread whose ranges enclose its calls most tightly.

use ridge_trace::{EventKind, NONE, Trace, TrackKind};
use std::ops::Range;

/// How many ended ranges are climbed to find one that is open; real nesting is far below.
const CLIMB: usize = 1 << 10;
/// Threads that are asked what they did while the one at work did nothing recorded.
const MOST_ASKED: usize = 64;
/// Launch calls tried to find a companion.
const SAMPLES: usize = 64;

/// A thread of the host.
#[derive(Debug, Clone)]
struct Thread {
    rows: Range<u32>,
    process: u32,
    companion: Option<usize>,
}

/// All host threads of a trace that have events, in order of their rows; and by process those with most recorded first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Threads(Vec<Thread>, Vec<Vec<usize>>);

/// A search position on every thread, so that a sweep through time costs one step per event.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cursors(Vec<usize>);

impl Threads {
    /// The threads of `trace`, with companions for those that hold nothing but launches.
    pub(crate) fn new(trace: &Trace) -> Threads {
        let hosts = trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread && !track.rows.is_empty());
        let mut list: Vec<Thread> =
            hosts.map(|track| Thread { rows: track.rows.clone(), process: track.process, companion: None }).collect();
        list.sort_by_key(|thread| thread.rows.start);
        let mut threads = Threads(list, Vec::new());
        let only_launches: Vec<bool> = threads.0.iter().map(|thread| holds_only_launches(trace, thread)).collect();
        let mut cursors = threads.cursors();
        for index in (0..threads.0.len()).filter(|index| only_launches[*index]) {
            threads.0[index].companion = threads.companion_of(trace, index, &only_launches, &mut cursors);
        }
        threads.1 = threads.by_recorded(trace);
        threads
    }

    /// The threads of `process`, those with most recorded first; no more than can be asked one after another.
    pub(crate) fn busiest(&self, process: u32) -> &[usize] {
        self.1.get(process as usize).map_or(&[], Vec::as_slice)
    }

    /// By process, threads in order of the time that their outermost ranges take; the longest first.
    fn by_recorded(&self, trace: &Trace) -> Vec<Vec<usize>> {
        let events = &trace.events;
        let mut of_process: Vec<Vec<(i64, usize)>> = vec![Vec::new(); trace.processes.len()];
        for (index, thread) in self.0.iter().enumerate() {
            let outermost = thread.rows.clone().filter(|row| events.parent[*row as usize] == NONE);
            let recorded = outermost.fold(0_i64, |sum, row| sum.saturating_add(events.dur_ns[row as usize].max(0)));
            let own = of_process.get_mut(thread.process as usize).filter(|_| recorded > 0);
            own.into_iter().for_each(|own| own.push((recorded, index)));
        }
        let sorted = of_process.into_iter().map(|mut own| {
            own.sort_unstable_by_key(|(recorded, index)| (std::cmp::Reverse(*recorded), *index));
            own.into_iter().take(MOST_ASKED).map(|(_, index)| index).collect()
        });
        sorted.collect()
    }

    /// The thread that holds `row`; `None` where it is no host row.
    pub(crate) fn of(&self, row: u32) -> Option<usize> {
        let index = self.0.partition_point(|thread| thread.rows.start <= row).checked_sub(1)?;
        self.0[index].rows.contains(&row).then_some(index)
    }

    /// Whether `thread` holds `row`.
    pub(crate) fn holds(&self, thread: usize, row: u32) -> bool {
        self.0.get(thread).is_some_and(|thread| thread.rows.contains(&row))
    }

    /// When the row after `row` of `thread` begins; the end of time after the last.
    pub(crate) fn next_start(&self, trace: &Trace, thread: usize, row: u32) -> i64 {
        if self.holds(thread, row + 1) { trace.events.start_ns[row as usize + 1] } else { i64::MAX }
    }

    /// The thread that stands beside `thread`, which holds launches alone.
    pub(crate) fn companion(&self, thread: usize) -> Option<usize> {
        self.0[thread].companion
    }

    /// Search positions at the start of every thread.
    pub(crate) fn cursors(&self) -> Cursors {
        Cursors(self.0.iter().map(|thread| thread.rows.start as usize).collect())
    }

    fn companion_of(
        &self,
        trace: &Trace,
        index: usize,
        only_launches: &[bool],
        cursors: &mut Cursors,
    ) -> Option<usize> {
        let rows = self.0[index].rows.clone();
        let step = rows.len().div_ceil(SAMPLES).max(1);
        let samples: Vec<usize> = rows.step_by(step).map(|row| row as usize).collect();
        let same_process = |other: &usize| self.0[*other].process == self.0[index].process;
        let others = (0..self.0.len()).filter(same_process).filter(|other| !only_launches[*other]);
        let scored = others.filter_map(|other| Some((self.tightness(trace, other, &samples, cursors)?, other)));
        scored.min().map(|(_, other)| other)
    }

    /// Total length of the innermost ranges of `thread` around `launches`; `None` where one in ten has none.
    fn tightness(&self, trace: &Trace, thread: usize, launches: &[usize], cursors: &mut Cursors) -> Option<i64> {
        let (mut length, mut missing) = (0_i64, 0);
        for &launch in launches {
            let (start, end) = (trace.events.start_ns[launch], trace.events.end_ns(launch));
            match self.innermost(trace, thread, start, cursors) {
                Some(row) if trace.events.end_ns(row as usize) >= end => {
                    length = length.saturating_add(trace.events.dur_ns[row as usize]);
                }
                _ => missing += 1,
            }
        }
        (missing * 10 <= launches.len()).then_some(length)
    }

    /// The innermost range of `thread` that is open at `time`.
    pub(crate) fn innermost(&self, trace: &Trace, thread: usize, time: i64, cursors: &mut Cursors) -> Option<u32> {
        let after = self.seek(trace, thread, time, cursors);
        self.open_before(trace, thread, after, time)
    }

    /// The first row of `thread` that starts after `time`, by steps that double from where the cursor was.
    fn seek(&self, trace: &Trace, thread: usize, time: i64, cursors: &mut Cursors) -> usize {
        let rows = &self.0[thread].rows;
        let (first, end) = (rows.start as usize, rows.end as usize);
        let starts = &trace.events.start_ns;
        let (mut low, mut high) = (cursors.0[thread], end);
        if low > first && starts[low - 1] > time {
            (low, high) = (first, low - 1);
        } else {
            let mut step = 1;
            while low + step <= end && starts[low + step - 1] <= time {
                low += step;
                step *= 2;
            }
            high = high.min(low + step);
        }
        let found = low + starts[low..high].partition_point(|start| *start <= time);
        cursors.0[thread] = found;
        found
    }

    /// The innermost range open at `time` among the rows of `thread` before `after`.
    fn open_before(&self, trace: &Trace, thread: usize, after: usize, time: i64) -> Option<u32> {
        let events = &trace.events;
        let mut row = (after as u32).checked_sub(1).filter(|row| self.0[thread].rows.contains(row))?;
        for _ in 0..CLIMB {
            if events.end_ns(row as usize) > time {
                return Some(row);
            }
            row = events.parent[row as usize];
            if row == NONE {
                return None;
            }
        }
        None
    }

    /// Cuts the time from `from` to `until` by what was the innermost range of `thread`; [`NONE`] where none was.
    pub(crate) fn split(
        &self,
        trace: &Trace,
        thread: usize,
        from: i64,
        until: i64,
        cursors: &mut Cursors,
        mut visit: impl FnMut(u32, i64, i64),
    ) {
        let events = &trace.events;
        let end = self.0[thread].rows.end as usize;
        let (mut time, mut after) = (from, self.seek(trace, thread, from, cursors));
        while time < until {
            let open = self.open_before(trace, thread, after, time);
            let next_start = if after < end { events.start_ns[after] } else { i64::MAX };
            let closes = open.map_or(i64::MAX, |row| events.end_ns(row as usize));
            let boundary = until.min(next_start).min(closes);
            visit(open.unwrap_or(NONE), time, boundary);
            time = boundary;
            while after < end && events.start_ns[after] <= time {
                after += 1;
            }
        }
        cursors.0[thread] = after;
    }
}

/// Whether a sample of the thread's rows holds nothing but launches.
fn holds_only_launches(trace: &Trace, thread: &Thread) -> bool {
    let step = thread.rows.len().div_ceil(SAMPLES).max(1);
    let mut sample = thread.rows.clone().step_by(step);
    sample.all(|row| trace.events.kind[row as usize] == EventKind::Launch as u8)
}
