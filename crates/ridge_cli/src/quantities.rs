//! Times and sizes as people type them on the command line.

use std::time::Duration;

/// A time such as `300s`, `5min`, `1.5h`, `250ms`; a bare number is in seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1e-3), ("min", 60.0), ("h", 3600.0), ("s", 1.0), ("m", 60.0)];
    let secs = number(text, &units).ok_or("expected a time such as 300s, 5min or 1h")?;
    Duration::try_from_secs_f64(secs).map_err(|_| "expected a time from 0 to a few centuries".to_owned())
}

/// A size in bytes such as `2GiB`, `500MB`, `64k`; a bare number is in bytes, and `k`, `M`, `G` are binary.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    const KIB: f64 = 1024.0;
    let units = [
        ("KiB", KIB),
        ("MiB", KIB * KIB),
        ("GiB", KIB.powi(3)),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("k", KIB),
        ("K", KIB),
        ("M", KIB * KIB),
        ("G", KIB.powi(3)),
        ("B", 1.0),
    ];
    let bytes = number(text, &units).ok_or("expected a size such as 2GiB or 500MB")?;
    Ok(bytes as u64)
}

/// A percentage such as `2%` or `2`, as a part of one.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let percent = number(text.trim().trim_end_matches('%'), &[]).filter(|percent| *percent <= 1000.0);
    percent.map(|percent| percent / 100.0).ok_or_else(|| format!("expected a percentage such as 5%, found `{text}`"))
}

/// A number that is not negative, times the first unit that `text` ends in.
fn number(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let (digits, factor) = units
        .iter()
        .find_map(|(unit, factor)| text.strip_suffix(unit).map(|digits| (digits, *factor)))
        .unwrap_or((text, 1.0));
    let value: f64 = digits.trim().parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value * factor)
}

/// A confidence: `95%`.
pub(crate) fn confidence(text: &str) -> Result<f64, String> {
    let part = percent(text)?;
    if (0.5..=0.9999).contains(&part) { Ok(part) } else { Err(format!("expected 50% to 99.99%, found {text}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_with_their_units() {
        for (text, secs) in
            [("300s", 300.0), ("5min", 300.0), ("1.5h", 5400.0), ("250ms", 0.25), ("7", 7.0), ("2 m", 120.0)]
        {
            assert_eq!(time(text), Ok(Duration::from_secs_f64(secs)), "{text}");
        }
        for (text, bytes) in [("2GiB", 2 << 30), ("500MB", 500_000_000), ("64k", 65_536), ("17", 17), ("3B", 3)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "s", "-1s", "nan", "inf", "1e300h", "five"] {
            assert!(time(text).is_err(), "{text}");
        }
        assert!(size("many").is_err());
    }
}
