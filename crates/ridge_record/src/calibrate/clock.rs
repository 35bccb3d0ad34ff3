//! The time of day.

use std::time::SystemTime;

/// Seconds since 1970.
pub(super) fn now_unix_s() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
