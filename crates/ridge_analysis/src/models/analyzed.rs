//! The analyzed time: the marked steps except the first, otherwise the steady part of the capture.
//!
//! Startup and the first compilation happen once, so they don't matter to a program that runs for hours. Steps include the
//! time between them, in which a loop reads its data and writes its results.

use crate::context::coverage::is_ours;
use crate::context::{Shared, Spans, makes_programs, windows_of_processes};
use crate::{Analysis, Need, Steps};
use ridge_trace::{EventKind, Trace, TrackKind};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// What the time that is judged is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// Marked steps.
    Step,
    /// The capture, less its start-up.
    Capture,
}

impl Per {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Per::Step => "step",
            Per::Capture => "capture",
        }
    }
}

/// The analyzed time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnalyzedTime {
    /// What shares and times are given per.
    pub per: Per,
    /// Steps in it, of the process that has most; 1 where none is marked.
    pub count: u64,
    /// Its spans by row of the processes table.
    pub spans: Vec<Spans>,
    /// Time of compilation that was left out, nanoseconds; none where steps are marked.
    pub compilation_ns: i64,
}

impl Shared for AnalyzedTime {
    const NEEDS: &'static [Need] = &[Need::of::<Steps>()];

    fn make(analysis: &Analysis<'_>) -> AnalyzedTime {
        of_steps(analysis).unwrap_or_else(|| steady(analysis.trace))
    }
}

impl AnalyzedTime {
    /// Its length in process `process`, nanoseconds.
    pub fn ns_of(&self, process: u32) -> i64 {
        self.spans.get(process as usize).map_or(0, Spans::total_ns)
    }

    /// Its length in the process where it is longest, per step where steps are marked, nanoseconds.
    pub fn unit_ns(&self) -> i64 {
        let longest = self.spans.iter().map(Spans::total_ns).max().unwrap_or(0);
        longest / i64::try_from(self.count.max(1)).unwrap_or(i64::MAX)
    }
}

/// From the second step's start to the last one's end, or to that of its work.
///
/// A host that runs ahead begins a step while the device has work of the one before: then the step begins where that ends, so
/// the time that is divided by the number of steps holds the work of no other.
fn of_steps(analysis: &Analysis<'_>) -> Option<AnalyzedTime> {
    let trace = analysis.trace;
    let mut by_process: Vec<Vec<(i64, i64)>> = vec![Vec::new(); trace.processes.len()];
    for step in &analysis.steps().rows {
        let row = step.event.index();
        let (start, end) = (trace.events.start_ns[row], trace.events.end_ns(row).max(step.last_ns));
        let track = trace.track_of(step.event.0);
        if let Some(steps) = track.and_then(|track| by_process.get_mut(track.process as usize)) {
            steps.push((start, end));
        }
    }
    let mut count = 0;
    let spans = by_process.into_iter().zip(0_u32..).map(|(mut steps, process)| {
        steps.sort_unstable();
        // The first step warms up; where there is no other, there is no choice.
        let steady = if steps.len() > 1 { &steps[1..] } else { &steps[..] };
        let end = steady.iter().map(|(_, end)| *end).max();
        let Some((start, end)) = steady.first().zip(end).map(|((start, _), end)| (*start, end)) else {
            return Spans::default();
        };
        if let Some(drained) = drained(trace, process, (start, end)) {
            // The work of the first step is in the queue, too.
            count = count.max(steps.len() as u64);
            return Spans::of([drained]);
        }
        count = count.max(steady.len() as u64);
        // The end of the first step's work, where there is a first step that is left out.
        let before = (steps.len() > 1).then(|| steps.first().map(|(_, end)| *end)).flatten();
        let begun = before.filter(|before| (start..end).contains(before)).unwrap_or(start);
        Spans::of([(begun, end)])
    });
    let spans: Vec<Spans> = spans.collect();
    (count > 0).then_some(AnalyzedTime { per: Per::Step, count, spans, compilation_ns: 0 })
}

