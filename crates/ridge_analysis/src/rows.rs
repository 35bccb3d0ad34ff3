//! Rows of device time: any partition of the groups becomes the same columns.

use crate::quantiles::quantile;
use crate::roofline::{Rows, WorkSums, sums, work_columns};
use crate::{Analysis, Group};
use ridge_trace::{Column, Rank, Table, Unit};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Groups that share a row, with their sums.
#[derive(Debug, Clone)]
pub(crate) struct Row<'g, K> {
    /// What the row is.
    pub(crate) key: K,
    /// Its groups.
    pub(crate) groups: Vec<&'g Group>,
    /// Sum of durations, nanoseconds.
    pub(crate) total_ns: i64,
    /// Sum of self times, nanoseconds.
    pub(crate) self_ns: i64,
    /// Number of events.
    pub(crate) events: u64,
}

impl<'g, K> Row<'g, K> {
    /// The group that took most of its time; of equal ones the first.
    pub(crate) fn largest(&self) -> Option<&'g Group> {
        self.groups.iter().copied().rev().max_by_key(|group| group.self_ns)
    }
}

/// Partitions all groups by `key`; a group without a key is left out. Most self time first.
pub(crate) fn partition<'g, K: Hash + Eq + Clone>(
    groups: &'g [Group],
    mut key: impl FnMut(&Group) -> Option<K>,
) -> Vec<Row<'g, K>> {
    let mut ids: FxHashMap<K, usize> = FxHashMap::default();
    let mut rows: Vec<Row<'g, K>> = Vec::new();
    for group in groups {
        let Some(key) = key(group) else { continue };
        let at = *ids.entry(key.clone()).or_insert(rows.len());
        if at == rows.len() {
            rows.push(Row { key, groups: Vec::new(), total_ns: 0, self_ns: 0, events: 0 });
        }
        let row = &mut rows[at];
        row.groups.push(group);
        row.total_ns = row.total_ns.saturating_add(group.total_ns);
        row.self_ns = row.self_ns.saturating_add(group.self_ns);
        row.events += group.count();
    }
    rows.sort_by_key(|row| (std::cmp::Reverse(row.self_ns), std::cmp::Reverse(row.total_ns)));
    rows
}

/// The columns every table of device time has: self, total, share, events and their spread.
pub(crate) fn time_columns<K>(analysis: &Analysis<'_>, rows: &[Row<'_, K>]) -> Vec<Column> {
    let durations =
        |row: &Row<'_, K>| -> Vec<&[i64]> { row.groups.iter().map(|group| analysis.durations().of(group)).collect() };
    let at = |share: f64| rows.iter().map(|row| quantile(&durations(row), share)).collect::<Vec<_>>();
    vec![
        Column::nanos(
            "self_ns",
            "Self",
            "sum of durations less the time of operations nested inside, measured",
            rows.iter().map(|row| row.self_ns),
        )
        .ranked(Rank::Key),
        Column::real(
            "self_share",
            "Share",
            "self time as a part of all device work of the capture",
            Unit::Share,
            rows.iter().map(|row| analysis.share_of_work(row.self_ns)),
        )
        .ranked(Rank::Key),
        Column::nanos("total_ns", "Total", "sum of durations, measured", rows.iter().map(|row| row.total_ns)),
        Column::whole(
            "events",
            "Events",
            "kernels, copies and device operations",
            Unit::Count,
            rows.iter().map(|row| row.events),
        ),
        Column::nanos("min_ns", "Min", "shortest event", at(0.0)).ranked(Rank::Detail),
        Column::nanos("median_ns", "Median", "duration that half of the events do not exceed", at(0.5)),
        Column::nanos("p95_ns", "p95", "duration that 95 % of the events do not exceed", at(0.95)).ranked(Rank::Detail),
        Column::nanos("max_ns", "Max", "longest event", at(1.0)).ranked(Rank::Detail),
    ]
}

/// [`time_columns`] with the columns of work behind the share, where the work is known.
pub(crate) fn time_and_work_columns<K>(analysis: &Analysis<'_>, rows: &[Row<'_, K>], kind: Rows) -> Vec<Column> {
    let mut columns = time_columns(analysis, rows);
    let work: Vec<WorkSums> = rows.iter().map(|row| sums(analysis, &row.groups, kind)).collect();
    let after_share = 2;
    columns.splice(after_share..after_share, work_columns(analysis, &work));
    columns
}

/// A table from columns that are all of one length by construction.
pub(crate) fn table(name: &'static str, title: &str, columns: Vec<Column>) -> Table {
    Table::from_columns(name, title.to_owned(), columns).expect("every column has one value a row")
}

/// `part` of `whole`; `None` where there is no whole.
pub(crate) fn ratio(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
