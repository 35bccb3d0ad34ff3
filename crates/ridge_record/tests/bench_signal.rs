//! SIGINT during a benchmark: the worker is asked to end, and what was measured is kept.
//!
//! It is alone in its file because a signal reaches every benchmark of a process.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod script;

use std::fs;

use ridge_record::bench::{BenchEvent, BenchOptions, BenchStatus, bench};

/// Waits for the end of its standard input during its second operation.
const WORKER: &str = r#"#!/bin/sh
printf '{"event":"plan","suite":"fake","sizes":[8],"operations":["a","b","c"],"variants":{}}\n'
case "$*" in *--list*) exit 0 ;; esac
printf '{"event":"start","operation":"a","volume_size":8}\n'
printf '{"event":"row","operation":"a","volume_size":8,"status":"ok","runs":1,"median_s":0.5,"min_s":0.5,"spread_s":0.0}\n'
printf '{"event":"start","operation":"b","volume_size":8}\n{"event":"phase","operation":"b","volume_size":8,"phase":"timed runs"}\n'
cat >/dev/null
printf '{"event":"interrupted"}\n'
exit 130
"#;

#[test]
fn an_interrupt_keeps_what_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let python = dir.path().join("python");
    script::write(&python, WORKER);
    let out = dir.path().join("out");
    let options = BenchOptions { python: Some(python), ..BenchOptions::new("mbirjax", &out) };
    let mut told = Vec::new();
    let outcome = bench(&options, &mut |event| match event {
        BenchEvent::Phase { .. } => signal_hook::low_level::raise(signal_hook::consts::SIGINT).unwrap(),
        BenchEvent::Interrupted => told.push("interrupted".to_owned()),
        BenchEvent::OperationDone { operation, status, .. } => told.push(format!("{operation}: {}", name(&status))),
        _ => {}
    })
    .unwrap();
    let expected = ["a: ok", "interrupted", "b: interrupted during timed runs", "c: not run: interrupted"];
    assert_eq!(told, expected);
    assert!(outcome.interrupted);
    let manifest = fs::read_to_string(out.join("manifest.json")).unwrap();
    assert!(manifest.contains(r#""signal": "SIGINT""#), "{manifest}");
}

fn name(status: &BenchStatus) -> String {
    match status {
        BenchStatus::Ok { .. } => "ok".into(),
        BenchStatus::Failed { reason } | BenchStatus::NotRun { reason } => reason.clone(),
    }
}
