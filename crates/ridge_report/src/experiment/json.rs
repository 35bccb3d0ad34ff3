//! The whole answer as a versioned document.

use super::{headline, results_of};
use crate::check;
use crate::json::laid_out;
use ridgeline::{Experiment, ExperimentEffect, ExperimentResults, ExperimentSample, Saving};
use serde_json::{Value, json};

/// Name and version of the schema of [`document`].
pub const EXPERIMENT_SCHEMA: &str = "ridgeline.experiment.v1";

/// All that is known, as a `ridgeline.experiment.v1` document.
pub fn document(experiment: &Experiment) -> String {
    let options = check::Options { all: true, accepted: Vec::new() };
    let found = experiment.check.as_ref().map(|found| check::json::value(found, &options));
    laid_out(&json!({
        "schema": EXPERIMENT_SCHEMA,
        "headline": headline(experiment),
        "command": experiment.command,
        "folder": experiment.folder.display().to_string(),
        "ended": experiment.ended,
        "took_ns": experiment.took_ns,
        "experiments": experiment.chosen.iter().map(|(finding, at)| row(experiment, *finding, *at)).collect::<Vec<_>>(),
        "changes": (0..experiment.planned.len()).map(|at| change(experiment, at)).collect::<Vec<_>>(),
        "runs": experiment.samples.iter().map(|sample| run(experiment, sample)).collect::<Vec<_>>(),
        "verdict": found.as_ref().map_or(Value::Null, |found| found["verdict"].clone()),
        "findings": found.map_or(json!([]), |mut found| found["findings"].take()),
        "notes": experiment.notes,
    }))
}

/// A finding with what was measured of it, or a change by itself.
fn row(experiment: &Experiment, finding: Option<usize>, at: usize) -> Value {
    let (plan, tried) = (&experiment.planned[at], &experiment.tried[at]);
    let found = finding.and_then(|at| experiment.check.as_ref()?.diagnosis.findings.get(at));
    let predicted = finding.and_then(|at| experiment.predicted.get(at)?.as_ref());
    let effect = tried.effect.as_ref().filter(|_| tried.is_measured);
    json!({
        "finding": finding,
        "rule": found.map(|found| found.rule),
        "message": found.map(|found| &found.message),
        "change": plan.change.name,
        "kind": plan.change.kind.name(),
        "what": plan.change.what,
        "state": if effect.is_some() { "measured" } else { "unknown" },
        "saved": effect.map(|effect| effect.saved),
        "saved_low": effect.and_then(|effect| effect.ends).map(|ends| ends.0),
        "saved_high": effect.and_then(|effect| effect.ends).map(|ends| ends.1),
        "effect": effect.map(times),
        "results": results_of(experiment, at).map(results),
        "predicted": predicted.map(|saving| prediction(saving, found.map(|found| found.share))),
    })
}

fn prediction(saving: &Saving, share: Option<f64>) -> Value {
    json!({
        "basis": saving.basis.name(),
        "share_low": saving.share_low,
        "share_high": saving.share_high,
        "holds_share": share,
    })
}

fn change(experiment: &Experiment, at: usize) -> Value {
    let (plan, tried) = (&experiment.planned[at], &experiment.tried[at]);
    let last = experiment.samples.iter().rfind(|sample| sample.change == Some(at));
    let place = |(file, line): &(String, u32)| json!({ "file": file, "line": line });
    json!({
        "name": plan.change.name,
        "kind": plan.change.kind.name(),
        "what": plan.change.what,
        "equality": plan.change.results,
        "places": plan.places.iter().map(place).collect::<Vec<_>>(),
        "findings": plan.findings,
        "is_measured": tried.is_measured,
        "effect": tried.effect.as_ref().map(times),
        "applied": last.map(|last| last.applied.iter().map(|(site, times)| json!({ "site": site, "times": times })).collect::<Vec<_>>()),
        "not_applied": last.map(|last| last.failed.iter().map(|(site, why)| json!({ "site": site, "why": why })).collect::<Vec<_>>()),
        "why_not": tried.why_not,
        "results": results_of(experiment, at).map(results),
    })
}

fn times(effect: &ExperimentEffect) -> Value {
    json!({
        "of": effect.what(),
        "iterations": effect.of_loop.as_ref().map(|(_, _, iterations)| iterations),
        "saved": effect.saved,
        "saved_low": effect.ends.map(|ends| ends.0),
        "saved_high": effect.ends.map(|ends| ends.1),
        "before_ns": effect.before_ns,
        "after_ns": effect.after_ns,
        "runs": effect.runs,
        "confidence": effect.comparison.options.confidence,
    })
}

fn results(results: &ExperimentResults) -> Value {
    json!({
        "state": results.state,
        "agree": results.agree(),
        "largest_difference": results.difference,
        "compared": results.compared,
        "why": results.why,
    })
}

fn run(experiment: &Experiment, sample: &ExperimentSample) -> Value {
    let longest = sample.loops.first();
    json!({
        "change": sample.change.map(|at| experiment.planned[at].change.name),
        "round": sample.round,
        "exit_code": sample.exit_code,
        "wall_ns": sample.wall_ns,
        "program_s": sample.program_s,
        "compile_s": sample.compile_s,
        "longest_loop": longest.map(|one| json!({
            "file": one.file, "line": one.line, "iterations": one.iterations, "seconds": one.seconds, "compile_s": one.compile_s,
        })),
        "log": sample.log.display().to_string(),
    })
}
