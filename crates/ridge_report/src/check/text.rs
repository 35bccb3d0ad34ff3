//! Findings for a terminal, in the manner of a good compiler: what, where, why, what to do, what it saves.

use super::words::{consequence, evidence, headline, holds, life, saving};
use super::{Item, Options, causes, items, symptoms};
use crate::terminal::{Layout, notes, paragraph, plain_marks, styled, wrapped};
use anstyle::Style;
use ridgeline::escape::{escape_controls, shell_word};
use ridgeline::{CannotTell, Check, Doubt, Level, Severity};

/// Findings in a line each.
const TOP: usize = 3;

/// Items of a kind that are listed by name where nothing more is asked for.
const NAMED: usize = 6;

/// The whole answer.
pub fn full(check: &Check, options: &Options, layout: &Layout) -> String {
    let mut blocks = vec![opening(check, layout)];
    blocks.extend(doubts(check, options).iter().map(|(rule, doubt)| doubt_block(rule, doubt, layout)));
    let causes = causes(check, options);
    blocks.extend(causes.iter().map(|item| block(check, item, options, layout)));
    if causes.is_empty() && !options.all {
        blocks.push(most_of_time(check, layout));
    }
    blocks.push(closing(check, options, layout));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

/// One line a finding.
pub fn concise(check: &Check, options: &Options, layout: &Layout) -> String {
    let mut text = format!("{}\n", headline(check));
    for item in causes(check, options) {
        let place = item.finding.place.as_ref().map(|place| format!("{}:{}: ", place.file, place.line));
        let held = holds(check, item.finding).map(|held| format!(" ({held})"));
        let line = format!(
            "{}{}[{}]: {}{}",
            place.unwrap_or_default(),
            item.finding.level.name(),
            item.finding.rule,
            item.finding.message,
            held.unwrap_or_default()
        );
        text.push_str(&plain_marks(&escape_controls(&line), layout.glyphs));
        text.push('\n');
    }
    text
}

/// The top causes in three lines, for the end of another command's answer; empty where there is nothing to say.
pub fn brief(check: &Check, layout: &Layout) -> String {
    let found = causes(check, &Options::default());
    if found.is_empty() {
        return most_of_time(check, layout);
    }
    let mut text = styled(layout.theme.title, "Top findings").into_owned();
    text.push('\n');
    for item in found.iter().take(TOP) {
        text.push_str(&indented(&line(item), "  ", "    ", layout));
    }
    let more = if found.len() > TOP { format!("{} more: ", found.len() - TOP) } else { String::new() };
    text.push_str(&indented(&format!("{more}`ridgeline check {}`", shell_word(&check.path)), "  ", "    ", layout));
    text
}

/// Where the time goes if nothing is worth mending, or all of it is accepted: information, a line each.
fn most_of_time(check: &Check, layout: &Layout) -> String {
    let is_told = |item: &Item<'_>| item.finding.because.is_none() && item.finding.level == Level::Info;
    let mut found: Vec<Item<'_>> =
        items(check).filter(|item| is_told(item) && item.finding.share > 0.0).take(TOP).collect();
    if found.is_empty() {
        // What no rule explains has no share.
        found.extend(items(check).find(is_told));
    }
    if found.is_empty() {
        return String::new();
    }
    let mut text = styled(layout.theme.title, "Where the time goes").into_owned();
    text.push('\n');
    found.iter().for_each(|item| text.push_str(&indented(&line(item), "  ", "    ", layout)));
    text
}

/// A finding in one line.
fn line(item: &Item<'_>) -> String {
    let place = item.finding.place.as_ref().map(|place| format!(" ({}:{})", place.file, place.line));
    format!("{}: {}{}", item.finding.rule, item.finding.message, place.unwrap_or_default())
}

fn opening(check: &Check, layout: &Layout) -> String {
    let mut text = [Severity::Lost, Severity::Partial].map(|severity| notes(&check.notes, severity, layout)).concat();
    text.push_str(&paragraph(&headline(check), layout.theme.title, layout));
    if let Some(life) = life(check) {
        text.push_str(&paragraph(&life, layout.theme.title, layout));
    }
    text
}

fn doubts<'c>(check: &'c Check, options: &Options) -> Vec<(&'static str, &'c Doubt)> {
    let all = check.diagnosis.doubts.iter().filter(|(_, doubt)| options.all || !doubt.blocks.is_empty());
    all.map(|(rule, doubt)| (rule.id, doubt)).collect()
}

fn doubt_block(rule: &str, doubt: &Doubt, layout: &Layout) -> String {
    let mut text = head("capture", layout.theme.partial, rule, &doubt.message, layout);
    let title = if doubt.blocks.is_empty() { "note" } else { "effect" };
    text.push_str(&entry(title, &consequence(doubt), layout));
    doubt.command.iter().for_each(|command| text.push_str(&entry("fix", &format!("`{command}`"), layout)));
    text
}

