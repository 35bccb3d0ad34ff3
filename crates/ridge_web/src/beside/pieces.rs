//! Events as they are drawn: by themselves where they are wide enough, else joined with their neighbors.

use super::half::{Bit, MOST_LANES};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// Columns of a picture.
const COLUMNS: i64 = 1_000;

/// One event, or several that are narrower than a column and begin in the same one.
#[derive(Debug, Clone, Copy)]
struct Piece {
    /// The longest of them.
    longest: Bit,
    start: i64,
    end: i64,
    /// How many events of that name began before it on the track.
    nth: u32,
    count: u32,
    /// Time that is covered, nanoseconds.
    busy: i64,
    column: Option<i64>,
}

/// What is drawn of `bits`, which are in order of start, from `from` to `to`:
/// `[lane, start, duration, category, name, nth, count, busy, row]`; of joined events those of the longest one.
pub(super) fn pieces(bits: &[Bit], from: i64, to: i64) -> Vec<Value> {
    let width = (to - from).div_euclid(COLUMNS).max(1);
    let mut begun: FxHashMap<u32, u32> = FxHashMap::default();
    let mut open: [Option<Piece>; MOST_LANES] = [None; MOST_LANES];
    let mut done = Vec::new();
    for bit in bits {
        let before = begun.entry(bit.name).or_default();
        let nth = *before;
        *before += 1;
        let (start, end) = (bit.start.max(from), bit.end.min(to));
        if end < start || (bit.end == from && bit.start < from) || bit.start == to {
            continue;
        }
        let column = (end - start < width).then(|| (start - from) / width);
        let last = &mut open[bit.lane];
        match last.as_mut().filter(|last| column.is_some() && last.column == column) {
            Some(last) => last.join(bit, nth, (start, end)),
            None => {
                done.extend(last.take());
                *last = Some(Piece { longest: *bit, start, end, nth, count: 1, busy: end - start, column });
            }
        }
    }
    done.extend(open.into_iter().flatten());
    done.iter().map(Piece::value).collect()
}

impl Piece {
    fn join(&mut self, bit: &Bit, nth: u32, (start, end): (i64, i64)) {
        self.busy += (end - start.max(self.end)).max(0);
        self.end = self.end.max(end);
        self.count += 1;
        if bit.end - bit.start > self.longest.end - self.longest.start {
            (self.longest, self.nth) = (*bit, nth);
        }
    }

    fn value(&self) -> Value {
        let Bit { lane, category, name, row, .. } = self.longest;
        json!([lane, self.start, self.end - self.start, category, name, self.nth, self.count, self.busy, row])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit(start: i64, end: i64, name: u32) -> Bit {
        Bit { lane: 0, start, end, category: 0, name, row: start as u32 }
    }

    #[test]
    fn narrow_events_of_one_column_are_joined_and_none_is_lost() {
        // A column of 10 ns: three events begin in the first, one is wide, one is behind.
        let bits = [bit(0, 2, 1), bit(3, 7, 2), bit(8, 9, 1), bit(10, 900, 1), bit(901, 903, 3)];
        let drawn = pieces(&bits, 0, 10_000);
        assert_eq!(
            json!(drawn).to_string(),
            "[[0,0,9,0,2,0,3,7,3],[0,10,890,0,1,2,1,890,10],[0,901,2,0,3,0,1,2,901]]",
            "the longest gives its name, and the ordinal counts events before the window too"
        );
        let closer = pieces(&bits, 5, 1_005);
        assert_eq!(
            closer.iter().filter_map(|piece| piece[6].as_u64()).sum::<u64>(),
            4,
            "what ended before is not there"
        );
    }
}
