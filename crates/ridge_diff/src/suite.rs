//! Suites: runs of many operations, of which only those that both sides measured may be compared.

use crate::comparable::{Doubt, Weight};
use crate::summary::{Item, Kind, Part, Summary, Unit};
use std::collections::BTreeSet;

/// Operations that are named where they are left out.
const NAMED: usize = 4;

/// One operation of a suite, at one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuiteRow {
    /// Its name with its size.
    pub name: String,
    /// The time of each run in order, nanoseconds.
    pub runs_ns: Vec<i64>,
}

/// The summary of a suite: its whole is one run of every operation.
///
/// An operation that ran less often than others counts as often as they did, at its own mean.
pub fn suite(rows: &[SuiteRow]) -> Summary {
    let rounds = rows.iter().map(|row| row.runs_ns.len()).max().unwrap_or(0);
    let items = rows.iter().filter(|row| !row.runs_ns.is_empty()).map(|row| {
        let mean = row.runs_ns.iter().fold(0_i64, |sum, ns| sum.saturating_add(*ns)) / row.runs_ns.len() as i64;
        let stretches: Vec<i64> = (0..rounds).map(|at| row.runs_ns.get(at).copied().unwrap_or(mean)).collect();
        Item {
            operations: 1,
            category: "operation of a suite".to_owned(),
            events: rounds as u64,
            ns: stretches.iter().fold(0, |sum, ns| sum.saturating_add(*ns)),
            stretches,
            ..Item::named(Kind::Work, &row.name)
        }
    });
    let mut summary = Summary { unit: Some(Unit::Suite), items: items.collect(), ..Summary::default() };
    add_up(&mut summary, rounds);
    summary
}

/// The whole of what is left.
fn add_up(summary: &mut Summary, rounds: usize) {
    let of_round = |at: usize| {
        summary.items.iter().fold(0_i64, |sum, item| sum.saturating_add(item.stretches.get(at).copied().unwrap_or(0)))
    };
    summary.periods_ns = (0..rounds).map(of_round).collect();
    summary.stretches = summary.periods_ns.iter().map(|ns| Part { units: 1, ns: *ns }).collect();
    summary.whole_ns = summary.periods_ns.iter().fold(0, |sum, ns| sum.saturating_add(*ns));
    summary.busy_ns = summary.whole_ns;
    summary.units = rounds as u64;
    if summary.items.is_empty() {
        summary.unit = None;
    }
}

/// The runs of both sides with what all of them measured, and what was left out; as they are where they are no suites.
pub(crate) fn in_both(before: &[Summary], after: &[Summary]) -> Option<(Vec<Summary>, Vec<Summary>, Option<Doubt>)> {
    let all = || before.iter().chain(after);
    if !all().all(|run| run.unit == Some(Unit::Suite)) {
        return None;
    }
    let names = |run: &Summary| run.items.iter().map(|item| item.name.clone()).collect::<BTreeSet<String>>();
    let common = all().map(names).reduce(|common, names| &common & &names)?;
    let left_out: BTreeSet<String> = all().flat_map(names).filter(|name| !common.contains(name)).collect();
    let only = |runs: &[Summary]| -> Vec<Summary> {
        let kept = runs.iter().cloned().map(|mut run| {
            run.items.retain(|item| common.contains(&item.name));
            let rounds = run.stretches.len();
            add_up(&mut run, rounds);
            run
        });
        kept.collect()
    };
    let doubt = (!left_out.is_empty()).then(|| {
        let named: Vec<&str> = left_out.iter().take(NAMED).map(String::as_str).collect();
        let more = left_out.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("not measured on both sides and left out: {}{more}", named.join(", "));
        Doubt { weight: Weight::Warns, message, command: None }
    });
    Some((only(before), only(after), doubt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, compare};

    #[test]
    fn an_operation_that_failed_makes_nothing_faster() {
        let row = |name: &str, runs_ns: &[i64]| SuiteRow { name: name.to_owned(), runs_ns: runs_ns.to_vec() };
        let before = suite(&[row("add @ 64", &[100, 101, 102]), row("mul @ 64", &[900, 900, 900])]);
        let after = suite(&[row("add @ 64", &[100, 101, 102]), row("mul @ 64", &[])]);
        let found = compare(&[before], &[after], &Options::default());
        assert_eq!((found.before.unit_ns, found.after.unit_ns), (101, 101));
        assert_eq!(found.doubts[0].message, "not measured on both sides and left out: mul @ 64");
        // Three runs on nobody knows what are less sure than what counts.
        assert_eq!(found.verdict.state.name(), "cannot judge");
    }

    #[test]
    fn nothing_in_common_is_not_judged() {
        let row = |name: &str| SuiteRow { name: name.to_owned(), runs_ns: vec![5, 6, 7] };
        let found = compare(&[suite(&[row("a")])], &[suite(&[row("b")])], &Options::default());
        assert_eq!(found.verdict.state.name(), "cannot judge");
    }
}
