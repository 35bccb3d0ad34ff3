//! A comparison for a terminal: the verdict, what speaks against it, what changed and why; one screen.

use super::words::{Cut, cause, cut, headline, measure, remarks, side, signed, signed_time};
use super::{Options, Shown};
use crate::note_line;
use crate::terminal::{Glyphs, Layout, columns, shortened, wrapped};
use anstyle::Style;
use ridgeline::comparison::{By, Certainty, Change, Comparison, FindingStatus, State, Steps, Unit, Weight};
use ridgeline::escape::escape_controls;
use ridgeline::units::{Nanos, counted, time_interval};
use ridgeline::{Diff, Severity};

/// Causes and measures that are shown of each.
const MOST_LINES: usize = 5;
/// Notes of captures that are shown.
const MOST_NOTES: usize = 4;
/// Columns of a time.
const TIME: usize = 9;
/// Columns of the interval, where there is room for it.
const INTERVAL: usize = 22;
/// Widths from which the interval has a column.
const WIDE: usize = 110;

/// The whole answer.
pub fn render(diff: &Diff, options: &Options, layout: &Layout) -> String {
    let found = &diff.comparison;
    let mut blocks = vec![opening(diff, layout)];
    blocks.push(match options.by {
        Shown::Division(by) => division(found, by, options.rows, layout),
        Shown::Steps => steps(found, layout),
        Shown::Memory | Shown::Compile => String::new(),
    });
    blocks.push(beside(found, options, layout));
    blocks.push(closing(found, layout));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

fn opening(diff: &Diff, layout: &Layout) -> String {
    let found = &diff.comparison;
    let mut text = String::new();
    let severe = diff.notes.iter().filter(|note| note.severity != Severity::Info);
    for note in severe.clone().take(MOST_NOTES) {
        text.push_str(&indented(&note_line(note), "", "  ", layout));
    }
    let more = severe.count().saturating_sub(MOST_NOTES);
    if more > 0 {
        text.push_str(&indented(&format!("{more} more notes; JSON lists all"), "", "  ", layout));
    }
    let style = match found.verdict.state {
        State::Slower => layout.theme.lost,
        State::CannotJudge => layout.theme.partial,
        State::Faster | State::NoChange => layout.theme.title,
    };
    text.push_str(&styled_lines(&headline(found), style, layout));
    for (title, facts) in [("before", &found.before), ("after", &found.after)] {
        text.push_str(&indented(&format!("{title:<7}{}", side(facts, found.unit)), "", "       ", layout));
    }
    for doubt in &found.doubts {
        let word = if doubt.weight == Weight::Refuses { "not comparable" } else { "note" };
        text.push_str(&indented(&format!("{word}: {}", doubt.message), "", "  ", layout));
    }
    if found.verdict.state == State::CannotJudge && !found.doubts.iter().any(|doubt| doubt.weight == Weight::Refuses) {
        for reason in &found.verdict.reasons {
            text.push_str(&indented(&format!("reason: {reason}"), "", "  ", layout));
        }
    }
    if let Some(command) = &found.verdict.command {
        text.push_str(&indented(&format!("fix: {command}"), "", "  ", layout));
    }
    text
}

fn division(found: &Comparison, by: By, rows: usize, layout: &Layout) -> String {
    let is_wide = layout.width >= WIDE && found.interval.is_some();
    let Cut { shown, others } = cut(found.changes_by(by), found.before.unit_ns.max(found.after.unit_ns), rows);
    if shown.is_empty() && others.is_none() {
        return String::new();
    }
    let numbers = 3 * (TIME + 2) + if is_wide { INTERVAL + 2 } else { 0 } + 2;
    let name = layout.width.saturating_sub(numbers + 11).max(12);
    let mut text = title(&format!("Changes{}", per(found.unit)), layout);
    let cells = |what: &str, subject: &str, times: [String; 3], interval: &str, mark: &str| {
        let subject = shortened(&escape_controls(subject), name, layout.glyphs);
        let blank = " ".repeat(name.saturating_sub(columns(&subject)));
        let [before, after, change] = times;
        let interval = if is_wide { format!("  {interval:>INTERVAL$}") } else { String::new() };
        format!("{what:<9}  {subject}{blank}{before:>w$}{after:>w$}{change:>w$}{interval} {mark}", w = TIME + 2)
    };
    let heads = ["Before", "After", "Change"].map(str::to_owned);
    let mut push = |line: String, style: Style| {
        text.push_str(&styled(style, plain(&line, layout).trim_end()));
        text.push('\n');
    };
    push(cells("", "", heads, "Interval", ""), layout.theme.header);
    let mut any_unsure = false;
    for row in shown {
        let times = [
            Nanos(row.before_ns).to_string(),
            Nanos(row.after_ns).to_string(),
            signed_time(row.difference_ns() as f64),
        ];
        let interval = row.interval.map_or(String::new(), |found| time_interval(found.low, found.high));
        let mark = mark(row);
        any_unsure |= mark == "~";
        push(cells(row.what.name(), &row.subject, times, &interval, mark), Style::new());
        let said = remarks(row, by);
        if !said.is_empty() && row.difference_ns() != 0 {
            for line in wrapped(&escape_controls(&said.join("; ")), layout.width.saturating_sub(11)).iter().take(2) {
                push(format!("{}{line}", " ".repeat(11)), layout.theme.quiet);
            }
        }
    }
    if let Some((count, before, after)) = others {
        let times = [Nanos(before).to_string(), Nanos(after).to_string(), signed_time((after - before) as f64)];
        push(cells("", &counted(count as u64, "other", "others"), times, "", ""), Style::new());
    }
    let (before, after) = (found.before.unit_ns, found.after.unit_ns);
    let times = [Nanos(before).to_string(), Nanos(after).to_string(), signed_time((after - before) as f64)];
    let interval = found.interval.map_or(String::new(), |ends| time_interval(ends.low, ends.high));
    push(cells("total", "", times, &interval, ""), layout.theme.title);
    if any_unsure {
        push("~ not significant".to_owned(), layout.theme.quiet);
    }
    text
}

fn mark(row: &Change) -> &'static str {
    if row.certainty() == Certainty::Unsure { "~" } else { "" }
}

