//! A table: an Arrow batch whose columns say their unit, their title and their definition, and what its rows are about.

use crate::{Basis, Column, Rank, Subject, Unit};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use std::sync::Arc;

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
    /// How many rows there are, where not all of them were made or kept.
    pub rows_total: usize,
    /// What each row is about, in the order of the rows; empty where rows are about nothing that the trace knows.
    pub subjects: Vec<Option<Subject>>,
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
        let rows_total = batch.num_rows();
        Ok(Table { name, title, batch, footnotes: Vec::new(), rows_total, subjects: Vec::new() })
    }

    /// The table, and what each of its rows is about.
    #[must_use]
    pub fn about(self, subjects: impl IntoIterator<Item = Option<Subject>>) -> Table {
        Table { subjects: subjects.into_iter().collect(), ..self }
    }

    /// The first `rows` rows; the footnotes say how many there were.
    pub fn top(mut self, rows: usize) -> Table {
        if rows < self.batch.num_rows() {
            self.batch = self.batch.slice(0, rows);
            self.subjects.truncate(rows);
        }
        let (shown, all) = (self.batch.num_rows(), self.rows_total);
        if shown < all {
            self.footnotes.push(format!("{shown} of {all} rows shown"));
        }
        self
    }

    /// What row `row` is about, where that is known.
    pub fn subject(&self, row: usize) -> Option<&Subject> {
        self.subjects.get(row)?.as_ref()
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
                Some("minor") => Rank::Minor,
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
