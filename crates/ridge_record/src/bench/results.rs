//! Collect rows as they come, and write them as `results.json` and `manifest.json`.
//!
//! Both are written again after every row, so that a machine that goes down keeps what was measured.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::error::BenchError;
use super::event::Plan;
use super::folder::{size_dir, write_whole};
use super::options::BenchOptions;
use super::outcome::{BenchCell, BenchOutcome, BenchRow, BenchStatus};
use crate::redact::Redaction;

/// Version of `results.json`.
const RESULTS_SCHEMA: &str = "ridgeline.bench.v1";
/// Version of `manifest.json`, which is that of any capture folder.
const MANIFEST_SCHEMA: &str = "ridgeline.manifest.v1";

/// What is measured so far.
pub(super) struct Results {
    out: PathBuf,
    plan: Plan,
    sizes: Vec<u32>,
    started: Instant,
    asked: Value,
    added_environment: Map<String, Value>,
    environment: Value,
    measurements: Vec<Value>,
    rows: Vec<(u32, String, Value)>,
    costs: Map<String, Value>,
    modules: Vec<Value>,
    redaction: Redaction,
    pub(super) interrupted: bool,
}

impl Results {
    pub(super) fn new(options: &BenchOptions, plan: Plan, sizes: Vec<u32>, added: Vec<(String, String)>) -> Results {
        let redaction = Redaction::of_this_machine();
        Results {
            out: options.out.clone(),
            asked: redaction.apply(asked(options, &sizes)),
            plan,
            sizes,
            started: Instant::now(),
            added_environment: added.into_iter().map(|(key, value)| (key, Value::String(value))).collect(),
            environment: Value::Null,
            measurements: Vec::new(),
            rows: Vec::new(),
            costs: Map::new(),
            modules: Vec::new(),
            redaction,
            interrupted: false,
        }
    }

    pub(super) fn environment(&mut self, environment: Value) {
        if self.environment.is_null() {
            self.environment = environment;
        }
    }

    pub(super) fn measurement(&mut self, measurement: Value) {
        self.measurements.push(measurement);
    }

    /// Keep an operation's modules for the manifest, and XLA's costs for the results.
    pub(super) fn modules(&mut self, size: u32, operation: &str, modules: Vec<Value>, costs: Value) {
        for mut module in modules {
            if let Some(dir) = module["dir"].as_str() {
                module["dir"] = json!(format!("{}/{dir}", size_dir(size)));
            }
            module["operation"] = json!(operation);
            module["volume_size"] = json!(size);
            self.modules.push(module);
        }
        let by_size = self.costs.entry(operation).or_insert_with(|| json!({}));
        by_size[size.to_string()] = cost_analysis(costs);
    }

    /// Add a finished row and write everything.
    pub(super) fn row(&mut self, size: u32, operation: &str, mut row: Value) -> Result<BenchStatus, BenchError> {
        if let Some(traces) = row.get_mut("traces").and_then(Value::as_array_mut) {
            for trace in traces {
                *trace = json!(format!("{}/{}", size_dir(size), trace.as_str().unwrap_or_default()));
            }
        }
        // Only what is free text: a path into the folder must stay what it is, even if a user is called like an operation.
        for key in ["reason", "notes"] {
            row[key] = self.redaction.apply(row[key].take());
        }
        let status = status_of(&row);
        self.rows.push((size, operation.to_owned(), row));
        self.write()?;
        Ok(status)
    }

    /// The operations of the plan that have no row at `size` yet.
    pub(super) fn missing(&self, size: u32) -> Vec<String> {
        let has_row = |name: &str| self.rows.iter().any(|(at, operation, _)| *at == size && operation == name);
        self.plan.operations.iter().filter(|name| !has_row(name)).cloned().collect()
    }

    pub(super) fn write(&self) -> Result<(), BenchError> {
        write_whole(&self.out.join("results.json"), &pretty(&self.results()))?;
        write_whole(&self.out.join("manifest.json"), &pretty(&self.manifest()))
    }

    pub(super) fn outcome(self) -> BenchOutcome {
        let rows = self.plan.operations.iter().map(|name| self.table_row(name)).collect();
        BenchOutcome {
            suite: self.plan.suite,
            results: self.out.join("results.json"),
            out: self.out,
            sizes: self.sizes,
            rows,
            interrupted: self.interrupted,
        }
    }

    fn table_row(&self, operation: &str) -> BenchRow {
        let cell = |&size: &u32| {
            let row = self.rows.iter().find(|(at, name, _)| *at == size && name == operation);
            let not_run = || BenchStatus::NotRun { reason: "not run".into() };
            BenchCell { size, status: row.map_or_else(not_run, |(_, _, row)| status_of(row)) }
        };
        BenchRow { operation: operation.to_owned(), cells: self.sizes.iter().map(cell).collect() }
    }

