//! Words of one column, for callers that offer a choice among rows.

use crate::cell::{Cell, cell};
use ridgeline::Table;

/// The known words in the column `key` of `table`, in row order; empty where there is no such column of words.
pub fn texts<'a>(table: &'a Table, key: &str) -> Vec<&'a str> {
    let Ok(index) = table.batch.schema_ref().index_of(key) else {
        return Vec::new();
    };
    let column = table.batch.column(index);
    let cells = (0..table.batch.num_rows()).map(|row| cell(column, row));
    cells
        .filter_map(|cell| match cell {
            Cell::Text(text) => Some(text),
            _ => None,
        })
        .collect()
}
