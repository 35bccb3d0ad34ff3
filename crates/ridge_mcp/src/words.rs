//! What tools say of a capture, as lines of text: numbers with unit and basis, nothing said twice.

use ridge_report::check::{Item, evidence, headline, holds, items, saving};
use ridge_report::{escape_controls, escape_controls_in_text, fact_text, note_line};
use ridgeline::units::{Nanos, Share};
use ridgeline::{
    AnnotatedFile, AnnotatedLine, Annotation, Basis, Check, Fact, Guide, Level, Note, SavingBasis, Section, Session,
    Severity, TextOrigin, TimeOf, WhatIf,
};

/// Devices that a reply about a capture lists.
const MOST_DEVICES: usize = 8;
/// Notes of what is merely good to know that it lists.
const MOST_NOTES: usize = 5;

/// What a capture is: verdict, what was lost, devices, where the time went.
pub(crate) fn capture(id: &str, session: &Session, check: Option<&Check>) -> String {
    let mut text = format!("id: {id}\n");
    let files: Vec<String> = session.files().map(|(name, format, _)| format!("{name} ({format})")).collect();
    let more = files.len().saturating_sub(MOST_DEVICES);
    text.push_str(&format!("files: {}{}\n", listed(&files), more_of(more)));
    match check {
        Some(check) => text.push_str(&verdict(check)),
        None => text.push_str("verdict: skipped, because the capture is large; `findings` computes it\n"),
    }
    text.push_str(&notes(session.notes()));
    let devices: Vec<String> = session.trace().devices.iter().map(device).collect();
    let more = devices.len().saturating_sub(MOST_DEVICES);
    text.push_str(&format!(
        "devices: {}{}\n",
        if devices.is_empty() { "none".to_owned() } else { listed(&devices) },
        more_of(more)
    ));
    text.push_str(&sections(&session.overview()));
    text
}

fn listed(all: &[String]) -> String {
    all.iter().take(MOST_DEVICES).map(|one| escape_controls(one).into_owned()).collect::<Vec<_>>().join(", ")
}

fn more_of(more: usize) -> String {
    if more > 0 { format!(" and {more} more") } else { String::new() }
}

fn device(device: &ridgeline::trace::Device) -> String {
    device.model.clone().unwrap_or_else(|| device.plane.clone())
}

fn notes(notes: &[Note]) -> String {
    let is_loss = |note: &&Note| note.severity != Severity::Info;
    let losses: String = notes.iter().filter(is_loss).map(|note| note_line(note) + "\n").collect();
    let mut text = if losses.is_empty() { "lost: nothing that is known of\n".to_owned() } else { losses };
    let others: Vec<&Note> = notes.iter().filter(|note| !is_loss(note)).collect();
    others.iter().take(MOST_NOTES).for_each(|note| text.push_str(&(note_line(note) + "\n")));
    let more = others.len().saturating_sub(MOST_NOTES);
    if more > 0 {
        text.push_str(&format!("[{MOST_NOTES} of {} notes of no loss shown]\n", others.len()));
    }
    text
}

/// Facts under their headings, a line each.
pub(crate) fn sections(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        text.push_str(&format!("{}:\n", escape_controls(&section.title)));
        section.facts.iter().for_each(|one| text.push_str(&fact(one)));
    }
    text
}

fn fact(fact: &Fact) -> String {
    let share = fact.share.map(|share| format!(", {}", Share(share))).unwrap_or_default();
    let basis = fact.basis.map(|basis| format!(" ({})", basis.name())).unwrap_or_default();
    let definition = if fact.definition.is_empty() { String::new() } else { format!(" - {}", fact.definition) };
    format!(
        "  {}: {}{share}{basis}{}\n",
        fact.title,
        escape_controls(&fact_text(&fact.value)),
        escape_controls(&definition)
    )
}

