//! One value of an Arrow column, whatever the column's type.
//!
//! Knows the five types that table columns are made of; another type reads as unknown. Formats nothing.

use arrow_array::{Array, BooleanArray, Float64Array, Int64Array, StringArray, UInt64Array};

/// A value in a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell<'a> {
    /// Not known.
    Unknown,
    /// Words.
    Text(&'a str),
    /// A whole number that may be negative.
    Int(i64),
    /// A whole number.
    Whole(u64),
    /// A real number, finite.
    Real(f64),
    /// Yes or no.
    Flag(bool),
}

/// The value of `column` in `row`; rows out of range are unknown.
pub(crate) fn cell(column: &dyn Array, row: usize) -> Cell<'_> {
    if row >= column.len() || column.is_null(row) {
        return Cell::Unknown;
    }
    let any = column.as_any();
    if let Some(texts) = any.downcast_ref::<StringArray>() {
        Cell::Text(texts.value(row))
    } else if let Some(numbers) = any.downcast_ref::<Int64Array>() {
        Cell::Int(numbers.value(row))
    } else if let Some(numbers) = any.downcast_ref::<UInt64Array>() {
        Cell::Whole(numbers.value(row))
    } else if let Some(numbers) = any.downcast_ref::<Float64Array>() {
        real(numbers.value(row))
    } else if let Some(flags) = any.downcast_ref::<BooleanArray>() {
        Cell::Flag(flags.value(row))
    } else {
        Cell::Unknown
    }
}

fn real(value: f64) -> Cell<'static> {
    if value.is_finite() { Cell::Real(value) } else { Cell::Unknown }
}