/// The window of marked steps up to the end of what they queued, where most of the work comes after the last of them has returned: a
/// program that waits once after its loop marks only how long launching takes.
fn drained(trace: &Trace, process: u32, (start, end): (i64, i64)) -> Option<(i64, i64)> {
    let (mut inside, mut later, mut last) = (0_i64, 0_i64, end);
    for (from, until) in work_of(trace, process).filter(|(from, _)| *from >= start) {
        let ns = until.saturating_sub(from).max(0);
        if from < end {
            inside = inside.saturating_add(ns);
        } else {
            later = later.saturating_add(ns);
        }
        last = last.max(until);
    }
    (later > inside.saturating_mul(QUEUED)).then_some((start, last))
}

/// So many times the work within the steps must come after them to be what they queued.
const QUEUED: i64 = 4;

/// From a process's first device work to its last, without what it compiled meanwhile.
///
/// What compiles at the start and at the end sets the program up and looks at its results: where a stretch without most of it has
/// most of the work, that stretch is judged.
fn steady(trace: &Trace) -> AnalyzedTime {
    let (mut compilation_ns, mut spans) = (0_i64, vec![Spans::default(); trace.processes.len()]);
    for windows in windows_of_processes(trace) {
        let mut left: Vec<(u32, Spans)> = Vec::new();
        let mut compiled_ns = 0_i64;
        for process in windows {
            let work = work_of(trace, process);
            let Some(window) = work.reduce(|(first, last), (start, end)| (first.min(start), last.max(end))) else {
                continue;
            };
            let whole = Spans::of([without_preparation(trace, process, window)]);
            let without = whole.without(&Spans::of(compilations(trace, process)));
            compiled_ns = compiled_ns.saturating_add(whole.total_ns().saturating_sub(without.total_ns()));
            left.push((process, without));
        }
        compilation_ns = compilation_ns.saturating_add(compiled_ns);
        let steady = recurring(trace, &left, compiled_ns);
        for (process, left) in left {
            let Some(spans) = spans.get_mut(process as usize) else { continue };
            *spans = match steady {
                Some((from, until)) => left.without(&Spans::of([(i64::MIN, from), (until, i64::MAX)])),
                None => left,
            };
        }
    }
    AnalyzedTime { per: Per::Capture, count: 1, spans, compilation_ns }
}

/// The parts of a window that are looked at for the longest time without work.
const PARTS: usize = 64;
/// One part in so many of the work may come before a pause that the judged time begins after.
const PREPARES: i64 = 20;

/// `window`, the time from a process's first work to its last, from behind a pause that takes most of it and that hardly any of the
/// work comes before: the program imported, read or made what it works on.
fn without_preparation(trace: &Trace, process: u32, window: (i64, i64)) -> (i64, i64) {
    let (first, last) = window;
    let each = last.saturating_sub(first) / PARTS as i64 + 1;
    let part_of = |at: i64| (at.saturating_sub(first) / each).clamp(0, PARTS as i64 - 1) as usize;
    let mut has_work = [false; PARTS];
    for (start, end) in work_of(trace, process) {
        has_work[part_of(start)..=part_of(end).max(part_of(start))].fill(true);
    }
    let Some(resumed) = longest_pause(&has_work) else { return window };
    let is_before = |start: i64| part_of(start) < resumed.start;
    let (mut before, mut all) = ((0, 0_i64), (0, 0_i64));
    let mut begins = last;
    for (start, end) in work_of(trace, process) {
        let ns = end.saturating_sub(start).max(0);
        all = (all.0 + 1, all.1.saturating_add(ns));
        if is_before(start) {
            before = (before.0 + 1, before.1.saturating_add(ns));
        } else {
            begins = begins.min(start);
        }
    }
    let is_little = |part: i64, all: i64| part.saturating_mul(PREPARES) <= all;
    if is_little(before.0, all.0) && is_little(before.1, all.1) { (begins, last) } else { window }
}

