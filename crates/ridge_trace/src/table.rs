//! Answers as tables: an Arrow batch whose columns say their unit, their title and their definition.
//!
//! Analyses make them, faces render them; neither needs to know the other.
//! What a column means travels with it as Arrow field metadata, so that an exported file explains itself.
//! No formatting happens here.

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::collections::HashMap;
use std::sync::Arc;

/// What the numbers of a column are, and so how they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Words.
    Text,
    /// Nanoseconds, `i64`.
    Nanos,
    /// Bytes, `u64`.
    Bytes,
    /// A number of things, `u64`.
    Count,
    /// A part of a whole, `f64` from 0 to 1.
    Share,
    /// A plain ratio or other number, `f64`.
    Number,
    /// Bytes per second, `f64`.
    BytesPerSec,
    /// Floating-point operations per second, `f64`.
    FlopsPerSec,
    /// Operations of any kind per second, `f64`: integer ones, where that matters.
    OpsPerSec,
    /// Floating-point operations, `f64`; a multiply-add is two.
    Flops,
    /// Arithmetic intensity: floating-point operations per byte, `f64`.
    FlopPerByte,
    /// Yes or no.
    Flag,
}

impl Unit {
    /// The unit's name in Arrow metadata and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Text => "text",
            Unit::Nanos => "ns",
            Unit::Bytes => "bytes",
            Unit::Count => "count",
            Unit::Share => "share",
            Unit::Number => "number",
            Unit::BytesPerSec => "bytes/s",
            Unit::FlopsPerSec => "flop/s",
            Unit::OpsPerSec => "op/s",
            Unit::Flops => "flop",
            Unit::FlopPerByte => "flop/byte",
            Unit::Flag => "flag",
        }
    }

    /// The unit that [`Unit::name`] names.
    pub fn from_name(name: &str) -> Option<Unit> {
        let all = [
            Unit::Text,
            Unit::Nanos,
            Unit::Bytes,
            Unit::Count,
            Unit::Share,
            Unit::Number,
            Unit::BytesPerSec,
            Unit::FlopsPerSec,
            Unit::OpsPerSec,
            Unit::Flops,
            Unit::FlopPerByte,
            Unit::Flag,
        ];
        all.into_iter().find(|unit| unit.name() == name)
    }
}

/// Where a number comes from, and so how far to trust it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// A clock or a hardware counter said it.
    Measured,
    /// Counted exactly from the program, such as operations from shapes.
    Counted,
    /// From a device's data sheet.
    Sheet,
    /// Computed by a model from the others, under assumptions that the definition names.
    Modelled,
}

impl Basis {
    /// Every basis.
    pub const ALL: [Basis; 4] = [Basis::Measured, Basis::Counted, Basis::Sheet, Basis::Modelled];

    /// The word in reports, Arrow metadata and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Measured => "measured",
            Basis::Counted => "counted",
            Basis::Sheet => "sheet",
            Basis::Modelled => "modelled",
        }
    }

    /// The basis that [`Basis::name`] names.
    pub fn from_name(name: &str) -> Option<Basis> {
        Basis::ALL.into_iter().find(|basis| basis.name() == name)
    }
}

