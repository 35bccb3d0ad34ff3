//! Reports as text for a terminal of a given width.
//!
//! The first lines say what was lost, if anything was; then come sections, tables, and what is only good to know.
//! Width, glyphs and colors are the caller's choice: no terminal and no environment is asked here.
//!
//! How a table is made to fit: columns in which nothing is known go first, then those of rank `Detail`, then those that are
//! zero throughout; then names are shortened in the middle; then go columns of rank `Minor`, the bar, and columns of rank
//! `Normal` from the right. Numbers are never cut.

mod bar;
mod canvas;
mod columns;
mod facts;
mod fit;
mod growth;
mod layout;
mod line;
mod matrix;
mod roofline;
mod shorten;
mod spark;
mod table;
mod theme;
mod words;

pub use bar::bar;
pub use growth::growth;
pub use layout::{Definitions, Glyphs, Layout};
pub use roofline::roofline;
pub use spark::sparkline;
pub use theme::Theme;

pub(crate) use line::styled;
use words::heading;
pub(crate) use words::{paragraph, plain_marks, wrap as wrapped};

use crate::Report;
use crate::note::{note_body, of_severity};
pub(crate) use line::Line as PlainLine;
use ridgeline::{Note, Severity};

/// At most this many notes of one severity are shown; a capture can have one per file.
const NOTES_SHOWN: usize = 8;

/// Columns of text that `text` takes.
pub(crate) fn columns(text: &str) -> usize {
    line::width(text)
}

/// `text` in at most `room` columns: its two ends with a mark between them.
pub(crate) fn shortened(text: &str, room: usize, glyphs: Glyphs) -> String {
    words::shorten_middle(text, room, glyphs)
}

/// `report` as text, each line ended; empty where there is nothing to say.
pub fn render(report: &Report, layout: &Layout) -> String {
    let mut blocks: Vec<String> = Vec::new();
    let severe: Vec<String> =
        [Severity::Lost, Severity::Partial].map(|severity| notes(&report.notes, severity, layout)).into();
    blocks.push(severe.concat());
    let (empty, full): (Vec<_>, Vec<_>) = report.tables.iter().partition(|listing| listing.rows_total == 0);
    let mut hidden = false;
    let sections = facts::sections(&report.sections, layout);
    for rendered in sections.into_iter().chain(full.iter().map(|listing| table::render(listing, layout))) {
        hidden |= rendered.columns_hidden;
        blocks.push(rendered.text);
    }
    blocks.push(no_rows(&empty, &full, layout));
    blocks.push(notes(&report.notes, Severity::Info, layout));
    if hidden {
        let hint =
            format!("some columns do not fit a width of {}; a wider terminal, JSON or CSV shows all", layout.width);
        blocks.push(words::paragraph(&hint, layout.theme.quiet, layout));
    }
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

/// The notes of one severity, as many as a reader takes.
pub(crate) fn notes(all: &[Note], severity: Severity, layout: &Layout) -> String {
    let (word, style) = match severity {
        Severity::Lost => ("lost", layout.theme.lost),
        Severity::Partial => ("partial", layout.theme.partial),
        Severity::Info => ("note", layout.theme.quiet),
    };
    let mut text = String::new();
    for note in of_severity(all, severity).take(NOTES_SHOWN) {
        text.push_str(&words::tagged(word, style, &note_body(note), layout));
    }
    let more = of_severity(all, severity).count().saturating_sub(NOTES_SHOWN);
    if more > 0 {
        text.push_str(&words::tagged(word, style, &format!("{more} more of this kind; JSON lists all"), layout));
    }
    text
}

/// Tables without rows, named in one line so that their absence is an answer.
fn no_rows(empty: &[&crate::Listing], full: &[&crate::Listing], layout: &Layout) -> String {
    let mut text = String::new();
    if !empty.is_empty() {
        let titles: Vec<&str> = empty.iter().map(|listing| listing.table.title.as_str()).collect();
        text.push_str(&words::paragraph(&format!("no rows: {}", titles.join(", ")), layout.theme.quiet, layout));
    }
    // What tables with rows say below them is said.
    let mut said: Vec<&String> = full.iter().flat_map(|listing| &listing.table.footnotes).collect();
    for footnote in empty.iter().flat_map(|listing| &listing.table.footnotes) {
        if said.contains(&footnote) {
            continue;
        }
        said.push(footnote);
        text.push_str(&words::paragraph(footnote, layout.theme.quiet, layout));
    }
    text
}
