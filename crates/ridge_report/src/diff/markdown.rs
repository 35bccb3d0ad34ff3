//! A comparison as Markdown, for pull requests.

use super::words::{cause, cut, headline, measure, remarks, side, signed_time};
use super::{Options, Shown};
use crate::markdown::literal;
use ridgeline::Diff;
use ridgeline::comparison::{By, Certainty, FindingStatus, State, Weight};
use ridgeline::units::{Nanos, counted};
use std::fmt::Write as _;

/// The answer as Markdown.
pub fn render(diff: &Diff, options: &Options) -> String {
    let found = &diff.comparison;
    let mut text = format!("### {}\n\n", literal(&headline(found)));
    for (title, facts) in [("before", &found.before), ("after", &found.after)] {
        let _ = writeln!(text, "- **{title}**: {}", literal(&side(facts, found.unit)));
    }
    for doubt in &found.doubts {
        let word = if doubt.weight == Weight::Refuses { "not comparable" } else { "note" };
        let _ = writeln!(text, "- **{word}**: {}", literal(&doubt.message));
    }
    if found.verdict.state == State::CannotJudge {
        found.verdict.reasons.iter().for_each(|why| text.push_str(&format!("- **reason**: {}\n", literal(why))));
    }
    if let Some(passes) = found.verdict.passes {
        let _ = writeln!(text, "- **gate**: {}", if passes { "passes" } else { "fails" });
    }
    let by = if let Shown::Division(by) = options.by { by } else { By::Part };
    let rows = cut(found.changes_by(by), found.before.unit_ns.max(found.after.unit_ns), options.rows);
    if !rows.shown.is_empty() {
        text.push_str("\n| what | subject | before | after | change | why |\n|---|---|--:|--:|--:|---|\n");
    }
    for row in rows.shown {
        let chance = if row.certainty() == Certainty::Unsure { " (not significant)" } else { "" };
        let (before, after) = (Nanos(row.before_ns), Nanos(row.after_ns));
        let change = signed_time(row.difference_ns() as f64);
        let why = cell(&remarks(row, by).join("; "));
        let _ = writeln!(
            text,
            "| {} | {} | {before} | {after} | {change}{chance} | {why} |",
            row.what.name(),
            cell(&row.subject)
        );
    }
    if let Some((count, before, after)) = rows.others {
        let change = signed_time((after - before) as f64);
        let _ = writeln!(
            text,
            "| | {} | {} | {} | {change} | |",
            counted(count as u64, "other", "others"),
            Nanos(before),
            Nanos(after)
        );
    }
    let said: Vec<String> = found.measures.iter().filter_map(|change| measure(change, found.unit)).collect();
    let causes = found.causes.iter().flatten().filter(|change| change.status != FindingStatus::Unchanged).map(cause);
    let said: Vec<String> = said.into_iter().chain(causes).collect();
    if !said.is_empty() {
        text.push('\n');
        said.iter().for_each(|line| text.push_str(&format!("- {}\n", literal(line))));
    }
    text
}

/// Words in a cell of a table.
fn cell(words: &str) -> String {
    literal(words).replace('|', "\\|")
}
