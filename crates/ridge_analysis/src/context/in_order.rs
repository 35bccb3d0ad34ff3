//! Events of several tracks in order of start, without a copy of them.

use ridge_trace::Trace;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Ranges of rows, each sorted by start, as one sequence sorted by start; what is known of a range comes with its rows.
#[derive(Debug)]
pub(crate) struct InOrder<'t, T = ()> {
    starts: &'t [i64],
    heads: Vec<Head<T>>,
}

/// A range being merged.
#[derive(Debug)]
struct Head<T> {
    row: usize,
    end: usize,
    of: T,
}

impl<'t> InOrder<'t> {
    /// The rows of `ranges`, each of which is sorted by start.
    pub(crate) fn new(trace: &'t Trace, ranges: impl IntoIterator<Item = Range<u32>>) -> InOrder<'t> {
        InOrder::with(trace, ranges.into_iter().map(|rows| (rows, ())))
    }

    /// Visits every row once, earliest start first; equal starts come in a fixed order.
    pub(crate) fn for_each(self, mut visit: impl FnMut(usize)) {
        self.for_each_with(|row, ()| visit(row));
    }
}

impl<'t, T: Copy> InOrder<'t, T> {
    /// [`InOrder::new`], with what is known of each range.
    pub(crate) fn with(trace: &'t Trace, ranges: impl IntoIterator<Item = (Range<u32>, T)>) -> InOrder<'t, T> {
        let starts = &trace.events.start_ns[..];
        let filled = ranges.into_iter().filter(|(rows, _)| !rows.is_empty());
        let head = |(rows, of): (Range<u32>, T)| {
            let (row, end) = (rows.start as usize, rows.end as usize);
            Head { row, end, of }
        };
        InOrder { starts, heads: filled.map(head).collect() }
    }

    /// [`InOrder::for_each`], with what is known of the row's range.
    pub(crate) fn for_each_with(mut self, mut visit: impl FnMut(usize, T)) {
        if let [one, other] = &mut self.heads[..] {
            return two_in_order(self.starts, one, other, visit);
        }
        // A capture may have more threads than events on any of them, so the next one is never searched for.
        let starts = self.heads.iter().enumerate().map(|(at, head)| Reverse((self.starts[head.row], at)));
        let mut due: BinaryHeap<Reverse<(i64, usize)>> = starts.collect();
        while let Some(Reverse((_, first))) = due.pop() {
            let until = due.peek().map_or(i64::MAX, |Reverse((start, _))| *start);
            let head = &mut self.heads[first];
            // One range goes on alone until another's next event is due.
            while head.row < head.end && self.starts[head.row] <= until {
                visit(head.row, head.of);
                head.row += 1;
            }
            if head.row < head.end {
                due.push(Reverse((self.starts[head.row], first)));
            }
        }
    }
}

/// A stream and the thread that launches its work take turns with each event: two ranges need no heap.
fn two_in_order<T: Copy>(starts: &[i64], one: &mut Head<T>, other: &mut Head<T>, mut visit: impl FnMut(usize, T)) {
    let (mut now, mut next) = if starts[other.row] < starts[one.row] { (other, one) } else { (one, other) };
    loop {
        let until = starts[next.row];
        while now.row < now.end && starts[now.row] <= until {
            visit(now.row, now.of);
            now.row += 1;
        }
        if now.row == now.end {
            return (next.row..next.end).for_each(|row| visit(row, next.of));
        }
        std::mem::swap(&mut now, &mut next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tracks_come_as_more_do() {
        let trace = ridge_test::trace(
            "stream 1 on gpu
               1 +1 a
               4 +1 b
               4 +1 c
               7 +1 d
             stream 2 on gpu
               0 +1 e
               4 +1 f
               5 +1 g
               8 +1 h
               9 +1 i",
        );
        let of = |tracks: [usize; 2]| {
            let mut names = String::new();
            let ranges = tracks.map(|track| trace.tracks[track].rows.clone());
            InOrder::new(&trace, ranges).for_each(|row| names.push_str(trace.name(row)));
            names
        };
        assert_eq!((of([0, 1]), of([1, 0])), ("eabcfgdhi".to_owned(), "eabcfgdhi".to_owned()));
    }

    #[test]
    fn tracks_become_one_sequence() {
        let trace = ridge_test::trace(
            "stream 1 on gpu
               0 +1 a
               5 +1 b
               5 +1 c
             stream 2 on gpu
             stream 3 on gpu
               2 +1 d
               5 +1 e
               9 +1 f
             stream 4 on gpu
               1 +1 g
               6 +1 h",
        );
        let mut names = String::new();
        let ranges = trace.tracks.iter().map(|track| track.rows.clone());
        InOrder::new(&trace, ranges).for_each(|row| names.push_str(trace.name(row)));
        assert_eq!(names, "agdebchf");
    }
}
