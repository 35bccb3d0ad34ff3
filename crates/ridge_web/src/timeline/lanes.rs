//! Lanes: where events of one track overlap, each goes below what it is in or beside.
//!
//! One pass over the track. What a later look at any moment needs beside the sorted starts is kept for every
//! 4096th row: the events that are still open there.

use ridgeline::trace::{Events, NONE};
use std::ops::Range;

/// Lanes of one track; what finds no place shares the last, where only the union of its events is exact.
pub(crate) const MOST_LANES: usize = 250;
/// Rows between two places at which the open events are known.
const BLOCK: u32 = 4096;

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
    pub(crate) fn new(events: &Events, rows: Range<u32>) -> Lanes {
        let mut lanes = Lanes { rows: rows.clone(), count: 1, last_end: None, of_row: Vec::new(), open: Vec::new() };
        // The end of the last event of each lane, and its row.
        let mut last: Vec<(i64, u32)> = vec![(i64::MIN, NONE)];
        for row in rows.clone() {
            let start = events.start_ns[row as usize];
            let end = events.end_ns(row as usize).max(start);
            if (row - rows.start).is_multiple_of(BLOCK) {
                let mut open: Vec<u32> = last.iter().filter(|(end, _)| *end > start).map(|(_, row)| *row).collect();
                open.sort_unstable();
                lanes.open.push(open);
            }
            let lane =
                if last[0].0 <= start && last.len() == 1 { 0 } else { lanes.place(events, row, start, &mut last) };
            if end >= last[lane].0 {
                last[lane] = (end, row);
            }
            if lane > 0 && lanes.of_row.is_empty() {
                lanes.of_row = vec![0; rows.len()];
            }
            if lane > 0 {
                lanes.of_row[(row - rows.start) as usize] = lane as u8;
            }
            lanes.last_end = lanes.last_end.max(Some(end));
        }
        lanes.count = last.len() as u16;
        lanes
    }

    /// The first lane that is free at `start`, below the event that encloses `row`; a new one where none is.
    fn place(&self, events: &Events, row: u32, start: i64, last: &mut Vec<(i64, u32)>) -> usize {
        let parent = events.parent[row as usize];
        let above = if self.rows.contains(&parent) { self.lane(parent) + 1 } else { 0 };
        if let Some(free) = (above..last.len()).find(|lane| last[*lane].0 <= start) {
            return free;
        }
        if last.len() < MOST_LANES {
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
