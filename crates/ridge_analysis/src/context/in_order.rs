//! Events of several tracks in order of start, without a copy of them.

use ridge_trace::Trace;
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
    next_start: i64,
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
            Head { next_start: starts[row], row, end, of }
        };
        InOrder { starts, heads: filled.map(head).collect() }
    }

    /// [`InOrder::for_each`], with what is known of the row's range.
    pub(crate) fn for_each_with(mut self, mut visit: impl FnMut(usize, T)) {
        while !self.heads.is_empty() {
            let (first, until) = two_earliest(&self.heads);
            let head = &mut self.heads[first];
            // One range goes on alone until another's next event is due.
            while head.row < head.end && head.next_start <= until {
                visit(head.row, head.of);
                head.row += 1;
                head.next_start = self.starts.get(head.row).copied().unwrap_or(i64::MAX);
            }
            if head.row == head.end {
                self.heads.remove(first);
            }
        }
    }
}

/// The head whose next event is earliest, and when the one after it is due.
fn two_earliest<T>(heads: &[Head<T>]) -> (usize, i64) {
    let (mut first, mut earliest, mut second) = (0, i64::MAX, i64::MAX);
    for (index, head) in heads.iter().enumerate() {
        if head.next_start < earliest {
            (second, earliest, first) = (earliest, head.next_start, index);
        } else if head.next_start < second {
            second = head.next_start;
        }
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;

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
