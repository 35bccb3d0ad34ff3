//! What `ridgeline guide --checklist` says, for a terminal ([`text`]) and for programs ([`json`]).

use crate::json::{laid_out, note};
use crate::note_line;
use crate::terminal::{Glyphs, Layout, styled, wrapped};
use ridgeline::escape::escape_controls;
use ridgeline::{Checklist, ChecklistItem, ChecklistVerdict, Severity};
use serde_json::json;

/// Name and version of the schema of [`json`].
pub const CHECKLIST_SCHEMA: &str = "ridgeline.checklist.v1";

/// Columns before what is said of a question.
const MARGIN: usize = 4;

/// All questions, as a `ridgeline.checklist.v1` document.
pub fn json(list: &Checklist) -> String {
    let items = list.items.iter().map(|item| {
        json!({
            "section": item.section,
            "question": item.question,
            "answer": item.verdict.name(),
            "evidence": item.evidence,
            "shown_by": item.shown_by,
            "next": item.next,
        })
    });
    laid_out(&json!({
        "schema": CHECKLIST_SCHEMA,
        "notes": list.notes.iter().map(note).collect::<Vec<_>>(),
        "items": items.collect::<Vec<_>>(),
    }))
}

/// A line for each question, under the heading of its section, with its evidence below.
pub fn text(list: &Checklist, layout: &Layout) -> String {
    let mut text = String::new();
    for note in list.notes.iter().filter(|note| note.severity != Severity::Info) {
        text.push_str(&lines(&note_line(note), 0, layout));
    }
    let [yes, no, open] =
        [ChecklistVerdict::Yes, ChecklistVerdict::No, ChecklistVerdict::CannotTell].map(|verdict| list.count(verdict));
    let headline = format!("{} questions: {yes} yes, {no} no, {open} cannot tell", list.items.len());
    text.push_str(&format!("{}\n", styled(layout.theme.title, &headline)));
    let mut section = "";
    for item in &list.items {
        if item.section != section {
            section = item.section;
            text.push_str(&format!("\n{}\n", styled(layout.theme.header, section)));
        }
        text.push_str(&block(item, layout));
    }
    text
}

fn block(item: &ChecklistItem, layout: &Layout) -> String {
    let style = match item.verdict {
        ChecklistVerdict::Yes => layout.theme.header,
        ChecklistVerdict::No => layout.theme.lost,
        ChecklistVerdict::CannotTell => layout.theme.partial,
    };
    let mut text = format!("  {}: {}\n", styled(style, item.verdict.name()), item.question);
    item.evidence.iter().for_each(|said| text.push_str(&lines(said, MARGIN, layout)));
    let commands = match item.verdict {
        ChecklistVerdict::Yes => None,
        _ => item.shown_by.as_ref(),
    };
    for command in commands.into_iter().chain(&item.next) {
        // A command stands on one line, whatever the width, so that it can be copied.
        let command = marks(&escape_controls(command), layout);
        text.push_str(&format!("{}{}\n", " ".repeat(MARGIN + 2), styled(layout.theme.quiet, &command)));
    }
    text
}

fn lines(text: &str, margin: usize, layout: &Layout) -> String {
    let found = wrapped(&escape_controls(text), layout.width.saturating_sub(margin));
    found.iter().map(|line| format!("{}{}\n", " ".repeat(margin), marks(line, layout))).collect()
}

fn marks(text: &str, layout: &Layout) -> String {
    match layout.glyphs {
        Glyphs::Unicode => text.to_owned(),
        Glyphs::Ascii => text.replace('µ', "u").replace('–', "-").replace('…', "..."),
    }
}
