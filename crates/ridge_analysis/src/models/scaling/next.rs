//! What dominates at the next size: each operation's time extrapolated, with its interval.

use super::growth::nanos;
use super::power_law::{Between, PowerLaw};
use super::series::Series;
use crate::tables::time::table as build;
use ridge_table::{Basis, Column, Rank, Table, Unit};

/// Ends of an interval that are further apart than this factor tell nothing.
const WIDEST: f64 = 100.0;

/// One operation at the next size.
struct Row<'a> {
    operation: &'a str,
    now_s: f64,
    then_s: f64,
    between: Option<Between>,
    memory: Option<f64>,
}

/// Time of each operation at `size` by its power law, the longest first; the shares are of all that are shown.
pub fn next_table(series: &[Series], size: f64) -> Table {
    let mut rows: Vec<Row<'_>> = series.iter().filter_map(|series| row(series, size)).collect();
    rows.sort_by(|a, b| b.then_s.total_cmp(&a.then_s));
    let total = |of: fn(&Row<'_>) -> f64| rows.iter().map(of).sum::<f64>();
    let (now, then) = (total(|row| row.now_s), total(|row| row.then_s));
    let title = format!("At size {size}, extrapolated");
    let mut table = build("next", &title, columns(&rows, now, then));
    let unsure = rows.iter().filter(|row| row.between.is_none()).count();
    if unsure > 0 {
        table.footnotes.push(format!(
            "{unsure} without an interval: two sizes have none, and one wider than a factor of {WIDEST} tells nothing; measure more sizes"
        ));
    }
    let holds = "modelled: it holds while nothing new happens, such as a cache or a memory that no longer suffices";
    table.footnotes.push(holds.to_owned());
    table
}

fn row(series: &Series, size: f64) -> Option<Row<'_>> {
    let law: PowerLaw = series.growth(|point| point.time_s)?.law;
    let (_, now_s) = series.last()?;
    let memory = series.growth(|point| point.peak_bytes).map(|growth| growth.law.at(size));
    let between = telling(&law, size);
    Some(Row { operation: &series.operation, now_s, then_s: law.at(size), between, memory })
}

/// The interval of a measurement at `size`, where it is narrow enough to tell something.
pub(super) fn telling(law: &PowerLaw, size: f64) -> Option<Between> {
    law.at_between(size).filter(|between| between.high <= between.low * WIDEST)
}

fn columns(rows: &[Row<'_>], now: f64, then: f64) -> Vec<Column> {
    vec![
        Column::text(
            "operation",
            "Operation",
            "operation of the suite",
            rows.iter().map(|row| row.operation.to_owned()),
        )
        .ranked(Rank::Key),
        Column::nanos(
            "last_ns",
            "Largest",
            "median time of a run at its largest size",
            rows.iter().map(|row| nanos(row.now_s)),
        )
        .basis(Basis::Measured),
        Column::real(
            "share_now",
            "Share now",
            "part of the sum of these times at the largest size",
            Unit::Share,
            rows.iter().map(|row| row.now_s / now),
        )
        .basis(Basis::Measured),
        Column::nanos(
            "next_ns",
            "Then",
            "time at the next size by the power law",
            rows.iter().map(|row| nanos(row.then_s)),
        )
        .basis(Basis::Modelled)
        .ranked(Rank::Key),
        Column::nanos(
            "next_low_ns",
            "From",
            "lower end of the 95 % interval of a measurement there; none where it tells nothing",
            rows.iter().map(|row| row.between.map(|between| nanos(between.low))),
        )
        .basis(Basis::Modelled),
        Column::nanos(
            "next_high_ns",
            "To",
            "upper end of the 95 % interval of a measurement there; none where it tells nothing",
            rows.iter().map(|row| row.between.map(|between| nanos(between.high))),
        )
        .basis(Basis::Modelled),
        Column::real(
            "share_next",
            "Share then",
            "part of the sum of these times at the next size",
            Unit::Share,
            rows.iter().map(|row| row.then_s / then),
        )
        .basis(Basis::Modelled)
        .ranked(Rank::Key),
        Column::whole(
            "peak_bytes",
            "Memory then",
            "peak memory at the next size by its power law",
            Unit::Bytes,
            rows.iter().map(|row| row.memory.map(|bytes| bytes.round() as u64)),
        )
        .basis(Basis::Modelled),
    ]
}
