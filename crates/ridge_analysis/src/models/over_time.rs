//! Two numbers over time: how much launched work waits on each stream, and how fast copies of each kind go.
//!
//! Both are counted as Holistic Trace Analysis counts them (`hta/analyzers/trace_counters.py`), so that its users find the
//! same lines here. Work of a stream is in its queue from the start of the call that launched it until it starts itself.
//! The rate of copies is the sum over those that run of their bytes per second.
//! [`Queue`](super::idle::Queue) is stricter: there a launch waits only after its call has returned.

use crate::{Analysis, Shared};
use rayon::prelude::*;
use ridge_trace::{DeviceRow, EventKind, NONE, Trace, Track, TrackKind, TrackRow};
use std::collections::BTreeMap;

/// A number that holds from each of its changes to the next; zero before the first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    changes: Changes,
    most: f64,
}

/// Counts are kept as the times of their edges: half the memory of times and values, for millions of launches.
#[derive(Debug, Clone, PartialEq)]
enum Changes {
    /// When one more was open, and when one less; each in order.
    Count { more: Vec<i64>, fewer: Vec<i64> },
    /// When it changed and to what, in order; one entry for each time.
    Sum(Vec<(i64, f64)>),
}

impl Default for Changes {
    fn default() -> Changes {
        Changes::Sum(Vec::new())
    }
}

impl Line {
    /// How many are open, of those that open at `more` and close at `fewer`; all of them close.
    fn count_of(mut more: Vec<i64>, mut fewer: Vec<i64>) -> Line {
        for times in [&mut more, &mut fewer] {
            times.par_sort_unstable();
            times.shrink_to_fit();
        }
        Line::of(Changes::Count { more, fewer })
    }

    /// The sum, at each time, of the values of the `stretches` (start, end, value) that hold it.
    fn sum_of(stretches: &[(i64, i64, f64)]) -> Line {
        let begins = stretches.iter().map(|(start, _, value)| (*start, 1_i64, *value));
        let ends = stretches.iter().map(|(_, end, value)| (*end, -1_i64, -*value));
        let mut edges: Vec<(i64, i64, f64)> = begins.chain(ends).collect();
        edges.par_sort_unstable_by_key(|(time, count, _)| (*time, *count));
        let mut changes: Vec<(i64, f64)> = Vec::new();
        let (mut open, mut sum) = (0_i64, 0.0);
        for (time, count, value) in edges {
            open += count;
            // What is left of rounding is no rate.
            sum = if open == 0 { 0.0 } else { sum + value };
            match changes.last_mut().filter(|last| last.0 == time) {
                Some(last) => last.1 = sum,
                None => changes.push((time, sum)),
            }
        }
        Line::of(Changes::Sum(changes))
    }

    fn of(changes: Changes) -> Line {
        let mut line = Line { changes, most: 0.0 };
        let mut most = 0.0_f64;
        line.each(i64::MIN, i64::MAX, |_, value| most = most.max(value));
        line.most = most;
        line
    }

    /// Calls `see` with each change after `from` and before `to`, nanoseconds on the trace clock, in order; before them, with
    /// `from` and the value there, if it changed until then.
    pub fn each(&self, from: i64, to: i64, mut see: impl FnMut(i64, f64)) {
        match &self.changes {
            Changes::Count { more, fewer } => {
                let [mut up, mut down] = [more, fewer].map(|times| times.partition_point(|time| *time <= from));
                if up > 0 {
                    see(from, (up - down) as f64);
                }
                loop {
                    let next = [more.get(up), fewer.get(down)].into_iter().flatten().min();
                    let Some(&time) = next.filter(|time| **time < to) else { return };
                    up += more[up..].iter().take_while(|other| **other == time).count();
                    down += fewer[down..].iter().take_while(|other| **other == time).count();
                    see(time, up as f64 - down as f64);
                }
            }
            Changes::Sum(changes) => {
                let first = changes.partition_point(|(time, _)| *time <= from);
                if let Some((_, value)) = first.checked_sub(1).and_then(|at| changes.get(at)) {
                    see(from, *value);
                }
                let inside = changes[first..].iter().take_while(|(time, _)| *time < to);
                inside.for_each(|(time, value)| see(*time, *value));
            }
        }
    }