    fn results(&self) -> Value {
        json!({
            "schema": RESULTS_SCHEMA,
            "suite": self.plan.suite,
            "environment": self.environment,
            "added_environment": self.added_environment,
            "options": self.asked,
            "interrupted": self.interrupted,
            "wall_s": self.started.elapsed().as_secs_f64(),
            "measurements": self.measurements,
            "summary": self.rows.iter().map(|(_, _, row)| row).collect::<Vec<_>>(),
            "cost_analysis": self.costs,
        })
    }

    /// The manifest of a capture folder, so that whatever reads captures reads this one.
    fn manifest(&self) -> Value {
        let missing = self.missing_from_capture();
        json!({
            "schema": MANIFEST_SCHEMA,
            "kind": "bench",
            "command": ["ridgeline", "bench", self.plan.suite],
            "program": {
                "exit_code": if self.interrupted { Value::Null } else { json!(0) },
                "signal": if self.interrupted { json!("SIGINT") } else { Value::Null },
                "wall_s": self.started.elapsed().as_secs_f64(),
            },
            "versions": self.environment.get("versions").cloned().unwrap_or_else(|| json!({})),
            "devices": self.environment.get("devices").cloned().unwrap_or_else(|| json!([])),
            "cpu": self.environment.get("cpu").cloned().unwrap_or(Value::Null),
            "options": self.asked,
            "added_environment": self.added_environment,
            "timings": {},
            "overhead": {},
            "modules": self.modules,
            "complete": missing.is_empty(),
            "missing": missing,
        })
    }

    fn missing_from_capture(&self) -> Vec<Value> {
        let mut missing = Vec::new();
        for (size, operation, row) in &self.rows {
            let what = format!("{operation} at {size}");
            if let Some(reason) = row["reason"].as_str() {
                missing.push(json!({"what": what, "why": reason}));
            }
            for note in row["notes"].as_array().into_iter().flatten() {
                let part = note["what"].as_str().unwrap_or_default();
                missing.push(json!({"what": format!("{what}: {part}"), "why": note["why"]}));
            }
        }
        missing
    }
}

/// A row for an operation of which no worker told the end; `status` is `failed` or `not_run`.
pub(super) fn row_without_worker(size: u32, operation: &str, status: &str, phase: Option<&str>, reason: &str) -> Value {
    json!({
        "operation": operation,
        "volume_size": size,
        "status": status,
        "reason": reason,
        "phase": phase,
        "runs": 0,
        "notes": [],
    })
}

fn asked(options: &BenchOptions, sizes: &[u32]) -> Value {
    json!({
        "suite": options.suite,
        "sizes": sizes,
        "operations": options.operations,
        "runs": options.runs,
        "budget_s": options.budget.map(|budget| budget.as_secs_f64()),
        "variant": options.variant,
        "hlo": options.hlo.iter().map(|format| format.name()).collect::<Vec<_>>(),
    })
}

/// XLA's costs of an operation: per module, and the sums over its modules, each counted once however often it runs.
fn cost_analysis(costs: Value) -> Value {
    let modules = costs.as_array().map(Vec::as_slice).unwrap_or_default();
    let sum = |key: &str| modules.iter().filter_map(|module| module["cost"][key].as_f64()).sum::<f64>();
    json!({"flops_once": sum("flops"), "bytes_accessed_once": sum("bytes accessed"), "modules": costs})
}

fn status_of(row: &Value) -> BenchStatus {
    let reason = || row["reason"].as_str().unwrap_or("no reason given").to_owned();
    let seconds = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    match row["status"].as_str() {
        Some("ok") => BenchStatus::Ok {
            runs: row["runs"].as_u64().and_then(|runs| u32::try_from(runs).ok()).unwrap_or(0),
            median_s: seconds("median_s"),
            min_s: seconds("min_s"),
            spread_s: seconds("spread_s"),
            compile_s: row["compile_s"].as_f64(),
            peak_rss_bytes: row["peak_rss_bytes"].as_u64(),
        },
        Some("not_run") => BenchStatus::NotRun { reason: reason() },
        _ => BenchStatus::Failed { reason: reason() },
    }
}

fn pretty(value: &Value) -> String {
    // Writing a `Value` to a string fails for no value.
    let mut text = serde_json::to_string_pretty(value).expect("a JSON value has text keys and finite numbers");
    text.push('\n');
    text
}