fn per(unit: Option<Unit>) -> &'static str {
    match unit {
        Some(Unit::Step) => ", per step and device",
        Some(Unit::Suite) => ", per run of the suite",
        _ => "",
    }
}

fn steps(found: &Comparison, layout: &Layout) -> String {
    let (Some(before), Some(after)) = (found.before.steps, found.after.steps) else {
        return styled_lines("one side has no single steps", layout.theme.quiet, layout);
    };
    let mut text = title("Single steps", layout);
    let head = format!("{:<16}{:>11}{:>11}{:>11}{:>11}", "", "Before", "After", "Change", "");
    text.push_str(&format!("{}\n", styled(layout.theme.header, head.trim_end())));
    type Of = fn(&Steps) -> i64;
    let rows: [(&str, Of); 5] = [
        ("shortest", |steps| steps.least_ns),
        ("first quartile", |steps| steps.quartile_ns),
        ("median", |steps| steps.median_ns),
        ("third quartile", |steps| steps.third_quartile_ns),
        ("longest", |steps| steps.most_ns),
    ];
    for (name, of) in rows {
        let (before, after) = (of(&before), of(&after));
        let part = if before > 0 { signed((after - before) as f64 / before as f64) } else { String::new() };
        let (before, after, change) =
            (Nanos(before).to_string(), Nanos(after).to_string(), signed_time((after - before) as f64));
        text.push_str(&plain(&format!("{name:<16}{before:>11}{after:>11}{change:>11}{part:>11}\n"), layout));
    }
    if let Some(chance) = found.rank_p_value {
        let says = format!("Mann–Whitney test: p = {chance:.2}");
        text.push_str(&styled_lines(&says, layout.theme.quiet, layout));
    }
    text
}

/// Other numbers that changed, and causes that came and went.
fn beside(found: &Comparison, options: &Options, layout: &Layout) -> String {
    let mut text = String::new();
    let about = options.by.measures();
    let measures = found.measures.iter().filter(|change| about.is_none_or(|about| change.about == about));
    let said: Vec<String> = measures.filter_map(|change| measure(change, found.unit)).collect();
    if about.is_some() && said.is_empty() {
        let says = match found.measures.iter().any(|change| about == Some(change.about.as_str())) {
            true => "the same on both sides",
            false => "unknown on both sides",
        };
        return styled_lines(says, layout.theme.quiet, layout);
    }
    if !said.is_empty() {
        text.push_str(&title("Other metrics", layout));
        said.iter().for_each(|line| text.push_str(&indented(line, "  ", "    ", layout)));
    }
    let causes = found.causes.iter().flatten().filter(|change| change.status != FindingStatus::Unchanged);
    let said: Vec<String> = causes.map(cause).collect();
    if about.is_none() && !said.is_empty() {
        text.push_str(&title("Findings", layout));
        said.iter().take(MOST_LINES).for_each(|line| text.push_str(&indented(line, "  ", "    ", layout)));
        let more = said.len().saturating_sub(MOST_LINES);
        if more > 0 {
            text.push_str(&indented(&format!("{more} more; JSON lists all"), "  ", "    ", layout));
        }
    }
    text
}

fn closing(found: &Comparison, layout: &Layout) -> String {
    let mut text = String::new();
    if let Some(passes) = found.verdict.passes {
        let bar = signed(found.options.fail_on.unwrap_or(0.0));
        let says = if passes { format!("gate: passes ({bar})") } else { format!("gate: fails ({bar})") };
        text.push_str(&styled_lines(&says, layout.theme.title, layout));
    }
    if let Some(assumption) = &found.assumption {
        text.push_str(&styled_lines(&format!("intervals: {assumption}"), layout.theme.quiet, layout));
    }
    text
}

fn title(words: &str, layout: &Layout) -> String {
    format!("{}\n", styled(layout.theme.title, words))
}

fn indented(words: &str, first: &str, others: &str, layout: &Layout) -> String {
    let lines = wrapped(&escape_controls(words), layout.width.saturating_sub(others.len()));
    let lines = lines.iter().enumerate();
    lines.map(|(at, line)| plain(&format!("{}{line}\n", if at == 0 { first } else { others }), layout)).collect()
}

fn styled_lines(words: &str, style: Style, layout: &Layout) -> String {
    let lines = wrapped(&escape_controls(words), layout.width);
    lines.iter().map(|line| format!("{}\n", styled(style, &plain(line, layout)))).collect()
}

fn styled(style: Style, text: &str) -> String {
    if style.is_plain() { text.to_owned() } else { format!("{style}{text}{style:#}") }
}

/// `text` with the marks that the layout allows.
fn plain(text: &str, layout: &Layout) -> String {
    match layout.glyphs {
        Glyphs::Unicode => text.to_owned(),
        Glyphs::Ascii => text.replace('→', "->").replace('µ', "u").replace('…', "...").replace('–', "-"),
    }
}