/// The longest run of parts without work, where it is more than half of them.
fn longest_pause(has_work: &[bool; PARTS]) -> Option<Range<usize>> {
    let mut found = 0..0;
    let mut start = 0;
    for (at, works) in has_work.iter().enumerate() {
        if *works {
            start = at + 1;
        } else if at + 1 - start > found.len() {
            found = start..at + 1;
        }
    }
    (found.len() > PARTS / 2).then_some(found)
}

/// A time between two compilations.
struct Stretch {
    start: i64,
    end: i64,
    /// Device work that begins in it, nanoseconds.
    work_ns: i64,
    /// Compilation between it and the stretch before, nanoseconds; none where another window begins.
    compiled_before_ns: i64,
}

/// The stretches of `left`, the windows of one process in order of time without what was compiled in them.
fn stretches(trace: &Trace, left: &[(u32, Spans)]) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for (process, spans) in left {
        let first = found.len();
        for (start, end) in spans.as_slice() {
            let before = found.get(first..).and_then(<[Stretch]>::last).map_or(*start, |before| before.end);
            found.push(Stretch {
                start: *start,
                end: *end,
                work_ns: 0,
                compiled_before_ns: start.saturating_sub(before),
            });
        }
        let own = &mut found[first..];
        for (start, end) in work_of(trace, *process) {
            // Work goes on while the host compiles what comes next: it belongs to the stretch in which it began, or to the next one.
            let at = own.partition_point(|stretch| stretch.end <= start);
            if let Some(stretch) = own.get_mut(at) {
                stretch.work_ns = stretch.work_ns.saturating_add(end.saturating_sub(start).max(0));
            }
        }
    }
    found
}

/// From the end of one compilation to the start of a later one, with more than half of the work in between: the two with the least
/// compilation between them, where that is little of all `compiled_ns` and no more than the rest of the stretch: a program that
/// compiles all along has none. `left` are the windows of one process without what was compiled in them.
fn recurring(trace: &Trace, left: &[(u32, Spans)], compiled_ns: i64) -> Option<(i64, i64)> {
    let stretches = stretches(trace, left);
    if compiled_ns <= 0 || stretches.len() < 2 {
        return None;
    }
    let all = stretches.iter().fold(0_i64, |sum, stretch| sum.saturating_add(stretch.work_ns));
    let (mut inside, mut last) = (0_i64, 0);
    let mut found: Option<(i64, Range<usize>)> = None;
    let mut between = 0_i64;
    for first in 0..stretches.len() {
        while last < stretches.len() && inside <= all / 2 {
            inside = inside.saturating_add(stretches[last].work_ns);
            between = between.saturating_add(if last > first { stretches[last].compiled_before_ns } else { 0 });
            last += 1;
        }
        if inside <= all / 2 {
            break;
        }
        if found.as_ref().is_none_or(|(least, _)| between < *least) {
            found = Some((between, first..last));
        }
        inside = inside.saturating_sub(stretches[first].work_ns);
        between = between.saturating_sub(if last > first + 1 { stretches[first + 1].compiled_before_ns } else { 0 });
    }
    let (between, mut within) = found?;
    // Windows in which nothing was compiled go on with it.
    while stretches.get(within.end).is_some_and(|next| next.compiled_before_ns == 0) {
        within.end += 1;
    }
    while within.start > 0 && stretches[within.start].compiled_before_ns == 0 {
        within.start -= 1;
    }
    let within = &stretches[within];
    let left = within.iter().fold(0_i64, |sum, stretch| sum.saturating_add(stretch.end.saturating_sub(stretch.start)));
    let ends = (within.first()?.start, within.last()?.end);
    (between.saturating_mul(LITTLE) <= compiled_ns && between <= left).then_some(ends)
}

/// A stretch with one part in so many of all compilation is one of steady work.
const LITTLE: i64 = 8;

