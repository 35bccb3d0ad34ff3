//! Which event encloses which, on one track.

use crate::event::NONE;

/// How many open rows are tried: real tracks overlap by a few; a hostile one must not cost quadratic time.
const SEARCH_DEPTH: usize = 256;

/// For rows in order of start (ties: longest first), the position of the innermost earlier row that encloses each.
///
/// `spans` gives `(start, end)`; the answer is an index into `spans`, or [`NONE`].
/// A row that begins inside another but ends after it is not nested in it: it belongs to the innermost one that
/// holds all of it.
pub fn nest(spans: impl Iterator<Item = (i64, i64)>, mut enclosing: impl FnMut(usize, u32)) {
    let mut open: Vec<(i64, u32)> = Vec::new();
    for (position, (start, end)) in spans.enumerate() {
        while open.last().is_some_and(|&(open_end, _)| open_end <= start && !(open_end == start && end == start)) {
            open.pop();
        }
        // Overlapping but not enclosing rows stay open for rows that come later.
        let near = open.iter().rev().take(SEARCH_DEPTH);
        let parent = near.into_iter().find(|&&(open_end, _)| open_end >= end).map_or(NONE, |&(_, row)| row);
        enclosing(position, parent);
        if end > start {
            open.push((end, position as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(spans: &[(i64, i64)], expected: &[i64]) {
        let mut parents = Vec::new();
        nest(spans.iter().copied(), |_, parent| parents.push(if parent == NONE { -1 } else { i64::from(parent) }));
        assert_eq!(parents, expected);
    }

    #[test]
    fn rows_nest_in_the_innermost_that_holds_them() {
        check(&[(0, 10), (1, 4), (2, 3), (5, 6), (10, 12)], &[-1, 0, 1, 0, -1]);
    }

    #[test]
    fn overlap_is_not_nesting() {
        check(&[(0, 10), (2, 5), (4, 8), (6, 7)], &[-1, 0, 0, 2]);
        check(&[(0, 5), (3, 9), (4, 5)], &[-1, -1, 1]);
    }

    #[test]
    fn points_belong_to_the_range_they_touch() {
        check(&[(0, 5), (5, 5), (5, 9), (5, 5)], &[-1, 0, -1, 2]);
    }
}
