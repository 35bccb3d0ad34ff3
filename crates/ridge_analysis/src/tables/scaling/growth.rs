//! The table of growth: exponents of time, work and memory, and whether time outgrows work.

use super::nanos;
use crate::scaling::{GrowthRow, Series, growth_rows};
use ridge_table::{Basis, Columns, Table, Unit};

/// Where exponents come from.
const FITTED: (Unit, Basis) = (Unit::Number, Basis::Modelled);

/// How each operation grows with size, the longest at its largest size first.
///
/// Exponents are of `N^dimensions`: 1 for the size itself, 3 for the elements of a volume whose edge is the size.
pub fn growth_table(series: &[Series], dimensions: u32) -> Table {
    let rows = growth_rows(series);
    let law = |row: &GrowthRow| row.time.map(|growth| growth.law);
    let between = |row: &GrowthRow| law(row)?.exponent_between();
    let bend = |row: &GrowthRow| row.time?.bend;
    let edge = f64::from(dimensions.max(1));
    let of_elements = |exponent: Option<f64>| exponent.map(|exponent| exponent / edge);
    let mut table = Columns::over(&rows)
        .text("operation", "Operation", "operation of the suite", |row| row.operation.clone())
        .key()
        .count("sizes", "Sizes", "sizes at which it was timed", Basis::Counted, |row| row.sizes)
        .detail()
        .nanos("last_ns", "Largest", "median time of a run at its largest size", Basis::Measured, |row| {
            row.last_s.map(nanos)
        })
        .key()
        .real(
            "exponent",
            "Time b",
            "exponent b of time in the size, by least squares of the logarithms; after the bend if there is one",
            FITTED,
            |row| of_elements(law(row).map(|law| law.exponent)),
        )
        .key()
        .real(
            "exponent_low",
            "b low",
            "lower end of the exponent's 95% interval (Student's t); none for two sizes",
            FITTED,
            |row| of_elements(between(row).map(|between| between.low)),
        )
        .real(
            "exponent_high",
            "b high",
            "upper end of the exponent's 95% interval (Student's t); none for two sizes",
            FITTED,
            |row| of_elements(between(row).map(|between| between.high)),
        )
        .real("bend_size", "Bend", "size at which the exponent of time changes, by an F-test at 5%", FITTED, |row| {
            bend(row).map(|bend| bend.size)
        })
        .real("exponent_before", "b before", "exponent of time up to the bend", FITTED, |row| {
            of_elements(bend(row).map(|bend| bend.before))
        })
        .detail()
        .real("flops_exponent", "FLOP", "exponent of the floating-point operations", FITTED, |row| {
            of_elements(row.flops)
        })
        .real("bytes_exponent", "Bytes", "exponent of the compulsory traffic", FITTED, |row| of_elements(row.bytes))
        .real("memory_exponent", "Memory", "exponent of the peak memory", FITTED, |row| of_elements(row.memory))
        .real(
            "excess",
            "Excess",
            "exponent of time minus the work's exponent, the larger of operations and bytes",
            FITTED,
            |row| of_elements(law(row).zip(row.work()).map(|(law, work)| law.exponent - work)),
        )
        .text(
            "verdict",
            "Time grows",
            "time compared with work: faster if the excess is over 0.1, certain if the interval of b is above the work's exponent",
            |row| row.verdict().name().to_owned(),
        )
        .table("growth", title(dimensions));
    table.footnotes = footnotes(&rows);
    table
}

fn title(dimensions: u32) -> String {
    match dimensions {
        0 | 1 => "Growth with size N".to_owned(),
        dimensions => format!("Growth with N^{dimensions}"),
    }
}

fn footnotes(rows: &[GrowthRow]) -> Vec<String> {
    let mut notes = Vec::new();
    let timed = rows.iter().filter_map(|row| row.time);
    match timed.filter(|growth| growth.law.exponent_between().is_none()).count() {
        0 => {}
        count => notes
            .push(format!("{count} with two sizes: the exponent fits exactly and has no interval; measure a third")),
    }
    if !rows.is_empty() && rows.iter().all(|row| row.work().is_none()) {
        notes.push("work is unknown: captures of at least two sizes with their modules are needed".to_owned());
    }
    notes
}