/// The starts and ends of the device work of a process.
fn work_of(trace: &Trace, process: u32) -> impl Iterator<Item = (i64, i64)> {
    let events = &trace.events;
    let tracks = trace.device_tracks().filter(move |track| track.process == process);
    let rows = tracks.flat_map(|track| track.rows.clone()).map(|row| row as usize);
    let work = rows.filter(|row| EventKind::from_byte_is_work(events.kind[*row]));
    work.map(|row| (events.start_ns[row], events.end_ns(row)))
}

/// The starts and ends of what a process compiled, and of what the recorder kept of it.
fn compilations(trace: &Trace, process: u32) -> impl Iterator<Item = (i64, i64)> {
    let events = &trace.events;
    // XLA's Python tracer sees what comes before the compiler, too.
    let frames: FxHashSet<u32> =
        (0..).zip(trace.strings.iter()).filter(|(_, name)| makes_programs(name)).map(|(id, _)| id).collect();
    let threads =
        trace.tracks.iter().filter(move |track| track.kind == TrackKind::HostThread && track.process == process);
    let rows = threads.flat_map(|track| track.rows.clone()).map(|row| row as usize);
    let found = rows.filter(move |row| {
        events.kind[*row] == EventKind::Compile as u8 || frames.contains(&events.name[*row]) || is_ours(trace, *row)
    });
    found.map(|row| (events.start_ns[row], events.end_ns(row)))
}

impl<'a> Analysis<'a> {
    /// The time that is judged.
    pub fn analyzed(&self) -> &'a AnalyzedTime {
        self.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prepared;

    #[track_caller]
    fn frame(text: &str) -> (Per, u64, Vec<(i64, i64)>, i64) {
        let trace = ridge_test::trace(text);
        let prepared = Prepared::with_sheets(&trace);
        let frame = prepared.analysis(&trace, &[]).analyzed().clone();
        (frame.per, frame.count, frame.spans[0].as_slice().to_vec(), frame.compilation_ns)
    }

    #[test]
    fn the_first_step_warms_up_and_the_last_ends_with_its_work() {
        let found = frame(
            "thread python
               0 +100 train step=1
               120 +10 train step=2
               150 +10 train step=3
               152 +2 launch launch id=1
             stream 1 on gpu
               153 +50 gemm id=1",
        );
        assert_eq!(found, (Per::Step, 2, vec![(120, 203)], 0));
    }

    /// Three steps of 20 each on the device, which the host launched in no time.
    #[test]
    fn a_host_that_runs_ahead_makes_no_step_longer() {
        let found = frame(
            "thread python
               0 +2 train step=1
               0 +1 launch launch id=1
               2 +2 train step=2
               2 +1 launch launch id=2
               4 +2 train step=3
               4 +1 launch launch id=3
             stream 1 on gpu
               2 +20 gemm id=1
               22 +20 gemm id=2
               42 +20 gemm id=3",
        );
        assert_eq!(found, (Per::Step, 2, vec![(22, 62)], 0));
    }

    #[test]
    fn what_steps_queued_is_theirs() {
        let found = frame(
            "thread python
               0 +100 train step=1
               120 +10 train step=2
               150 +10 train step=3
             stream 1 on gpu
               125 +300 gemm
               500 +900 gemm
               1400 +900 gemm",
        );
        assert_eq!(found, (Per::Step, 3, vec![(120, 2300)], 0));
    }

    #[test]
    fn a_pause_before_nearly_all_of_the_work_prepares_it() {
        let work: String = (0..30).map(|at| format!("{} +5 gemm\n", 10_000 + 10 * at)).collect();
        let found = |first: &str| frame(&format!("stream 1 on gpu\n{first}\n{work}")).2;
        assert_eq!(found("0 +5 fill"), vec![(10_000, 10_295)]);
        // Twice as much before it is work.
        assert_eq!(found("0 +5 fill\n10 +5 fill"), vec![(0, 10_295)]);
        assert_eq!(found("0 +50 fill"), vec![(0, 10_295)]);
        // A pause that is not most of it is one of the work's own.
        assert_eq!(found("9900 +5 fill"), vec![(9900, 10_295)]);
    }

