//! Keeps times and sizes so small that no sum of them overflows, whatever a damaged capture says.
//!
//! Every analysis may then add and subtract without thinking of it.

use super::TraceBuilder;

/// The longest that all events of a trace may last together: 4.5 years.
///
/// An analysis may count an event once for each of 64 others that enclose it.
const MAX_TOTAL_NS: i64 = i64::MAX / 64;
/// How far from the trace clock's zero a time may be: 73 years, so that 2026 is near enough to 1970.
const MAX_TIME_NS: i64 = i64::MAX / 4;
/// The most bytes that all rows of one table may stand for together: 1 EiB.
const MAX_TOTAL_BYTES: u64 = 1 << 60;

/// How many values no capture can mean, by what they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OutOfBounds {
    /// Durations, now zero.
    pub durations: usize,
    /// Times, now as far from the clock's zero as times can be.
    pub times: usize,
    /// Sizes, now zero.
    pub sizes: usize,
}

impl TraceBuilder {
    /// Takes out durations and sizes, and brings near times, that are too large for sums of them to hold.
    pub fn bound(&mut self) -> OutOfBounds {
        let (rows, raw) = (self.raw.rows, &mut self.raw);
        OutOfBounds {
            durations: bound_total(&mut raw.dur_ns[..rows], MAX_TOTAL_NS as u64),
            times: [
                &mut raw.start_ns[..rows],
                &mut self.counters.time_ns,
                &mut self.allocations.time_ns,
                &mut self.memory.segments.time_ns,
            ]
            .map(bound_times)
            .iter()
            .sum(),
            sizes: self.bound_sizes(),
        }
    }

    fn bound_sizes(&mut self) -> usize {
        let allocations = &mut self.allocations;
        let changes = [&mut allocations.delta_bytes, &mut allocations.requested_bytes];
        // Levels are compared and subtracted, never added up.
        let levels = [&mut allocations.in_use_bytes, &mut allocations.peak_bytes, &mut allocations.reserved_bytes];
        let blocks = &mut self.memory.blocks;
        let mut copied: Vec<u64> = self.transfers.iter().map(|transfer| transfer.bytes).collect();
        let found = changes.map(|column| bound_total(column, MAX_TOTAL_BYTES)).iter().sum::<usize>()
            + levels.map(|column| bound_levels(column)).iter().sum::<usize>()
            + bound_total(&mut self.memory.segments.bytes, MAX_TOTAL_BYTES)
            + bound_total(&mut blocks.bytes, MAX_TOTAL_BYTES)
            + bound_total(&mut blocks.requested_bytes, MAX_TOTAL_BYTES)
            + bound_total(&mut copied, MAX_TOTAL_BYTES);
        self.transfers.iter_mut().zip(copied).for_each(|(transfer, bytes)| transfer.bytes = bytes);
        found
    }
}

/// A whole number with a distance from zero.
trait Magnitude: Copy + Default {
    fn magnitude(self) -> u64;
}

impl Magnitude for i64 {
    fn magnitude(self) -> u64 {
        self.unsigned_abs()
    }
}

impl Magnitude for u64 {
    fn magnitude(self) -> u64 {
        self
    }
}

/// Makes zero what is larger than an equal part of `max`, where all values together are larger than it.
fn bound_total<T: Magnitude>(values: &mut [T], max: u64) -> usize {
    let total = values.iter().fold(0u64, |sum, value| sum.saturating_add(value.magnitude()));
    if total <= max {
        return 0;
    }
    let largest = max / values.len() as u64;
    let outside = values.iter_mut().filter(|value| value.magnitude() > largest);
    outside.map(|value| *value = T::default()).count()
}

fn bound_levels(levels: &mut [i64]) -> usize {
    let outside = levels.iter_mut().filter(|level| level.magnitude() > MAX_TOTAL_BYTES);
    outside.map(|level| *level = 0).count()
}

fn bound_times(times: &mut [i64]) -> usize {
    let outside = times.iter_mut().filter(|time| !(-MAX_TIME_NS..=MAX_TIME_NS).contains(*time));
    outside.map(|time| *time = (*time).clamp(-MAX_TIME_NS, MAX_TIME_NS)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventKind, NewEvent, TrackKind};

    fn finished(events: &[(i64, i64)]) -> (OutOfBounds, Vec<(i64, i64)>) {
        let mut builder = TraceBuilder::new();
        let process = builder.add_process("", None);
        let track = builder.add_track(process, None, TrackKind::HostThread, "", 0);
        let name = builder.strings.intern("work");
        for &(start_ns, dur_ns) in events {
            builder.push(track, NewEvent::new(EventKind::HostRange, name, start_ns, dur_ns));
        }
        let found = builder.bound();
        let events = builder.finish().events;
        (found, events.start_ns.iter().copied().zip(events.dur_ns.iter().copied()).collect())
    }

    #[test]
    fn a_day_in_2026_is_left_as_it_is() {
        let (start, day) = (1_790_000_000_000_000_000, 86_400_000_000_000);
        let events = [(start, day), (start + day, 7 * day)];
        assert_eq!(finished(&events), (OutOfBounds::default(), events.to_vec()));
    }

    #[test]
    fn durations_that_no_sum_can_hold_become_zero() {
        let (found, events) = finished(&[(0, 5), (10, i64::MAX - 20), (20, i64::MAX / 2), (30, 1 << 40)]);
        assert_eq!(events, [(0, 5), (10, 0), (20, 0), (30, 1 << 40)]);
        assert_eq!(found, OutOfBounds { durations: 2, ..OutOfBounds::default() });
    }

    #[test]
    fn times_out_of_reach_are_brought_near() {
        let (found, events) = finished(&[(i64::MIN, 1), (3, 1), (i64::MAX, 1)]);
        assert_eq!(events, [(-MAX_TIME_NS, 1), (3, 1), (MAX_TIME_NS, 1)]);
        assert_eq!(found, OutOfBounds { times: 2, ..OutOfBounds::default() });
        assert!(events[2].0 - events[0].0 > 0, "a difference of two times fits");
    }
}
