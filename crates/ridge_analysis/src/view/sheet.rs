//! A table in the making: rows of an answer under columns that are data.

use super::Field;
use crate::Analysis;
use ridge_table::{Basis, Column, Subject, Table};

/// Rows of an answer, and their columns so far.
pub(crate) struct Sheet<'r, R> {
    analysis: Analysis<'r>,
    rows: Vec<&'r R>,
    columns: Vec<Column>,
    subjects: Vec<Option<Subject>>,
}

impl<'r, R> Sheet<'r, R> {
    /// No columns yet.
    pub(crate) fn over(analysis: &Analysis<'r>, rows: impl IntoIterator<Item = &'r R>) -> Sheet<'r, R> {
        let rows = rows.into_iter().collect();
        Sheet { analysis: *analysis, rows, columns: Vec::new(), subjects: Vec::new() }
    }

    /// What each row is about, where it is about something that the trace knows.
    pub(crate) fn about(mut self, subject: impl Fn(&Analysis<'r>, &R) -> Option<Subject>) -> Self {
        self.subjects = self.rows.iter().map(|row| subject(&self.analysis, row)).collect();
        self
    }

    /// Columns over the rows.
    pub(crate) fn show(mut self, fields: &[Field<R>]) -> Self {
        self.columns.extend(fields.iter().map(|field| field.column(&self.analysis, &self.rows)));
        self
    }

    /// Columns over the rows whose numbers all rest on `basis`.
    pub(crate) fn show_as(mut self, fields: &[Field<R>], basis: Basis) -> Self {
        let columns = fields.iter().map(|field| field.column(&self.analysis, &self.rows).basis(basis));
        self.columns.extend(columns);
        self
    }

    /// Columns over a part of each row.
    pub(crate) fn part<P>(mut self, fields: &[Field<P>], part: impl Fn(&R) -> &P) -> Self {
        let parts: Vec<&P> = self.rows.iter().map(|row| part(row)).collect();
        self.columns.extend(fields.iter().map(|field| field.column(&self.analysis, &parts)));
        self
    }

    /// Columns that were made of what stands beside the rows.
    pub(crate) fn columns(mut self, columns: impl IntoIterator<Item = Column>) -> Self {
        self.columns.extend(columns);
        self
    }

    /// The column `key` otherwise, where it is shown.
    pub(crate) fn with(mut self, key: &str, change: impl Fn(Column) -> Column) -> Self {
        let columns = self.columns.into_iter();
        self.columns = columns.map(|column| if column.key == key { change(column) } else { column }).collect();
        self
    }

    /// The table; its view gives it its name.
    pub(crate) fn table(self, title: impl Into<String>) -> Table {
        let table = Table::from_columns("", title.into(), self.columns).expect("every column has one value a row");
        Table { subjects: self.subjects, ..table }
    }
}
