//! The operations of a CPU device, and what a TPU does beside its operations, on lanes: each lane nests, and sums mean
//! what they do on a GPU stream.
//!
//! An operation goes under a loop, call or conditional of its own execution that holds it in time; else beside what
//! runs at the same moment. Time on a lane is therefore counted once, and self times add up.

use super::collectives::collective;
use super::host::Thunk;
use crate::import::Import;
use ridge_trace::{Attribution, Collective, NONE, Operation, TrackKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// An operation being placed.
#[derive(Debug, Clone, Copy)]
struct Placed {
    row: u32,
    start: i64,
    end: i64,
    run_id: u64,
    is_container: bool,
}

/// Moves thunks from the threads they ran on to lanes of their devices.
pub(crate) fn place(thunks: &[Thunk], process: u32, import: &mut Import) {
    let mut by_device: BTreeMap<u32, Vec<Placed>> = BTreeMap::new();
    for thunk in thunks {
        let slices = import.builder.slices(thunk.row..thunk.row + 1);
        let (start, dur, op) = (slices.start_ns[0], slices.dur_ns[0], slices.op[0]);
        slices.attribution[0] = Attribution::ByStat as u8;
        let is_container = import.builder.operations.get(op as usize).is_some_and(|op| is_container(op, import));
        let placed =
            Placed { row: thunk.row, start, end: start.saturating_add(dur), run_id: thunk.run_id, is_container };
        by_device.entry(thunk.device_ordinal).or_default().push(placed);
    }
    let is_alone = by_device.len() == 1;
    for (ordinal, mut thunks) in by_device {
        thunks.sort_by_key(|thunk| (thunk.start, std::cmp::Reverse(thunk.end)));
        let device = import.builder.device(process, &format!("/device:CPU:{ordinal}"));
        let mut lanes = Lanes::default();
        let mut tracks: Vec<u32> = Vec::new();
        for thunk in thunks {
            let lane = lanes.lane_for(thunk);
            if lane == tracks.len() {
                let name = format!("XLA operations, lane {lane}");
                let kind = TrackKind::OperationLane;
                tracks.push(import.builder.add_track(process, Some(device), kind, &name, lane as i64));
            }
            import.builder.move_row(thunk.row, tracks[lane]);
        }
    }
    if is_alone {
        list_collectives(thunks, import);
    }
}

/// Lists the collectives of a process that runs one device: with more of them, parts of one call would count as calls.
fn list_collectives(thunks: &[Thunk], import: &mut Import) {
    let mut known: FxHashMap<u32, Option<Collective>> = FxHashMap::default();
    for thunk in thunks {
        let op = import.builder.slices(thunk.row..thunk.row + 1).op[0];
        let found = *known.entry(op).or_insert_with(|| collective(op, import));
        import.builder.collectives.extend(found.map(|found| Collective { event: thunk.row, ..found }));
    }
}

/// Moves rows of `track` that run at the same time as others of it to lanes beside it.
pub(crate) fn spread(rows: Range<u32>, track: u32, import: &mut Import) {
    let slices = import.builder.slices(rows.clone());
    let placed = rows.enumerate().map(|(at, row)| {
        let start = slices.start_ns[at];
        Placed { row, start, end: start.saturating_add(slices.dur_ns[at]), run_id: 0, is_container: false }
    });
    let mut placed: Vec<Placed> = placed.collect();
    placed.sort_by_key(|event| (event.start, std::cmp::Reverse(event.end)));
    let home = import.builder.tracks()[track as usize].clone();
    let name = import.builder.strings.get(home.name).to_owned();
    let mut lanes = Lanes::default();
    let mut tracks = vec![track];
    for event in placed {
        let lane = lanes.lane_for(event);
        if lane == 0 {
            continue;
        }
        if lane == tracks.len() {
            let name = format!("{name}, lane {lane}");
            tracks.push(import.builder.add_track(home.process, home.device, home.kind, &name, home.native_id));
        }
        import.builder.move_row(event.row, tracks[lane]);
    }
}

/// Whether an operation runs other operations: they are part of its time.
fn is_container(op: &Operation, import: &Import) -> bool {
    const CONTAINERS: [&str; 4] = ["while", "conditional", "call", "async-start"];
    let hlo = import.builder.modules.get(op.module as usize).and_then(|module| module.hlo);
    if let Some(hlo) = hlo
        && op.instruction != NONE
    {
        let opcode = &import.hlo[hlo as usize].instructions[op.instruction as usize].opcode;
        return CONTAINERS.iter().any(|name| **name == **opcode);
    }
    let name = import.builder.strings.get(op.name);
    CONTAINERS.iter().any(|container| name.starts_with(container))
}

/// Lanes with what is open on each, innermost last.
#[derive(Debug, Default)]
struct Lanes {
    open: Vec<Vec<Placed>>,
}

impl Lanes {
    /// The first lane where `thunk`, not earlier than any before it, has its place; a new one if there is none.
    fn lane_for(&mut self, thunk: Placed) -> usize {
        for lane in &mut self.open {
            while lane.last().is_some_and(|top| top.end <= thunk.start) {
                lane.pop();
            }
        }
        // Under its own loop first, so that a lane freed by chance does not take it away.
        let nested = self.open.iter().position(|lane| lane.last().is_some_and(|top| holds(top, &thunk)));
        let free = || self.open.iter().position(Vec::is_empty);
        let lane = nested.or_else(free).unwrap_or(self.open.len());
        if lane == self.open.len() {
            self.open.push(Vec::new());
        }
        self.open[lane].push(thunk);
        lane
    }
}

fn holds(outer: &Placed, inner: &Placed) -> bool {
    outer.is_container && outer.run_id == inner.run_id && outer.end >= inner.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(thunks: &[(i64, i64, u64, bool)], expected: &[usize]) {
        let mut lanes = Lanes::default();
        let placed = thunks.iter().map(|&(start, end, run_id, is_container)| {
            lanes.lane_for(Placed { row: 0, start, end, run_id, is_container })
        });
        assert_eq!(placed.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn bodies_go_under_their_loop() {
        check(&[(0, 10, 1, true), (1, 3, 1, false), (4, 9, 1, false), (10, 12, 1, false)], &[0, 0, 0, 0]);
    }

    #[test]
    fn what_runs_at_once_goes_beside() {
        check(&[(0, 10, 1, false), (1, 3, 1, false), (2, 5, 2, false), (4, 6, 1, false)], &[0, 1, 2, 1]);
        check(&[(0, 10, 1, true), (1, 3, 2, false)], &[0, 1]);
    }
}