    /// About how often it changes: at most so many times.
    pub fn changes(&self) -> usize {
        match &self.changes {
            Changes::Count { more, fewer } => more.len() + fewer.len(),
            Changes::Sum(changes) => changes.len(),
        }
    }

    /// Calls `see` with each value and how long it held, nanoseconds, from the first change to the last.
    fn held(&self, mut see: impl FnMut(f64, i64)) {
        let mut before: Option<(i64, f64)> = None;
        self.each(i64::MIN, i64::MAX, |time, value| {
            if let Some((start, held)) = before {
                see(held, time.saturating_sub(start));
            }
            before = Some((time, value));
        });
    }

    /// The largest value.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// The mean over the time from the first change to the last.
    pub fn mean(&self) -> Option<f64> {
        let (mut area, mut all) = (0.0, 0.0);
        self.held(|value, ns| {
            area += value * ns as f64;
            all += ns as f64;
        });
        (all > 0.0).then(|| area / all)
    }

    /// How long the value was at least `least`, nanoseconds.
    pub fn ns_from(&self, least: f64) -> i64 {
        let mut sum = 0_i64;
        self.held(|value, ns| sum = if value >= least { sum.saturating_add(ns) } else { sum });
        sum
    }

    /// The time from the first change to the last, nanoseconds.
    pub fn ns(&self) -> i64 {
        let mut sum = 0_i64;
        self.held(|_, ns| sum = sum.saturating_add(ns));
        sum
    }
}

/// The queue of one stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamQueue {
    /// The stream.
    pub track: TrackRow,
    /// Its device.
    pub device: DeviceRow,
    /// Kernels, copies and memory sets whose launch is in the capture; a graph's are launched by one call.
    pub launched: u64,
    /// How many of them were launched and had not begun.
    pub length: Line,
}

/// A stream that has a queue, whose length is not counted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedStream {
    /// The stream.
    pub track: TrackRow,
    /// Its device.
    pub device: DeviceRow,
    /// Kernels, copies and memory sets whose launch is in the capture.
    pub launched: u64,
}

/// Streams with work that waited for its start after its launch, as the capture orders them.
pub fn queued_streams(trace: &Trace) -> Vec<QueuedStream> {
    let streams = trace.tracks.par_iter().enumerate().filter(|(_, track)| track.kind == TrackKind::Stream);
    let queued = |(at, track): (usize, &Track)| {
        let launched = launched_rows(trace, track).count() as u64;
        let waits = launched_rows(trace, track).any(|row| call_of(trace, row) < trace.events.start_ns[row]);
        waits.then_some(QueuedStream { track: TrackRow(at as u32), device: DeviceRow(track.device?), launched })
    };
    streams.filter_map(queued).collect()
}

/// Rows of a track's work whose launch is in the capture.
fn launched_rows(trace: &Trace, track: &Track) -> impl Iterator<Item = usize> {
    let events = &trace.events;
    let rows = track.rows.clone().map(|row| row as usize);
    rows.filter(|row| EventKind::from_byte_is_work(events.kind[*row]) && events.link[*row] != NONE)
}

/// When the call began that launched the work of a row.
fn call_of(trace: &Trace, row: usize) -> i64 {
    trace.events.start_ns[trace.events.link[row] as usize]
}

/// The queue of every stream with work whose launch is in the capture, as the capture orders them.
#[derive(Debug, Default)]
pub struct StreamQueues(pub Vec<StreamQueue>);

impl Shared for StreamQueues {
    fn make(analysis: &Analysis<'_>) -> StreamQueues {
        let trace = analysis.trace;
        let streams = trace.tracks.par_iter().enumerate().filter(|(_, track)| track.kind == TrackKind::Stream);
        StreamQueues(streams.filter_map(|(at, track)| queue(trace, TrackRow(at as u32), track)).collect())
    }
}

fn queue(trace: &Trace, track: TrackRow, of: &Track) -> Option<StreamQueue> {
    let launched = launched_rows(trace, of).count();
    let [mut calls, mut starts] = [launched, launched].map(Vec::with_capacity);
    for row in launched_rows(trace, of) {
        let (call, start) = (call_of(trace, row), trace.events.start_ns[row]);
        // Where clocks differ work may seem to begin before its call: then it waits for nothing.
        if call < start {
            calls.push(call);
            starts.push(start);
        }
    }
    let length = Line::count_of(calls, starts);
    (launched > 0).then_some(StreamQueue { track, device: DeviceRow(of.device?), launched: launched as u64, length })
}

