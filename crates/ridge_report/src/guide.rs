//! What `ridgeline guide` says, for a terminal ([`text`]) and for programs ([`json`]).

use crate::json::{laid_out, note};
use crate::note_line;
use crate::terminal::{Glyphs, Layout, styled, wrapped};
use ridgeline::escape::escape_controls;
use ridgeline::{Guide, Severity, Stage, StageState};
use serde_json::json;

/// Name and version of the schema of [`json`].
pub const GUIDE_SCHEMA: &str = "ridgeline.guide.v1";

/// Columns before what is said of a stage.
const MARGIN: usize = 2;

/// All stages, as a `ridgeline.guide.v1` document.
pub fn json(guide: &Guide) -> String {
    let stages = guide.stages.iter().map(|stage| {
        json!({
            "name": stage.name,
            "question": stage.question,
            "state": stage.state.name(),
            "answer": stage.answer,
            "lacks": stage.lacks,
            "shown_by": stage.shown_by,
            "next": stage.next,
            "then": stage.then.as_ref().map(|then| json!({ "what": then.what, "command": then.command })),
        })
    });
    laid_out(&json!({
        "schema": GUIDE_SCHEMA,
        "notes": guide.notes.iter().map(note).collect::<Vec<_>>(),
        "answered": guide.count(StageState::Answered),
        "stages": stages.collect::<Vec<_>>(),
    }))
}

/// A block for each stage.
pub fn text(guide: &Guide, layout: &Layout) -> String {
    let mut text = String::new();
    for note in guide.notes.iter().filter(|note| note.severity != Severity::Info) {
        text.push_str(&indented(&note_line(note), 0, layout));
    }
    text.push_str(&indented_styled(&headline(guide), layout));
    for stage in &guide.stages {
        text.push('\n');
        text.push_str(&block(stage, layout));
    }
    text
}

fn headline(guide: &Guide) -> String {
    let [answered, partly, missing] =
        [StageState::Answered, StageState::Partly, StageState::Missing].map(|state| guide.count(state));
    let next = guide.next().map_or_else(String::new, |stage| format!("; next: {}", stage.name));
    format!("{answered} of {} stages answered, {partly} in part, {missing} missing{next}", guide.stages.len())
}

fn block(stage: &Stage, layout: &Layout) -> String {
    let style = match stage.state {
        StageState::Answered => layout.theme.header,
        StageState::Partly => layout.theme.partial,
        StageState::Missing => layout.theme.lost,
    };
    let name = format!("{}[{}]", stage.name, stage.state.name());
    let mut text = format!("{}: {}\n", styled(style, &name), stage.question);
    text.push_str(&indented(&stage.answer, MARGIN, layout));
    if let Some(command) = &stage.shown_by {
        text.push_str(&command_line(command, layout));
    }
    if let Some(lacks) = &stage.lacks {
        text.push_str(&indented(&format!("missing: {lacks}"), MARGIN, layout));
    }
    if !stage.next.is_empty() {
        text.push_str(&indented("to find out:", MARGIN, layout));
        stage.next.iter().for_each(|command| text.push_str(&command_line(command, layout)));
    }
    if let Some(then) = &stage.then {
        text.push_str(&indented(&format!("then: {}", then.what), MARGIN, layout));
        text.push_str(&command_line(&then.command, layout));
    }
    text
}

/// A command stands on one line, whatever the width, so that it can be copied.
fn command_line(command: &str, layout: &Layout) -> String {
    format!("{}{}\n", " ".repeat(2 * MARGIN), styled(layout.theme.quiet, &marks(&escape_controls(command), layout)))
}

fn indented_styled(text: &str, layout: &Layout) -> String {
    let lines = wrapped(&escape_controls(text), layout.width);
    lines.iter().map(|line| format!("{}\n", styled(layout.theme.title, &marks(line, layout)))).collect()
}

fn indented(text: &str, margin: usize, layout: &Layout) -> String {
    let lines = wrapped(&escape_controls(text), layout.width.saturating_sub(margin));
    lines.iter().map(|line| format!("{}{}\n", " ".repeat(margin), marks(line, layout))).collect()
}

fn marks(text: &str, layout: &Layout) -> String {
    match layout.glyphs {
        Glyphs::Unicode => text.to_owned(),
        Glyphs::Ascii => text.replace('µ', "u").replace('–', "-").replace('…', "..."),
    }
}
