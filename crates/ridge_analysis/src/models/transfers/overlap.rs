//! How much of each copy was covered by compute of the same device, exactly, in one walk.

use crate::context::coverage::Union;
use crate::context::in_order::InOrder;
use ridge_trace::{EventKind, Trace, Track, Transfer};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The copies of one device together.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeviceCopies {
    /// Row of the devices table.
    pub device: u32,
    /// Length of the union of its copies, nanoseconds.
    pub copies_ns: i64,
    /// Part of that union in which the device did not compute, nanoseconds.
    pub exposed_ns: i64,
    /// Memory sets.
    pub memsets: u64,
    /// Their time, nanoseconds.
    pub memsets_ns: i64,
    /// Bytes they set.
    pub memset_bytes: u64,
}

/// The compute of a device up to the time that the walk has reached.
#[derive(Debug, Default)]
struct Compute {
    union: Union,
    until: Option<i64>,
}

impl Compute {
    fn add(&mut self, start: i64, end: i64) {
        self.union.add(start, end);
        self.until = Some(self.until.map_or(end, |until| until.max(end)));
    }

    /// Length of the union before `time`, which no compute that is still to come may start before.
    ///
    /// What the union covers after `time` is one stretch from there, since all of it began before.
    fn before(&self, time: i64) -> i64 {
        let after = self.until.map_or(0, |until| until.saturating_sub(time).max(0));
        self.union.total_ns().saturating_sub(after)
    }
}

/// The copies of `device` in order of start, and their sums.
pub(crate) fn copies_of(trace: &Trace, device: u32) -> (DeviceCopies, Vec<Copied>) {
    let events = &trace.events;
    let tracks: Vec<&Track> = trace.tracks_of_device(device).collect();
    let kinds = |track: &&Track| &events.kind[track.rows.start as usize..track.rows.end as usize];
    let moves = |kind: &u8| {
        (EventKind::CopyHostToDevice as u8..=EventKind::CopyOther as u8).contains(kind)
            || *kind == EventKind::Memset as u8
    };
    // Most devices of most captures copy nothing, and need no walk.
    if !tracks.iter().any(|track| kinds(track).iter().any(moves)) {
        return (DeviceCopies { device, ..DeviceCopies::default() }, Vec::new());
    }
    let mut sums = DeviceCopies { device, ..DeviceCopies::default() };
    let (mut copies, mut begun): (Vec<Copied>, Vec<i64>) = Default::default();
    let (mut compute, mut copying, mut both) = (Compute::default(), Union::default(), Union::default());
    let mut open: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    InOrder::new(trace, tracks.iter().map(|track| track.rows.clone())).for_each(|row| {
        let (start, kind) = (events.start_ns[row], events.kind(row));
        let end = events.end_ns(row).max(start);
        while let Some(Reverse((ended, index))) = open.peek().copied().filter(|Reverse((ended, _))| *ended <= start) {
            open.pop();
            copies[index].overlapped_ns = compute.before(ended).saturating_sub(begun[index]);
        }
        if kind.is_compute() {
            compute.add(start, end);
            both.add(start, end);
        } else if kind.is_copy() {
            copying.add(start, end);
            both.add(start, end);
            open.push(Reverse((end, copies.len())));
            begun.push(compute.before(start));
            copies.push(Copied { row: row as u32, device, ns: end.saturating_sub(start), overlapped_ns: 0 });
        } else if kind == EventKind::Memset {
            sums.memsets += 1;
            sums.memsets_ns = sums.memsets_ns.saturating_add(end.saturating_sub(start));
            let bytes = trace.transfer(row).map_or(0, |transfer| transfer.bytes);
            sums.memset_bytes = sums.memset_bytes.saturating_add(bytes);
        }
    });
    for Reverse((ended, index)) in open {
        copies[index].overlapped_ns = compute.before(ended).saturating_sub(begun[index]);
    }
    sums.copies_ns = copying.total_ns();
    sums.exposed_ns = both.total_ns().saturating_sub(compute.union.total_ns());
    (sums, copies)
}

/// One copy.
#[derive(Debug, Clone, Copy)]
pub struct Copied {
    /// Its event.
    pub row: u32,
    /// Row of the devices table.
    pub device: u32,
    /// Duration, nanoseconds.
    pub ns: i64,
    /// Part of it in which the same device computed, nanoseconds.
    pub overlapped_ns: i64,
}

impl Copied {
    /// Part of it in which the same device did not compute, nanoseconds.
    pub fn exposed_ns(&self) -> i64 {
        self.ns.saturating_sub(self.overlapped_ns)
    }

    /// What it is.
    pub fn kind(&self, trace: &Trace) -> EventKind {
        trace.events.kind(self.row as usize)
    }

    /// What it moved, where the capture says it.
    pub fn moved<'t>(&self, trace: &'t Trace) -> Option<&'t Transfer> {
        trace.transfer(self.row as usize)
    }

    /// Bytes it moved; `None` where the capture does not say.
    pub fn bytes(&self, trace: &Trace) -> Option<u64> {
        self.moved(trace).map(|transfer| transfer.bytes).filter(|bytes| *bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Overlap of each copy by looking at every nanosecond.
    fn by_counting(trace: &Trace) -> Vec<i64> {
        let events = &trace.events;
        let rows = || 0..events.len();
        let computes = |time: i64| {
            rows().any(|row| events.kind(row).is_compute() && events.start_ns[row] <= time && time < events.end_ns(row))
        };
        let mut copies: Vec<usize> = rows().filter(|row| events.kind(*row).is_copy()).collect();
        copies.sort_by_key(|row| events.start_ns[*row]);
        let overlap = |row: usize| (events.start_ns[row]..events.end_ns(row)).filter(|time| computes(*time)).count();
        copies.into_iter().map(|row| overlap(row) as i64).collect()
    }

    #[test]
    fn overlap_is_exact() {
        let trace = ridge_test::trace(
            "stream 1 on gpu
               0 +10 a
               12 +3 b
               20 +30 c
               60 +1 d
             stream 2 on gpu
               5 +10 in h2d bytes=8
               15 +10 in h2d bytes=8
               25 +5 in h2d bytes=8
               48 +20 out d2h bytes=8
             stream 3 on gpu
               0 +70 long d2d bytes=8
               22 +4 e
               80 +5 alone h2d bytes=8
               90 +2 zero memset bytes=64",
        );
        let (sums, copies) = copies_of(&trace, 0);
        let found: Vec<i64> = copies.iter().map(|copy| copy.overlapped_ns).collect();
        assert_eq!(found, by_counting(&trace));
        // The copies cover 0 to 70 and 80 to 85; compute covers 44 of the 70.
        assert_eq!((sums.copies_ns, sums.exposed_ns), (75, 31));
        assert_eq!((sums.memsets, sums.memsets_ns, sums.memset_bytes), (1, 2, 64));
    }
}
