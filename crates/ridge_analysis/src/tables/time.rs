//! The columns that every table of device time has, over any partition of the groups.

use crate::Analysis;
use crate::context::partition::Row;
use crate::context::quantiles::quantile;
use crate::models::work::{Rows, WorkSums, sums};
use crate::tables::work::work_columns;
use ridge_table::{Basis, Column, Columns, Table};

/// The columns every table of device time has: self, total, share, events and their spread.
pub(crate) fn time_columns<K>(analysis: &Analysis<'_>, rows: &[Row<'_, K>]) -> Vec<Column> {
    let at = |share: f64| {
        move |row: &Row<'_, K>| {
            let durations: Vec<&[i64]> = row.groups.iter().map(|group| analysis.durations().of(group)).collect();
            quantile(&durations, share)
        }
    };
    Columns::over(rows)
        .nanos(
            "self_ns",
            "Self",
            "sum of durations less the time of operations nested inside, measured",
            Basis::Measured,
            |row| row.self_ns,
        )
        .key()
        .share("self_share", "Share", "self time as a part of all device work of the capture", Basis::Measured, |row| {
            analysis.share_of_work(row.self_ns)
        })
        .key()
        .nanos(
            "total_ns",
            "Total",
            "sum of durations; what ran inside work of the same row counts once, measured",
            Basis::Measured,
            |row| row.total_ns,
        )
        .minor()
        .count("events", "Events", "kernels, copies and device operations", Basis::Counted, |row| row.events)
        .nanos("min_ns", "Min", "shortest event", Basis::Measured, at(0.0))
        .detail()
        .nanos("median_ns", "Median", "duration that half of the events do not exceed", Basis::Measured, at(0.5))
        .nanos("p95_ns", "p95", "duration that 95 % of the events do not exceed", Basis::Measured, at(0.95))
        .detail()
        .nanos("max_ns", "Max", "longest event", Basis::Measured, at(1.0))
        .detail()
        .into_columns()
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
