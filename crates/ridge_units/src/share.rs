//! A part of a whole, as a percentage in three forms: of a table, of a sentence, of a change.

use std::fmt;

/// A part of a whole as a ratio: 1.0 is all of it. Not a number prints as a dash.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl Share {
    /// `part` of `whole`; zero where the whole is zero.
    pub fn of(part: f64, whole: f64) -> Share {
        if whole == 0.0 { Share(0.0) } else { Share(part / whole) }
    }

    /// Without decimals, for sentences: `32%`.
    pub fn rounded(self) -> String {
        self.printed(|percent| format!("{percent:.0}%"))
    }

    /// As a change, with its sign: `+3.1%`.
    pub fn signed(self) -> String {
        // A tenth of a percent says nothing of something that grew more than tenfold.
        self.printed(
            |percent| if percent.abs() < 1000.0 { format!("{percent:+.1}%") } else { format!("{percent:+.0}%") },
        )
    }

    fn printed(self, text: impl Fn(f64) -> String) -> String {
        if self.0.is_finite() { text(100.0 * self.0) } else { "–".to_owned() }
    }
}

impl fmt::Display for Share {
    /// With one decimal, so that the points of a column stand under each other.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HALF_A_TENTH: f64 = 0.0005;
        let is_tiny = self.0 != 0.0 && self.0.abs() < HALF_A_TENTH;
        f.pad(&if is_tiny { "<0.1%".to_owned() } else { self.printed(|percent| format!("{percent:.1}%")) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_percent() {
        for (share, text) in
            [(0.0, "0.0%"), (1.0, "100.0%"), (0.1234, "12.3%"), (1e-9, "<0.1%"), (-1e-9, "<0.1%"), (f64::NAN, "–")]
        {
            assert_eq!(Share(share).to_string(), text);
        }
        assert_eq!(Share::of(1.0, 0.0).to_string(), "0.0%");
    }

    #[test]
    fn sentences_and_changes() {
        assert_eq!(Share(0.316).rounded(), "32%");
        assert_eq!(Share(0.0312).signed(), "+3.1%");
        assert_eq!(Share(-0.5).signed(), "-50.0%");
        assert_eq!(Share(12.34).signed(), "+1234%");
    }
}
