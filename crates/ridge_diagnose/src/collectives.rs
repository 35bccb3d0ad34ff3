//! Collectives of a capture: which rows of the wall they are, when nothing ran beside them, and how ranks met in them.
//!
//! The same call has the same group and number on every rank; where captures do not count calls, it is the k-th of its
//! group on each. Clocks of ranks are taken as they are: whoever read the captures aligned them.

use crate::case::Case;
use ridge_analysis::{Holds, Spans, kernel_category};
use ridge_trace::{Collective, EventKind, NONE, StringId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

/// What makes rows of the wall: device, operation, name, kind.
type Key = (u32, u32, u32, u8);

/// Collective work of the judged time.
#[derive(Debug, Default)]
pub(crate) struct Exposure {
    /// Rows of the wall that are collectives, with the part in which nothing else ran, nanoseconds; most first.
    pub(crate) rows: Vec<Exposed>,
    /// Time of the devices that collectives have, nanoseconds.
    pub(crate) collective_ns: i64,
    /// The part of it in which nothing else ran, nanoseconds.
    pub(crate) exposed_ns: i64,
    /// Each collective's event, with the time in which nothing else ran, nanoseconds.
    pub(crate) events: Vec<(u32, i64)>,
}

/// A row of the wall that is a collective.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exposed {
    /// Its place.
    pub(crate) at: usize,
    /// How much of its time nothing ran beside it, nanoseconds.
    pub(crate) ns: i64,
    /// The same as a part of the row, 0 to 1.
    pub(crate) part: f32,
}

/// Rows of the wall that are collectives, by what makes them.
fn rows_of_wall(case: &Case<'_>) -> FxHashMap<Key, usize> {
    let named: FxHashSet<u32> =
        case.trace().collectives.iter().filter_map(|row| name_of_event(case.trace(), row.event)).collect();
    let mut found = FxHashMap::default();
    for (at, row) in case.wall().rows.iter().enumerate() {
        let Holds::Work { op, name, kind } = row.holds else { continue };
        let is_one = match case.instruction(op) {
            Some((module, id, instruction)) => {
                let is_call = &*instruction.opcode == "custom-call";
                instruction.opcode.is_collective()
                    || module.collective(id).is_some()
                    || (is_call && is_named(case, &named, name, kind))
            }
            None => is_named(case, &named, name, kind),
        };
        if is_one {
            found.insert((row.device.0, op, name.0, kind as u8), at);
        }
    }
    found
}

fn name_of_event(trace: &Trace, row: u32) -> Option<u32> {
    trace.events.name.get(row as usize).copied()
}

fn is_named(case: &Case<'_>, named: &FxHashSet<u32>, name: StringId, kind: EventKind) -> bool {
    kind.is_compute() && (named.contains(&name.0) || kernel_category(case.trace().strings.get(name)) == "collective")
}

/// When collectives ran with nothing beside them, in the judged time.
pub(crate) fn exposure(case: &Case<'_>) -> Exposure {
    let wanted = rows_of_wall(case);
    if wanted.is_empty() {
        return Exposure::default();
    }
    let mut exposed: FxHashMap<usize, i64> = FxHashMap::default();
    let mut events: Vec<(u32, i64)> = Vec::new();
    for device in &case.wall().devices {
        of_device(case, device.device.0, &wanted, |row, at, ns| {
            let sum = exposed.entry(at).or_default();
            *sum = sum.saturating_add(ns);
            events.push((row, ns));
        });
    }
    let wall = case.wall();
    let mut rows: Vec<Exposed> = (exposed.into_iter())
        .filter_map(|(at, ns)| {
            let whole = wall.rows.get(at)?.ns;
            // Where two collectives ran at once the wall has given half of the moment to each.
            let ns = ns.clamp(0, whole);
            (whole > 0).then(|| Exposed { at, ns, part: (ns as f64 / whole as f64) as f32 })
        })
        .collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.ns), row.at));
    let collective_ns =
        wanted.values().filter_map(|at| wall.rows.get(*at)).fold(0_i64, |sum, row| sum.saturating_add(row.ns));
    let exposed_ns = rows.iter().fold(0_i64, |sum, row| sum.saturating_add(row.ns));
    Exposure { rows, collective_ns, exposed_ns, events }
}

fn of_device(case: &Case<'_>, device: u32, wanted: &FxHashMap<Key, usize>, mut found: impl FnMut(u32, usize, i64)) {
    let (trace, events) = (case.trace(), &case.trace().events);
    let Some(process) = trace.devices.get(device as usize).map(|device| device.process as usize) else { return };
    let Some(frame) = case.frame().spans.get(process) else { return };
    let rows = || trace.tracks_of_device(device).flat_map(|track| track.rows.clone()).map(|row| row as usize);
    let work = || rows().filter(|row| EventKind::from_byte_is_work(events.kind[*row]));
    // A loop holds what runs in it and does nothing beside it.
    let holders: FxHashSet<u32> = work().map(|row| events.parent[row]).filter(|parent| *parent != NONE).collect();
    let place = |row: usize| wanted.get(&(device, events.op[row], events.name[row], events.kind[row])).copied();
    let others = work().filter(|row| place(*row).is_none() && !holders.contains(&(*row as u32)));
    let others = Spans::of(others.map(|row| (events.start_ns[row], events.end_ns(row))));
    let alone = frame.without(&others);
    for row in work() {
        if let Some(at) = place(row) {
            found(row as u32, at, alone.within_ns(events.start_ns[row], events.end_ns(row)));
        }
    }
}

