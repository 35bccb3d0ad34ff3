//! The rules: from one gap to its parts, which add up to it exactly.
//!
//! A part is a stretch of the gap with a cause, and what the host did in it where the cause is the host's.
//! The rules are tried in the order of [`Cause`]; `docs/idle.md` states them for users.

use super::cause::Cause;
use super::context::{Awaited, Context};
use super::threads::Cursors;
use ridge_trace::{EventKind, NONE, Trace, Track};
use std::ops::Range;

/// Hand-overs between threads that are followed back from a launch.
const HANDOVERS: usize = 64;
/// Ancestors that are searched for a hand-over.
const ANCESTORS: usize = 256;
/// Rows of a stream that are looked at for the work before.
const LOOK_BACK: usize = 1 << 12;
/// Work of other devices that is looked at for one wait.
const AWAITED: usize = 64;

/// Time in which a device was idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Start, nanoseconds on the trace clock.
    pub start: i64,
    /// End, nanoseconds on the trace clock.
    pub end: i64,
    /// The work whose end began the gap, or [`NONE`] before the first.
    pub prev: u32,
    /// The work that ended the gap, or [`NONE`] after the last.
    pub next: u32,
}

impl Gap {
    /// The gap between the end of `prev` and the start of `next`.
    pub fn between(trace: &Trace, prev: u32, next: u32) -> Gap {
        Gap { start: work_end(trace, prev as usize), end: trace.events.start_ns[next as usize], prev, next }
    }

    /// Its length, nanoseconds.
    pub fn length(&self) -> i64 {
        self.end.saturating_sub(self.start)
    }
}

/// When the work at `row` ended; a negative duration is a broken capture's and counts as none.
#[inline]
pub(crate) fn work_end(trace: &Trace, row: usize) -> i64 {
    trace.events.end_ns(row).max(trace.events.start_ns[row])
}

/// What the host did in a part of a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Doing {
    /// Nothing that was recorded, or the cause is not the host's.
    Nothing,
    /// One thread had handed over and the next had not begun this event.
    HandOver(u32),
    /// This event was the innermost.
    Event(u32),
}

impl Doing {
    /// The event it names.
    pub(crate) fn row(self) -> Option<u32> {
        match self {
            Doing::Nothing => None,
            Doing::HandOver(row) | Doing::Event(row) => Some(row),
        }
    }
}

/// A stretch of a gap with one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// Why the device was idle.
    pub(crate) cause: Cause,
    /// Why, were this between two pieces of work: before the first and after the last of a device something was late, too.
    pub(crate) inner: Cause,
    /// What the host did, or the event that explains the wait.
    pub(crate) doing: Doing,
    /// When it begins, nanoseconds on the trace clock.
    pub(crate) start: i64,
    /// Length, nanoseconds; positive.
    pub(crate) ns: i64,
}

/// The call that launched a piece of work.
#[derive(Debug, Clone, Copy)]
struct Launch {
    row: u32,
    thread: usize,
    start: i64,
    end: i64,
}

/// Attributes gaps one after another; room to work in is kept between them.
#[derive(Debug)]
pub(crate) struct Attributor<'t> {
    trace: &'t Trace,
    context: &'t Context,
    device: u32,
    process: u32,
    cursors: Cursors,
    tracks: Vec<&'t Track>,
    /// Whether its process has other devices.
    has_peers: bool,
    /// The profiler's own time in its process.
    overhead: &'t [(i64, i64, u32)],
    /// How long a wait for launched work is ordinary, nanoseconds.
    ordinary_ns: Option<i64>,
    /// The thread that launched last.
    launcher: usize,
    parts: Vec<Part>,
    uncovered: Vec<(i64, i64)>,
    /// Threads of its process, those with most recorded first.
    others: &'t [usize],
    /// Parts of which nothing is known yet, while they are cut by what other threads did.
    unexplained: Vec<Part>,
}

