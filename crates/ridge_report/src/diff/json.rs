//! The whole comparison as a versioned document.

use super::words::headline;
use super::{Options, Shown};
use crate::json::{laid_out, note};
use ridgeline::Diff;
use ridgeline::comparison::{By, CauseChange, Change, MeasureChange, SideFacts, Unit};
use serde_json::{Map, Value, json};

/// Name and version of the schema of [`document`].
pub const DIFF_SCHEMA: &str = "ridgeline.diff.v1";

/// All that is known, as a `ridgeline.diff.v1` document; `changes` are those of the division that was asked for.
pub fn document(diff: &Diff, options: &Options) -> String {
    laid_out(&document_value(diff, options))
}

/// [`document`] before it is text.
pub fn document_value(diff: &Diff, options: &Options) -> Value {
    let found = &diff.comparison;
    let by = if let Shown::Division(by) = options.by { by } else { By::Part };
    let rows = |by: By| found.changes_by(by).iter().map(change).collect::<Vec<_>>();
    let others = By::ALL.into_iter().filter(|other| *other != by);
    let divisions: Map<String, Value> = others.map(|by| (by.name().to_owned(), json!(rows(by)))).collect();
    let doubts = found
        .doubts
        .iter()
        .map(|doubt| json!({ "weight": doubt.weight.name(), "message": doubt.message, "command": doubt.command }));
    json!({
        "schema": DIFF_SCHEMA,
        "notes": diff.notes.iter().map(note).collect::<Vec<_>>(),
        "verdict": {
            "state": found.verdict.state.name(),
            "reasons": found.verdict.reasons,
            "command": found.verdict.command,
            "passes": found.verdict.passes,
        },
        "headline": headline(found),
        "doubts": doubts.collect::<Vec<_>>(),
        "per": found.unit.map(Unit::name),
        "before": side(&found.before),
        "after": side(&found.after),
        "whole": {
            "before_ns": found.before.unit_ns,
            "after_ns": found.after.unit_ns,
            "low_ns": found.interval.map(|ends| ends.low.round() as i64),
            "high_ns": found.interval.map(|ends| ends.high.round() as i64),
            "share": found.parts().map(|(part, _)| part),
            "share_low": found.parts().and_then(|(_, ends)| ends).map(|(low, _)| low),
            "share_high": found.parts().and_then(|(_, ends)| ends).map(|(_, high)| high),
            "rank_chance": found.rank_p_value,
        },
        "options": {
            "practical": found.options.min_change,
            "confidence": found.options.confidence,
            "fail_on": found.options.fail_on,
        },
        "assumption": found.assumption,
        "in_common": found.in_common,
        "by": by.name(),
        "changes": rows(by),
        "divisions": divisions,
        "measures": found.measures.iter().map(measure).collect::<Vec<_>>(),
        "causes": found.causes.as_ref().map(|causes| causes.iter().map(cause).collect::<Vec<_>>()),
    })
}

fn side(side: &SideFacts) -> Value {
    json!({
        "names": side.names,
        "units": side.units,
        "devices": side.devices,
        "total_ns": side.total_ns,
        "busy_share": side.busy_share,
        "steps": side.steps.map(|steps| json!({
            "count": steps.count,
            "least_ns": steps.least_ns,
            "quartile_ns": steps.quartile_ns,
            "median_ns": steps.median_ns,
            "third_quartile_ns": steps.third_quartile_ns,
            "most_ns": steps.most_ns,
        })),
    })
}

fn change(row: &Change) -> Value {
    json!({
        "what": row.what.name(),
        "subject": row.subject,
        "subject_before": row.subject_before,
        "before_ns": row.before_ns,
        "after_ns": row.after_ns,
        "low_ns": row.interval.map(|ends| ends.low.round() as i64),
        "high_ns": row.interval.map(|ends| ends.high.round() as i64),
        "certainty": row.certainty().name(),
        "fate": row.presence(),
        "before_total_ns": row.before_total_ns,
        "after_total_ns": row.after_total_ns,
        "before_count": row.counts.0,
        "after_count": row.counts.1,
        "location": row.place.as_ref().map(|place| json!({
            "file": place.file,
            "line": place.line,
            "function": Some(&place.function).filter(|name| !name.is_empty()),
            "inferred": place.is_inferred,
            "text": place.text,
        })),
        "why": row.why,
    })
}

fn measure(change: &MeasureChange) -> Value {
    json!({
        "key": change.key,
        "title": change.title,
        "unit": change.unit,
        "about": change.about,
        "before": change.before,
        "after": change.after,
    })
}

fn cause(change: &CauseChange) -> Value {
    json!({
        "fate": change.status.name(),
        "rule": change.cause.rule,
        "message": change.cause.message,
        "location": change.cause.place.as_ref().map(|place| json!({
            "file": place.file,
            "line": place.line,
            "function": Some(&place.function).filter(|name| !name.is_empty()),
            "inferred": place.is_inferred,
            "text": place.text,
        })),
        "before_share": change.before_share,
        "after_share": change.after_share,
    })
}
