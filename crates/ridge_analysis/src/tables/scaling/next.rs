//! The table of the next size.

use super::nanos;
use crate::models::scaling::WIDEST;
use crate::scaling::{NextRow, Series, next_rows};
use ridge_table::{Basis, Columns, Table};

/// Time of each operation at `size` by its power law, the longest first; the shares are of all that are shown.
pub fn next_table(series: &[Series], size: f64) -> Table {
    let rows = next_rows(series, size);
    let total = |of: fn(&NextRow) -> f64| rows.iter().map(of).sum::<f64>();
    let (now, then) = (total(|row| row.now_s), total(|row| row.then_s));
    let mut table = Columns::over(&rows)
        .text("operation", "Operation", "operation of the suite", |row| row.operation.clone())
        .key()
        .nanos("last_ns", "Largest", "median time of a run at its largest size", Basis::Measured, |row| {
            nanos(row.now_s)
        })
        .share("share_now", "Share now", "part of the sum of these times at the largest size", Basis::Measured, |row| {
            row.now_s / now
        })
        .nanos("next_ns", "Then", "time at the next size by the power law", Basis::Modelled, |row| nanos(row.then_s))
        .key()
        .nanos(
            "next_low_ns",
            "From",
            "lower end of the 95% interval of a measurement there; none if it would be meaningless",
            Basis::Modelled,
            |row| row.between.map(|between| nanos(between.low)),
        )
        .nanos(
            "next_high_ns",
            "To",
            "upper end of the 95% interval of a measurement there; none if it would be meaningless",
            Basis::Modelled,
            |row| row.between.map(|between| nanos(between.high)),
        )
        .share("share_next", "Share then", "part of the sum of these times at the next size", Basis::Modelled, |row| {
            row.then_s / then
        })
        .key()
        .bytes("peak_bytes", "Memory then", "peak memory at the next size by its power law", Basis::Modelled, |row| {
            row.memory.map(|bytes| bytes.round() as u64)
        })
        .table("next", format!("At size {size}, extrapolated"));
    let unsure = rows.iter().filter(|row| row.between.is_none()).count();
    if unsure > 0 {
        table.footnotes.push(format!(
            "{unsure} without an interval: two sizes have none, and one wider than a factor of {WIDEST} tells nothing; measure more sizes"
        ));
    }
    let holds = "modelled: valid as long as nothing new limits it, such as a cache or memory that becomes too small";
    table.footnotes.push(holds.to_owned());
    table
}
