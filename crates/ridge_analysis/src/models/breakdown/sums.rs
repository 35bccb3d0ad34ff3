//! What has how much of one device's time, while it is summed.

use super::row::{BreakdownRow, CutRow, TimeOwner};
use ridge_trace::{DeviceRow, EventRow};
use rustc_hash::FxHashMap;

/// The rows of one device so far.
#[derive(Debug, Default)]
pub(super) struct Sums {
    rows: Vec<Sum>,
    places: FxHashMap<TimeOwner, usize>,
    /// Rows that were asked for lately, by [`slot`]: millions of events are of a few things.
    lately: Vec<Option<(TimeOwner, usize)>>,
}

/// Slots for rows that were asked for lately.
const SLOTS: usize = 256;

/// A row, and what it has of each stretch that it has anything of, earliest first.
#[derive(Debug)]
struct Sum {
    row: BreakdownRow,
    stretches: Vec<(usize, i64)>,
}

impl Sum {
    fn add(&mut self, stretch: usize, ns: i64) {
        match self.stretches.last_mut() {
            Some((last, sum)) if *last == stretch => *sum = sum.saturating_add(ns),
            _ => self.stretches.push((stretch, ns)),
        }
    }
}

impl Sums {
    /// The position of the row of `owner`.
    pub(super) fn row(&mut self, owner: TimeOwner) -> usize {
        if self.lately.is_empty() {
            self.lately = vec![None; SLOTS];
        }
        let slot = slot(owner);
        match self.lately[slot] {
            Some((known, at)) if known == owner => at,
            _ => {
                let at = self.looked_up(owner);
                self.lately[slot] = Some((owner, at));
                at
            }
        }
    }

    fn looked_up(&mut self, owner: TimeOwner) -> usize {
        *self.places.entry(owner).or_insert_with(|| {
            let row = BreakdownRow { device: DeviceRow(0), owner, ns: 0, events: 0, longest_ns: 0, example: None };
            self.rows.push(Sum { row, stretches: Vec::new() });
            self.rows.len() - 1
        })
    }

    /// One of row `at` was seen that is `ns` long; whether it began there.
    pub(super) fn seen(&mut self, at: usize, begins: bool, ns: i64, event: Option<EventRow>) {
        let row = &mut self.rows[at].row;
        row.events += u64::from(begins);
        row.lengthen(ns, event);
    }

    /// Row `at` has `ns` more, in that stretch.
    pub(super) fn add(&mut self, at: usize, stretch: usize, ns: i64) {
        let sum = &mut self.rows[at];
        sum.row.ns = sum.row.ns.saturating_add(ns);
        sum.add(stretch, ns);
    }

    /// Adds the sums of a later time.
    pub(super) fn merge(&mut self, later: Sums) {
        later.rows.into_iter().for_each(|sum| self.merge_row(sum));
    }

    fn merge_row(&mut self, later: Sum) {
        let at = self.row(later.row.owner);
        let sum = &mut self.rows[at];
        sum.row.ns = sum.row.ns.saturating_add(later.row.ns);
        sum.row.events += later.row.events;
        sum.row.lengthen(later.row.longest_ns, later.row.example);
        later.stretches.into_iter().for_each(|(stretch, ns)| sum.add(stretch, ns));
    }

    /// The rows, each with what it has of every stretch, where the time was cut.
    pub(super) fn rows(self, cuts: &[i64]) -> Vec<CutRow> {
        let stretches = if cuts.is_empty() { 0 } else { cuts.len() + 1 };
        let of_row = |sum: Sum| {
            let mut parts = vec![0_i64; stretches];
            for (stretch, ns) in sum.stretches {
                if let Some(part) = parts.get_mut(stretch) {
                    *part = part.saturating_add(ns);
                }
            }
            (sum.row, parts)
        };
        self.rows.into_iter().map(of_row).collect()
    }
}

/// A number below [`SLOTS`] that is quick to make and seldom the same for two.
fn slot(owner: TimeOwner) -> usize {
    let mixed = match owner {
        TimeOwner::Work { op, name, .. } => op.wrapping_mul(31).wrapping_add(name.0),
        TimeOwner::Idle { cause, name, .. } => name.map_or(0, |name| name.0).wrapping_mul(31) ^ (cause as u32),
    };
    mixed as usize % SLOTS
}
