//! The whole answer as a versioned document.

use crate::json::{laid_out, note};
use ridgeline::OffloadAnswer;
use ridgeline::offloading::{
    BoardAnswer, BundleUse, Core, Cut, DesignBasis, Generated, Interval, Offload, Parts, RegionAnswer, Sensitivity,
    WhatIf,
};
use serde_json::{Value, json};

/// Name and version of the schema of [`document`].
pub const OFFLOAD_SCHEMA: &str = "ridgeline.offload.v1";

/// All that is known, as a `ridgeline.offload.v1` document.
pub fn document(answer: &OffloadAnswer) -> String {
    laid_out(&document_value(answer))
}

/// [`document`] before it is text.
pub fn document_value(answer: &OffloadAnswer) -> Value {
    let found = &answer.found;
    json!({
        "schema": OFFLOAD_SCHEMA,
        "notes": answer.notes.iter().map(note).collect::<Vec<_>>(),
        "headline": found.headline,
        "baseline": baseline(found),
        "what_if": what_if(&found.what_if),
        "bundles": found.bundles.iter().map(bundle).collect::<Vec<_>>(),
        "regions": found.regions.iter().map(region).collect::<Vec<_>>(),
        "others": { "regions": found.others.0, "share": found.others.1 },
        "assumptions": found.assumptions,
    })
}

fn baseline(found: &Offload) -> Value {
    json!({ "device": found.baseline.device, "times": found.baseline.host.name(), "design_watts": found.baseline.tdp_w })
}

fn what_if(what_if: &WhatIf) -> Value {
    let decided = what_if.decided.iter().map(|(parameter, value)| json!({ "name": parameter.name(), "value": value }));
    json!({
        "decided": decided.collect::<Vec<_>>(),
        "resident_calls": what_if.resident,
        "format": what_if.format.map(|format| format.name()),
        "streamed": what_if.is_streamed,
    })
}

fn bundle(one: &BundleUse) -> Value {
    json!({ "bundle": one.bundle, "region": one.region, "stands_for": one.regions, "unused_because": one.why_not })
}

fn core(core: &Core) -> Value {
    json!({
        "bundle": core.bundle,
        "kind": if core.is_engine { "engine" } else { "window" },
        "number_format": core.format,
        "clocks_of_a_call": core.call_clocks.round() as u64,
        "clocks_of_each_further_call": core.period_clocks.round() as u64,
        "input_bytes": core.input_bytes.round() as u64,
        "output_bytes": core.output_bytes.round() as u64,
        "simulated_by": core.simulated_by,
        "synthesized_by": core.synthesized_by,
        "not_synthesized": core.not_synthesized,
        "cells": core.cells.map(|cells| json!({
            "look_up_tables": cells.look_up_tables.round() as u64,
            "registers": cells.registers.round() as u64,
            "multipliers": cells.multipliers.round() as u64,
            "block_rams": cells.block_rams,
        })),
        "counted_block_rams": core.counted_block_rams,
        "divides_in_one_clock": core.divides_in_one_clock,
    })
}

fn generated(one: &Generated) -> Value {
    let takes = one.takes.iter().map(|(name, part)| json!({ "resource": name, "share": part }));
    json!({
        "bundle": one.bundle,
        "takes": takes.collect::<Vec<_>>(),
        "copies": one.copies.map(|copies| copies as u64),
        "prior": times(&one.prior_total_s),
        "prior_speedup": factors(&one.prior_speedup),
    })
}

