//! A page that needs nothing beside it: no script, no font, no picture; light or dark as the reader's system is.
//!
//! All that comes from a capture is escaped; folds are the browser's own.

use super::columns::{Number, numbers};
use super::fold::{Piece, pieces};
use super::{Folding, file_summary, idle_reasons, others, part, share, summary};
use crate::check::head_and_hold;
use crate::note_line;
use ridgeline::escape::escape_controls;
use ridgeline::{AnnotatedFile, AnnotatedLine, Annotation, Severity};
use std::fmt::Write as _;

/// The part of all idle time from which on its reasons are said.
const WORTH_REASONS: f64 = 0.01;
/// Lines that the page names at its head.
const HOTTEST: usize = 8;

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1c1e21; --paper: #fff; --quiet: #6a7178; --line: #d8dce0; --heat: 214, 69, 18; --mark: #8a5a00 }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e8; --paper: #16181b; --quiet: #949ba3; --line: #33383d; --heat: 240, 110, 50; --mark: #e0b050 } }
body { color: var(--ink); background: var(--paper); font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 90rem; padding: 0 1rem }
h1 { font-size: 1.3rem } h2 { font-size: 1.1rem; margin: 2rem 0 0; overflow-wrap: anywhere }
p { margin: .3rem 0 } .quiet { color: var(--quiet) } .lost { color: rgb(var(--heat)); font-weight: 600 }
.file { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; margin-top: .6rem; padding: .3rem 0 }
table { border-collapse: collapse; table-layout: fixed; width: 100%; font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace }
th { font-weight: 600; border-bottom: 1px solid var(--line); text-align: right; cursor: help } th.code { text-align: left; cursor: auto }
th, td { padding: 0 .5rem; white-space: pre; vertical-align: top } td.n { text-align: right; overflow: hidden }
td.l { text-align: right; color: var(--quiet); border-right: 1px solid var(--line) } tr:target td.l { color: var(--ink); font-weight: 700 }
tr.known { background: rgba(var(--heat), calc(var(--s) * .55)) } tr.plain td.code { color: var(--quiet) }
tr.said td { white-space: normal; color: var(--mark); font-family: system-ui, sans-serif }
summary { color: var(--quiet); padding: .1rem .8rem; cursor: pointer; font-size: 13px }
a { color: inherit }
@media (max-width: 800px) { .wide { display: none } }
";

/// Columns that narrow screens have room for beside the code.
const NARROW: usize = 2;

/// The page.
pub fn page(annotation: &Annotation, folding: Folding) -> String {
    let mut text = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n");
    text.push_str("<meta name=\"viewport\" content=\"width=device-width\">\n");
    let title = escaped(&format!("{} by line", annotation.path));
    let _ = write!(text, "<title>{title}</title>\n<style>\n{STYLE}</style>\n<h1>{title}</h1>\n");
    for note in annotation.notes.iter().filter(|note| note.severity != Severity::Info) {
        let _ = writeln!(text, "<p class=\"lost\">{}</p>", escaped(&note_line(note)));
    }
    let _ = writeln!(text, "<p>{}</p>", escaped(&summary(annotation)));
    text.push_str(&hottest(annotation));
    let shown = numbers(annotation.files.iter());
    for (at, file) in annotation.files.iter().enumerate() {
        text.push_str(&of_file(annotation, at, file, &shown, folding));
    }
    for words in std::iter::once(others(annotation)).chain(annotation.footnotes.iter().cloned()) {
        if !words.is_empty() {
            let _ = writeln!(text, "<p class=\"quiet\">{}</p>", escaped(&words));
        }
    }
    text.push_str("</html>\n");
    text
}

/// Links to the lines with most time.
fn hottest(annotation: &Annotation) -> String {
    let files = annotation.files.iter().enumerate();
    let lines = files.flat_map(|(at, file)| file.lines.iter().map(move |(number, line)| (at, file, *number, line)));
    let mut lines: Vec<_> = lines.filter(|(_, _, _, line)| line.sums.held_ns() > 0).collect();
    lines.sort_by_key(|(at, _, number, line)| (std::cmp::Reverse(line.sums.held_ns()), *at, *number));
    let mut text = String::new();
    for (at, file, number, line) in lines.into_iter().take(HOTTEST) {
        let name = file.name.rsplit('/').next().unwrap_or(&file.name);
        let percent = crate::number::show_share(share(annotation, line)).joined();
        let _ = write!(
            text,
            "{}<a href=\"#f{at}-{number}\">{}:{number}</a> {percent}",
            if text.is_empty() { "<p class=\"quiet\">most time: " } else { " · " },
            escaped(name)
        );
    }
    if !text.is_empty() {
        text.push_str("</p>\n");
    }
    text
}

