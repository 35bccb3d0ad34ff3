//! Lanes: where events of one track overlap, each goes below what it is in or beside.
//! On a device's track, annotations and waits have lanes of their own, below those of the work that they are drawn around.
//!
//! One pass over the track. What a later look at any moment needs beside the sorted starts is kept for every
//! 4096th row: the events that are still open there.

use ridgeline::trace::{EventKind, Events, NONE};
use std::ops::Range;

/// Lanes of one track, of work or calls, and of marks; what finds no place shares the last of its own, where only the union
/// of its events is exact.
const MOST_LANES: [usize; 2] = [200, 50];
/// Rows between two places at which the open events are known.
const BLOCK: u32 = 4096;

/// What a track is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrackOf {
    /// Calls of a thread, which annotations are among.
    Host,
    /// Work of a device, which annotations and waits are apart from.
    Device,
}

/// Whether an event on a device's track is no work.
fn is_mark(kind: u8) -> bool {
    const MARKS: [EventKind; 6] = [
        EventKind::Annotation,
        EventKind::Step,
        EventKind::DeviceMemory,
        EventKind::Overhead,
        EventKind::Synchronization,
        EventKind::DeviceRange,
    ];
    MARKS.iter().any(|mark| *mark as u8 == kind)
}

/// The lanes of one track.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// The rows of the track.
    pub(crate) rows: Range<u32>,
    /// How many lanes there are.
    pub(crate) count: u16,
    /// When the last event ends.
    pub(crate) last_end: Option<i64>,
    /// Lane of each row; nothing where all are in the first.
    of_row: Vec<u8>,
    /// Rows that began before each block and end in it or behind it, in order.
    open: Vec<Vec<u32>>,
}

impl Lanes {
    /// The lanes of the events in `rows`, which are sorted by start.
    pub(crate) fn new(events: &Events, rows: Range<u32>, of: TrackOf) -> Lanes {
        let mut lanes = Lanes { rows: rows.clone(), count: 1, last_end: None, of_row: Vec::new(), open: Vec::new() };
        let is_apart = |row: u32| of == TrackOf::Device && is_mark(events.kind[row as usize]);
        // The end of the last event of each lane, and its row: of work, and of marks.
        let mut last: [Vec<(i64, u32)>; 2] = [Vec::new(), Vec::new()];
        for row in rows.clone() {
            let start = events.start_ns[row as usize];
            let end = events.end_ns(row as usize).max(start);
            if (row - rows.start).is_multiple_of(BLOCK) {
                let open = last.iter().flatten().filter(|(end, _)| *end > start);
                let mut open: Vec<u32> = open.map(|(_, row)| *row).collect();
                open.sort_unstable();
                lanes.open.push(open);
            }
            let own = usize::from(is_apart(row));
            let parent = Some(events.parent[row as usize]).filter(|above| rows.contains(above));
            let parent = parent.filter(|above| usize::from(is_apart(*above)) == own);
            let lane = lanes.place(parent, start, &mut last[own], MOST_LANES[own]);
            if end >= last[own][lane].0 {
                last[own][lane] = (end, row);
            }
            if lane > 0 && lanes.of_row.is_empty() {
                lanes.of_row = vec![0; rows.len()];
            }
            if lane > 0 {
                lanes.of_row[(row - rows.start) as usize] = lane as u8;
            }
            lanes.last_end = lanes.last_end.max(Some(end));
        }
        let [work, marks] = last.map(|last| last.len());
        if work > 0 && marks > 0 {
            lanes.of_row.resize(rows.len(), 0);
            let below = rows.clone().zip(&mut lanes.of_row).filter(|(row, _)| is_apart(*row));
            below.for_each(|(_, lane)| *lane += work as u8);
        }
        lanes.count = (work + marks).max(1) as u16;
        lanes
    }

    /// The first lane that is free at `start`, below the event that encloses it; a new one where none is.
    fn place(&self, parent: Option<u32>, start: i64, last: &mut Vec<(i64, u32)>, most: usize) -> usize {
        if last.len() == 1 && last[0].0 <= start {
            return 0;
        }
        let above = parent.map_or(0, |parent| self.lane(parent) + 1);
        if let Some(free) = (above..last.len()).find(|lane| last[*lane].0 <= start) {
            return free;
        }
        if last.len() < most {
            last.push((i64::MIN, NONE));
        }
        last.len() - 1
    }

    /// The lane of `row`.
    #[inline]
    pub(crate) fn lane(&self, row: u32) -> usize {
        self.of_row.get((row - self.rows.start) as usize).map_or(0, |lane| usize::from(*lane))
    }

    /// The rows that began before `time` and end behind it, in order, and the first row that begins at it or later.
    pub(crate) fn at(&self, events: &Events, time: i64) -> (Vec<u32>, u32) {
        let starts = &events.start_ns[self.rows.start as usize..self.rows.end as usize];
        let first = self.rows.start + starts.partition_point(|start| *start < time) as u32;
        if self.rows.is_empty() || first == self.rows.start {
            return (Vec::new(), first);
        }
        let block = (first - 1 - self.rows.start) / BLOCK;
        let begun = self.rows.start + block * BLOCK..first;
        let before = self.open[block as usize].iter().copied().chain(begun);
        (before.filter(|row| events.end_ns(*row as usize) > time).collect(), first)
    }

    /// The rows that have a part in `window`: those that began before it, and the range of those that begin in it.
    pub(crate) fn within(&self, events: &Events, window: &Range<i64>) -> (Vec<u32>, Range<u32>) {
        let (open, first) = self.at(events, window.start);
        let behind = &events.start_ns[first as usize..self.rows.end as usize];
        (open, first..first + behind.partition_point(|start| *start < window.end) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_and_waits_of_a_device_are_below_its_work() {
        let trace = ridge_test::trace(
            "stream 7 on gpu
               0 +100 step range
               10 +20 gemm
               20 +30 overlapping
               35 +4 inner range
               60 +10 wait sync
               60 +20 alone
             thread python
               0 +50 step annotation
               10 +20 call",
        );
        let lanes_of = |track: usize, of| {
            let rows = trace.tracks[track].rows.clone();
            let lanes = Lanes::new(&trace.events, rows.clone(), of);
            let said = rows.map(|row| format!("{} {}", trace.name(row as usize), lanes.lane(row)));
            (lanes.count, said.collect::<Vec<_>>().join(", "))
        };
        let stream = lanes_of(0, TrackOf::Device);
        assert_eq!(stream.0, 4);
        for said in ["step 2", "gemm 0", "overlapping 1", "inner 3", "wait 3", "alone 0"] {
            assert!(stream.1.split(", ").any(|one| one == said), "{said} in {}", stream.1);
        }
        assert_eq!(lanes_of(1, TrackOf::Host), (2, "step 0, call 1".to_owned()));
    }
}
