//! Use of allocators over time, in stretches of equal length.

use super::allocators::{Allocator, whole};
use ridge_trace::{StringId, Trace};
use rustc_hash::FxHashMap;

/// Points of each line of use over time.
const POINTS: usize = 100;

/// Use of one allocator in one stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Point {
    /// Begin of the stretch, nanoseconds on the trace clock.
    pub time_ns: i64,
    /// Most bytes in use within it.
    pub most: i64,
    /// Bytes in use at its end.
    pub last: i64,
    /// Most bytes held from the driver within it; -1 where unknown.
    pub reserved: i64,
    /// Allocator events within it.
    pub events: u64,
}

impl Allocator {
    /// Use over time in up to 100 equal stretches of its span; a stretch without events holds the last value.
    pub fn line(&self, trace: &Trace) -> Vec<Point> {
        let table = &trace.allocations;
        let (first, last) = self.span_ns(trace);
        let width = (last.saturating_sub(first) / POINTS as i64).saturating_add(1);
        let before =
            self.rows.first().map_or(0, |row| table.in_use_bytes[*row].saturating_sub(table.delta_bytes[*row]));
        let mut now = (before.max(0), -1);
        let mut places = self.rows.iter().peekable();
        let mut points = Vec::with_capacity(POINTS);
        for number in 0..POINTS as i64 {
            let begin = first.saturating_add(width.saturating_mul(number));
            if begin > last {
                break;
            }
            let mut point = Point { time_ns: begin, most: now.0, last: now.0, reserved: now.1, events: 0 };
            while let Some(row) = places.next_if(|row| table.time_ns[**row] < begin.saturating_add(width)) {
                now = (table.in_use_bytes[*row], table.reserved_bytes[*row]);
                point.most = point.most.max(now.0);
                point.reserved = point.reserved.max(now.1);
                point.events += 1;
            }
            point.last = now.0;
            points.push(point);
        }
        points
    }

    /// The lines of each owner, where events have no address.
    pub fn lines_of_owners(&self, trace: &Trace) -> Vec<(StringId, Vec<Point>)> {
        let table = &trace.allocations;
        if self.rows.iter().any(|row| table.address[*row] != 0) {
            return Vec::new();
        }
        let (first, last) = self.span_ns(trace);
        let width = (last.saturating_sub(first) / POINTS as i64).saturating_add(1);
        let count = (last.saturating_sub(first) / width + 1) as usize;
        let empty: Vec<Point> = (0..count as i64)
            .map(|number| Point { time_ns: first + width * number, reserved: -1, ..Point::default() })
            .collect();
        let mut sums: FxHashMap<StringId, (i64, usize)> = FxHashMap::default();
        let mut lines: Vec<(StringId, Vec<Point>)> = Vec::new();
        for &row in &self.rows {
            let owner = table.owner[row];
            let (sum, place) = sums.entry(owner).or_insert((0, lines.len()));
            if *place == lines.len() {
                lines.push((owner, empty.clone()));
            }
            *sum = sum.saturating_add(table.delta_bytes[row]);
            let stretch = ((table.time_ns[row].saturating_sub(first)) / width) as usize;
            let point = &mut lines[*place].1[stretch.min(count - 1)];
            point.most = if point.events == 0 { *sum } else { point.most.max(*sum) };
            point.last = *sum;
            point.events += 1;
        }
        for (_, points) in &mut lines {
            let mut before = 0;
            for point in points {
                if point.events == 0 {
                    point.last = before;
                }
                point.most = point.most.max(before).max(point.last);
                before = point.last;
            }
        }
        lines
    }
}

/// Most bytes in use in each stretch of an allocator's time, for a sketch of it.
pub(crate) fn sketch(allocator: &Allocator, trace: &Trace) -> Vec<u64> {
    allocator.line(trace).iter().map(|point| whole(point.most)).collect()
}
