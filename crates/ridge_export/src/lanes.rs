//! Events of one track as nested ranges, on as many lanes as their overlaps need.

use ridgeline::Trace;
use std::ops::Range;

/// An event begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The event at this row begins.
    Begin(usize),
    /// The innermost open event, at this row, ends.
    End(usize),
}

/// The lane of each row of a track, from 0, and how many there are.
///
/// A row goes to the first lane on which it lies within what is open there, or after it.
pub(crate) fn assign(trace: &Trace, rows: Range<usize>) -> (Vec<u32>, u32) {
    let mut open: Vec<Vec<i64>> = Vec::new();
    let mut lanes = Vec::with_capacity(rows.len());
    for row in rows {
        let (start, end) = (trace.events.start_ns[row], trace.events.end_ns(row));
        let lane = open.iter_mut().position(|ends| {
            while ends.last().is_some_and(|&last| last <= start) {
                ends.pop();
            }
            ends.last().is_none_or(|&last| end <= last)
        });
        let lane = lane.unwrap_or_else(|| {
            open.push(Vec::new());
            open.len() - 1
        });
        open[lane].push(end);
        lanes.push(lane as u32);
    }
    (lanes, open.len() as u32)
}

/// Calls `edge` with the beginnings and ends of the rows on `lane`, in order of time and properly nested.
pub(crate) fn walk<E>(
    trace: &Trace,
    rows: Range<usize>,
    lanes: &[u32],
    lane: u32,
    mut edge: impl FnMut(Edge) -> Result<(), E>,
) -> Result<(), E> {
    let mut open: Vec<usize> = Vec::new();
    for (row, _) in rows.zip(lanes).filter(|(_, of)| **of == lane) {
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
        let (lanes, count) = assign(&trace, 0..6);
        let mut text = String::new();
        for lane in 0..count {
            let told = walk(&trace, 0..6, &lanes, lane, |edge| {
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
}
