//! Options from text, for command lines and configuration files.
//!
//! Each type reads what its `Display` writes.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::options::{HloFormat, StepRange, WarmUp};

/// Text that is not the option it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found:?}")]
pub struct ParseError {
    /// The forms that would do.
    pub expected: &'static str,
    /// The text as given.
    pub found: String,
}

fn error(expected: &'static str, found: &str) -> ParseError {
    ParseError { expected, found: found.to_owned() }
}

impl FromStr for StepRange {
    type Err = ParseError;

    /// Reads `A..B` (B not captured) and `A..=B` (B captured).
    fn from_str(text: &str) -> Result<StepRange, ParseError> {
        let wrong = || error("steps as `A..B` or `A..=B` with A below the end", text);
        let (first, end) = text.split_once("..").ok_or_else(wrong)?;
        let first = first.trim().parse().map_err(|_| wrong())?;
        let end = match end.strip_prefix('=') {
            Some(last) => last.trim().parse::<u64>().ok().and_then(|last| last.checked_add(1)),
            None => end.trim().parse().ok(),
        };
        match end {
            Some(end) if first < end => Ok(StepRange { first, end }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for StepRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.first, self.end)
    }
}

impl FromStr for HloFormat {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<HloFormat, ParseError> {
        HloFormat::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| error("one of text, proto, dot, jaxpr, stablehlo, portable, before, lowered", text))
    }
}

impl HloFormat {
    /// Every format.
    pub const ALL: [HloFormat; 8] = [
        HloFormat::Text,
        HloFormat::Proto,
        HloFormat::Dot,
        HloFormat::Jaxpr,
        HloFormat::Stablehlo,
        HloFormat::Portable,
        HloFormat::Before,
        HloFormat::Lowered,
    ];

    /// The word for it on the command line and in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            HloFormat::Text => "text",
            HloFormat::Proto => "proto",
            HloFormat::Dot => "dot",
            HloFormat::Jaxpr => "jaxpr",
            HloFormat::Stablehlo => "stablehlo",
            HloFormat::Portable => "portable",
            HloFormat::Before => "before",
            HloFormat::Lowered => "lowered",
        }
    }
}

impl FromStr for WarmUp {
    type Err = ParseError;

    /// Reads `none`, a time such as `5s` or `250ms`, and `quiet:2s`.
    fn from_str(text: &str) -> Result<WarmUp, ParseError> {
        let wrong = || error("`none`, a time such as `5s`, or `quiet:2s`", text);
        match text.strip_prefix("quiet:") {
            _ if text == "none" => Ok(WarmUp::None),
            Some(time) => duration(time).map(WarmUp::Quiet).ok_or_else(wrong),
            None => duration(text).map(WarmUp::Time).ok_or_else(wrong),
        }
    }
}

impl fmt::Display for WarmUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WarmUp::None => f.write_str("none"),
            WarmUp::Time(time) => write!(f, "{}s", time.as_secs_f64()),
            WarmUp::Quiet(time) => write!(f, "quiet:{}s", time.as_secs_f64()),
        }
    }
}

/// A time with its unit: `ms`, `s` or `min`; a bare number is in seconds.
fn duration(text: &str) -> Option<Duration> {
    let (number, secs_per_unit) = if let Some(number) = text.strip_suffix("ms") {
        (number, 1e-3)
    } else if let Some(number) = text.strip_suffix("min") {
        (number, 60.0)
    } else {
        (text.strip_suffix('s').unwrap_or(text), 1.0)
    };
    Duration::try_from_secs_f64(number.trim().parse::<f64>().ok()? * secs_per_unit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check<T: FromStr<Err = ParseError> + fmt::Display>(texts: &[&str], want: Expect) {
        let lines = texts.iter().map(|text| match text.parse::<T>() {
            Ok(value) => format!("{text} -> {value}\n"),
            Err(error) => format!("{text} -> {error}\n"),
        });
        want.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn steps() {
        check::<StepRange>(
            &["3..8", "3..=7", " 0 .. 1", "8..3", "4..4", "5", "..5", "0..=18446744073709551615"],
            expect![[r#"
                3..8 -> 3..8
                3..=7 -> 3..8
                 0 .. 1 -> 0..1
                8..3 -> expected steps as `A..B` or `A..=B` with A below the end, found "8..3"
                4..4 -> expected steps as `A..B` or `A..=B` with A below the end, found "4..4"
                5 -> expected steps as `A..B` or `A..=B` with A below the end, found "5"
                ..5 -> expected steps as `A..B` or `A..=B` with A below the end, found "..5"
                0..=18446744073709551615 -> expected steps as `A..B` or `A..=B` with A below the end, found "0..=18446744073709551615"
            "#]],
        );
    }

    #[test]
    fn warm_up() {
        check::<WarmUp>(
            &["none", "5", "5s", "250ms", "2min", "quiet:1.5s", "-1s", "soon", "nan", "1e300s"],
            expect![[r#"
                none -> none
                5 -> 5s
                5s -> 5s
                250ms -> 0.25s
                2min -> 120s
                quiet:1.5s -> quiet:1.5s
                -1s -> expected `none`, a time such as `5s`, or `quiet:2s`, found "-1s"
                soon -> expected `none`, a time such as `5s`, or `quiet:2s`, found "soon"
                nan -> expected `none`, a time such as `5s`, or `quiet:2s`, found "nan"
                1e300s -> expected `none`, a time such as `5s`, or `quiet:2s`, found "1e300s"
            "#]],
        );
    }
}
