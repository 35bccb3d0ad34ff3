//! How time grows with size, where the capture is of a benchmark; else how the steps of one run drift.

use crate::answer::Refusal;
use crate::page::Page;
use crate::tables;
use ridge_report::json as report;
use ridgeline::{GrowthChart, GrowthLine, Note, ScalingOptions, Table, WorkFrom, is_benchmark};
use serde_json::{Value, json};

/// `scaling`: the tables of `ridgeline scaling`, and the numbers of its drawing where sizes are known.
pub(crate) fn scaling(page: &Page) -> Result<Value, Refusal> {
    if !has_sizes(page) {
        return Ok(answer(page, &[], &page.session().steps(), None));
    }
    let options = ScalingOptions { dimensions: 1, next: None, work: WorkFrom::Captures };
    let found = ridgeline::scaling(&page.paths, &options)?;
    let tables: Vec<Table> = [found.growth].into_iter().chain(found.next).collect();
    Ok(answer(page, &found.notes, &tables, Some(&found.chart)))
}

/// Whether there are sizes or steps to look along.
pub(crate) fn has_scaling(page: &Page) -> bool {
    !page.session.trace().steps.is_empty() || has_sizes(page)
}

/// Whether what was opened is a benchmark's.
pub(crate) fn has_sizes(page: &Page) -> bool {
    !page.paths.is_empty() && page.paths.iter().all(|path| is_benchmark(path))
}

fn answer(page: &Page, notes: &[Note], tables: &[Table], chart: Option<&GrowthChart>) -> Value {
    json!({
        "of": if chart.is_some() { "sizes" } else { "steps" },
        "notes": notes.iter().map(report::note).collect::<Vec<_>>(),
        "tables": tables.iter().map(|table| tables::listed(page, table)).collect::<Vec<_>>(),
        "chart": chart.map(|chart| json!({
            "next": chart.next,
            "lines": chart.lines.iter().map(line).collect::<Vec<_>>(),
        })),
    })
}

fn line(line: &GrowthLine) -> Value {
    json!({
        "operation": line.operation,
        "point": ["size", "seconds"],
        "points": line.points,
        "fit": line.fit.map(|fit| json!({
            "exponent": fit.exponent,
            "from": fit.from,
            "to": fit.to,
            "next_s": fit.next,
            "low_s": fit.between.map(|between| between.low),
            "high_s": fit.between.map(|between| between.high),
        })),
    })
}
