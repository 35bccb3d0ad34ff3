//! For a terminal: numbers at the left, the text at the right, and below a line what the rules say of it.

use super::columns::{Number, numbers};
use super::fold::{Piece, pieces};
use super::{Folding, file_summary, idle_reasons, others, part, share, summary};
use crate::check::head_and_hold;
use crate::note::of_severity;
use crate::note_line;
use crate::terminal::{Glyphs, Layout, PlainLine, wrapped};
use anstyle::Style;
use ridgeline::escape::escape_controls;
use ridgeline::{AnnotatedFile, AnnotatedLine, Annotation, Check, Severity};

/// Columns of text that code has before numbers are left out for it.
const CODE: usize = 40;
/// Blanks in a tab.
const TAB: usize = 4;
/// The part of all time from which on a line is hot, and warm.
const HOT: f64 = 0.10;
const WARM: f64 = 0.02;
/// The part of all idle time from which on its reasons are said.
const WORTH_REASONS: f64 = 0.01;

/// All files.
pub fn render(annotation: &Annotation, folding: Folding, layout: &Layout) -> String {
    let mut text = String::new();
    for severity in [Severity::Lost, Severity::Partial] {
        of_severity(&annotation.notes, severity)
            .for_each(|note| text.push_str(&sentence(&note_line(note), Style::new(), layout)));
    }
    text.push_str(&sentence(&summary(annotation), layout.theme.title, layout));
    let mut hidden = false;
    for file in &annotation.files {
        let page = Page::of(annotation, file, folding, layout);
        hidden |= page.hidden;
        text.push('\n');
        text.push_str(&page.text());
    }
    let mut said: Vec<String> = annotation.footnotes.clone();
    said.insert(0, others(annotation));
    if hidden {
        said.push(format!(
            "some columns do not fit a width of {}; a wider terminal, HTML or JSON shows all",
            layout.width
        ));
    }
    said.retain(|words| !words.is_empty());
    if !said.is_empty() {
        text.push('\n');
    }
    said.iter().for_each(|words| text.push_str(&sentence(words, layout.theme.quiet, layout)));
    text
}

/// One file.
struct Page<'p> {
    annotation: &'p Annotation,
    file: &'p AnnotatedFile,
    layout: &'p Layout,
    code: Vec<String>,
    pieces: Vec<Piece>,
    /// What is shown, with its width.
    numbers: Vec<(&'static Number, usize)>,
    /// Whether some numbers do not fit.
    hidden: bool,
    /// Width of line numbers.
    digits: usize,
}

impl<'p> Page<'p> {
    fn of(annotation: &'p Annotation, file: &'p AnnotatedFile, folding: Folding, layout: &'p Layout) -> Page<'p> {
        let text: &[String] = file.text.as_ref().map_or(&[], |(_, lines)| lines);
        let code: Vec<String> = text.iter().map(|line| escape_controls(&expand(line)).into_owned()).collect();
        let last = file.lines.keys().next_back().copied().unwrap_or(0).max(code.len() as u32);
        let digits = last.to_string().len();
        let longest = code.iter().map(|line| line.chars().count()).max().unwrap_or(CODE).min(CODE);
        let width = |number: &Number| {
            let cells = file.lines.values().filter_map(number.of).map(|cell| plain(&cell, layout).chars().count());
            cells.max().unwrap_or(0).max(number.title.len())
        };
        let all: Vec<(&Number, usize)> =
            numbers(std::iter::once(file)).into_iter().map(|number| (number, width(number))).collect();
        let room = layout.width.saturating_sub(digits + 3 + longest);
        let mut used = 0;
        let fitting = all.iter().take_while(|(_, width)| {
            used += width + 2;
            used <= room
        });
        let fitting = fitting.count().max(1).min(all.len());
        let (hidden, numbers) = (fitting < all.len(), all[..fitting].to_vec());
        let pieces = pieces(file, text, folding);
        Page { annotation, file, layout, code, pieces, numbers, hidden, digits }
    }

    fn text(&self) -> String {
        let layout = self.layout;
        let mut text = sentence(&self.file.name, layout.theme.title, layout);
        text.push_str(&sentence(&file_summary(self.annotation, self.file), layout.theme.quiet, layout));
        text.push_str(&self.header());
        for piece in &self.pieces {
            match piece {
                Piece::Lines(range) => range.clone().for_each(|line| text.push_str(&self.line(line))),
                Piece::Fold(range) => text.push_str(&self.fold(range.end() - range.start() + 1)),
            }
        }
        // Lines without text.
        let beyond = self.file.lines.keys().filter(|line| **line as usize > self.code.len() || **line == 0);
        beyond.for_each(|line| text.push_str(&self.line(*line)));
        text
    }

    fn header(&self) -> String {
        let mut line = PlainLine::new();
        for (number, width) in &self.numbers {
            line.skip(width.saturating_sub(number.title.len()));
            line.push(self.layout.theme.header, number.title);
            line.skip(2);
        }
        line.skip(self.digits.saturating_sub(4));
        line.push(self.layout.theme.header, "Line");
        line.end()
    }

    /// Columns of text before the code.
    fn margin(&self) -> usize {
        self.numbers.iter().map(|(_, width)| width + 2).sum::<usize>() + self.digits + 3
    }

    fn bar(&self) -> &'static str {
        if self.layout.glyphs == Glyphs::Ascii { " | " } else { " │ " }
    }

