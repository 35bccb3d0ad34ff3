//! Columns from rows: how numbers and texts of a trace become Arrow's.
//!
//! Texts are views into one buffer of all names, so a column of ten million of them copies sixteen bytes for each.

use super::table::Tables;
use super::texts::said;
use arrow_array::builder::StringViewBuilder;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, UInt32Array};
use ridgeline::Trace;
use ridgeline::trace::{NONE, StringId};
use std::ops::Range;
use std::sync::Arc;

pub(super) fn wholes(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

pub(super) fn reals(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

pub(super) fn flags(values: impl Iterator<Item = Option<bool>>) -> ArrayRef {
    Arc::new(values.collect::<BooleanArray>())
}

/// Texts of their own; those that are empty are nulls.
pub(super) fn texts<T: AsRef<str>>(values: impl Iterator<Item = Option<T>>) -> ArrayRef {
    let mut texts = StringViewBuilder::new().with_deduplicate_strings();
    values.for_each(|text| texts.append_option(text.as_ref().map(AsRef::as_ref).and_then(said)));
    Arc::new(texts.finish())
}

/// The same value in every one of `rows` rows.
pub(super) fn same(value: Option<&str>, rows: usize) -> ArrayRef {
    texts(std::iter::repeat_n(value, rows))
}

/// What a row of an id column refers to.
pub(super) fn id(row: u32) -> Option<i64> {
    (row != NONE).then_some(row.into())
}

/// As much of `bytes` as a column of whole numbers holds.
pub(super) fn bytes(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// The number of a device in its process: what its plane ends with (`/device:GPU:1`), else its place among them.
pub(super) fn device_number(trace: &Trace, row: usize) -> Option<i64> {
    let device = trace.devices.get(row)?;
    let said = device.plane.rsplit(':').next().and_then(|number| number.parse().ok());
    let before = trace.devices[..row].iter().filter(|other| other.process == device.process).count();
    Some(said.unwrap_or(before as i64))
}

impl Tables<'_> {
    /// Texts of the trace by their ids.
    pub(super) fn named(&self, ids: impl Iterator<Item = Option<StringId>>) -> ArrayRef {
        self.strings_at(ids.map(|id| id.map(|id| id.0)))
    }

    /// Texts by their rows in the table of strings.
    pub(super) fn strings_at(&self, rows: impl Iterator<Item = Option<u32>>) -> ArrayRef {
        let rows: UInt32Array = rows.collect();
        arrow_select::take::take(&self.texts().strings, &rows, None).expect("rows of the table of strings")
    }

    /// One number for each of `rows`.
    pub(super) fn numbers(&self, rows: Range<usize>, value: impl Fn(usize) -> Option<i64>) -> ArrayRef {
        wholes(rows.map(value))
    }
}
