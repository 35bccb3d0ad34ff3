//! The whole answer as a versioned document, and a finding a line.

use super::items;
use super::words::headline;
use super::{Item, Options};
use crate::json::{laid_out, note};
use ridgeline::{Check, Finding, Outcome, Saving, SubjectText};
use serde_json::{Value, json};

/// Name and version of the schema of [`document`].
pub const CHECK_SCHEMA: &str = "ridgeline.check.v1";

/// All that is known, as a `ridgeline.check.v1` document.
pub fn document(check: &Check, options: &Options) -> String {
    laid_out(&value(check, options))
}

/// [`document`] before it is text.
pub fn value(check: &Check, options: &Options) -> Value {
    let found = &check.diagnosis;
    let doubts = found.doubts.iter().map(|(rule, doubt)| {
        let blocks: Vec<&str> = doubt.blocks.iter().map(|question| question.words()).collect();
        json!({ "rule": rule.id, "message": doubt.message, "blocks": blocks, "command": doubt.command })
    });
    json!({
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
            "life": {
                "whole_ns": found.life.whole_ns,
                "compiling_ns": found.life.compiling_ns,
                "judged_ns": found.life.judged_ns,
                "rest_ns": found.life.rest_ns,
            },
        },
        "findings": items(check).map(|item| finding(&item, &check.diagnosis.findings, options)).collect::<Vec<_>>(),
        "together": found.together.as_ref().map(saving),
        "rules": found.outcomes.iter().map(outcome).collect::<Vec<_>>(),
        "footnotes": check.footnotes,
    })
}

/// A finding a line, without the rest.
pub fn lines(check: &Check, options: &Options) -> String {
    items(check).map(|item| finding(&item, &check.diagnosis.findings, options).to_string() + "\n").collect()
}

/// The finding among `all`.
fn finding(item: &Item<'_>, all: &[Finding], options: &Options) -> Value {
    let Item { finding, shown, .. } = *item;
    let evidence = finding.evidence.iter().zip(&shown.evidence).map(|(said, seen_at)| {
        let number = said.number;
        json!({
            "says": said.says,
            "value": number.map(|number| whole_or_real(number.value)),
            "unit": number.map(|number| number.unit.name()),
            "basis": number.map(|number| number.basis.name()),
            "subject": seen_at.as_ref().map(subject),
        })
    });
    json!({
        "rule": finding.rule,
        "level": finding.level.name(),
        "message": finding.message,
        "static": finding.is_static,
        "location": finding.place.as_ref().map(|place| json!({
            "file": place.file,
            "line": place.line,
            "inferred": place.is_inferred,
            "text": shown.line_text,
        })),
        "subjects": shown.subjects.iter().map(subject).collect::<Vec<_>>(),
        "evidence": evidence.collect::<Vec<_>>(),
        "because": finding.because.map(|cause| json!({ "rule": all[cause].rule, "finding": cause })),
        "why": finding.why,
        "help": finding.help,
        "holds_share": (!finding.is_information).then_some(finding.share),
        "saving": finding.saving.as_ref().map(saving),
        "accepted": options.accepts(item),
        "fingerprint": shown.fingerprint,
    })
}

/// A number that is a whole one without a fraction, so that documents say 3 and not 3.0.
fn whole_or_real(value: f64) -> Value {
    let is_whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
    if is_whole { json!(value as u64) } else { json!(value) }
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