fn verdict(check: &Check) -> String {
    let mut text = format!("verdict: {}\n", headline(check));
    for (rule, doubt) in check.diagnosis.doubts.iter().filter(|(_, doubt)| !doubt.blocks.is_empty()) {
        let blocks: Vec<&str> = doubt.blocks.iter().map(|question| question.words()).collect();
        let better = doubt.command.as_ref().map(|command| format!("; fix: `{command}`")).unwrap_or_default();
        text.push_str(&format!("capture[{}]: {}; cannot tell {}{better}\n", rule.id, doubt.message, blocks.join(", ")));
    }
    text
}

/// The findings.
pub(crate) fn findings(check: &Check, all: bool) -> String {
    let mut text = verdict(check);
    text.push_str("basis: shares are measured from the capture; savings are modelled unless stated otherwise\n");
    let is_log = check.diagnosis.log.is_some();
    let is_shown =
        |item: &Item<'_>| item.finding.because.is_none() && (all || is_log || item.finding.level > Level::Info);
    let shown: Vec<Item<'_>> = items(check).filter(is_shown).collect();
    for (at, item) in shown.iter().enumerate() {
        text.push_str(&finding(check, at + 1, item));
    }
    if shown.is_empty() {
        text.push_str("no finding\n");
    }
    let minor = items(check).filter(|item| item.finding.because.is_none()).count() - shown.len();
    let unsure: Vec<_> = check.diagnosis.outcomes.iter().filter(|outcome| outcome.found.is_err()).collect();
    if all {
        for outcome in &unsure {
            if let Err(cannot) = &outcome.found {
                let better = cannot.command.as_ref().map(|command| format!("; fix: `{command}`")).unwrap_or_default();
                text.push_str(&format!("cannot tell {}: {}{better}\n", outcome.rule.id, cannot.why));
            }
        }
    } else if minor + unsure.len() > 0 {
        let names: Vec<&str> = unsure.iter().map(|outcome| outcome.rule.id).collect();
        text.push_str(&format!("[not shown: {minor} minor, {} inconclusive", unsure.len()));
        text.push_str(&if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) });
        text.push_str("; \"all\": true shows them]\n");
    }
    let footnotes = check.footnotes.iter().map(|note| format!("note: {}\n", escape_controls(note)));
    text.extend(footnotes);
    text
}

fn finding(check: &Check, number: usize, item: &Item<'_>) -> String {
    let finding = item.finding;
    let mut text =
        format!("{number}. {}[{}] {}\n", finding.level.name(), finding.rule, escape_controls(&finding.message));
    if let Some(place) = &finding.place {
        let inferred = if place.is_inferred { " (line inferred from the data flow)" } else { "" };
        let code = item.shown.line_text.as_ref().map(|line| format!(" `{}`", escape_controls(line.trim())));
        text.push_str(&format!(
            "   at: {}:{}{inferred}{}\n",
            escape_controls(&place.file),
            place.line,
            code.unwrap_or_default()
        ));
    }
    if let Some(held) = holds(check, finding) {
        text.push_str(&format!("   time: {held} (measured)\n"));
    }
    for said in &finding.evidence {
        let basis = said.number.map(|number| format!(" ({})", number.basis.name())).unwrap_or_default();
        text.push_str(&format!("   evidence: {}{basis}\n", escape_controls(&evidence(said))));
    }
    for (title, words) in [("why", &finding.why), ("help", &finding.help)] {
        if !words.is_empty() {
            text.push_str(&format!("   {title}: {}\n", escape_controls(words)));
        }
    }
    if let Some(found) = &finding.saving {
        let basis = if found.basis == SavingBasis::Measured { "measured" } else { "modelled" };
        text.push_str(&format!("   saves: {} ({basis})\n", saving(found, finding.rule)));
    }
    text
}

/// What changes would save.
pub(crate) fn what_if(answer: &WhatIf) -> String {
    let mut text: String = answer.notes.iter().map(|note| note_line(note) + "\n").collect();
    text.push_str(&sections(&answer.sections));
    text
}

