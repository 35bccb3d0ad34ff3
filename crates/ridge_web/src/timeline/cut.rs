//! Columns of a tile: busy time by lane, column and category, with how many events begin in each.
//!
//! A tile with many events is joined from the two tiles of the level below it, so a look at the whole capture leaves
//! behind what every closer look is made from. Sums are kept by category, so joining loses nothing.

use super::cells::{COLUMNS, Cell, Cut, TileId};
use super::zoom::Timeline;
use ridgeline::EventCategories;
use ridgeline::trace::Trace;
use std::sync::Arc;

/// Tiles with more events are joined from those below.
const MOST_SCANNED: usize = 1 << 16;

/// The columns of tile `id`, cut now or known from before.
pub(crate) fn cut(timeline: &Timeline, trace: &Trace, categories: &EventCategories, id: TileId) -> Arc<Cut> {
    if let Some(known) = timeline.cuts.get(id) {
        return known;
    }
    let window = timeline.window(id);
    let (open, rows) = timeline.lanes[id.track as usize].within(&trace.events, &window);
    let made = if open.len() + rows.len() <= MOST_SCANNED || id.level == 0 {
        scan(timeline, trace, categories, id, open.into_iter().chain(rows))
    } else {
        let below = |half: u64| TileId { level: id.level - 1, index: id.index * 2 + half, ..id };
        let (left, right) =
            rayon::join(|| cut(timeline, trace, categories, below(0)), || cut(timeline, trace, categories, below(1)));
        join(&left, &right)
    };
    timeline.cuts.keep(id, made)
}

/// The columns of the events in `rows`, which come in order of their starts.
fn scan(
    timeline: &Timeline,
    trace: &Trace,
    categories: &EventCategories,
    id: TileId,
    rows: impl Iterator<Item = u32>,
) -> Cut {
    let (window, lanes, events) = (timeline.window(id), &timeline.lanes[id.track as usize], &trace.events);
    let column_of = |time: i64| (time.wrapping_sub(window.start) as u64 >> id.level) as u16;
    let mut cut = Cut::default();
    let mut covered: Vec<i64> = Vec::new();
    for row in rows {
        let at = row as usize;
        let (start, end, category) = (events.start_ns[at], events.end_ns(at), categories.of(events, at));
        let lane = lanes.lane(row);
        if covered.len() <= lane {
            covered.resize(lane + 1, window.start);
        }
        let cells = cut.lane(lane);
        if start >= window.start {
            cell(cells, column_of(start), category).begun += 1;
        }
        // In all lanes but the last nothing overlaps; there what is covered already counts once.
        let (mut from, until) = (start.max(covered[lane]), end.min(window.end));
        covered[lane] = covered[lane].max(until);
        while from < until {
            let column = column_of(from);
            let next = window.start.saturating_add((i64::from(column) + 1) << id.level).min(until);
            cell(cells, column, category).busy_ns += (next - from) as u64;
            from = next;
        }
    }
    cut
}

/// The cell of a column and a category among `cells`, made where it is new; columns nearly always come in order.
fn cell(cells: &mut Vec<Cell>, column: u16, category: u8) -> &mut Cell {
    let mut at = cells.len();
    while at > 0 && cells[at - 1].column >= column {
        at -= 1;
        if cells[at].column == column && cells[at].category == category {
            return &mut cells[at];
        }
    }
    // Behind all of its column, if it is there.
    while cells.get(at).is_some_and(|cell| cell.column == column) {
        at += 1;
    }
    cells.insert(at, Cell { busy_ns: 0, begun: 0, column, category });
    &mut cells[at]
}

/// The tile above `left` and `right`.
fn join(left: &Cut, right: &Cut) -> Cut {
    let mut cut = Cut::default();
    for lane in 0..left.lanes.len().max(right.lanes.len()) {
        let halves = [(left, 0), (right, COLUMNS as u16 / 2)];
        let cells = cut.lane(lane);
        for (half, shift) in halves {
            for below in half.lanes.get(lane).into_iter().flatten() {
                let above = cell(cells, shift + below.column / 2, below.category);
                above.busy_ns += below.busy_ns;
                above.begun += below.begun;
            }
        }
        cells.shrink_to_fit();
    }
    cut
}