/// How fast copies of one kind go on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyRate {
    /// The device.
    pub device: DeviceRow,
    /// The direction, or memory sets.
    pub kind: EventKind,
    /// Those whose bytes the capture says.
    pub copies: u64,
    /// What they move, bytes.
    pub bytes: u64,
    /// Bytes per second over time.
    pub rate: Line,
}

impl CopyRate {
    /// Bytes per second over the time in which at least one ran.
    pub fn mean_while_copying(&self) -> Option<f64> {
        let ns = self.rate.ns_from(f64::MIN_POSITIVE);
        (ns > 0).then(|| self.bytes as f64 / ns as f64 * 1e9)
    }
}

/// Bytes, and the rates of single copies: from when, until when, bytes per second.
type Moved = (u64, Vec<(i64, i64, f64)>);

/// Copies of a device and their kind whose bytes the capture says, by device and kind; nothing is summed.
pub fn copied_kinds(trace: &Trace) -> BTreeMap<(DeviceRow, EventKind), u64> {
    let mut found: BTreeMap<(DeviceRow, EventKind), u64> = BTreeMap::new();
    each_copy(trace, |device, kind, _, _| *found.entry((device, kind)).or_default() += 1);
    found
}

/// Calls `see` with device, kind, row and bytes of each copy and memory set whose bytes the capture says.
fn each_copy(trace: &Trace, mut see: impl FnMut(DeviceRow, EventKind, usize, u64)) {
    for track in trace.device_tracks().filter(|track| track.kind != TrackKind::Derived) {
        let Some(device) = track.device else { continue };
        for row in track.rows.clone().map(|row| row as usize) {
            let kind = trace.events.kind(row);
            let moved = (kind.is_copy() || kind == EventKind::Memset).then(|| trace.transfer(row)).flatten();
            if let Some(moved) = moved.filter(|moved| moved.bytes > 0) {
                see(DeviceRow(device), kind, row, moved.bytes);
            }
        }
    }
}

/// The rate of copies by device and kind.
#[derive(Debug, Default)]
pub struct CopyRates(pub Vec<CopyRate>);

