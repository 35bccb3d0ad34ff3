//! A stream waits long for something that the capture does not have.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::{CannotTell, Question};
use crate::rule::{Find, Group, Rule};
use crate::words::{count, short};
use ridge_analysis::models::idle::IdlePart;
use ridge_analysis::{Cause, TimeOwner, IdleGaps, Need};
use ridge_table::Subject;
use ridge_trace::{DeviceRow, EventKind, EventRow, NONE, Track, TrackKind};
use ridge_units::Nanos;

pub(crate) static RULE: Rule = Rule {
    id: "unexplained-wait",
    group: Group::Host,
    summary: "Stream waits for work outside the capture",
    document: include_str!("unexplained_wait.md"),
    asks: &[Question::Device, Question::Idle],
    explains: &["blocking-call", "sync-copy", "host-bound-dispatch", "data-loading"],
    needs: &[Need::of::<IdleGaps>()],
    find: Find::Causes(find),
};

/// Below this part of the time nobody would notice.
const LEAST: f64 = 0.01;
/// A wait that is a smaller part of a device's time than this is a hiccup, not a wait for something.
const LONG: f64 = 0.005;
/// A call that lasts this part of a wait waits with the stream.
const VICTIM: f64 = 0.50;

/// The long waits of one device.
#[derive(Debug, Default)]
struct Waits {
    ns: i64,
    longest_ns: i64,
    /// When the longest began and ended, nanoseconds on the trace clock.
    longest: (i64, i64),
    /// The work that it was before.
    next: u32,
    /// Rows of the breakdown with the time of each, nanoseconds.
    held: Vec<(usize, f64)>,
}

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let trace = case.trace();
    let idle = case.analysis.get::<IdleGaps>();
    let mut found = Vec::new();
    for (position, device) in idle.devices.iter().enumerate() {
        let process = trace.devices.get(device.device as usize).map_or(0, |device| device.process);
        let Some(spans) = case.analyzed().spans.get(process as usize) else { continue };
        let least = (LONG * spans.total_ns() as f64) as i64;
        let long = idle.visit(trace, position, least, Vec::new, |long: &mut Vec<(IdlePart, i64)>, gap| {
            let within = |part: &IdlePart| (*part, spans.within_ns(part.start_ns, part.end_ns()));
            long.extend(gap.iter().filter(|part| is_unexplained(case, part)).map(within).filter(|(_, ns)| *ns > least));
        });
        let mut waits = Waits::default();
        for (part, ns) in long.into_iter().flatten() {
            waits.ns = waits.ns.saturating_add(ns);
            let owner = TimeOwner::Idle { cause: part.cause_per(case.analyzed().per), activity: part.activity, name: part.name };
            waits.held.extend(case.breakdown().place(DeviceRow(device.device), owner).map(|at| (at, ns as f64)));
            if ns > waits.longest_ns {
                (waits.longest_ns, waits.longest) = (ns, (part.start_ns, part.end_ns()));
                waits.next = next_work(case, device.device, &part).unwrap_or(NONE);
            }
        }
        if waits.next != NONE && case.share_on(DeviceRow(device.device), waits.ns) >= LEAST {
            found.push(finding(case, device.device, &waits));
        }
    }
    Ok(found)
}

/// Of the idle time that nothing explains, the part whose work had been launched.
///
/// Before a device's first work in a step a copy that has been issued waits for something, too: nothing says for what.
fn is_unexplained(case: &Case<'_>, part: &IdlePart) -> bool {
    let is_launched = |row: EventRow| case.trace().events.link.get(row.index()).is_some_and(|call| *call != NONE);
    match part.cause_per(case.analyzed().per) {
        Cause::Unknown => part.row.is_some_and(is_launched),
        Cause::Copy | Cause::Queued => part.cause == Cause::BeforeFirst,
        _ => false,
    }
}

/// The work that `part` of a gap is before.
fn next_work(case: &Case<'_>, device: u32, part: &IdlePart) -> Option<u32> {
    let (trace, events) = (case.trace(), &case.trace().events);
    if part.cause != Cause::BeforeFirst {
        return part.row.map(|row| row.0);
    }
    let firsts = trace.tracks_of_device(device).filter_map(|track| works(case, track).next());
    firsts.min_by_key(|row| events.start_ns[*row]).map(|row| row as u32)
}

fn finding(case: &Case<'_>, device: u32, waits: &Waits) -> Finding {
    let trace = case.trace();
    let stream = trace.track_of(waits.next);
    let is_first = stream.is_some_and(|stream| works(case, stream).next() == Some(waits.next as usize));
    let what = if is_first { "work from before the capture" } else { "work outside the capture" };
    let message = format!("a stream waits {} for {what}", Nanos(waits.longest_ns));
    let mut finding = Finding::new(message)
        .at(case.line_of_row(trace.events.link[waits.next as usize]))
        .about(Subject::Event(EventRow(waits.next)))
        .number("idle although the next work had been launched long ago", case.per_unit_on(DeviceRow(device), waits.ns));
    let others = stream.map_or(0, |stream| blocked(case, stream, waits));
    if others > 0 {
        let pieces = count(others, "more operation", "more operations");
        finding = finding.fact(format!("{pieces} launched on the stream during the wait couldn't start either"));
    }
    if let Some(victim) = victim(case, device, waits) {
        let name = short(trace.name(victim as usize));
        finding = finding
            .about(Subject::Event(EventRow(victim)))
            .fact(format!("`{name}` waits with the stream: it is a victim, not the cause"))
            .seen_at(Subject::Event(EventRow(victim)));
    }
    finding
        .why("work on a stream starts only after all earlier work is done, and nothing in the capture runs during the wait")
        .help("before you change anything, start the capture earlier and record two steps, so that it contains the work the stream waited for")
        .claims(case.parts_of(waits.held.iter().copied()))
}

/// Rows of the stream's work.
fn works<'c>(case: &Case<'c>, stream: &'c Track) -> impl Iterator<Item = usize> + use<'c> {
    let events = &case.trace().events;
    stream.rows.clone().map(|row| row as usize).filter(|row| EventKind::from_byte_is_work(events.kind[*row]))
}

/// How much of the stream's other work was launched before the wait ended.
fn blocked<'c>(case: &Case<'c>, stream: &'c Track, waits: &Waits) -> u64 {
    let events = &case.trace().events;
    let launched = |row: &usize| {
        let call = events.link[*row];
        call != NONE && events.start_ns[call as usize] < waits.longest.1
    };
    let after = works(case, stream).filter(|row| *row > waits.next as usize);
    after.take_while(launched).count() as u64
}

/// The call of the host that waits with the stream: the shortest that lasts most of the wait.
fn victim(case: &Case<'_>, device: u32, waits: &Waits) -> Option<u32> {
    let trace = case.trace();
    let events = &trace.events;
    let process = trace.devices.get(device as usize)?.process;
    let threads = trace.tracks.iter().filter(|track| track.kind == TrackKind::HostThread && track.process == process);
    let waits_with = |row: &u32| {
        let row = *row as usize;
        let is_call = matches!(events.kind(row), EventKind::Launch | EventKind::HostRange);
        let inside = events.end_ns(row).min(waits.longest.1).saturating_sub(events.start_ns[row].max(waits.longest.0));
        is_call && inside as f64 >= VICTIM * waits.longest_ns as f64
    };
    threads.flat_map(|track| track.rows.clone()).filter(waits_with).min_by_key(|row| events.dur_ns[*row as usize])
}
