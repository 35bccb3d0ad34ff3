//! Reports as GitHub-flavored Markdown, for pull requests and notes.
//!
//! Every column is shown: a page scrolls where a terminal cannot. Numbers are scaled as on the terminal.

use crate::cell::cell;
use crate::note::{note_body, of_severity};
use crate::number::{show_fact, show_in_column, show_share};
use crate::{Listing, Report};
use ridgeline::{Note, Section, Severity, Table, Unit};

/// `report` as Markdown.
pub fn render(report: &Report) -> String {
    let mut blocks = Vec::new();
    for severity in [Severity::Lost, Severity::Partial] {
        blocks.extend(of_severity(&report.notes, severity).map(quote));
    }
    blocks.extend(report.sections.iter().map(section));
    blocks.extend(report.tables.iter().map(table));
    blocks.extend(of_severity(&report.notes, Severity::Info).map(quote));
    blocks.join("\n")
}

fn quote(note: &Note) -> String {
    format!("> **{}:** {}\n", note.severity.name(), literal(&note_body(note)))
}

fn section(section: &Section) -> String {
    let mut text = format!("### {}\n\n| | | share |\n|---|---:|---:|\n", literal(&section.title));
    for fact in &section.facts {
        let share = fact.share.map(|share| show_share(share).joined()).unwrap_or_default();
        text.push_str(&line(&[fact.title.clone(), show_fact(&fact.value).joined(), share]));
    }
    text
}

fn table(listing: &Listing) -> String {
    let table = &listing.table;
    let schema = table.batch.schema();
    let meanings: Vec<_> = schema.fields().iter().map(|field| Table::meaning(field)).collect();
    let mut text = format!("### {}\n\n", literal(&table.title));
    text.push_str(&line(&meanings.iter().map(|meaning| meaning.title.to_owned()).collect::<Vec<_>>()));
    let rules = meanings.iter().map(|meaning| if is_words(meaning.unit) { "---|" } else { "---:|" });
    text.push_str(&format!("|{}\n", rules.collect::<String>()));
    for row in 0..table.batch.num_rows() {
        let cells = table.batch.columns().iter().zip(&meanings);
        text.push_str(&line(
            &cells.map(|(column, meaning)| show_in_column(cell(column, row), meaning).joined()).collect::<Vec<_>>(),
        ));
    }
    for footnote in &table.footnotes {
        text.push_str(&format!("\n{}\n", literal(footnote)));
    }
    text
}

fn is_words(unit: Unit) -> bool {
    matches!(unit, Unit::Text | Unit::Flag)
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| literal(cell)).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// `text` with Markdown's own characters escaped, controls made visible.
pub(crate) fn literal(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in crate::escape_controls(text).chars() {
        if matches!(c, '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '~') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
