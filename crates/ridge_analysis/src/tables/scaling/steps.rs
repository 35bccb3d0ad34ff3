//! The steps of one capture: a row per kind of step, and the outliers one by one.

use crate::Analysis;
use crate::models::scaling::{Drift, LEAST_DEVIATION, MOST_SCORE, StepTrend, StepTrends, TheilSen, WARM};
use ridge_table::{Basis, Columns, Subject, Table, Unit};

/// Warm-up, drift and outliers of the steps that the program marked, by the steps' name: a summary and the outliers.
pub fn steps_tables(analysis: &Analysis<'_>) -> Vec<Table> {
    let StepTrends(trends) = analysis.get();
    let mut summary = summary(analysis, trends);
    if trends.is_empty() {
        summary.footnotes.push(
            "no steps found; mark them with `jax.profiler.StepTraceAnnotation`, or PyTorch's with `profiler.step()`"
                .to_owned(),
        );
        return vec![summary];
    }
    vec![summary, outliers(analysis, trends)]
}

fn summary(analysis: &Analysis<'_>, trends: &[StepTrend]) -> Table {
    let whole = |value: f64| value.round() as i64;
    let slope = |row: &StepTrend, of: fn(&TheilSen) -> f64| row.drift.slope.as_ref().map(of).map(whole);
    Columns::over(trends)
        .about(|row| Some(Subject::Named(row.name)))
        .text("step", "Step", "name of the steps", |row| analysis.text(row.name).to_owned())
        .key()
        .count("steps", "Steps", "steps in the capture", Basis::Measured, |row| row.durations_ns.len() as u64)
        .key()
        .nanos("median_ns", "Median", "median wall time of a step after the warm-up", Basis::Measured, |row| {
            whole(row.drift.median)
        })
        .key()
        .nanos("mad_ns", "MAD", "median distance from the median after the warm-up", Basis::Measured, |row| {
            whole(row.drift.deviation)
        })
        .count(
            "warm_up",
            "Warm-up",
            "steps of the first half before the first that is within 10% of the median of the second half",
            Basis::Measured,
            |row| row.drift.warm_up as u64,
        )
        .key()
        .nanos(
            "warm_up_ns",
            "Warm-up cost",
            "time of the warm-up beyond as many median steps",
            Basis::Measured,
            |row| whole(row.drift.warm_up_cost),
        )
        .nanos(
            "drift_ns",
            "Drift/step",
            "Theil–Sen slope of the wall time per step after the warm-up",
            Basis::Modelled,
            |row| slope(row, |slope| slope.slope),
        )
        .key()
        .nanos("drift_low_ns", "From", "lower end of the slope's 95% interval", Basis::Modelled, |row| {
            slope(row, |slope| slope.low)
        })
        .nanos("drift_high_ns", "To", "upper end of the slope's 95% interval", Basis::Modelled, |row| {
            slope(row, |slope| slope.high)
        })
        .text("course", "Trend", "whether the slope's interval excludes zero", |row| trend(&row.drift).to_owned())
        .count(
            "outliers",
            "Outliers",
            "steps after the warm-up far off the line; listed below",
            Basis::Measured,
            |row| row.drift.outliers.len() as u64,
        )
        .key()
        .table("steps", "Steps over time")
}

fn trend(drift: &Drift) -> &'static str {
    match drift.slope {
        None => "unknown",
        Some(slope) if slope.low > 0.0 => "slower and slower",
        Some(slope) if slope.high < 0.0 => "faster and faster",
        Some(_) => "steady",
    }
}

fn outliers(analysis: &Analysis<'_>, trends: &[StepTrend]) -> Table {
    let rows: Vec<(&StepTrend, usize)> =
        trends.iter().flat_map(|row| row.drift.outliers.iter().map(move |at| (row, *at))).collect();
    let mut table = Columns::over(&rows)
        .about(|(row, at)| row.events.get(*at).copied().map(Subject::Event))
        .text("step", "Step", "name of the step", |(row, _)| analysis.text(row.name).to_owned())
        .key()
        .real("number", "Number", "step number as the program gave it", (Unit::Number, Basis::Capture), |(row, at)| {
            row.numbers[*at] as f64
        })
        .key()
        .nanos("wall_ns", "Wall", "wall time of the step", Basis::Measured, |(row, at)| row.durations_ns[*at])
        .key()
        .share("of_median", "Of median", "wall time as a part of the median step's", Basis::Measured, |(row, at)| {
            row.durations_ns[*at] as f64 / row.drift.median
        })
        .key()
        .table("outliers", "Outlying steps");
    table.footnotes.push(format!(
        "an outlier is off by a modified z-score over {MOST_SCORE} and over {}% of the median; warm-up ends within {}%",
        LEAST_DEVIATION * 100.0,
        WARM * 100.0
    ));
    table
}
