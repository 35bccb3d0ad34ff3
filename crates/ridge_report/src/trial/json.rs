//! The whole answer as a versioned document.

use super::{headline, reasons};
use crate::json::laid_out;
use ridgeline::comparison::{Comparison, Unit};
use ridgeline::{Ending, Trial, TrialOutput, TrialRun};
use serde_json::{Value, json};

/// Name and version of the schema of [`document`].
pub const TRY_SCHEMA: &str = "ridgeline.try.v1";

/// All that is known, as a `ridgeline.try.v1` document.
pub fn document(trial: &Trial) -> String {
    let exit_code = match trial.ended {
        Ending::CandidateFailed(code) => Some(code),
        _ => None,
    };
    let judged = trial.judged.as_ref();
    laid_out(&json!({
        "schema": TRY_SCHEMA,
        "verdict": { "state": trial.state().name(), "reasons": reasons(trial), "passes": trial.passes() },
        "headline": headline(trial),
        "baseline": trial.baseline,
        "candidate": trial.candidate,
        "command": trial.command,
        "folder": trial.folder.display().to_string(),
        "measured": judged.map(|judged| if judged.is_by_captures { "captures" } else { "program" }),
        "half_width": judged.and_then(ridgeline::Judged::half_width),
        "until": trial.until,
        "program": judged.map(|judged| times(&judged.program)),
        "captures": judged.and_then(|judged| judged.captures.as_ref()).map(|diff| times(&diff.comparison)),
        "ended": trial.ended.name(),
        "candidate_exit_code": exit_code,
        "took_ns": trial.took_ns,
        "runs": trial.runs.iter().map(run).collect::<Vec<_>>(),
        "outputs": trial.outputs.iter().map(output).collect::<Vec<_>>(),
        "tested": trial.tested,
        "notes": trial.notes,
    }))
}

fn times(found: &Comparison) -> Value {
    json!({
        "state": found.verdict.state.name(),
        "per": found.unit.filter(|unit| *unit != Unit::Suite).map_or("program", Unit::name),
        "before_ns": found.before.unit_ns,
        "after_ns": found.after.unit_ns,
        "low_ns": found.interval.map(|ends| ends.low.round() as i64),
        "high_ns": found.interval.map(|ends| ends.high.round() as i64),
        "share": found.parts().map(|(part, _)| part),
        "share_low": found.parts().and_then(|(_, ends)| ends).map(|(low, _)| low),
        "share_high": found.parts().and_then(|(_, ends)| ends).map(|(_, high)| high),
        "confidence": found.options.confidence,
    })
}

fn run(run: &TrialRun) -> Value {
    let per_unit = run.summary.as_ref().filter(|summary| summary.units > 0);
    json!({
        "side": if run.is_after { "after" } else { "before" },
        "counts": run.counts,
        "program_ns": run.program_ns,
        "recorder_ns": run.recorder_ns,
        "unit_ns": per_unit.map(|summary| summary.whole_ns / i64::try_from(summary.units).unwrap_or(i64::MAX)),
        "exit_code": run.exit_code,
        "capture": run.capture.as_ref().map(|path| path.display().to_string()),
        "log": run.log.display().to_string(),
    })
}

fn output(output: &TrialOutput) -> Value {
    json!({ "file": output.file, "state": output.state, "agrees": output.agrees, "why": output.why })
}
