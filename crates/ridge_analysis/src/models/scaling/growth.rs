//! The table of growth: exponents of time, work and memory, and whether time outgrows work.

use super::bend::Growth;
use super::series::Series;
use super::verdict::Verdict;
use crate::tables::time::table as build;
use ridge_table::{Basis, Column, Rank, Table, Unit};

/// One operation's fits.
struct Row<'a> {
    series: &'a Series,
    time: Option<Growth>,
    flops: Option<f64>,
    bytes: Option<f64>,
    memory: Option<f64>,
}

impl Row<'_> {
    /// The exponent of the work that grows faster.
    fn work(&self) -> Option<f64> {
        self.flops.into_iter().chain(self.bytes).max_by(f64::total_cmp)
    }

    fn verdict(&self) -> Verdict {
        Verdict::of(self.time, self.work())
    }
}

/// How each operation grows with size, the longest at its largest size first.
///
/// Exponents are of `N^dimensions`: 1 for the size itself, 3 for the elements of a volume whose edge is the size.
pub fn growth_table(series: &[Series], dimensions: u32) -> Table {
    let mut rows: Vec<Row<'_>> = series.iter().map(row).collect();
    let last = |row: &Row<'_>| row.series.last().map_or(0.0, |(_, time)| time);
    rows.sort_by(|a, b| last(b).total_cmp(&last(a)));
    let mut table = build("growth", &title(dimensions), columns(&rows, f64::from(dimensions.max(1))));
    table.footnotes = footnotes(&rows);
    table
}

fn title(dimensions: u32) -> String {
    match dimensions {
        0 | 1 => "Growth with size N".to_owned(),
        dimensions => format!("Growth with N^{dimensions}"),
    }
}

fn row(series: &Series) -> Row<'_> {
    let exponent = |growth: Option<Growth>| growth.map(|growth| growth.law.exponent);
    Row {
        series,
        time: series.growth(|point| point.time_s),
        flops: exponent(series.growth(|point| point.flops)),
        bytes: exponent(series.growth(|point| point.compulsory_bytes)),
        memory: exponent(series.growth(|point| point.peak_bytes)),
    }
}

fn columns(rows: &[Row<'_>], dimensions: f64) -> Vec<Column> {
    let law = |row: &Row<'_>| row.time.map(|growth| growth.law);
    let between = |row: &Row<'_>| law(row)?.exponent_between();
    let bend = |row: &Row<'_>| row.time?.bend;
    let real = |key, title, definition, of: &dyn Fn(&Row<'_>) -> Option<f64>| {
        Column::real(key, title, definition, Unit::Number, rows.iter().map(of))
    };
    let exponent = |key, title, definition, of: &dyn Fn(&Row<'_>) -> Option<f64>| {
        let column = real(key, title, definition, &|row| of(row).map(|exponent| exponent / dimensions));
        column.basis(Basis::Modelled)
    };
    let modelled = |column: Column| column.basis(Basis::Modelled);
    vec![
        Column::text(
            "operation",
            "Operation",
            "operation of the suite",
            rows.iter().map(|row| row.series.operation.clone()),
        )
        .ranked(Rank::Key),
        Column::whole(
            "sizes",
            "Sizes",
            "sizes at which it was timed",
            Unit::Count,
            rows.iter().map(|row| row.series.points.iter().filter(|point| point.time_s.is_some()).count() as u64),
        )
        .basis(Basis::Counted)
        .ranked(Rank::Detail),
        Column::nanos(
            "last_ns",
            "Largest",
            "median time of a run at its largest size",
            rows.iter().map(|row| row.series.last().map(|(_, time)| nanos(time))),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
        (exponent(
            "exponent",
            "Time b",
            "exponent b of time in the size, by least squares of the logarithms; after the bend where there is one",
            &|row| law(row).map(|law| law.exponent),
        ))
        .ranked(Rank::Key),
        (exponent(
            "exponent_low",
            "b low",
            "lower end of the exponent's 95 % interval (Student's t); none for two sizes",
            &|row| between(row).map(|between| between.low),
        )),
        (exponent(
            "exponent_high",
            "b high",
            "upper end of the exponent's 95 % interval (Student's t); none for two sizes",
            &|row| between(row).map(|between| between.high),
        )),
        modelled(real(
            "bend_size",
            "Bend",
            "size at which the exponent of time changes, by an F-test at 5 %",
            &|row| bend(row).map(|bend| bend.size),
        )),
        (exponent("exponent_before", "b before", "exponent of time up to the bend", &|row| {
            bend(row).map(|bend| bend.before)
        }))
        .ranked(Rank::Detail),
        (exponent("flops_exponent", "FLOP", "exponent of the floating-point operations", &|row| row.flops)),
        (exponent("bytes_exponent", "Bytes", "exponent of the compulsory traffic", &|row| row.bytes)),
        (exponent("memory_exponent", "Memory", "exponent of the peak memory", &|row| row.memory)),
        (exponent(
            "excess",
            "Excess",
            "exponent of time less that of the work, the faster of operations and bytes",
            &|row| Some(law(row)?.exponent - row.work()?),
        )),
        Column::text(
            "verdict",
            "Time grows",
            "time beside work: faster where the excess is over 0.1, sure where the interval of b lies above the work's exponent",
            rows.iter().map(|row| row.verdict().name().to_owned()),
        ),
    ]
}

fn footnotes(rows: &[Row<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    let timed = |row: &&Row<'_>| row.time.is_some();
    let few =
        rows.iter().filter(timed).filter(|row| row.time.is_some_and(|growth| growth.law.exponent_between().is_none()));
    match few.count() {
        0 => {}
        count => notes
            .push(format!("{count} with two sizes: the exponent fits exactly and has no interval; measure a third")),
    }
    if !rows.is_empty() && rows.iter().all(|row| row.work().is_none()) {
        notes.push("work is not known: the captures of at least two sizes with their modules are needed".to_owned());
    }
    notes
}

/// Seconds as whole nanoseconds.
pub(super) fn nanos(secs: f64) -> i64 {
    (secs * 1e9).round() as i64
}
