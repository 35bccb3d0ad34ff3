//! A part of a whole.

use crate::three_digits;
use std::fmt;

/// A part of a whole as a ratio: 1.0 is all of it. Not a number prints as a dash.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl Share {
    /// `part` of `whole`; zero where the whole is zero.
    pub fn of(part: f64, whole: f64) -> Share {
        if whole == 0.0 { Share(0.0) } else { Share(part / whole) }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        // Below a thousandth of a percent the digits are noise.
        let text = if percent != 0.0 && percent.abs() < 0.001 { "<0.001".to_owned() } else { three_digits(percent) };
        f.pad(&format!("{text} %"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_percent() {
        for (share, text) in [(0.0, "0 %"), (1.0, "100 %"), (0.1234, "12.3 %"), (1e-9, "<0.001 %")] {
            assert_eq!(Share(share).to_string(), text);
        }
        assert_eq!(Share::of(1.0, 0.0).to_string(), "0 %");
    }
}
