//! From local times without a zone to the clock of a trace.

use super::columns::Log;
use crate::import::{Import, Source};
use crate::note::Severity;

/// A quarter of an hour, nanoseconds: every zone's offset is a multiple of it.
const QUARTER_NS: i64 = 900_000_000_000;

/// Offsets reach from 12 hours behind UTC to 14 before it.
const QUARTERS: std::ops::RangeInclusive<i64> = -48..=56;

/// What is to be added to the log's times for the trace clock, nanoseconds; a note says how it was found.
pub(super) fn place(log: &Log, source: Source<'_>, import: &mut Import) -> i64 {
    let times = || log.samples.iter().map(|sample| sample.time_ns);
    let (first, last) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    if !log.has_times {
        let message = "the log has no dates: its rounds are shown one second apart, from the trace's beginning on";
        import.note(Severity::Partial, source.name, None, 1, message.to_owned());
        import.builder.counters.has_own_clock = true;
        return 0;
    }
    let (offset, is_placed, message) =
        match trace_span(import).map(|(zero, begin, end)| (zero, offset(first, last, begin, end))) {
            Some((zero, Some(offset))) => {
                let minutes = offset / 60_000_000_000;
                let sign = if minutes < 0 { '-' } else { '+' };
                let zone = format!("UTC{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60);
                (
                    (-offset).saturating_sub(zero),
                    true,
                    format!("its local times were read as {zone}, in which they overlap the trace"),
                )
            }
            Some((_, None)) => {
                (-first, false, "it does not overlap the trace in any time zone; it is shown from 0 on".to_owned())
            }
            None => (-first, false, "no trace with a known time was read before it; it is shown from 0 on".to_owned()),
        };
    import.note(Severity::Info, source.name, None, 1, message);
    import.builder.counters.has_own_clock |= !is_placed;
    offset
}

/// Unix time of the trace clock's zero, and of the first start and the last end of what was read so far.
fn trace_span(import: &mut Import) -> Option<(i64, i64, i64)> {
    let zero = import.captures.iter().find_map(|capture| capture.unix_zero_ns)?;
    let zero = i64::try_from(zero).ok()?;
    let rows = import.builder.rows();
    let columns = import.builder.slices(0..rows);
    let first = columns.start_ns.iter().min()?.saturating_add(zero);
    let ends = columns.start_ns.iter().zip(columns.dur_ns.iter()).map(|(start, dur)| start.saturating_add(*dur));
    Some((zero, first, ends.max()?.saturating_add(zero)))
}

/// The offset from UTC, nearest to none, at which local times from `first` to `last` overlap the span.
fn offset(first: i64, last: i64, begin: i64, end: i64) -> Option<i64> {
    let mut offsets: Vec<i64> = QUARTERS.map(|quarters| quarters * QUARTER_NS).collect();
    offsets.sort_by_key(|offset| (offset.abs(), *offset));
    offsets.into_iter().find(|offset| first.saturating_sub(*offset) <= end && last.saturating_sub(*offset) >= begin)
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn the_zone_is_the_nearest_that_overlaps() {
        let hour = 4 * QUARTER_NS;
        assert_eq!(offset(100, 200, 150, 300), Some(0));
        assert_eq!(offset(100 + 2 * hour, 200 + 2 * hour, 150, 300), Some(2 * hour));
        assert_eq!(offset(0, 1, 30 * hour, 31 * hour), None);
    }
}
