//! Numbers in sentences: things that are counted, intervals of time.

use crate::digits::scaled_by;
use crate::{Count, three_digits};

/// A number of things: `1 copy`, `1,204 copies`.
///
/// ```
/// use ridge_units::counted;
/// assert_eq!(counted(1, "copy", "copies"), "1 copy");
/// assert_eq!(counted(1204, "copy", "copies"), "1,204 copies");
/// ```
pub fn counted(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {many}", Count(number)) }
}

/// The interval of a change of time, nanoseconds, in the unit of its larger end: `[+59.4, +60.8] ms`.
///
/// ```
/// use ridge_units::time_interval;
/// assert_eq!(time_interval(59_412_000.0, 60_830_000.0), "[+59.4, +60.8] ms");
/// assert_eq!(time_interval(-1_500.0, 0.0), "[-1.5, 0] µs");
/// ```
pub fn time_interval(low: f64, high: f64) -> String {
    let (factor, unit) = scaled_by(low.abs().max(high.abs()), &crate::time::SCALES);
    let end = |ns: f64| format!("{}{}", if ns > 0.0 { "+" } else { "" }, three_digits(ns / factor));
    format!("[{}, {}] {unit}", end(low), end(high))
}
