//! The steps of one capture: a row per kind of step, and the outliers one by one.

use super::drift::{Drift, LEAST_DEVIATION, MOST_SCORE, WARM, drift};
use crate::tables::time::table as build;
use ridge_table::{Basis, Column, Rank, Table, Unit};
use ridge_trace::{StringId, Trace};
use rustc_hash::FxHashMap;

/// Steps of one name, in order of time.
struct Kind {
    name: String,
    numbers: Vec<i64>,
    durations_ns: Vec<i64>,
    drift: Drift,
}

/// Warm-up, drift and outliers of the steps of `trace`, by the steps' name: a summary and the outliers.
pub fn steps_tables(trace: &Trace) -> Vec<Table> {
    let kinds = kinds(trace);
    let mut summary = summary(&kinds);
    if kinds.is_empty() {
        summary.footnotes.push(
            "no steps found; mark them with `jax.profiler.StepTraceAnnotation`, or PyTorch's with `profiler.step()`"
                .to_owned(),
        );
        return vec![summary];
    }
    vec![summary, outliers(&kinds)]
}

fn kinds(trace: &Trace) -> Vec<Kind> {
    let mut by_name: FxHashMap<u32, Vec<(i64, i64, i64)>> = FxHashMap::default();
    for step in &trace.steps {
        let at = step.event as usize;
        let course = (trace.events.start_ns[at], step.number, trace.events.dur_ns[at]);
        by_name.entry(trace.events.name[at]).or_default().push(course);
    }
    let kind = |(name, mut steps): (u32, Vec<(i64, i64, i64)>)| {
        steps.sort_unstable();
        let durations_ns: Vec<i64> = steps.iter().map(|(_, _, duration)| *duration).collect();
        let drift = drift(&durations_ns.iter().map(|duration| *duration as f64).collect::<Vec<_>>())?;
        let numbers = steps.iter().map(|(_, number, _)| *number).collect();
        Some(Kind { name: trace.strings.get(StringId(name)).to_owned(), numbers, durations_ns, drift })
    };
    let mut kinds: Vec<Kind> = by_name.into_iter().filter_map(kind).collect();
    kinds.sort_by(|a, b| (b.durations_ns.len(), &a.name).cmp(&(a.durations_ns.len(), &b.name)));
    kinds
}

fn summary(kinds: &[Kind]) -> Table {
    let whole = |value: f64| value.round() as i64;
    let slope = |kind: &Kind, of: fn(&super::TheilSen) -> f64| kind.drift.slope.as_ref().map(of).map(whole);
    let count = |key, title, definition, of: &dyn Fn(&Kind) -> u64| {
        Column::whole(key, title, definition, Unit::Count, kinds.iter().map(of)).basis(Basis::Measured)
    };
    let columns = vec![
        Column::text("step", "Step", "name of the steps", kinds.iter().map(|kind| kind.name.clone())).ranked(Rank::Key),
        count("steps", "Steps", "steps in the capture", &|kind| kind.durations_ns.len() as u64).ranked(Rank::Key),
        Column::nanos(
            "median_ns",
            "Median",
            "median wall time of a step after the warm-up",
            kinds.iter().map(|kind| whole(kind.drift.median)),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
        Column::nanos(
            "mad_ns",
            "MAD",
            "median distance from the median after the warm-up",
            kinds.iter().map(|kind| whole(kind.drift.deviation)),
        )
        .basis(Basis::Measured),
        count(
            "warm_up",
            "Warm-up",
            "steps of the first half before the first that is within 10 % of the median of the second half",
            &|kind| kind.drift.warm_up as u64,
        )
        .ranked(Rank::Key),
        Column::nanos(
            "warm_up_ns",
            "Warm-up cost",
            "time of the warm-up beyond as many median steps",
            kinds.iter().map(|kind| whole(kind.drift.warm_up_cost)),
        )
        .basis(Basis::Measured),
        Column::nanos(
            "drift_ns",
            "Drift/step",
            "Theil–Sen slope of the wall time per step after the warm-up",
            kinds.iter().map(|kind| slope(kind, |slope| slope.slope)),
        )
        .basis(Basis::Modelled)
        .ranked(Rank::Key),
        Column::nanos(
            "drift_low_ns",
            "From",
            "lower end of the slope's 95 % interval",
            kinds.iter().map(|kind| slope(kind, |slope| slope.low)),
        )
        .basis(Basis::Modelled),
        Column::nanos(
            "drift_high_ns",
            "To",
            "upper end of the slope's 95 % interval",
            kinds.iter().map(|kind| slope(kind, |slope| slope.high)),
        )
        .basis(Basis::Modelled),
        Column::text(
            "course",
            "Course",
            "whether the slope's interval lies on one side of zero",
            kinds.iter().map(|kind| course(&kind.drift).to_owned()),
        ),
        count("outliers", "Outliers", "steps after the warm-up far off the line; listed below", &|kind| {
            kind.drift.outliers.len() as u64
        })
        .ranked(Rank::Key),
    ];
    build("steps", "Steps over time", columns)
}

fn course(drift: &Drift) -> &'static str {
    match drift.slope {
        None => "unknown",
        Some(slope) if slope.low > 0.0 => "slower and slower",
        Some(slope) if slope.high < 0.0 => "faster and faster",
        Some(_) => "steady",
    }
}

fn outliers(kinds: &[Kind]) -> Table {
    let rows = || kinds.iter().flat_map(|kind| kind.drift.outliers.iter().map(move |at| (kind, *at)));
    let columns = vec![
        Column::text("step", "Step", "name of the step", rows().map(|(kind, _)| kind.name.clone())).ranked(Rank::Key),
        Column::real(
            "number",
            "Number",
            "step number as the program gave it",
            Unit::Number,
            rows().map(|(kind, at)| kind.numbers[at] as f64),
        )
        .basis(Basis::Capture)
        .ranked(Rank::Key),
        Column::nanos("wall_ns", "Wall", "wall time of the step", rows().map(|(kind, at)| kind.durations_ns[at]))
            .basis(Basis::Measured)
            .ranked(Rank::Key),
        Column::real(
            "of_median",
            "Of median",
            "wall time as a part of the median step's",
            Unit::Share,
            rows().map(|(kind, at)| kind.durations_ns[at] as f64 / kind.drift.median),
        )
        .basis(Basis::Measured)
        .ranked(Rank::Key),
    ];
    let mut table = build("outliers", "Outlying steps", columns);
    table.footnotes.push(format!(
        "an outlier is off by a modified z-score over {MOST_SCORE} and over {} % of the median; warm-up ends within {} %",
        LEAST_DEVIATION * 100.0,
        WARM * 100.0
    ));
    table
}
