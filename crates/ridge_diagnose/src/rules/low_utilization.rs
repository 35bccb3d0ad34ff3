//! A monitor saw the device unused for a good part of the time in which a program used it.

use crate::case::Case;
use crate::finding::Finding;
use crate::fitness::CannotTell;
use crate::rule::{Find, Group, Rule};
use crate::words::percent;
use ridge_analysis::Need;
use ridge_analysis::models::counters::{CounterRows, Meaning, Over};
use ridge_table::{Basis, Quantity, Subject, Unit};

pub(crate) static RULE: Rule = Rule {
    id: "low-utilization",
    group: Group::Host,
    summary: "Low utilization in a monitor log",
    document: include_str!("low_utilization.md"),
    asks: &[],
    explains: &[],
    needs: &[Need::of::<CounterRows>()],
    find: Find::Causes(find),
};

/// The utilization above which a running program leaves little idle, percent.
const ENOUGH: f64 = 80.0;
/// Fewer samples say little of a program that runs.
const FEWEST: u64 = 5;

fn find(case: &Case<'_>) -> Result<Vec<Finding>, CannotTell> {
    let CounterRows(rows) = case.analysis.get();
    let share = |percent: f64| Quantity::new(percent / 100.0, Unit::Share, Basis::Measured);
    let used = rows.iter().filter(|row| row.meaning == Some(Meaning::Utilization) && row.over != Over::All);
    let low = used.filter(|row| row.samples >= FEWEST && row.mean < ENOUGH && row.max > 0.0);
    let finding = |row: &ridge_analysis::models::counters::CounterRow| {
        let when = match row.over {
            Over::Work => "between the first and the last device work",
            _ => "between its first and last busy samples",
        };
        Finding::new(format!("the device was in use for {} of the time {when}", percent(row.mean / 100.0)))
            .about(row.device.map(Subject::Device))
            .number(format!("mean of {}", case.trace().strings.get(row.metric)), share(row.mean))
            .number("95th percentile of the samples", share(row.p95))
            .number("samples", Quantity::new(row.samples as f64, Unit::Count, Basis::Counted))
            .why("a monitor counts a device as in use while any kernel runs on it, so no kernel ran for the rest of the time")
            .help("record the program with `ridgeline record`; `ridgeline idle` shows what the device waited for")
            .information()
    };
    Ok(low.map(finding).collect())
}