/// One rank's part in a collective.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    /// Row of the processes table.
    pub(crate) process: u32,
    /// What is known of it.
    pub(crate) collective: &'a Collective,
    /// When it began, nanoseconds on the trace clock.
    pub(crate) start_ns: i64,
    /// How long it took, nanoseconds.
    pub(crate) dur_ns: i64,
}

/// A collective that several ranks were captured in.
#[derive(Debug, Clone)]
pub(crate) struct Meeting<'a> {
    /// The parts, one for each rank, in order of start.
    pub(crate) parts: Vec<Part<'a>>,
}

impl<'a> Meeting<'a> {
    /// The part that began last.
    pub(crate) fn last(&self) -> Option<&Part<'a>> {
        self.parts.last()
    }

    /// How long `part` waited for the last rank, nanoseconds: never longer than it took.
    pub(crate) fn wait_ns(&self, part: &Part<'_>) -> i64 {
        let last = self.last().map_or(part.start_ns, |last| last.start_ns);
        last.saturating_sub(part.start_ns).clamp(0, part.dur_ns.max(0))
    }
}

/// What one call has on every rank: its group, its number, and which of the call's kernels it is.
type Call = (StringId, u64, u32);

/// Collectives that several ranks were captured in, each in the judged time of all of them.
pub(crate) fn meetings<'a>(case: &Case<'a>) -> Vec<Meeting<'a>> {
    let trace = case.trace();
    let mut found: FxHashMap<Call, Vec<Part<'a>>> = FxHashMap::default();
    let mut again: FxHashMap<(u32, StringId, Option<u64>), u32> = FxHashMap::default();
    for part in parts(trace) {
        let Collective { group, sequence, .. } = *part.collective;
        let times = again.entry((part.process, group, sequence)).or_default();
        *times += 1;
        let call = match sequence {
            Some(sequence) => (group, sequence, *times),
            None => (group, u64::MAX, *times),
        };
        found.entry(call).or_default().push(part);
    }
    let frame = |part: &Part<'_>| {
        case.frame().spans.get(part.process as usize).is_some_and(|spans| spans.contains(part.start_ns))
    };
    let mut all: Vec<Meeting<'a>> = (found.into_values())
        .filter(|parts| parts.len() > 1 && parts.iter().all(frame))
        .map(|mut parts| {
            parts.sort_by_key(|part| (part.start_ns, part.process));
            Meeting { parts }
        })
        .collect();
    all.sort_by_key(|meeting| meeting.parts.first().map(|part| (part.start_ns, part.collective.event)));
    all
}

/// The parts of all ranks, in order of start.
pub(crate) fn parts(trace: &Trace) -> Vec<Part<'_>> {
    let tracks: Vec<(u32, u32)> = trace.tracks.iter().map(|track| (track.rows.start, track.process)).collect();
    let mut parts: Vec<Part<'_>> = (trace.collectives.iter())
        .filter_map(|collective| {
            let at = tracks.partition_point(|(first, _)| *first <= collective.event).checked_sub(1)?;
            let row = collective.event as usize;
            let (start_ns, dur_ns) = (*trace.events.start_ns.get(row)?, *trace.events.dur_ns.get(row)?);
            Some(Part { process: tracks[at].1, collective, start_ns, dur_ns })
        })
        .collect();
    parts.sort_by_key(|part| (part.start_ns, part.collective.event));
    parts
}

/// What a process is called: its rank, or its position.
pub(crate) fn rank_of(trace: &Trace, process: u32) -> u32 {
    trace.processes.get(process as usize).and_then(|found| found.rank).unwrap_or(process)
}

/// The time of events as parts of their rows of the wall: `ns` of the event at each row.
pub(crate) fn claim_of(case: &Case<'_>, events: impl IntoIterator<Item = (u32, i64)>) -> Vec<(usize, f32)> {
    let trace = case.trace();
    let rows = case.wall().rows.iter().enumerate().filter_map(|(at, row)| match row.holds {
        Holds::Work { op, name, kind } => Some(((row.device.0, op, name.0, kind as u8), at)),
        Holds::Idle { .. } => None,
    });
    let places: FxHashMap<Key, usize> = rows.collect();
    let tracks: Vec<(u32, Option<u32>)> = trace.tracks.iter().map(|track| (track.rows.start, track.device)).collect();
    let mut sums: FxHashMap<usize, i64> = FxHashMap::default();
    for (row, ns) in events {
        let Some(at) = tracks.partition_point(|(first, _)| *first <= row).checked_sub(1) else { continue };
        let Some(device) = tracks[at].1 else { continue };
        let columns = &trace.events;
        let Some(op) = columns.op.get(row as usize) else { continue };
        let key = (device, *op, columns.name[row as usize], columns.kind[row as usize]);
        if let Some(at) = places.get(&key) {
            let sum = sums.entry(*at).or_default();
            *sum = sum.saturating_add(ns);
        }
    }
    let part = |(at, ns): (usize, i64)| {
        let whole = case.wall().rows.get(at).map_or(0, |row| row.ns);
        (whole > 0 && ns > 0).then(|| (at, (ns as f64 / whole as f64).min(1.0) as f32))
    };
    let mut claim: Vec<(usize, f32)> = sums.into_iter().filter_map(part).collect();
    claim.sort_by_key(|(at, _)| *at);
    claim
}
