//! Values as people read them: three digits and a unit, or a dash where nothing is known.
//!
//! Does not align or color anything.

use crate::cell::Cell;
use crate::escape_controls;
use ridgeline::units::{
    Bytes, BytesPerSec, Count, FlopPerByte, Flops, FlopsPerSec, Nanos, OpsPerSec, Share, three_digits,
};
use ridgeline::{Basis, FactValue, Meaning, Unit};

/// What stands for a value that is not known.
pub(crate) const UNKNOWN: &str = "–";

/// A value as text, its unit apart so that units can stand in a column of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The number or the words.
    pub(crate) body: String,
    /// The unit, without a space; empty where there is none.
    pub(crate) unit: String,
}

impl Shown {
    fn bare(body: String) -> Shown {
        Shown { body, unit: String::new() }
    }

    /// Splits `"14.3 ms"` at the space.
    fn scaled(text: String) -> Shown {
        match text.rsplit_once(' ') {
            Some((body, unit)) => Shown { body: body.to_owned(), unit: unit.to_owned() },
            None => Shown::bare(text),
        }
    }

    /// Body and unit with a space between.
    pub(crate) fn joined(&self) -> String {
        if self.unit.is_empty() { self.body.clone() } else { format!("{} {}", self.body, self.unit) }
    }
}

/// `cell`, a value in `unit`, as people read it.
pub(crate) fn show(cell: Cell<'_>, unit: Unit) -> Shown {
    match cell {
        Cell::Unknown => Shown::bare(UNKNOWN.to_owned()),
        Cell::Text(text) => Shown::bare(escape_controls(text).into_owned()),
        Cell::Flag(flag) => Shown::bare(if flag { "yes" } else { "no" }.to_owned()),
        Cell::Int(value) => show_int(value, unit),
        Cell::Whole(value) => show_whole(value, unit),
        Cell::Real(value) => show_real(value, unit),
    }
}

/// A value of a table's column as people read it.
///
/// A rate of no operations at all says nothing: what does none, such as a copy, has a dash. Programs get the zero that was
/// counted; one that a hardware counter measured is an answer and stays.
pub(crate) fn show_in_column(cell: Cell<'_>, meaning: &Meaning<'_>) -> Shown {
    let is_rate = matches!(meaning.unit, Unit::FlopsPerSec | Unit::FlopPerByte);
    match cell {
        Cell::Real(0.0) if is_rate && meaning.basis == Some(Basis::Counted) => show(Cell::Unknown, meaning.unit),
        _ => show(cell, meaning.unit),
    }
}

/// The value of a fact as people read it, its unit behind it.
pub fn fact_text(value: &FactValue) -> String {
    show_fact(value).joined()
}

/// The value of a fact as people read it.
pub(crate) fn show_fact(value: &FactValue) -> Shown {
    match value {
        FactValue::Text(text) => show(Cell::Text(text), Unit::Text),
        FactValue::Nanos(nanos) => show_int(*nanos, Unit::Nanos),
        FactValue::Bytes(bytes) => show_whole(*bytes, Unit::Bytes),
        FactValue::Count(count) => show_whole(*count, Unit::Count),
        FactValue::Number(number) => show_real(*number, Unit::Number),
        FactValue::Real(number, unit) => show_real(*number, *unit),
    }
}

fn show_int(value: i64, unit: Unit) -> Shown {
    match unit {
        Unit::Nanos => Shown::scaled(Nanos(value).to_string()),
        Unit::Bytes if value < 0 => Shown::scaled(format!("-{}", Bytes(value.unsigned_abs()))),
        _ if value < 0 => Shown::bare(format!("-{}", Count(value.unsigned_abs()))),
        _ => show_whole(value.unsigned_abs(), unit),
    }
}

fn show_whole(value: u64, unit: Unit) -> Shown {
    match unit {
        Unit::Bytes => Shown::scaled(Bytes(value).to_string()),
        Unit::Nanos => Shown::scaled(Nanos(i64::try_from(value).unwrap_or(i64::MAX)).to_string()),
        _ => Shown::bare(Count(value).to_string()),
    }
}