fn of_file(
    annotation: &Annotation,
    at: usize,
    file: &AnnotatedFile,
    shown: &[&'static Number],
    folding: Folding,
) -> String {
    let code: &[String] = file.text.as_ref().map_or(&[], |(_, lines)| lines);
    let mut text = format!("<h2>{}</h2>\n", escaped(&file.name));
    let _ = writeln!(text, "<p class=\"quiet\">{}</p>", escaped(&file_summary(annotation, file)));
    text.push_str("<div class=\"file\">\n");
    let page = Page { annotation, at, file, code, shown };
    text.push_str(&page.header());
    for piece in pieces(file, code, folding) {
        match piece {
            Piece::Lines(range) => text.push_str(&page.table(range)),
            Piece::Fold(range) => {
                let lines = range.end() - range.start() + 1;
                let table = page.table(range);
                let _ = write!(text, "<details><summary>… {lines} lines</summary>\n{table}</details>\n");
            }
        }
    }
    let beyond = file.lines.keys().copied().filter(|line| *line as usize > code.len());
    text.push_str(&page.table(beyond));
    text.push_str("</div>\n");
    text
}

struct Page<'p> {
    annotation: &'p Annotation,
    at: usize,
    file: &'p AnnotatedFile,
    code: &'p [String],
    shown: &'p [&'static Number],
}

impl Page<'_> {
    fn columns(&self) -> String {
        let column = |at| format!("<col class=\"n{}\" style=\"width:6rem\">", wide(at));
        let columns: String = (0..self.shown.len()).map(column).collect();
        format!("<colgroup>{columns}<col style=\"width:4rem\"><col></colgroup>")
    }

    fn header(&self) -> String {
        let mut text = format!("<table>{}<tr>", self.columns());
        for (at, number) in self.shown.iter().enumerate() {
            let (says, title) = (escaped(number.definition), escaped(number.title));
            let _ = write!(text, "<th class=\"n{}\" title=\"{says}\">{title}</th>", wide(at));
        }
        text.push_str("<th>Line</th><th class=\"code\">Code</th></tr></table>\n");
        text
    }

    fn table(&self, lines: impl Iterator<Item = u32>) -> String {
        let rows: String = lines.map(|line| self.row(line)).collect();
        if rows.is_empty() { rows } else { format!("<table>{}\n{rows}</table>\n", self.columns()) }
    }

    fn row(&self, number: u32) -> String {
        let known = self.file.lines.get(&number);
        let mut text = format!("<tr id=\"f{}-{number}\"", self.at);
        match known {
            Some(line) => {
                let _ = write!(text, " class=\"known\" style=\"--s:{:.3}\">", share(self.annotation, line).min(1.0));
            }
            None => text.push_str(" class=\"plain\">"),
        }
        for (at, column) in self.shown.iter().enumerate() {
            let cell = known.and_then(column.of).unwrap_or_default();
            let _ = write!(text, "<td class=\"n{}\">{}</td>", wide(at), escaped(&cell));
        }
        let code = self.code.get((number as usize).wrapping_sub(1)).map_or("", String::as_str);
        let _ = writeln!(text, "<td class=\"l\">{number}</td><td class=\"code\">{}</td></tr>", escaped(code));
        text.push_str(&known.map(|line| self.remarks(line)).unwrap_or_default());
        text
    }

    fn remarks(&self, line: &AnnotatedLine) -> String {
        let mut said: Vec<String> = Vec::new();
        if part(line.idle_ns, self.annotation.idle_ns) >= WORTH_REASONS {
            said.push(format!("idle: {}", idle_reasons(line)));
        }
        if let Some(check) = &self.annotation.check {
            let findings = line.findings.iter().filter_map(|at| check.diagnosis.findings.get(*at));
            for finding in findings {
                let (tag, words) = head_and_hold(check, finding);
                said.push(format!("{tag}: {words}. {}", finding.help));
            }
        }
        // A cell for each column, because narrow screens leave some out.
        let before: String = (0..self.shown.len()).map(|at| format!("<td class=\"n{}\"></td>", wide(at))).collect();
        let row = |words: &String| format!("<tr class=\"said\">{before}<td></td><td>{}</td></tr>\n", escaped(words));
        said.iter().map(row).collect()
    }
}

/// The class of a column that only wide screens show, behind another.
fn wide(at: usize) -> &'static str {
    if at < NARROW { "" } else { " wide" }
}

/// Text as HTML may hold it: marks are escaped, controls made visible.
fn escaped(text: &str) -> String {
    let visible = text.replace('\t', "    ");
    let visible = escape_controls(&visible);
    let mut safe = String::with_capacity(visible.len());
    for letter in visible.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter => safe.push(letter),
        }
    }
    safe
}