/// Which questions the capture answers, and the command for the others.
pub(crate) fn guide(guide: &Guide) -> String {
    let mut text = String::new();
    for stage in &guide.stages {
        text.push_str(&format!("{} [{}]: {}\n", stage.name, stage.state.name(), stage.question));
        text.push_str(&format!("  {}\n", escape_controls(&stage.answer)));
        stage.shown_by.iter().for_each(|command| text.push_str(&format!("  shown by: {}\n", escape_controls(command))));
        stage.lacks.iter().for_each(|lacks| text.push_str(&format!("  missing: {}\n", escape_controls(lacks))));
        stage.next.iter().for_each(|command| text.push_str(&format!("  to find out: {}\n", escape_controls(command))));
        if let Some(then) = &stage.then {
            text.push_str(&format!("  then: {}: {}\n", escape_controls(&then.what), escape_controls(&then.command)));
        }
    }
    text
}

/// The lines of `file` from `first` to `last`; where none are asked for, those that something is known of.
pub(crate) fn source(annotation: &Annotation, file: &AnnotatedFile, range: Option<(u32, u32)>) -> String {
    let mut text = format!(
        "{}: {} of {} of all {} (measured); idle {} (measured)\n",
        escape_controls(&file.name),
        Nanos(file.sums.self_ns),
        Nanos(annotation.all_ns),
        match annotation.of {
            TimeOf::Devices => "device time",
            TimeOf::Host => "time of host operators",
        },
        Nanos(file.idle_ns),
    );
    text.push_str(
        "self, inclusive, copies, idle: ns, measured; inferred: ns, inferred by the data flow; launches: counted\n",
    );
    match &file.text {
        Some((origin, _)) => text.push_str(match origin {
            TextOrigin::Ran => "text: as it ran\n",
            TextOrigin::Changed => "text: as it ran; the file here has changed since\n",
            TextOrigin::Today => "text: the current file; it may differ from the code that ran\n",
        }),
        None => text.push_str("text: not recorded, and the file cannot be read here\n"),
    }
    let code = file.text.as_ref().map(|(_, lines)| lines.as_slice()).unwrap_or_default();
    let known = |number: u32| file.lines.get(&number);
    let numbers: Vec<u32> = match range {
        Some((first, last)) => (first..=last.min(code.len() as u32)).collect(),
        None => file.lines.keys().copied().collect(),
    };
    for number in &numbers {
        let line = (*number as usize).checked_sub(1).and_then(|at| code.get(at));
        let line = line.map(|line| escape_controls_in_text(line.trim_end()).into_owned()).unwrap_or_default();
        text.push_str(&format!("{number}\t{line}\n"));
        if let Some(known) = known(*number) {
            text.push_str(&line_numbers(annotation, known));
        }
    }
    text.push_str(&format!(
        "[{} lines shown, of {} with a number and {} in the file]\n",
        numbers.len(),
        file.lines.len(),
        code.len()
    ));
    text
}

fn line_numbers(annotation: &Annotation, line: &AnnotatedLine) -> String {
    let sums = &line.sums;
    let times = [
        ("self", sums.self_ns),
        ("inferred", sums.inferred_ns),
        ("inclusive", sums.inclusive_ns),
        ("copies", sums.copy_ns),
        ("idle", line.idle_ns),
    ];
    let mut said: Vec<String> =
        times.iter().filter(|(_, ns)| *ns != 0).map(|(name, ns)| format!("{name} {ns}")).collect();
    if sums.launches() > 0 {
        said.push(format!("launches {}", sums.launches()));
    }
    let mut text = if said.is_empty() { String::new() } else { format!("\t^ {}\n", said.join(", ")) };
    if let Some(check) = &annotation.check {
        for finding in line.findings.iter().filter_map(|position| check.diagnosis.findings.get(*position)) {
            text.push_str(&format!("\t^ {}: {}\n", finding.rule, escape_controls(&finding.message)));
        }
    }
    text
}

/// Where numbers of a comparison come from.
pub(crate) fn basis_of_diff() -> String {
    format!(
        "basis: times are {}; intervals are {} from repeated steps or runs; predicted savings are {}\n",
        Basis::Measured.name(),
        Basis::Modelled.name(),
        Basis::Modelled.name()
    )
}
