//! Tables from typed rows: each column is one line that says what it reads from a row.

use crate::{Basis, Column, Rank, Subject, Table, Unit};

/// Columns over typed rows; [`Columns::table`] ends it.
///
/// A number's basis is part of its column: there is no way to add one without it.
///
/// ```
/// use ridge_table::{Basis, Columns};
/// let rows = [("dot", 30_i64), ("add", 12)];
/// let table = Columns::over(&rows)
///     .text("op", "Operation", "HLO instruction", |row| row.0.to_owned()).key()
///     .nanos("self_ns", "Self", "sum of self times", Basis::Measured, |row| row.1).key()
///     .table("op", "Operations");
/// assert_eq!(table.batch.num_rows(), 2);
/// ```
#[derive(Debug)]
pub struct Columns<'r, R> {
    rows: &'r [R],
    columns: Vec<Column>,
    subjects: Vec<Option<Subject>>,
}

impl<'r, R> Columns<'r, R> {
    /// No columns yet, over `rows`.
    pub fn over(rows: &'r [R]) -> Columns<'r, R> {
        Columns { rows, columns: Vec::new(), subjects: Vec::new() }
    }

    /// What each row is about, where it is about something that the trace knows.
    pub fn about(mut self, subject: impl Fn(&R) -> Option<Subject>) -> Self {
        self.subjects = self.rows.iter().map(subject).collect();
        self
    }

    /// Words.
    pub fn text<T: Into<Option<String>>>(
        self,
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        value: impl Fn(&R) -> T,
    ) -> Self {
        let column = Column::text(key, title, definition, self.rows.iter().map(value));
        self.column(column)
    }

    /// Nanoseconds.
    pub fn nanos<T: Into<Option<i64>>>(
        self,
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        basis: Basis,
        value: impl Fn(&R) -> T,
    ) -> Self {
        let column = Column::nanos(key, title, definition, self.rows.iter().map(value));
        self.column(column.basis(basis))
    }

    /// A number of things.
    pub fn count<T: Into<Option<u64>>>(
        self,
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        basis: Basis,
        value: impl Fn(&R) -> T,
    ) -> Self {
        let column = Column::whole(key, title, definition, Unit::Count, self.rows.iter().map(value));
        self.column(column.basis(basis))
    }

    /// Bytes.
    pub fn bytes<T: Into<Option<u64>>>(
        self,
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        basis: Basis,
        value: impl Fn(&R) -> T,
    ) -> Self {
        let column = Column::whole(key, title, definition, Unit::Bytes, self.rows.iter().map(value));
        self.column(column.basis(basis))
    }

    /// A part of a whole, 0 to 1.
    pub fn share<T: Into<Option<f64>>>(
        self,
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        basis: Basis,
        value: impl Fn(&R) -> T,
    ) -> Self {
        self.real(key, title, definition, (Unit::Share, basis), value)
    }

    /// Real numbers of a unit.
    pub fn real<T: Into<Option<f64>>>(
        self,
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        (unit, basis): (Unit, Basis),
        value: impl Fn(&R) -> T,
    ) -> Self {
        let column = Column::real(key, title, definition, unit, self.rows.iter().map(value));
        self.column(column.basis(basis))
    }

    /// Yes and no.
    pub fn flag<T: Into<Option<bool>>>(
        self,
        key: &'static str,
        title: &'static str,
        definition: &'static str,
        value: impl Fn(&R) -> T,
    ) -> Self {
        let column = Column::flag(key, title, definition, self.rows.iter().map(value));
        self.column(column)
    }

    /// A column that several tables share, made elsewhere over the same rows.
    pub fn column(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// Several of them.
    pub fn columns(mut self, columns: impl IntoIterator<Item = Column>) -> Self {
        self.columns.extend(columns);
        self
    }

    /// The last column is always shown.
    pub fn key(self) -> Self {
        self.ranked(Rank::Key)
    }

    /// The last column goes before what readers look for first.
    pub fn minor(self) -> Self {
        self.ranked(Rank::Minor)
    }

    /// The last column is shown only where there is room for everything.
    pub fn detail(self) -> Self {
        self.ranked(Rank::Detail)
    }

    fn ranked(mut self, rank: Rank) -> Self {
        if let Some(last) = self.columns.last_mut() {
            last.rank = rank;
        }
        self
    }

    /// The columns alone, for other tables over the same rows.
    pub fn into_columns(self) -> Vec<Column> {
        self.columns
    }

    /// The table.
    ///
    /// # Panics
    /// Where a column that was made elsewhere is not over these rows.
    pub fn table(self, name: &'static str, title: impl Into<String>) -> Table {
        let mut table =
            Table::from_columns(name, title.into(), self.columns).expect("every column has one value a row");
        table.subjects = self.subjects;
        table
    }
}
