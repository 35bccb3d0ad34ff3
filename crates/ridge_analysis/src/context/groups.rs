//! Device work in its finest groups: like events of one operation on one device.

use crate::context::places::Places;
use crate::context::stretches::stretches;
use rayon::prelude::*;
use ridge_trace::{Attribution, EventKind, Events, NONE, Trace, Track, TrackKind};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Events below this are grouped on one thread: starting others costs more.
pub(crate) const PARALLEL_EVENTS: usize = 1 << 16;
/// Rows of a stream that are walked by one task.
const STRETCH: u32 = 1 << 17;

/// What makes events alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    op: u32,
    name: u32,
    detail: u32,
    kind: u8,
    attribution: u8,
}

impl Key {
    /// That of the event at `row`.
    pub(crate) fn of(events: &Events, row: usize) -> Key {
        let (op, name, detail) = (events.op[row], events.name[row], events.detail[row]);
        Key { op, name, detail, kind: events.kind[row], attribution: events.attribution[row] }
    }
}

/// Like events of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Row of the devices table.
    pub device: u32,
    /// Row of the operations table, or [`NONE`].
    pub op: u32,
    /// String id of the event name.
    pub name: u32,
    /// Row of the launch shapes or transfers, or [`NONE`].
    pub detail: u32,
    /// What the events are.
    pub kind: EventKind,
    /// How their operation is known.
    pub attribution: Attribution,
    /// Sum of durations, nanoseconds.
    pub total_ns: i64,
    /// Sum of durations less what ran nested inside, nanoseconds.
    pub self_ns: i64,
    events: u64,
    /// Its position among the groups.
    pub(crate) index: usize,
}

/// All device work, grouped.
#[derive(Debug, Clone, Default)]
pub struct WorkGroups {
    /// The groups, in the order they first appear.
    pub groups: Vec<Group>,
    total_self_ns: i64,
}

/// Sums over like events of one stretch.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    events: u64,
    total_ns: i64,
    self_ns: i64,
}

impl WorkGroups {
    /// Groups the device work of `trace`.
    pub fn new(trace: &Trace) -> WorkGroups {
        let add = |sums: &mut Sums, row: usize, inside_ns: i64| {
            let ns = trace.events.dur_ns[row];
            sums.events += 1;
            sums.total_ns = sums.total_ns.saturating_add(ns);
            sums.self_ns = sums.self_ns.saturating_add(ns.saturating_sub(inside_ns).max(0));
        };
        let grouped = grouped(trace, Nested::Measured, add).into_iter().enumerate();
        let groups: Vec<Group> = grouped.map(|(index, (key, sums))| Group::new(key, index, &sums)).collect();
        let total_self_ns = groups.iter().fold(0_i64, |sum, group| sum.saturating_add(group.self_ns));
        WorkGroups { groups, total_self_ns }
    }

    /// Sum of self times over all groups, nanoseconds.
    pub fn total_self_ns(&self) -> i64 {
        self.total_self_ns
    }
}

impl Group {
    fn new((device, key): (u32, Key), index: usize, sums: &[Sums]) -> Group {
        let sum = |of: fn(&Sums) -> i64| sums.iter().fold(0_i64, |sum, part| sum.saturating_add(of(part)));
        Group {
            device,
            op: key.op,
            name: key.name,
            detail: key.detail,
            kind: EventKind::from_byte(key.kind),
            attribution: Attribution::from_byte(key.attribution),
            total_ns: sum(|part| part.total_ns),
            self_ns: sum(|part| part.self_ns),
            events: sums.iter().map(|part| part.events).sum(),
            index,
        }
    }

    /// What its events have in common beside the device.
    pub(crate) fn key(&self) -> Key {
        let (kind, attribution) = (self.kind as u8, self.attribution as u8);
        Key { op: self.op, name: self.name, detail: self.detail, kind, attribution }
    }

    /// How many events it has.
    pub fn count(&self) -> u64 {
        self.events
    }
}

/// Whether it is asked how long other work ran inside an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nested {
    Measured,
    Ignored,
}

/// The groups of a trace in order of first appearance, each with what `add` made of its events: one value per stretch of
/// events that holds any, in order.
///
/// `add` has an event's row and, where it is asked for, the time that ran inside it, nanoseconds.
pub(crate) fn grouped<T: Default + Send>(
    trace: &Trace,
    nested: Nested,
    add: impl Fn(&mut T, usize, i64) + Sync,
) -> Vec<((u32, Key), Vec<T>)> {
    let tracks: Vec<&Track> = trace.device_tracks().filter(|track| !track.rows.is_empty()).collect();
    let events: usize = tracks.iter().map(|track| track.rows.len()).sum();
    let pieces: Vec<(&Track, Range<u32>)> = tracks.iter().flat_map(|track| cut(track)).collect();
    let walk = |(track, rows): &(&Track, Range<u32>)| walk(trace, track, rows.clone(), nested, &add);
    let walked: Vec<Vec<(Key, T)>> = if events >= PARALLEL_EVENTS {
        pieces.par_iter().map(walk).collect()
    } else {
        pieces.iter().map(walk).collect()
    };
    let mut places: FxHashMap<(u32, Key), usize> = FxHashMap::default();
    let mut joined: Vec<((u32, Key), Vec<T>)> = Vec::new();
    for ((track, _), found) in pieces.iter().zip(walked) {
        for (key, value) in found {
            let key = (track.device.unwrap_or(NONE), key);
            let place = *places.entry(key).or_insert(joined.len());
            if place == joined.len() {
                joined.push((key, Vec::new()));
            }
            joined[place].1.push(value);
        }
    }
    joined
}

/// Long tracks are cut so that one stream keeps all cores busy.
fn cut<'t>(track: &&'t Track) -> Vec<(&'t Track, Range<u32>)> {
    // A lane's self times need all of it at once.
    if track.kind == TrackKind::OperationLane {
        return vec![(*track, track.rows.clone())];
    }
    stretches(track.rows.clone(), STRETCH).map(|rows| (*track, rows)).collect()
}

/// The keys of one stretch of a track in order of first appearance, with what `add` made of their events.
fn walk<T: Default>(
    trace: &Trace,
    track: &Track,
    rows: Range<u32>,
    nested: Nested,
    add: &impl Fn(&mut T, usize, i64),
) -> Vec<(Key, T)> {
    let events = &trace.events;
    let is_nested = nested == Nested::Measured && track.kind == TrackKind::OperationLane;
    let inside = if is_nested { time_inside(trace, &rows) } else { Vec::new() };
    let mut found: Vec<(Key, T)> = Vec::new();
    let mut places: Places<Key> = Places::default();
    for row in rows.start as usize..rows.end as usize {
        let kind = events.kind[row];
        if !EventKind::from_byte_is_work(kind) {
            continue;
        }
        let key = Key::of(events, row);
        let place = places.of(key);
        if place == found.len() {
            found.push((key, T::default()));
        }
        add(&mut found[place].1, row, inside.get(row - rows.start as usize).copied().unwrap_or(0));
    }
    found
}

/// Time that ran directly inside each row of a lane, nanoseconds.
pub(crate) fn time_inside(trace: &Trace, rows: &Range<u32>) -> Vec<i64> {
    let events = &trace.events;
    let mut inside = vec![0; rows.len()];
    for row in rows.clone() {
        let parent = events.parent[row as usize];
        if rows.contains(&parent) {
            inside[(parent - rows.start) as usize] += events.dur_ns[row as usize];
        }
    }
    inside
}