    #[test]
    fn without_steps_compilation_and_start_up_are_left_out() {
        let found = frame(
            "thread python
               0 +100 XlaCompile compile
               30 +20 inner compile
               300 +50 XlaCompile compile
             stream 1 on gpu
               110 +10 a
               400 +10 b",
        );
        assert_eq!(found, (Per::Capture, 1, vec![(110, 300), (350, 410)], 50));
    }

    #[test]
    fn what_comes_before_the_last_compilation_sets_up_where_most_work_comes_after() {
        let found = frame(
            "thread python
               0 +100 XlaCompile compile
               300 +50 XlaCompile compile
             stream 1 on gpu
               110 +10 a
               400 +100 b",
        );
        assert_eq!(found, (Per::Capture, 1, vec![(350, 500)], 50));
    }

    #[test]
    fn what_compiles_after_the_steady_work_looks_at_results() {
        let found = frame(
            "thread python
               0 +100 XlaCompile compile
               300 +50 XlaCompile compile
               700 +80 XlaCompile compile
             stream 1 on gpu
               110 +10 a
               400 +200 b
               790 +5 c",
        );
        assert_eq!(found, (Per::Capture, 1, vec![(350, 700)], 130));
    }

    #[test]
    fn a_small_compilation_within_the_steady_work_divides_it() {
        let found = frame(
            "thread python
               0 +300 XlaCompile compile
               500 +10 XlaCompile compile
               700 +90 XlaCompile compile
             stream 1 on gpu
               10 +10 a
               400 +90 b
               520 +100 b
               790 +5 c",
        );
        assert_eq!(found, (Per::Capture, 1, vec![(300, 500), (510, 700)], 390));
    }

    #[test]
    fn a_stretch_that_mostly_compiles_is_not_steady() {
        let found = frame(
            "thread python
               0 +1000 XlaCompile compile
               1010 +100 XlaCompile compile
               1170 +100 XlaCompile compile
             stream 1 on gpu
               10 +5 a
               1000 +10 b
               1110 +60 b
               1270 +60 b",
        );
        assert_eq!(found, (Per::Capture, 1, vec![(1000, 1010), (1110, 1170), (1270, 1330)], 1190));
    }

    /// What a recorder wrote in parts, because the program's memory grew while it was set up.
    #[test]
    fn windows_of_one_process_are_one_life() {
        let trace = ridge_test::trace(
            "process set-up pid=7
             thread python
               0 +100 XlaCompile compile
               120 +80 XlaCompile compile
             stream 1 on gpu
               101 +10 a
               201 +10 a
             process loop pid=7
             thread python
               300 +100 XlaCompile compile
             stream 1 on gpu
               290 +5 a
               410 +50 b
             process rest pid=7
             stream 1 on gpu
               500 +90 b",
        );
        let prepared = Prepared::with_sheets(&trace);
        let frame = prepared.analysis(&trace, &[]).analyzed().clone();
        let spans: Vec<Vec<(i64, i64)>> = frame.spans.iter().map(|spans| spans.as_slice().to_vec()).collect();
        assert_eq!(spans[1..], [vec![], vec![(400, 460)], vec![(500, 590)]]);
    }

    #[test]
    fn work_that_compiles_all_the_time_is_judged_whole() {
        let found = frame(
            "thread python
               100 +50 XlaCompile compile
               200 +50 XlaCompile compile
               300 +50 XlaCompile compile
             stream 1 on gpu
               0 +40 a
               155 +40 a
               255 +40 a
               355 +40 a",
        );
        assert_eq!(found, (Per::Capture, 1, vec![(0, 100), (150, 200), (250, 300), (350, 395)], 150));
    }
}
