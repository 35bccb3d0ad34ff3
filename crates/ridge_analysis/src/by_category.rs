//! Device time by kind of work.

use crate::rows::{partition, table as build, time_columns};
use crate::{Analysis, category};
use ridge_trace::{Column, Rank, Table};

/// Categories, most self time first.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let rows = partition(&analysis.groups().groups, |group| Some(category::of(analysis, group).into_owned()));
    let names = rows.iter().map(|row| row.key.clone());
    let mut columns = vec![Column::text("category", "Category", "kind of work", names).ranked(Rank::Key)];
    columns.extend(time_columns(analysis, &rows));
    build("category", "Categories", columns)
}