    fn line(&self, number: u32) -> String {
        let layout = self.layout;
        let known = self.file.lines.get(&number);
        let style = known.map_or(Style::new(), |line| self.heat(line));
        let mut line = PlainLine::new();
        for (column, width) in &self.numbers {
            let cell = known.and_then(column.of).map(|cell| plain(&cell, layout)).unwrap_or_default();
            line.right(style, &cell, *width);
            line.skip(2);
        }
        line.right(if known.is_some() { Style::new() } else { layout.theme.quiet }, &number.to_string(), self.digits);
        line.push(layout.theme.quiet, self.bar().trim_end());
        line.skip(1);
        match (self.code.get((number as usize).wrapping_sub(1)), known) {
            (Some(code), known) => {
                let room = layout.width.saturating_sub(self.margin());
                line.push(if known.is_some() { style } else { layout.theme.quiet }, &cut(code, room, layout));
            }
            (None, Some(known)) if !known.function.is_empty() => {
                line.push(layout.theme.quiet, &format!("(in {})", escape_controls(&known.function)));
            }
            (None, _) => {}
        }
        let mut text = line.end();
        if let Some(known) = known {
            text.push_str(&self.remarks(known));
        }
        text
    }

    /// What the rules and the idle time say of a line.
    fn remarks(&self, line: &AnnotatedLine) -> String {
        let mut text = String::new();
        if part(line.idle_ns, self.annotation.idle_ns) >= WORTH_REASONS {
            text.push_str(&self.remark("idle", self.layout.theme.quiet, &idle_reasons(line)));
        }
        let Some(check) = &self.annotation.check else { return text };
        for position in &line.findings {
            let (tag, words) = finding(check, *position);
            text.push_str(&self.remark(&tag, self.layout.theme.partial, &words));
        }
        text
    }

    fn remark(&self, tag: &str, style: Style, words: &str) -> String {
        let layout = self.layout;
        let mark = if layout.glyphs == Glyphs::Ascii { "^" } else { "↳" };
        let indent = if layout.width.saturating_sub(self.margin()) >= 40 { self.margin() } else { 4 };
        let all = format!("{mark} {tag}: {}", escape_controls(words));
        let lines = wrapped(&plain(&all, layout), layout.width.saturating_sub(indent + 2));
        let mut text = String::new();
        for (at, words) in lines.iter().enumerate() {
            let mut line = PlainLine::new();
            line.skip(if at == 0 { indent } else { indent + 2 });
            line.push(style, words);
            text.push_str(&line.end());
        }
        text
    }

    fn fold(&self, lines: u32) -> String {
        let mut line = PlainLine::new();
        line.skip(self.margin().saturating_sub(3 + 1));
        line.push(self.layout.theme.quiet, &plain(&format!("… {lines} lines"), self.layout));
        line.end()
    }

    fn heat(&self, line: &AnnotatedLine) -> Style {
        match share(self.annotation, line) {
            share if share >= HOT => self.layout.theme.lost,
            share if share >= WARM => self.layout.theme.partial,
            _ => Style::new(),
        }
    }
}

/// The rule of a finding, and what it says.
fn finding(check: &Check, position: usize) -> (String, String) {
    head_and_hold(check, &check.diagnosis.findings[position])
}

fn sentence(words: &str, style: Style, layout: &Layout) -> String {
    let mut text = String::new();
    for words in wrapped(&plain(&escape_controls(words), layout), layout.width) {
        let mut line = PlainLine::new();
        line.push(style, &words);
        text.push_str(&line.end());
    }
    text
}

/// Tabs as blanks up to the next stop.
fn expand(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for letter in line.chars() {
        match letter {
            '\t' => text.extend(std::iter::repeat_n(' ', TAB - text.chars().count() % TAB)),
            letter => text.push(letter),
        }
    }
    text
}

/// `code` in at most `room` columns; a mark says that it goes on.
fn cut(code: &str, room: usize, layout: &Layout) -> String {
    if crate::terminal::columns(code) <= room {
        return code.to_owned();
    }
    let mark = if layout.glyphs == Glyphs::Ascii { "..." } else { "…" };
    let mut text = String::new();
    for letter in code.chars() {
        text.push(letter);
        if crate::terminal::columns(&text) + mark.chars().count() > room {
            text.pop();
            break;
        }
    }
    text.push_str(mark);
    text
}

/// The marks that the program itself makes, in ASCII where that is asked.
fn plain(text: &str, layout: &Layout) -> String {
    match layout.glyphs {
        Glyphs::Unicode => text.to_owned(),
        Glyphs::Ascii => {
            text.replace('µ', "u").replace('…', "...").replace('·', "|").replace('×', "x").replace('–', "-")
        }
    }
}
