//! An emulation as a document: docs/json/emulation.v1.schema.json.

use super::report::{Replaced, Report};
use ridge_record::ProgramStatus;
use ridgeline::handing_over::emulate::{Difference, Events, Seen};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn document(report: &Report) -> String {
    let predicted = report.predicted.as_ref().map(|found| {
        json!({
            "call_ns": found.call_ns.map(whole),
            "device": found.device,
            "times": found.times,
            "boards": found.boards.iter().map(|board| json!({
                "name": board.name,
                "p10_ns": whole(board.p10_ns),
                "p50_ns": whole(board.p50_ns),
                "p90_ns": whole(board.p90_ns),
                "transfers_ns": whole(board.transfers_ns),
            })).collect::<Vec<_>>(),
        })
    });
    let side = |ports: &[String], bytes: u64| json!({ "ports": ports, "bytes": bytes });
    let document = json!({
        "schema": "ridgeline.emulation.v1",
        "bundle": report.bundle,
        "region": report.place.region,
        "module": report.place.module,
        "whole_module": report.place.is_whole,
        "hook": report.hook,
        "command": report.command,
        "problems": report.problems,
        "inputs": side(&report.inputs.ports, report.inputs.bytes),
        "outputs": side(&report.outputs.ports, report.outputs.bytes),
        "original": {
            "status": status(report.status),
            "wall_ns": nanos(report.wall),
            "calls": report.calls.region,
            "calls_ns": report.calls.region_ns,
            "other_calls": report.calls.others,
            "events": events(&report.events),
        },
        "replaced": report.replaced.iter().map(replaced).collect::<Vec<_>>(),
        "transfer_bytes": report.calls_in_a_run().saturating_mul(report.inputs.bytes + report.outputs.bytes),
        "predicted": predicted,
    });
    format!("{document:#}\n")
}

fn replaced(run: &Replaced) -> Value {
    json!({
        "format": run.format.map(|format| format.to_string()),
        "status": status(run.status),
        "wall_ns": nanos(run.wall),
        "calls": run.tally.calls,
        "other_calls": run.others,
        "reference_ns": run.tally.kernel_ns,
        "inputs": run.tally.inputs.iter().map(seen).collect::<Vec<_>>(),
        "outputs": run.tally.outputs.iter().map(|one| {
            let mut document = difference(&one.difference);
            document["range"] = seen(one)["range"].clone();
            document
        }).collect::<Vec<_>>(),
        "results": run.results.iter().map(|result| json!({
            "name": result.name,
            "times": result.times.1,
            "times_original": result.times.0,
            "why_not": result.difference.as_ref().err().map(ToString::to_string),
            "difference": result.difference.as_ref().ok().map(difference),
        })).collect::<Vec<_>>(),
        "events": events(&run.events),
    })
}

fn seen(one: &Seen) -> Value {
    json!({ "range": one.range.map(|(low, high)| [low, high]), "beyond": one.difference.beyond })
}

fn difference(found: &Difference) -> Value {
    json!({
        "values": found.values,
        "same": found.same,
        "beyond": found.beyond,
        "unlike": found.unlike,
        "denormal": found.tiny,
        "largest": found.largest,
        "rms": found.rms(),
        "relative": found.relative(),
    })
}

fn events(found: &Events) -> Value {
    json!({
        "jax": found.jax,
        "modules": found.modules,
        "hooks": found.hooks,
        "inside": found.inside,
        "others": found.others.iter().map(|other| json!({ "name": other.name, "ports": other.ports })).collect::<Vec<_>>(),
        "lost": found.lost.iter().map(|(part, why)| json!({ "part": part, "why": why })).collect::<Vec<_>>(),
    })
}

fn status(status: ProgramStatus) -> Value {
    match status {
        ProgramStatus::Exited(code) => json!({ "exit_code": code, "signal": null }),
        ProgramStatus::Signaled(signal) => json!({ "exit_code": null, "signal": signal }),
    }
}

fn nanos(wall: Duration) -> u64 {
    u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX)
}

fn whole(ns: f64) -> u64 {
    ns.round() as u64
}
