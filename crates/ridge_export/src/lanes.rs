//! Events of one track as nested ranges, on as many lanes as their overlaps need.

use ridgeline::Trace;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// An event begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The event at this row begins.
    Begin(usize),
    /// The innermost open event, at this row, ends.
    End(usize),
}

/// The rows of a track by lane.
///
/// A row goes to the first lane on which it lies within what is open there, or after it.
pub(crate) fn assign(trace: &Trace, rows: Range<usize>) -> Vec<Vec<usize>> {
    let mut lanes: Vec<Vec<usize>> = Vec::new();
    let mut open = Open::default();
    for row in rows {
        let (start, end) = (trace.events.start_ns[row], trace.events.end_ns(row));
        let lane = open.begin(start, end);
        lanes.resize_with(lanes.len().max(lane + 1), Vec::new);
        lanes[lane].push(row);
    }
    lanes
}

/// What is open on every lane.
#[derive(Debug, Default)]
struct Open {
    /// Ends of what is open on each lane, the innermost last.
    ends: Vec<Vec<i64>>,
    /// Every one of these ends with its lane, the earliest first.
    next: BinaryHeap<Reverse<(i64, usize)>>,
    /// A tree over the lanes, its root at 1, a lane's leaf at `room` and its number: the latest end that a row may have
    /// on one of the lanes below.
    latest: Vec<i64>,
    /// Lanes that the tree has leaves for: a power of two.
    room: usize,
}

impl Open {
    /// The lane of a row that begins no earlier than all before it.
    fn begin(&mut self, start: i64, end: i64) -> usize {
        while let Some(Reverse((_, lane))) = self.next.peek().copied().filter(|Reverse((ended, _))| *ended <= start) {
            // What ends first of all is the innermost of its lane.
            self.next.pop();
            self.ends[lane].pop();
            self.update(lane);
        }
        let lane = self.first_for(end);
        self.ends[lane].push(end);
        self.next.push(Reverse((end, lane)));
        self.update(lane);
        lane
    }

    /// The first lane where a row may end at `end`; a new one where there is none.
    fn first_for(&mut self, end: i64) -> usize {
        if self.latest.get(1).is_none_or(|latest| *latest < end) {
            self.grow();
        }
        let mut at = 1;
        while at < self.room {
            at = if self.latest[2 * at] >= end { 2 * at } else { 2 * at + 1 };
        }
        at - self.room
    }

    fn grow(&mut self) {
        self.room = (2 * self.room).max(1);
        self.ends.resize_with(self.room, Vec::new);
        self.latest = vec![i64::MAX; 2 * self.room];
        (0..self.room / 2).for_each(|lane| self.update(lane));
    }

    fn update(&mut self, lane: usize) {
        let mut at = self.room + lane;
        self.latest[at] = self.ends[lane].last().copied().unwrap_or(i64::MAX);
        while at > 1 {
            at /= 2;
            self.latest[at] = self.latest[2 * at].max(self.latest[2 * at + 1]);
        }
    }
}

/// Calls `edge` with the beginnings and ends of the rows on a lane, in order of time and properly nested.
pub(crate) fn walk<E>(trace: &Trace, lane: &[usize], mut edge: impl FnMut(Edge) -> Result<(), E>) -> Result<(), E> {
    let mut open: Vec<usize> = Vec::new();
    for &row in lane {
        while let Some(&last) = open.last().filter(|&&last| trace.events.end_ns(last) <= trace.events.start_ns[row]) {
            edge(Edge::End(last))?;
            open.pop();
        }
        edge(Edge::Begin(row))?;
        open.push(row);
    }
    open.into_iter().rev().try_for_each(|row| edge(Edge::End(row)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn overlaps_go_to_lanes_and_lanes_nest() {
        let trace = ridge_test::trace("stream 7 on gpu\n 0 +10 a\n 2 +3 b\n 4 +8 c\n 5 +5 d\n 10 +0 e\n 12 +1 f");
        let mut text = String::new();
        for lane in assign(&trace, 0..6) {
            let told = walk(&trace, &lane, |edge| {
                match edge {
                    Edge::Begin(row) => text.push_str(&format!("{}( ", trace.name(row))),
                    Edge::End(row) => text.push_str(&format!("){} ", trace.events.end_ns(row))),
                }
                Ok::<(), ()>(())
            });
            told.expect("nothing fails");
            text.push('\n');
        }
        expect![[r#"
            a( b( )5 d( )10 )10 e( )10 f( )13 
            c( )12 
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn the_first_lane_with_room_is_taken() {
        // A generator of numbers that look random (Knuth's constants), the same every time.
        let mut state = 7_u64;
        let mut below = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        let mut start = 0;
        let events: Vec<(i64, i64)> = (0..2000)
            .map(|_| {
                start += below(3) as i64;
                (start, below(40) as i64)
            })
            .collect();
        let lines: String = events.iter().map(|(start, dur)| format!("\n {start} +{dur} a")).collect();
        let trace = ridge_test::trace(&format!("stream 7 on gpu{lines}"));
        let rows = 0..trace.events.len();
        let mut expected: Vec<(Vec<i64>, Vec<usize>)> = Vec::new();
        for row in rows.clone() {
            let (start, end) = (trace.events.start_ns[row], trace.events.end_ns(row));
            expected.iter_mut().for_each(|(ends, _)| ends.retain(|open| *open > start));
            let fits = expected.iter().position(|(ends, _)| ends.last().is_none_or(|last| end <= *last));
            let lane = fits.unwrap_or(expected.len());
            expected.resize_with(expected.len().max(lane + 1), Default::default);
            expected[lane].0.push(end);
            expected[lane].1.push(row);
        }
        let expected: Vec<Vec<usize>> = expected.into_iter().map(|(_, rows)| rows).collect();
        assert!(expected.len() > 8);
        assert_eq!(assign(&trace, rows), expected);
    }
}
