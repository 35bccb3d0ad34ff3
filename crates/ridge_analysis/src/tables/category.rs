//! Device time by kind of work.

use crate::Analysis;
use crate::WorkGroups;
use crate::context::Durations;
use crate::context::Need;
use crate::context::category;
use crate::context::nested_likes::count_once;
use crate::context::partition::partition;
use crate::tables::time::time_columns;
use crate::view::{Shown, Topic, View, has_events};
use ridge_table::{Columns, Subject, Table};

/// The view.
pub(crate) static VIEW: View = View {
    topic: Topic::Time,
    id: "category",
    about: "kind of operation",
    aliases: &[],
    shown: Shown::InReport,
    needs: &[Need::of::<WorkGroups>(), Need::of::<Durations>()],
    answers: has_events,
    charts: None,
    make: |analysis, _| table(analysis),
};

/// Categories, most self time first.
pub(crate) fn table(analysis: &Analysis<'_>) -> Table {
    let mut rows = partition(&analysis.groups().groups, |group| Some(category::of(analysis, group).into_owned()));
    count_once(analysis.trace, &mut rows);
    Columns::over(&rows)
        .about(|row| Some(Subject::Category(row.key.as_str().into())))
        .text("category", "Category", "kind of work", |row| row.key.clone())
        .key()
        .columns(time_columns(analysis, &rows))
        .table("category", "Categories")
}
