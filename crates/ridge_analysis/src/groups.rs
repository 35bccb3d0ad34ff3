//! Device work in its finest groups: like events of one operation on one device, with their durations sorted.

use crate::executions::Executions;
use rayon::prelude::*;
use ridge_trace::{Attribution, EventKind, NONE, Trace, Track, TrackKind};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Events below this are grouped on one thread: starting others costs more.
const PARALLEL_EVENTS: usize = 1 << 16;

/// What makes events alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    op: u32,
    name: u32,
    detail: u32,
    kind: u8,
    attribution: u8,
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
    index: usize,
}

/// All device work, grouped.
#[derive(Debug, Clone, Default)]
pub struct WorkGroups {
    /// The groups, in the order they first appear.
    pub groups: Vec<Group>,
    /// Times each operation was executed.
    pub executions: Executions,
    durations: Vec<Vec<i64>>,
    total_self_ns: i64,
}

impl WorkGroups {
    /// Groups the device work of `trace`.
    pub fn new(trace: &Trace) -> WorkGroups {
        let tracks: Vec<&Track> = trace.device_tracks().filter(|track| !track.rows.is_empty()).collect();
        let events: usize = tracks.iter().map(|track| track.rows.len()).sum();
        // Long tracks are cut so that one stream keeps all cores busy.
        let pieces: Vec<(&Track, Range<u32>)> = tracks.iter().flat_map(|track| cut(track)).collect();
        let walk = |(track, rows): &(&Track, Range<u32>)| Piece::walk(trace, track, rows.clone());
        let walked: Vec<Piece> = if events >= PARALLEL_EVENTS {
            pieces.par_iter().map(walk).collect()
        } else {
            pieces.iter().map(walk).collect()
        };
        let sorted = |parallel: bool| {
            let mut joined = join(&pieces, walked);
            let sort = |(_, durations): &mut (Group, Vec<i64>)| durations.sort_unstable();
            if parallel {
                joined.par_iter_mut().for_each(sort)
            } else {
                joined.iter_mut().for_each(sort)
            }
            joined
        };
        let count = || Executions::count(trace, &tracks);
        let (executions, joined) =
            if events >= PARALLEL_EVENTS { rayon::join(count, || sorted(true)) } else { (count(), sorted(false)) };
        let (groups, durations): (Vec<Group>, _) = joined.into_iter().unzip();
        let total_self_ns = groups.iter().fold(0_i64, |sum, group| sum.saturating_add(group.self_ns));
        WorkGroups { groups, executions, durations, total_self_ns }
    }

    /// The durations of a group's events, sorted, nanoseconds.
    pub fn durations(&self, group: &Group) -> &[i64] {
        &self.durations[group.index]
    }

    /// Sum of self times over all groups, nanoseconds.
    pub fn total_self_ns(&self) -> i64 {
        self.total_self_ns
    }
}

fn cut<'t>(track: &&'t Track) -> Vec<(&'t Track, Range<u32>)> {
    const PIECE: u32 = 1 << 18;
    // A lane's self times need all of it at once.
    if track.kind == TrackKind::OperationLane {
        return vec![(*track, track.rows.clone())];
    }
    let starts = track.rows.clone().step_by(PIECE as usize);
    starts.map(|start| (*track, start..(start + PIECE).min(track.rows.end))).collect()
}

/// The groups of one stretch of a track.
#[derive(Debug, Default)]
struct Piece {
    keys: Vec<Key>,
    durations: Vec<Vec<i64>>,
    self_ns: Vec<i64>,
}

impl Piece {
    fn walk(trace: &Trace, track: &Track, rows: Range<u32>) -> Piece {
        let events = &trace.events;
        let nested = track.kind == TrackKind::OperationLane;
        let inside = if nested { time_inside(trace, &rows) } else { Vec::new() };
        let mut piece = Piece::default();
        let mut ids: FxHashMap<Key, u32> = FxHashMap::default();
        let mut last_key: Option<(Key, u32)> = None;
        for row in rows.clone() {
            let at = row as usize;
            let kind = events.kind[at];
            if !EventKind::from_byte_is_work(kind) {
                continue;
            }
            let (op, name) = (events.op[at], events.name[at]);
            let key = Key { op, name, detail: events.detail[at], kind, attribution: events.attribution[at] };
            let id = match last_key {
                Some((known, id)) if known == key => id,
                _ => *ids.entry(key).or_insert_with(|| {
                    piece.keys.push(key);
                    piece.durations.push(Vec::new());
                    piece.self_ns.push(0);
                    piece.keys.len() as u32 - 1
                }),
            };
            last_key = Some((key, id));
            let dur = events.dur_ns[at];
            piece.durations[id as usize].push(dur);
            let within = if nested { inside[(row - rows.start) as usize] } else { 0 };
            let own = &mut piece.self_ns[id as usize];
            *own = own.saturating_add(dur.saturating_sub(within).max(0));
        }
        piece
    }
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

/// Puts the pieces' groups together by device and key, in order of first appearance.
fn join(pieces: &[(&Track, Range<u32>)], walked: Vec<Piece>) -> Vec<(Group, Vec<i64>)> {
    let mut ids: FxHashMap<(u32, Key), usize> = FxHashMap::default();
    let mut joined: Vec<(Group, Vec<i64>)> = Vec::new();
    for ((track, _), piece) in pieces.iter().zip(walked) {
        let device = track.device.unwrap_or(NONE);
        for ((key, durations), self_ns) in piece.keys.into_iter().zip(piece.durations).zip(piece.self_ns) {
            let total_ns = durations.iter().fold(0_i64, |sum, dur| sum.saturating_add(*dur));
            let at = *ids.entry((device, key)).or_insert(joined.len());
            if at == joined.len() {
                joined.push((Group::empty(device, key, at), durations));
            } else {
                joined[at].1.extend_from_slice(&durations);
            }
            joined[at].0.events = joined[at].1.len() as u64;
            joined[at].0.total_ns = joined[at].0.total_ns.saturating_add(total_ns);
            joined[at].0.self_ns = joined[at].0.self_ns.saturating_add(self_ns);
        }
    }
    joined
}

impl Group {
    fn empty(device: u32, key: Key, index: usize) -> Group {
        Group {
            device,
            op: key.op,
            name: key.name,
            detail: key.detail,
            kind: EventKind::from_byte(key.kind),
            attribution: Attribution::from_byte(key.attribution),
            total_ns: 0,
            self_ns: 0,
            events: 0,
            index,
        }
    }

    /// How many events it has.
    pub fn count(&self) -> u64 {
        self.events
    }
}