fn block(check: &Check, item: &Item<'_>, options: &Options, layout: &Layout) -> String {
    let finding = item.finding;
    let style = match finding.level {
        Level::Error => layout.theme.lost,
        Level::Warning => layout.theme.partial,
        Level::Info => layout.theme.quiet,
    };
    let mut text = head(finding.level.name(), style, finding.rule, &finding.message, layout);
    let held = holds(check, finding);
    if let Some(place) = &finding.place {
        let inferred = if place.is_inferred { "  (line inferred from the data flow)" } else { "" };
        text.push_str(&plain_marks(
            &format!("   --> {}:{}{inferred}\n", escape_controls(&place.file), place.line),
            layout.glyphs,
        ));
        if let Some(source) = &item.shown.line_text {
            text.push_str(&code(place.line, source, held.as_deref(), layout));
        }
    }
    if let Some(held) = held.filter(|_| finding.place.is_none() || item.shown.line_text.is_none()) {
        text.push_str(&entry("time", &held, layout));
    }
    for said in &finding.evidence {
        text.push_str(&entry("evidence", &evidence(said), layout));
    }
    for (title, words) in [("why", &finding.why), ("help", &finding.help)] {
        if !words.is_empty() {
            text.push_str(&entry(title, words, layout));
        }
    }
    if let Some(found) = &finding.saving {
        text.push_str(&entry("saving", &saving(found, finding.rule), layout));
    }
    for symptom in symptoms(check, item.position).filter(|symptom| options.all || symptom.finding.level > Level::Info) {
        let words = format!("{} ({})", symptom.finding.message, symptom.finding.rule);
        text.push_str(&entry("also seen as", &words, layout));
    }
    if options.accepts(item) {
        text.push_str(&entry("note", "accepted by the baseline", layout));
    }
    text
}

fn head(word: &str, style: Style, rule: &str, message: &str, layout: &Layout) -> String {
    let tag = format!("{word}[{rule}]");
    let lines = wrapped(&format!("{tag}: {}", escape_controls(message)), layout.width);
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        match line.strip_prefix(tag.as_str()).filter(|_| at == 0) {
            Some(rest) => text.push_str(&format!(
                "{}{}\n",
                styled(style, &tag),
                styled(layout.theme.title, &plain_marks(rest, layout.glyphs))
            )),
            None => text.push_str(&format!("  {}\n", styled(layout.theme.title, &plain_marks(line, layout.glyphs)))),
        }
    }
    text
}

/// The line of source, and below it its time.
fn code(line: u32, source: &str, held: Option<&str>, layout: &Layout) -> String {
    let number = line.to_string();
    let blank = " ".repeat(number.len());
    let source: String = escape_controls(source).chars().take(layout.width.saturating_sub(number.len() + 4)).collect();
    let mut text = format!(" {blank} |\n {number} | {source}\n");
    if let Some(held) = held {
        let marks = "^".repeat(source.chars().count().clamp(1, 24));
        text.push_str(&format!(" {blank} | {} {held}\n", styled(layout.theme.partial, &marks)));
    }
    text
}

fn entry(title: &str, words: &str, layout: &Layout) -> String {
    indented(&format!("{title}: {}", escape_controls(words)), "   = ", "     ", layout)
}

fn closing(check: &Check, options: &Options, layout: &Layout) -> String {
    let mut text = String::new();
    if options.all {
        let silent: Vec<&str> = check
            .diagnosis
            .outcomes
            .iter()
            .filter(|outcome| matches!(outcome.found, Ok(0)))
            .map(|outcome| outcome.rule.id)
            .collect();
        if !silent.is_empty() {
            text.push_str(&indented(&format!("no problem: {}", silent.join(", ")), "", "  ", layout));
        }
        let mut reasons: Vec<(&CannotTell, Vec<&str>)> = Vec::new();
        for outcome in &check.diagnosis.outcomes {
            let Err(cannot) = &outcome.found else { continue };
            match reasons.iter_mut().find(|(known, _)| *known == cannot) {
                Some((_, rules)) => rules.push(outcome.rule.id),
                None => reasons.push((cannot, vec![outcome.rule.id])),
            }
        }
        for (cannot, rules) in reasons {
            let better =
                cannot.command.as_ref().map(|command| format!(" (`{}`)", escape_controls(command))).unwrap_or_default();
            let line = format!("cannot tell {}: {}{better}", rules.join(", "), escape_controls(&cannot.why));
            text.push_str(&indented(&line, "", "  ", layout));
        }
        return text;
    }
    let is_log = check.diagnosis.log.is_some();
    let is_minor = |item: &Item<'_>| item.finding.level == Level::Info && item.finding.because.is_none() && !is_log;
    let minor = items(check).filter(is_minor).count();
    let unsure: Vec<&str> = check
        .diagnosis
        .outcomes
        .iter()
        .filter(|outcome| outcome.found.is_err())
        .map(|outcome| outcome.rule.id)
        .collect();
    let accepted = items(check).filter(|item| item.finding.level > Level::Info && options.accepts(item)).count();
    let mut parts = Vec::new();
    if accepted > 0 {
        parts.push(format!("{accepted} accepted by the baseline"));
    }
    if minor > 0 {
        parts.push(format!("{minor} minor"));
    }
    if is_log {
        parts.push(format!("the other {} rules judge recorded work", unsure.len()));
    } else if !unsure.is_empty() {
        let names = unsure.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        let more = unsure.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(format!("cannot tell: {names}{more}"));
    }
    if !parts.is_empty() {
        let object = if accepted + minor + unsure.len() == 1 { "it" } else { "them" };
        let line = format!("{}; `--all` shows {object}", parts.join("; "));
        text.push_str(&paragraph(&line, layout.theme.quiet, layout));
    }
    if check.diagnosis.causes().next().is_some() {
        text.push_str(&paragraph("`ridgeline explain RULE` explains a rule", layout.theme.quiet, layout));
    }
    check.footnotes.iter().for_each(|note| text.push_str(&paragraph(note, layout.theme.quiet, layout)));
    text
}

fn indented(words: &str, first: &str, others: &str, layout: &Layout) -> String {
    let lines = wrapped(words, layout.width.saturating_sub(others.len()));
    let lines = lines.iter().enumerate();
    lines
        .map(|(at, line)| plain_marks(&format!("{}{line}\n", if at == 0 { first } else { others }), layout.glyphs))
        .collect()
}
