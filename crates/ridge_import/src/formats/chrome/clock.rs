//! How times of the file become times of the trace.

use super::header::Header;
use super::row::TrackKey;
use super::store::Store;
use crate::import::{CaptureFacts, Import};

/// Times beyond this are Unix times, not times since some start: the year 2001 in nanoseconds.
const SMALLEST_UNIX_NS: i64 = 1_000_000_000_000_000_000;

/// How times of the file become times of the trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// Time in the file that is the capture's start.
    zero_ns: i64,
    /// The capture's start on the trace clock.
    shift_ns: i64,
    unix_zero_ns: Option<u64>,
}

impl Clock {
    pub(super) fn of(store: &Store, header: &Header, is_xla: bool, import: &Import) -> Clock {
        let counted = store.tracks.iter().filter(|track| track.key != TrackKey::Derived);
        let first = counted.filter_map(|track| track.rows.first()).map(|row| row.start_ns).min().unwrap_or(0);
        // XLA's times begin with its session, as in its other files.
        let zero_ns = if is_xla { 0 } else { first };
        let unix = match header.base_ns {
            Some(base) => base.checked_add(zero_ns),
            None => (zero_ns >= SMALLEST_UNIX_NS).then_some(zero_ns),
        };
        let unix = unix.and_then(|unix| u64::try_from(unix).ok());
        let known = import.captures.iter().find_map(|capture| capture.unix_zero_ns);
        // Several captures share the clock of the first; they differ by when they began.
        let shift_ns = match (known, unix) {
            (Some(known), Some(unix)) => unix.wrapping_sub(known) as i64,
            _ => 0,
        };
        Clock { zero_ns, shift_ns, unix_zero_ns: known.or(unix) }
    }

    /// A time of the file on the trace clock.
    #[inline]
    pub(super) fn at(&self, time_ns: i64) -> i64 {
        time_ns.saturating_sub(self.zero_ns).saturating_add(self.shift_ns)
    }

    pub(super) fn facts(&self, header: &Header, name: &str, bytes: u64) -> CaptureFacts {
        CaptureFacts {
            source: name.to_owned(),
            format: "chrome",
            bytes,
            facts: header.facts.clone(),
            start_ns: self.shift_ns,
            unix_zero_ns: self.unix_zero_ns,
        }
    }
}