impl Shared for CopyRates {
    fn make(analysis: &Analysis<'_>) -> CopyRates {
        let events = &analysis.trace.events;
        let mut found: BTreeMap<(DeviceRow, EventKind), Moved> = BTreeMap::new();
        each_copy(analysis.trace, |device, kind, row, moved| {
            let (start, ns) = (events.start_ns[row], events.dur_ns[row].max(1));
            let (bytes, stretches) = found.entry((device, kind)).or_default();
            *bytes = bytes.saturating_add(moved);
            stretches.push((start, start.saturating_add(ns), moved as f64 / ns as f64 * 1e9));
        });
        let rate = |((device, kind), (bytes, stretches)): ((DeviceRow, EventKind), Moved)| CopyRate {
            device,
            kind,
            copies: stretches.len() as u64,
            bytes,
            rate: Line::sum_of(&stretches),
        };
        CopyRates(found.into_iter().map(rate).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prepared;
    use crate::random::random;

    fn analyzed<T>(text: &str, ask: impl FnOnce(&Trace, &Analysis<'_>) -> T) -> T {
        let trace = ridge_test::trace(text);
        ask(&trace, &Prepared::with_sheets(&trace).analysis(&trace, &[]))
    }

    fn all(line: &Line) -> Vec<(i64, f64)> {
        let mut changes = Vec::new();
        line.each(i64::MIN, i64::MAX, |time, value| changes.push((time, value)));
        changes
    }

    #[test]
    fn work_waits_from_its_call_to_its_start() {
        let text = "thread python
               0 +2 launch launch id=1
               2 +2 launch launch id=2
               4 +2 graph launch id=3
             stream 1 on gpu
               10 +10 a id=1
               20 +10 b id=2
               40 +10 c id=3
               50 +10 d id=3
               60 +10 unlinked
             stream 2 on gpu
               1 +1 alone";
        analyzed(text, |_, analysis| {
            let StreamQueues(found) = analysis.get();
            assert_eq!(found.len(), 1);
            let changes = [(0, 1.0), (2, 2.0), (4, 4.0), (10, 3.0), (20, 2.0), (40, 1.0), (50, 0.0)];
            assert_eq!(all(&found[0].length), changes);
            let mut part = Vec::new();
            found[0].length.each(2, 20, |time, value| part.push((time, value)));
            assert_eq!(part, [(2, 2.0), (4, 4.0), (10, 3.0)]);
            assert_eq!((found[0].launched, found[0].length.most(), found[0].length.ns_from(3.0)), (4, 4.0, 16));
            let QueuedStream { track, device, launched } = queued_streams(analysis.trace)[0];
            assert_eq!((track, device, launched), (found[0].track, found[0].device, found[0].launched));
            assert_eq!(queued_streams(analysis.trace).len(), 1);
        });
    }

    #[test]
    fn rates_of_copies_that_run_together_add_up() {
        let text = "stream 1 on gpu
               0 +10 in h2d bytes=100
               5 +0 short h2d bytes=1
               20 +5 set memset bytes=5
             stream 2 on gpu
               5 +10 in h2d bytes=200
               6 +1 out d2h bytes=1";
        analyzed(text, |_, analysis| {
            let CopyRates(found) = analysis.get();
            let kinds: Vec<EventKind> = found.iter().map(|rate| rate.kind).collect();
            assert_eq!(kinds, [EventKind::CopyHostToDevice, EventKind::CopyDeviceToHost, EventKind::Memset]);
            let named: Vec<(EventKind, u64)> =
                copied_kinds(analysis.trace).into_iter().map(|((_, kind), copies)| (kind, copies)).collect();
            assert_eq!(named, found.iter().map(|rate| (rate.kind, rate.copies)).collect::<Vec<_>>());
            let gbps: Vec<(i64, f64)> =
                all(&found[0].rate).into_iter().map(|(time, rate)| (time, rate / 1e9)).collect();
            assert_eq!(gbps, [(0, 10.0), (5, 31.0), (6, 30.0), (10, 20.0), (15, 0.0)]);
            let mut part = Vec::new();
            found[0].rate.each(7, 15, |time, rate| part.push((time, rate / 1e9)));
            assert_eq!(part, [(7, 30.0), (10, 20.0)]);
        });
    }

    /// By the definition of Holistic Trace Analysis, at each nanosecond.
    #[test]
    fn lines_are_those_of_counting_at_every_moment() {
        for seed in 1..40_u64 {
            let mut random = random(seed);
            let (mut calls, mut text) = (String::new(), String::new());
            for stream in 0..3 {
                text.push_str(&format!("stream {stream} on gpu\n"));
                let mut start = random(30);
                for id in 0..5 {
                    let id = stream * 10 + id + 1;
                    calls.push_str(&format!("thread t{id}\n{} +{} launch launch id={id}\n", random(90), random(12)));
                    let ns = random(9);
                    let what = ["k", "in h2d bytes=8", "out d2h bytes=24", "set memset bytes=4"][random(4) as usize];
                    text.push_str(&format!("{start} +{ns} {what} id={id}\n"));
                    start += 1 + ns + random(20);
                }
            }
            analyzed(&(calls + &text), |trace, analysis| {
                let events = &trace.events;
                let at = |line: &Line, time: i64| {
                    let mut value = 0.0;
                    line.each(time, time, |_, held| value = held);
                    value
                };
                for queue in &analysis.get::<StreamQueues>().0 {
                    for time in -1..200 {
                        let rows = trace.tracks[queue.track.index()].rows.clone().map(|row| row as usize);
                        let waits = |row: &usize| {
                            events.start_ns[events.link[*row] as usize] <= time && time < events.start_ns[*row]
                        };
                        assert_eq!(at(&queue.length, time), rows.filter(waits).count() as f64, "seed {seed} at {time}");
                    }
                }
                for rate in &analysis.get::<CopyRates>().0 {
                    for time in -1..200 {
                        let goes = |row: &usize| {
                            let ends = events.start_ns[*row] + events.dur_ns[*row].max(1);
                            events.kind(*row) == rate.kind && events.start_ns[*row] <= time && time < ends
                        };
                        let speed = |row: usize| {
                            trace.transfer(row).map_or(0, |moved| moved.bytes) as f64 / events.dur_ns[row].max(1) as f64
                                * 1e9
                        };
                        let expected: f64 = (0..events.len()).filter(goes).map(speed).sum();
                        assert!((at(&rate.rate, time) - expected).abs() < 1e-3, "seed {seed} at {time}");
                    }
                }
            });
        }
    }
}