/// How much room a column deserves when the terminal is narrow; lower ranks go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Shown only where there is room for everything.
    Detail,
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

    fn field(&self) -> Field {
        let rank = match self.rank {
            Rank::Key => "key",
            Rank::Normal => "normal",
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

/// One answer: a title, an Arrow batch, and the sentences a reader needs beside it.
#[derive(Debug, Clone)]
pub struct Table {
    /// Name in JSON and in file names (`op`, `kernel`).
    pub name: &'static str,
    /// Title for people.
    pub title: String,
    /// The rows, already in the order to show.
    pub batch: RecordBatch,
    /// What is missing or how to read it, a sentence each.
    pub footnotes: Vec<String>,
}

impl Table {
    /// Joins columns of equal length to a table.
    ///
    /// # Errors
    /// [`ArrowError`] where the columns' lengths differ.
    pub fn from_columns(name: &'static str, title: String, columns: Vec<Column>) -> Result<Table, ArrowError> {
        let schema = Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>());
        let arrays = columns.into_iter().map(|column| column.values).collect();
        let batch = RecordBatch::try_new(Arc::new(schema), arrays)?;
        Ok(Table { name, title, batch, footnotes: Vec::new() })
    }

    /// The first `rows` rows; the footnotes say how many there were.
    pub fn top(mut self, rows: usize) -> Table {
        let all = self.batch.num_rows();
        if rows < all {
            self.batch = self.batch.slice(0, rows);
            self.footnotes.push(format!("{rows} of {all} rows shown"));
        }
        self
    }

    /// What the column `field` of a table means; defaults where the metadata is not ours.
    pub fn meaning(field: &Field) -> Meaning<'_> {
        let get = |key: &str| field.metadata().get(key).map(String::as_str);
        let fallback = match field.data_type() {
            DataType::Utf8 => Unit::Text,
            DataType::Boolean => Unit::Flag,
            DataType::Float64 => Unit::Number,
            _ => Unit::Count,
        };
        Meaning {
            title: get("title").unwrap_or(field.name()),
            definition: get("definition").unwrap_or(""),
            unit: get("unit").and_then(Unit::from_name).unwrap_or(fallback),
            rank: match get("rank") {
                Some("key") => Rank::Key,
                Some("detail") => Rank::Detail,
                _ => Rank::Normal,
            },
            basis: get("basis").and_then(Basis::from_name),
        }
    }
}

/// What a column of a [`Table`] means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meaning<'a> {
    /// Heading for people.
    pub title: &'a str,
    /// What is counted and how.
    pub definition: &'a str,
    /// Unit of the values.
    pub unit: Unit,
    /// Room it deserves.
    pub rank: Rank,
    /// Where its numbers come from, where the column says it.
    pub basis: Option<Basis>,
}

/// One number of an overview, with its definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// Name in JSON (`device_busy_ns`).
    pub key: String,
    /// Name for people (`Device busy`).
    pub title: String,
    /// The value with its unit.
    pub value: FactValue,
    /// The part it is of the whole that `definition` names, where that says something.
    pub share: Option<f64>,
    /// What is counted and how; empty where the title says it all.
    pub definition: String,
}

/// The value of a [`Fact`].
#[derive(Debug, Clone, PartialEq)]
pub enum FactValue {
    /// Words.
    Text(String),
    /// Nanoseconds.
    Nanos(i64),
    /// Bytes.
    Bytes(u64),
    /// A number of things.
    Count(u64),
    /// A plain number.
    Number(f64),
    /// A real number in `Unit`: a rate, an intensity.
    Real(f64, Unit),
}

/// Facts under one heading: a device, the versions, what was lost.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// The facts, in the order to show.
    pub facts: Vec<Fact>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_carry_their_meaning() {
        let columns = vec![
            Column::text("op", "Operation", "HLO instruction", ["dot.1".to_owned(), "add".to_owned()])
                .ranked(Rank::Key),
            Column::nanos("total_ns", "Total", "sum of durations", [Some(3), None]).basis(Basis::Measured),
        ];
        let table = Table::from_columns("op", "Operations".to_owned(), columns).expect("equal lengths");
        let schema = table.batch.schema();
        let meaning = Table::meaning(schema.field(1));
        assert_eq!((meaning.title, meaning.unit, meaning.rank), ("Total", Unit::Nanos, Rank::Normal));
        assert_eq!(meaning.basis, Some(Basis::Measured));
        let top = table.top(1);
        assert_eq!((top.batch.num_rows(), top.footnotes.join("")), (1, "1 of 2 rows shown".to_owned()));
    }
}