fn region(one: &RegionAnswer) -> Value {
    let region = &one.region;
    let spec = region.specification.as_ref().ok();
    let operations = region.ops.iter().map(|op| {
        json!({ "name": op.name, "self_ns": op.self_ns.round() as i64, "executions": op.executions.round() as u64 })
    });
    json!({
        "name": region.name,
        "location": region.location.as_ref().map(|at| json!({
            "file": at.file, "line": at.line, "function": at.function, "inferred": at.is_inferred,
        })),
        "scope": region.scope,
        "module": region.module,
        "loop": region.in_loop,
        "inside_loop": region.inside,
        "share": region.share,
        "self_ns": region.self_ns.round() as i64,
        "calls": region.calls,
        "core": one.core.as_ref().map(core),
        "verdict": one.verdict.name(),
        "why": one.why,
        "class": one.class.map(|class| class.name()),
        "call": one.call_s.as_ref().map(times),
        "headroom": one.headroom,
        "fix": one.fix.map(|fix| json!({ "name": fix.name(), "text": fix.words() })),
        "launches": one.launches,
        "launches_to_replace": one.launches_to_replace,
        "bytes": spec.map(|spec| json!({
            "input": spec.workload.input.0.round() as u64,
            "output": spec.workload.output.0.round() as u64,
            "kept_between_calls": (spec.workload.kept_input.0 + spec.workload.kept_output.0).round() as u64,
            "kept": spec.workload.kept_bytes.round() as u64,
            "line_buffers": spec.workload.line_buffer_bytes.round() as u64,
            "compulsory": spec.compulsory_bytes.round() as u64,
            "xla": spec.xla_bytes.round() as u64,
        })),
        "operations": operations.collect::<Vec<_>>(),
        "boards": one.boards.iter().map(board).collect::<Vec<_>>(),
        "swings": one.sensitivities.iter().map(sensitivity).collect::<Vec<_>>(),
    })
}

fn board(board: &BoardAnswer) -> Value {
    let Interval { p10, p50, p90 } = board.total_s;
    json!({
        "id": board.id,
        "name": board.name,
        "p10_ns": nanos(p10),
        "p50_ns": nanos(p50),
        "p90_ns": nanos(p90),
        "speedup": factors(&board.speedup),
        "program_speedup": board.program_speedup,
        "resident": board.resident_s.as_ref().map(times),
        "opened": board.opened_s.as_ref().map(times),
        "break_even_calls": board.break_even_calls,
        "bound": board.bound.map(|bound| bound.name()),
        "parts": board.parts.as_ref().map(parts),
        "least": board.least.map(|(secs, by)| json!({ "ns": nanos(secs), "bound": by.name() })),
        "energy": board.energy.as_ref().map(|energy| json!({ "ratio": factors(&energy.ratio), "basis": energy.basis })),
        "cut": board.cut.as_ref().map(cut),
        "basis": board.basis().map(DesignBasis::name),
        "generated": board.generated.as_ref().map(generated),
        "core_unused_because": board.core_unused,
        "unverified": board.unverified,
        "scaled_by": board.scaled_by.iter().map(|(by, share)| json!({ "by": by.name(), "share": share })).collect::<Vec<_>>(),
    })
}

fn cut(cut: &Cut) -> Value {
    json!({
        "operations": cut.ops,
        "of": cut.of,
        "saves_ns": nanos(cut.saves_s),
        "whole_loop": cut.is_whole_loop,
        "each_iteration": cut.opened.map(|opened| json!({
            "iterations": opened.trips,
            "sent_bytes": opened.sent_bytes.round() as u64,
            "kept_bytes": opened.kept_bytes.round() as u64,
        })),
    })
}

fn parts(parts: &Parts) -> Value {
    json!({
        "input_ns": nanos(parts.input_s),
        "launch_ns": nanos(parts.launch_s),
        "fill_ns": nanos(parts.fill_s),
        "compute_ns": nanos(parts.compute_s),
        "memory_ns": nanos(parts.memory_s),
        "onchip_ns": nanos(parts.onchip_s),
        "output_ns": nanos(parts.output_s),
    })
}

fn sensitivity(sensitivity: &Sensitivity) -> Value {
    json!({ "what": sensitivity.what, "from_ns": nanos(sensitivity.from_s), "to_ns": nanos(sensitivity.to_s) })
}

fn times(interval: &Interval) -> Value {
    json!({ "p10_ns": nanos(interval.p10), "p50_ns": nanos(interval.p50), "p90_ns": nanos(interval.p90) })
}

fn factors(interval: &Interval) -> Value {
    json!({ "p10": interval.p10, "p50": interval.p50, "p90": interval.p90 })
}

fn nanos(seconds: f64) -> i64 {
    (seconds * 1e9).round().clamp(0.0, 9e18) as i64
}
