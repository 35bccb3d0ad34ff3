//! The rows of a table in the order of one of its columns.

use crate::cell::{Cell, cell};
use arrow_array::{Array, RecordBatch, UInt64Array};
use arrow_select::take::take_record_batch;
use ridgeline::Table;
use std::cmp::Ordering;
use std::str::FromStr;

/// A column, and which end of it stands first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its name in JSON, or its title.
    pub column: String,
    /// `None` for what is usual: the largest number first, texts from A.
    pub direction: Option<Direction>,
}

/// Which values stand first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The smallest.
    Up,
    /// The largest.
    Down,
}

impl FromStr for Order {
    type Err = String;

    /// Reads `COLUMN`, `COLUMN:asc` or `COLUMN:desc`.
    fn from_str(text: &str) -> Result<Order, String> {
        let (column, direction) = match text.rsplit_once(':') {
            None => (text, None),
            Some((column, "asc")) => (column, Some(Direction::Up)),
            Some((column, "desc")) => (column, Some(Direction::Down)),
            Some((_, other)) => return Err(format!("expected `asc` or `desc` after the column, found `{other}`")),
        };
        if column.is_empty() {
            return Err("expected the name of a column".to_owned());
        }
        Ok(Order { column: column.to_owned(), direction })
    }
}

impl Order {
    /// `table` in this order, what is not known last; `None` where it has no such column.
    ///
    /// Rows that are equal keep their order. Where not all rows were made, a footnote says that only those were sorted.
    pub fn of(&self, table: &Table) -> Option<Table> {
        let column = self.column_of(table)?;
        let rows = rows_by(&table.batch, column, self.direction);
        let taken = UInt64Array::from_iter_values(rows.iter().map(|row| *row as u64));
        let batch = take_record_batch(&table.batch, &taken).ok()?;
        let subject = |row: &usize| table.subjects.get(*row).cloned().flatten();
        let subjects = if table.subjects.is_empty() { Vec::new() } else { rows.iter().map(subject).collect() };
        let mut footnotes = table.footnotes.clone();
        if batch.num_rows() < table.rows_total {
            footnotes.push(format!("sorted among the first {} of {} rows", batch.num_rows(), table.rows_total));
        }
        Some(Table { batch, subjects, footnotes, ..table.clone() })
    }

    fn column_of(&self, table: &Table) -> Option<usize> {
        let schema = table.batch.schema();
        let is_titled = |field: &&std::sync::Arc<_>| Table::meaning(field).title.eq_ignore_ascii_case(&self.column);
        let titled = || schema.fields().iter().position(|field| is_titled(&field));
        schema.index_of(&self.column).ok().or_else(titled)
    }
}

/// The rows of `batch` in the order of its column at `column`; what is not known stands last either way.
pub fn rows_by(batch: &RecordBatch, column: usize, direction: Option<Direction>) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..batch.num_rows()).collect();
    let values: &dyn Array = batch.column(column);
    let usual = || match (0..values.len()).map(|row| cell(values, row)).find(|cell| *cell != Cell::Unknown) {
        Some(Cell::Text(_)) => Direction::Up,
        _ => Direction::Down,
    };
    let direction = direction.unwrap_or_else(usual);
    rows.sort_by(|one, other| compare(cell(values, *one), cell(values, *other), direction));
    rows
}

fn compare(one: Cell<'_>, other: Cell<'_>, direction: Direction) -> Ordering {
    let ordering = match (one, other) {
        (Cell::Unknown, Cell::Unknown) => return Ordering::Equal,
        (Cell::Unknown, _) => return Ordering::Greater,
        (_, Cell::Unknown) => return Ordering::Less,
        (Cell::Text(one), Cell::Text(other)) => one.cmp(other),
        (Cell::Int(one), Cell::Int(other)) => one.cmp(&other),
        (Cell::Whole(one), Cell::Whole(other)) => one.cmp(&other),
        (Cell::Real(one), Cell::Real(other)) => one.total_cmp(&other),
        (Cell::Flag(one), Cell::Flag(other)) => one.cmp(&other),
        // A column has one type.
        _ => Ordering::Equal,
    };
    match direction {
        Direction::Up => ordering,
        Direction::Down => ordering.reverse(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ridgeline::Column;

    fn sorted(by: &str) -> Option<Vec<String>> {
        let columns = vec![
            Column::text("op", "Operation", "its name", ["b", "a", "c", "d"].map(str::to_owned)),
            Column::nanos("self_ns", "Self", "its time", [Some(2), None, Some(3), Some(2)]),
        ];
        let table = Table::from_columns("op", "Operations".to_owned(), columns).expect("equal lengths");
        let order: Order = by.parse().expect("an order");
        let table = order.of(&table)?;
        Some(crate::select::texts(&table, "op").into_iter().map(str::to_owned).collect())
    }

    #[test]
    fn the_largest_number_and_the_first_letter_lead() {
        assert_eq!(sorted("self_ns").expect("a column").concat(), "cbda");
        assert_eq!(sorted("self_ns:asc").expect("a column").concat(), "bdca");
        assert_eq!(sorted("SELF").expect("a title").concat(), "cbda");
        assert_eq!(sorted("op").expect("a column").concat(), "abcd");
        assert_eq!(sorted("op:desc").expect("a column").concat(), "dcba");
        assert_eq!(sorted("no"), None);
        assert!("op:up".parse::<Order>().is_err() && ":asc".parse::<Order>().is_err());
    }
}
