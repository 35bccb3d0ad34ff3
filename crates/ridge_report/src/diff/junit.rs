//! A comparison as a JUnit report: may the sides be compared, is it slower, and what is new.

use super::words::{cause, headline, remarks, signed, signed_time};
use super::{Options, Shown};
use crate::check::junit::escaped;
use ridgeline::Diff;
use ridgeline::comparison::{By, FindingStatus, State, Weight};

/// The answer as JUnit XML: a case for each question, failed only where the gate does.
pub fn report(diff: &Diff, options: &Options) -> String {
    let found = &diff.comparison;
    let refused: Vec<&str> =
        found.doubts.iter().filter(|doubt| doubt.weight == Weight::Refuses).map(|doubt| &*doubt.message).collect();
    let fails = found.verdict.passes == Some(false);
    let mut cases = vec![Case {
        name: "comparable".to_owned(),
        outcome: match (refused.first(), fails) {
            (None, _) => Outcome::Passed,
            (Some(first), true) => Outcome::Failed(first, refused.join("\n")),
            (Some(first), false) => Outcome::Skipped(first),
        },
    }];
    let head = headline(found);
    let outcome = match (found.verdict.state, fails) {
        _ if !refused.is_empty() => Outcome::Skipped("the sides are not comparable"),
        (_, true) => Outcome::Failed(&head, rows(diff, options)),
        (State::CannotJudge, false) => Outcome::Skipped(&head),
        _ => Outcome::Passed,
    };
    let bar = found
        .options
        .fail_on
        .map(|bar| format!(" by {} or more", signed(bar).trim_start_matches('+')))
        .unwrap_or_default();
    cases.push(Case { name: format!("not slower{bar}"), outcome });
    let new: Vec<(String, String)> = found
        .causes
        .iter()
        .flatten()
        .filter(|change| change.status == FindingStatus::New)
        .map(|change| (format!("new: {}", change.cause.rule), cause(change)))
        .collect();
    // What is new is for the reader: whether it fails is for the gate of `check`.
    cases.extend(new.iter().map(|(name, says)| Case { name: name.clone(), outcome: Outcome::Skipped(says) }));
    text(&cases)
}

/// What became of a case, with what is said of it.
enum Outcome<'o> {
    Passed,
    Skipped(&'o str),
    Failed(&'o str, String),
}

struct Case<'o> {
    name: String,
    outcome: Outcome<'o>,
}

fn text(cases: &[Case<'_>]) -> String {
    let count = |is: fn(&Outcome<'_>) -> bool| cases.iter().filter(|case| is(&case.outcome)).count();
    let failed = count(|outcome| matches!(outcome, Outcome::Failed(..)));
    let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"ridgeline diff\" tests=\"{}\" \
         failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\">\n",
        cases.len()
    );
    for case in cases {
        text.push_str(&format!("<testcase classname=\"ridgeline.diff\" name=\"{}\">", escaped(&case.name)));
        match &case.outcome {
            Outcome::Passed => {}
            Outcome::Skipped(why) => text.push_str(&format!("<skipped message=\"{}\"/>", escaped(why))),
            Outcome::Failed(why, more) => {
                text.push_str(&format!("<failure message=\"{}\">{}</failure>", escaped(why), escaped(more)));
            }
        }
        text.push_str("</testcase>\n");
    }
    text.push_str("</testsuite>\n</testsuites>\n");
    text
}

/// What changed most, a line each.
fn rows(diff: &Diff, options: &Options) -> String {
    let by = if let Shown::Division(by) = options.by { by } else { By::Part };
    let rows = diff.comparison.changes_by(by).iter().filter(|row| row.difference_ns() != 0).take(options.rows);
    let line = rows.map(|row| {
        let said: String = remarks(row, by).iter().map(|said| format!("; {said}")).collect();
        format!("{} {} {}{said}\n", signed_time(row.difference_ns() as f64), row.what.name(), row.subject)
    });
    let reasons = diff.comparison.verdict.reasons.iter().map(|reason| format!("{reason}\n"));
    reasons.chain(line).collect()
}
