//! Small programs against answers worked out by hand, and against XLA's own analysis.
//!
//! `fixtures/cost/programs.py` makes the programs and holds the arithmetic; see its README.

#![allow(clippy::disallowed_methods, reason = "tests read fixtures and take the time")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ridge_hlo::cost::{Cost, ModuleCosts, OpKind, Unit};
use ridge_hlo::{HloModule, InstructionId};
use serde_json::Value;

/// XLA adds up in single precision.
const XLA_TOLERANCE: f64 = 1e-6;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cost")
}

fn programs() -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("expected.json")).expect("a fixture");
    serde_json::from_str(&text).expect("JSON")
}

fn name(program: &Value) -> &str {
    program["name"].as_str().expect("a name")
}

fn module(program: &Value) -> HloModule {
    let text = std::fs::read_to_string(folder().join(format!("{}.txt", name(program)))).expect("a fixture");
    let module = HloModule::from_text(&text).expect("text of a module");
    assert_eq!(module.notes, [], "{}", name(program));
    module
}

/// The one instruction the hand answer is about; the first of its opcode or target.
fn subject(module: &HloModule, of: &str) -> InstructionId {
    let is_it = |id: &InstructionId| {
        let instruction = module.instruction(*id);
        *instruction.opcode == *of || instruction.custom_call_target.as_deref() == Some(of)
    };
    module.instruction_ids().find(is_it).unwrap_or_else(|| panic!("no {of} in {}", module.name))
}

/// Counts by kind, type and, where it is not plain, unit: `multiply_add f32 matrix`.
fn by_name(cost: &Cost) -> BTreeMap<String, f64> {
    let name = |kind: &str, item: &ridge_hlo::cost::WorkItem| {
        format!("{kind} {}{}", item.element_type, if item.unit == Unit::Matrix { " matrix" } else { "" })
    };
    cost.work.by().iter().map(|item| (name(item.kind.name(), item), item.count)).collect()
}

fn is_close(ours: f64, theirs: f64, tolerance: f64) -> bool {
    (ours - theirs).abs() <= tolerance * ours.abs().max(theirs.abs())
}

#[test]
fn costs_are_the_ones_worked_out_by_hand() {
    let mut wrong = Vec::new();
    let programs = programs();
    for program in &programs {
        let module = module(program);
        let costs = ModuleCosts::new(&module);
        let cost = match program["of"].as_str() {
            Some(of) => costs.of(subject(&module, of)),
            None => costs.total(),
        };
        let by_hand: BTreeMap<String, f64> = program["work"]
            .as_object()
            .expect("work")
            .iter()
            .map(|(kind, count)| (kind.clone(), count.as_f64().expect("a count")))
            .collect();
        let ours = by_name(cost);
        // Sums of thirds and sixths are not exact in binary.
        let is_same = ours.keys().eq(by_hand.keys())
            && ours.iter().zip(&by_hand).all(|((_, ours), (_, by_hand))| is_close(*ours, *by_hand, 1e-12));
        if !is_same {
            wrong.push(format!("{}: work {ours:?}, by hand {by_hand:?}", name(program)));
        }
        for (what, ours) in [
            ("read", cost.compulsory.read),
            ("written", cost.compulsory.written),
            ("collective", cost.collective_bytes),
        ] {
            let by_hand = program[what].as_f64().expect("bytes");
            if ours != by_hand {
                wrong.push(format!("{}: {what} {ours}, by hand {by_hand}", name(program)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(programs.len() >= 60, "{} programs", programs.len());
}

/// What XLA would report of the same work: functions apart, everything else one operation.
fn as_xla(cost: &Cost) -> [(&'static str, f64); 3] {
    let functions = cost.work.of(OpKind::Transcendental);
    let all: f64 = OpKind::ALL.iter().map(|kind| cost.work.of(*kind)).sum();
    [("flops", all - functions), ("transcendentals", functions), ("bytes", cost.bytes_accessed.total())]
}

#[test]
fn xla_says_the_same_or_the_difference_is_explained() {
    let mut wrong = Vec::new();
    for program in programs() {
        let module = module(&program);
        let costs = ModuleCosts::new(&module);
        for (what, ours) in as_xla(costs.total()) {
            let theirs = program["xla"][what].as_f64().expect("a number");
            let explained = program["differs"][what]["by"].as_f64();
            if !is_close(ours + explained.unwrap_or(0.0), theirs, XLA_TOLERANCE) {
                wrong.push(format!("{}: {what} {ours} + {explained:?}, XLA {theirs}", name(&program)));
            }
            if explained.is_some() && is_close(ours, theirs, XLA_TOLERANCE) {
                wrong.push(format!("{}: {what} is explained and does not differ", name(&program)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