impl<'t> Attributor<'t> {
    /// An attributor for the gaps of `device`, fastest for gaps in order of time.
    pub(crate) fn new(trace: &'t Trace, context: &'t Context, device: u32) -> Attributor<'t> {
        let process = trace.devices[device as usize].process;
        let mut tracks: Vec<&Track> = trace.tracks_of_device(device).filter(|track| !track.rows.is_empty()).collect();
        tracks.sort_by_key(|track| track.rows.start);
        let cursors = context.threads.cursors();
        let has_peers = trace.devices.iter().filter(|other| other.process == process).nth(1).is_some();
        Attributor {
            trace,
            context,
            device,
            process,
            cursors,
            tracks,
            has_peers,
            overhead: context.overhead(process),
            ordinary_ns: context.latencies[device as usize].map(|latency| latency.ordinary_ns()),
            launcher: 0,
            parts: Vec::new(),
            uncovered: Vec::new(),
            others: context.threads.busiest(process),
            unexplained: Vec::new(),
        }
    }

    /// The parts of `gap` in the order the rules found them; their lengths add up to the gap's.
    pub(crate) fn parts(&mut self, gap: &Gap) -> &[Part] {
        self.parts.clear();
        let mut from = gap.start;
        let first = self.overhead.partition_point(|(_, end, _)| *end <= gap.start);
        for &(start, end, row) in self.overhead[first..].iter().take_while(|(start, _, _)| *start < gap.end) {
            let (start, end) = (start.max(from), end.min(gap.end));
            self.stretch(gap, from, start);
            self.push(Cause::Profiler, Doing::Event(row), start, end);
            from = end;
        }
        self.stretch(gap, from, gap.end);
        let end_of_window = match (gap.prev, gap.next) {
            (NONE, _) => Some(Cause::BeforeFirst),
            (_, NONE) => Some(Cause::AfterLast),
            _ => None,
        };
        self.ask_others();
        if let Some(cause) = end_of_window {
            for part in &mut self.parts {
                part.inner = match part.cause {
                    Cause::AfterLast => Cause::HostLate,
                    _ if cause == Cause::AfterLast => cause,
                    inner => inner,
                };
                part.cause = cause;
            }
        }
        &self.parts
    }

    /// Cuts parts in which the thread at work did nothing recorded by what the other threads of the process did: work may be
    /// handed over unseen, and a wait may be anybody's.
    fn ask_others(&mut self) {
        if self.others.is_empty() || self.parts.iter().all(|part| part.doing != Doing::Nothing) {
            return;
        }
        let Attributor { trace, context, cursors, parts, others, unexplained, .. } = self;
        let threads = &context.threads;
        let mut at = 0;
        while at < parts.len() {
            let part = parts[at];
            at += 1;
            if part.doing != Doing::Nothing {
                continue;
            }
            let mut found = vec![part];
            for &thread in others.iter() {
                if found.iter().all(|part| part.doing != Doing::Nothing) {
                    break;
                }
                for part in &found {
                    let (cause, until) = (part.cause, part.start.saturating_add(part.ns));
                    if part.doing == Doing::Nothing {
                        threads.split(trace, thread, part.start, until, cursors, |row, start, end| {
                            let doing = if row == NONE { Doing::Nothing } else { Doing::Event(row) };
                            push(unexplained, cause, doing, start, end);
                        });
                    } else {
                        unexplained.push(*part);
                    }
                }
                std::mem::swap(&mut found, unexplained);
                unexplained.clear();
            }
            let count = found.len();
            parts.splice(at - 1..at, found);
            at += count - 1;
        }
    }

    fn push(&mut self, cause: Cause, doing: Doing, from: i64, until: i64) {
        push(&mut self.parts, cause, doing, from, until);
    }

    /// Attributes a stretch of `gap` in which the profiler did nothing.
    fn stretch(&mut self, gap: &Gap, from: i64, until: i64) {
        if from >= until {
            return;
        }
        let launched = if gap.next == NONE { gap.prev } else { gap.next };
        let Some(launch) = self.launch_of(launched) else {
            return self.push(Cause::Unknown, Doing::Nothing, from, until);
        };
        if gap.next == NONE {
            return self.host(Cause::AfterLast, launch.thread, from, until);
        }
        if gap.prev != NONE && self.trace.events.link[gap.prev as usize] == launch.row && launch.start <= gap.start {
            return self.inside(launch, from, until);
        }
        let called = launch.start.clamp(from, until);
        let returned = launch.end.clamp(called, until);
        self.late(launch, from, called);
        if self.context.threads.next_start(self.trace, launch.thread, launch.row) >= returned {
            self.push(Cause::LaunchCall, Doing::Event(launch.row), called, returned);
        } else {
            self.host(Cause::LaunchCall, launch.thread, called, returned);
        }
        self.wait(gap, launch, returned, until);
    }

    /// The call that launched the work at `row`.
    fn launch_of(&mut self, row: u32) -> Option<Launch> {
        let events = &self.trace.events;
        let call = events.link[row as usize];
        if call == NONE {
            return None;
        }
        if !self.context.threads.holds(self.launcher, call) {
            self.launcher = self.context.threads.of(call)?;
        }
        let thread = self.launcher;
        Some(Launch { row: call, thread, start: events.start_ns[call as usize], end: events.end_ns(call as usize) })
    }

    /// Between two pieces of work of one launch.
    fn inside(&mut self, launch: Launch, from: i64, until: i64) {
        if self.context.launches_graph(self.trace, launch.row) {
            self.push(Cause::Graph, Doing::Event(launch.row), from, until);
        } else {
            self.host(Cause::Run, launch.thread, from, until);
        }
    }

    /// Before the launch call began: what its thread did, and before that whoever handed the work to the thread.
    fn late(&mut self, launch: Launch, from: i64, until: i64) {
        let (mut thread, mut at, mut until) = (launch.thread, launch.row, until);
        for _ in 0..HANDOVERS {
            if from >= until {
                return;
            }
            let Some((region, began, cause)) = self.handed_over(thread, at, from) else { break };
            let began = began.min(until);
            self.host(Cause::HostLate, thread, began, until);
            let handed = self.trace.events.end_ns(cause as usize).clamp(from, began);
            self.push(Cause::HostLate, Doing::HandOver(region), handed, began);
            let Some(other) = self.context.threads.of(cause) else { return self.none(from, handed) };
            (thread, at, until) = (other, cause, handed);
        }
        self.host(Cause::HostLate, thread, from, until);
    }

    fn none(&mut self, from: i64, until: i64) {
        self.push(Cause::HostLate, Doing::Nothing, from, until);
    }

    /// Where the outermost range around `at` began after `from` because another thread's event caused it or something
    /// inside it: the range caused, when the outermost began, and the cause.
    fn handed_over(&mut self, thread: usize, at: u32, from: i64) -> Option<(u32, i64, u32)> {
        let events = &self.trace.events;
        let beside = self.context.threads.companion(thread);
        let row = match beside {
            Some(other) => {
                self.context.threads.innermost(self.trace, other, events.start_ns[at as usize], &mut self.cursors)?
            }
            None => at,
        };
        let (mut outermost, mut caused) = (row, None);
        let mut next = row;
        for _ in 0..ANCESTORS {
            let cause = events.link[next as usize];
            let is_earlier = cause != NONE && events.start_ns[cause as usize] <= events.start_ns[next as usize];
            if caused.is_none() && is_earlier && self.context.threads.of(cause) != self.context.threads.of(next) {
                caused = Some((next, cause));
            }
            outermost = next;
            next = events.parent[next as usize];
            if next == NONE {
                break;
            }
        }
        let (region, cause) = caused?;
        let began = events.start_ns[outermost as usize];
        (began > from).then_some((region, began, cause))
    }

    /// Cuts the time by what `thread` did; where it did nothing recorded, by what the thread beside it did.
    fn host(&mut self, cause: Cause, thread: usize, from: i64, until: i64) {
        if from >= until {
            return;
        }
        let Attributor { trace, context, cursors, uncovered, parts, .. } = self;
        let threads = &context.threads;
        let beside = threads.companion(thread);
        threads.split(trace, thread, from, until, cursors, |row, start, end| match row {
            NONE if beside.is_some() => uncovered.push((start, end)),
            NONE => push(parts, cause, Doing::Nothing, start, end),
            row => push(parts, cause, Doing::Event(row), start, end),
        });
        for (start, end) in uncovered.drain(..) {
            let Some(beside) = beside else { break };
            threads.split(trace, beside, start, end, cursors, |row, start, end| {
                let doing = if row == NONE { Doing::Nothing } else { Doing::Event(row) };
                push(parts, cause, doing, start, end);
            });
        }
    }

    /// After the launch call returned and before the work began.
    fn wait(&mut self, gap: &Gap, launch: Launch, from: i64, until: i64) {
        if from >= until {
            return;
        }
        if self.trace.events.kind(gap.next as usize).is_copy() {
            return self.push(Cause::Copy, Doing::Event(launch.row), from, until);
        }
        if let Some(row) = self.gated_by(gap, launch) {
            return self.push(Cause::OtherStream, Doing::Event(row), from, until);
        }
        let ordinary = self.ordinary_ns;
        let (mut from, mut began) = (from, launch.end.max(gap.start));
        if let Some(work) = ordinary.and_then(|ordinary| self.awaited(gap.end, ordinary)) {
            let (start, end) = (work.start.clamp(from, until), work.end.clamp(from, until));
            self.latency(gap, launch, began..start, from, ordinary);
            let is_copy = self.trace.events.kind(work.row as usize).is_copy();
            let cause = if is_copy { Cause::Copy } else { Cause::OtherStream };
            self.push(cause, Doing::Event(work.row), start, end);
            (from, began) = (end, end);
        }
        self.latency(gap, launch, began..until, from, ordinary);
    }

    /// The rest of a `wait` from `from` on: launch latency up to what is ordinary in the capture; more is unknown.
    fn latency(&mut self, gap: &Gap, launch: Launch, wait: Range<i64>, from: i64, ordinary: Option<i64>) {
        let cause = if launch.end <= gap.start { Cause::Queued } else { Cause::LaunchLatency };
        let limit = ordinary.map_or(wait.end, |ordinary| wait.start.saturating_add(ordinary));
        let limit = limit.clamp(from, wait.end.max(from));
        self.push(cause, Doing::Event(launch.row), from, limit);
        self.push(Cause::Unknown, Doing::Nothing, limit, wait.end);
    }

    /// The wait for an event that the next work's stream was told of between the launch of its work before and this one's.
    ///
    /// The device did nothing in the gap, so of its own work only another stream's that began the gap can have been waited
    /// for; other devices' can be at any time.
    fn gated_by(&self, gap: &Gap, launch: Launch) -> Option<u32> {
        if !self.context.any_stream_waits() {
            return None;
        }
        let events = &self.trace.events;
        let track = self.tracks[self.tracks.partition_point(|track| track.rows.start <= gap.next).checked_sub(1)?];
        let wait = self.context.stream_wait_before(self.trace, track, launch.start)?;
        let other_work = self.has_peers || !track.rows.contains(&gap.prev);
        let before = self.work_before(track, gap.next)?;
        // What has no launch in the capture was launched before it.
        let is_later = before.is_none_or(|row| {
            let call = events.link[row as usize];
            call == NONE || events.start_ns[call as usize] < events.start_ns[wait as usize]
        });
        (other_work && is_later).then_some(wait)
    }

    /// The work before `next` on its stream, `Some(None)` where it is the first; `None` where it is too far to look for.
    fn work_before(&self, track: &Track, next: u32) -> Option<Option<u32>> {
        let is_work = |row: &u32| EventKind::from_byte_is_work(self.trace.events.kind[*row as usize]);
        let found = (track.rows.start..next).rev().take(LOOK_BACK).find(is_work);
        let is_near = ((next - track.rows.start) as usize) <= LOOK_BACK;
        (found.is_some() || is_near).then_some(found)
    }

    /// A collective of another device, or a copy between devices, that ended within `ordinary` before `time`.
    fn awaited(&self, time: i64, ordinary: i64) -> Option<Awaited> {
        let awaited = &self.context.awaited;
        let after = awaited.partition_point(|work| work.end <= time);
        let recent = awaited[..after].iter().rev().take(AWAITED);
        let recent = recent.take_while(|work| work.end >= time.saturating_sub(ordinary));
        let mut others = recent.filter(|work| work.device != self.device && work.process == self.process);
        others.next().copied()
    }
}

/// Adds a part; one that goes on as the last one did makes it longer.
fn push(parts: &mut Vec<Part>, cause: Cause, doing: Doing, from: i64, until: i64) {
    let ns = until.saturating_sub(from);
    if ns <= 0 {
        return;
    }
    match parts.last_mut() {
        Some(last) if last.cause == cause && last.doing == doing => last.ns = last.ns.saturating_add(ns),
        _ => parts.push(Part { cause, inner: cause, doing, start: from, ns }),
    }
}

/// Time of one gap by cause, nanoseconds.
pub(crate) type ByCause = [i64; Cause::ALL.len()];

/// The parts of one gap by cause.
pub(crate) fn by_cause(parts: &[Part]) -> ByCause {
    let mut sums: ByCause = Default::default();
    for part in parts {
        let sum = &mut sums[part.cause as usize];
        *sum = sum.saturating_add(part.ns);
    }
    sums
}
