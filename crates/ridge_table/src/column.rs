//! A column before it joins a table: values, and what they mean.

use crate::{Basis, Unit};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, UInt64Array};
use arrow_schema::Field;
use std::collections::HashMap;
use std::sync::Arc;

/// How much room a column deserves when the terminal is narrow; lower ranks go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Shown only where there is room for everything.
    Detail,
    /// Goes before what readers look for first.
    Minor,
    /// Shown at ordinary widths.
    Normal,
    /// Always shown.
    Key,
}

/// A column before it joins a table: values and what they mean.
#[derive(Debug, Clone)]
pub struct Column {
    /// Name in Arrow, JSON and CSV: lower case, the unit last where it has one (`total_ns`).
    pub key: &'static str,
    /// Heading for people (`Total`).
    pub title: &'static str,
    /// What is counted and how, one sentence.
    pub definition: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Room it deserves.
    pub rank: Rank,
    /// Where its numbers come from; `None` for words, and where the definition says it.
    pub basis: Option<Basis>,
    /// The values.
    pub values: ArrayRef,
}

impl Column {
    fn new(key: &'static str, title: &'static str, definition: &'static str, unit: Unit, values: ArrayRef) -> Column {
        Column { key, title, definition, unit, rank: Rank::Normal, basis: None, values }
    }

    /// A column of words.
    pub fn text<T: Into<Option<String>>>(
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Column {
        let values: StringArray = values.into_iter().map(Into::into).collect();
        Column::new(key, title, definition, Unit::Text, Arc::new(values))
    }

    /// A column of nanoseconds.
    pub fn nanos<T: Into<Option<i64>>>(
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Column {
        let values: Int64Array = values.into_iter().map(Into::into).collect();
        Column::new(key, title, definition, Unit::Nanos, Arc::new(values))
    }

    /// A column of whole numbers of `unit`, [`Unit::Count`] or [`Unit::Bytes`].
    pub fn whole<T: Into<Option<u64>>>(
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        unit: Unit,
        values: impl IntoIterator<Item = T>,
    ) -> Column {
        let values: UInt64Array = values.into_iter().map(Into::into).collect();
        Column::new(key, title, definition, unit, Arc::new(values))
    }

    /// A column of whole numbers of `unit` that may be negative: a change of bytes, of a count.
    pub fn signed<T: Into<Option<i64>>>(
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        unit: Unit,
        values: impl IntoIterator<Item = T>,
    ) -> Column {
        let values: Int64Array = values.into_iter().map(Into::into).collect();
        Column::new(key, title, definition, unit, Arc::new(values))
    }

    /// A column of real numbers of `unit`.
    pub fn real<T: Into<Option<f64>>>(
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        unit: Unit,
        values: impl IntoIterator<Item = T>,
    ) -> Column {
        let values: Float64Array = values.into_iter().map(Into::into).collect();
        Column::new(key, title, definition, unit, Arc::new(values))
    }

    /// A column of yes and no.
    pub fn flag<T: Into<Option<bool>>>(
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Column {
        let values: BooleanArray = values.into_iter().map(Into::into).collect();
        Column::new(key, title, definition, Unit::Flag, Arc::new(values))
    }

    /// The same column with another rank.
    pub fn ranked(mut self, rank: Rank) -> Column {
        self.rank = rank;
        self
    }

    /// The same column saying where its numbers come from.
    pub fn basis(mut self, basis: Basis) -> Column {
        self.basis = Some(basis);
        self
    }

    pub(crate) fn field(&self) -> Field {
        let rank = match self.rank {
            Rank::Key => "key",
            Rank::Normal => "normal",
            Rank::Minor => "minor",
            Rank::Detail => "detail",
        };
        let meaning =
            [("title", self.title), ("definition", self.definition), ("unit", self.unit.name()), ("rank", rank)];
        let basis = self.basis.map(|basis| ("basis", basis.name()));
        let metadata: HashMap<String, String> =
            meaning.into_iter().chain(basis).map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        Field::new(self.key, self.values.data_type().clone(), true).with_metadata(metadata)
    }
}