fn show_real(value: f64, unit: Unit) -> Shown {
    match unit {
        _ if !value.is_finite() => Shown::bare(UNKNOWN.to_owned()),
        Unit::Share => show_share(value),
        Unit::BytesPerSec => Shown::scaled(BytesPerSec(value).to_string()),
        Unit::FlopsPerSec => Shown::scaled(FlopsPerSec(value).to_string()),
        Unit::OpsPerSec => Shown::scaled(OpsPerSec(value).to_string()),
        Unit::Flops => Shown::scaled(Flops(value).to_string()),
        Unit::FlopPerByte => Shown::scaled(FlopPerByte(value).to_string()),
        Unit::Nanos => Shown::scaled(Nanos(value.round() as i64).to_string()),
        Unit::Bytes => Shown::scaled(Bytes(value.round() as u64).to_string()),
        _ => Shown::bare(real_number(value)),
    }
}

/// A share in percent; the sign belongs to the number, so columns of shares still end in line.
pub(crate) fn show_share(share: f64) -> Shown {
    Shown::bare(Share(share).to_string())
}

/// Three digits up to 1000, grouped whole numbers up to where a reader stops counting digits, then powers of ten.
fn real_number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e9 || (size != 0.0 && size < 1e-3) {
        return format!("{value:.2e}");
    }
    if size >= 1000.0 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", Count(size.round() as u64));
    }
    three_digits(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_nothing_counted_is_a_dash() {
        let meaning = |unit, basis| Meaning { title: "", definition: "", unit, rank: ridgeline::Rank::Key, basis };
        for (value, unit, basis, text) in [
            (0.0, Unit::FlopsPerSec, Some(Basis::Counted), "–"),
            (0.0, Unit::FlopPerByte, Some(Basis::Counted), "–"),
            (0.0, Unit::FlopsPerSec, Some(Basis::Measured), "0 FLOP/s"),
            (0.0, Unit::Flops, Some(Basis::Counted), "0 FLOP"),
            (1e9, Unit::FlopsPerSec, Some(Basis::Counted), "1 GFLOP/s"),
        ] {
            assert_eq!(show_in_column(Cell::Real(value), &meaning(unit, basis)).joined(), text, "{unit:?} {basis:?}");
        }
    }

    #[test]
    fn values_read_with_their_unit() {
        for (cell, unit, text) in [
            (Cell::Unknown, Unit::Nanos, "–"),
            (Cell::Int(14_344_140), Unit::Nanos, "14.3 ms"),
            (Cell::Int(-1234), Unit::Count, "-1,234"),
            (Cell::Whole(1 << 20), Unit::Bytes, "1 MiB"),
            (Cell::Int(-(3 << 20)), Unit::Bytes, "-3 MiB"),
            (Cell::Whole(5_979_302), Unit::Count, "5,979,302"),
            (Cell::Real(0.1234), Unit::Share, "12.3%"),
            (Cell::Real(0.0), Unit::Share, "0.0%"),
            (Cell::Real(1e-5), Unit::Share, "<0.1%"),
            (Cell::Real(5.3e12), Unit::BytesPerSec, "5.3 TB/s"),
            (Cell::Real(32.715e9), Unit::Flops, "32.7 GFLOP"),
            (Cell::Real(13.9), Unit::FlopPerByte, "13.9 FLOP/B"),
            (Cell::Real(f64::NAN), Unit::Number, "–"),
            (Cell::Real(12_345.6), Unit::Number, "12,346"),
            (Cell::Real(3e12), Unit::Number, "3.00e12"),
            (Cell::Flag(true), Unit::Flag, "yes"),
            (Cell::Text("a\x1bb"), Unit::Text, "a\\x1bb"),
        ] {
            assert_eq!(show(cell, unit).joined(), text);
        }
    }
}
