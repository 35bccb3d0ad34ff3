//! The whole answer as a versioned document, and a finding a line.

use super::items;
use super::words::{headline, number, plain};
use super::{Item, Options};
use crate::json::{laid_out, note};
use ridgeline::{Check, FactValue, Outcome, Saving, SubjectText};
use serde_json::{Value, json};

/// Name and version of the schema of [`document`].
pub const CHECK_SCHEMA: &str = "ridgeline.check.v1";

/// All that is known, as a `ridgeline.check.v1` document.
pub fn document(check: &Check, options: &Options) -> String {
    let found = &check.diagnosis;
    let doubts = found.doubts.iter().map(|(rule, doubt)| {
        let blocks: Vec<&str> = doubt.blocks.iter().map(|question| question.words()).collect();
        json!({ "rule": rule.id, "message": doubt.message, "blocks": blocks, "command": doubt.command })
    });
    laid_out(&json!({
        "schema": CHECK_SCHEMA,
        "notes": check.notes.iter().map(note).collect::<Vec<_>>(),
        "verdict": { "state": found.state.name(), "reasons": doubts.collect::<Vec<_>>() },
        "headline": headline(check),
        "frame": {
            "per": found.frame.per.name(),
            "count": found.frame.count,
            "unit_ns": found.frame.unit_ns(),
            "busy_share": found.busy_share,
            "held_share": found.held_share,
        },
        "findings": items(check).map(|item| finding(&item, options)).collect::<Vec<_>>(),
        "together": found.together.as_ref().map(saving),
        "rules": found.outcomes.iter().map(outcome).collect::<Vec<_>>(),
        "footnotes": check.footnotes,
    }))
}

/// A finding a line, without the rest.
pub fn lines(check: &Check, options: &Options) -> String {
    items(check).map(|item| finding(&item, options).to_string() + "\n").collect()
}

fn finding(item: &Item<'_>, options: &Options) -> Value {
    let Item { finding, shown, .. } = *item;
    let evidence = finding.evidence.iter().map(|said| {
        let number = number(said);
        json!({
            "says": said.says,
            "value": number.map(|(value, ..)| value_of(value)),
            "unit": number.map(|(_, unit, _)| unit),
            "basis": number.map(|(.., basis)| basis),
        })
    });
    json!({
        "rule": finding.rule,
        "level": finding.level.name(),
        "message": finding.message,
        "location": finding.place.as_ref().map(|place| json!({
            "file": place.file,
            "line": place.line,
            "inferred": place.is_inferred,
            "text": shown.line_text,
        })),
        "subjects": shown.subjects.iter().map(subject).collect::<Vec<_>>(),
        "evidence": evidence.collect::<Vec<_>>(),
        "because": finding.because.map(|(rule, position)| json!({ "rule": rule, "finding": position })),
        "why": finding.why,
        "help": finding.help,
        "holds_share": (!finding.is_information).then_some(finding.share),
        "saving": finding.saving.as_ref().map(saving),
        "accepted": options.accepts(item),
        "fingerprint": shown.fingerprint,
    })
}

fn value_of(value: f64) -> Value {
    match plain(value) {
        FactValue::Count(count) if value >= 0.0 => json!(count),
        _ => json!(value),
    }
}

fn subject(subject: &SubjectText) -> Value {
    json!({
        "kind": subject.kind,
        "name": subject.name,
        "row": subject.row,
        "start_ns": subject.start_ns,
        "dur_ns": subject.dur_ns,
    })
}

fn saving(saving: &Saving) -> Value {
    json!({
        "low_ns": saving.low_ns,
        "high_ns": saving.high_ns,
        "share_low": saving.share_low,
        "share_high": saving.share_high,
        "per": saving.per.name(),
        "basis": saving.basis.name(),
        "refused": saving.refused,
    })
}

fn outcome(outcome: &Outcome) -> Value {
    let (state, findings, why, command) = match &outcome.found {
        Ok(0) => ("none", 0, None, None),
        Ok(count) => ("problem", *count, None, None),
        Err(cannot) => ("cannot tell", 0, Some(&cannot.why), cannot.command.as_ref()),
    };
    json!({ "rule": outcome.rule.id, "state": state, "findings": findings, "why": why, "command": command })
}
