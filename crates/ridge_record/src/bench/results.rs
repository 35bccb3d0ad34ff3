//! Collect rows as they come, and write them as `results.json` and `manifest.json`.
//!
//! Both are written again after every row, so that a machine that goes down keeps what was measured.

use std::path::{Path, PathBuf};
use std::time::Instant;

use ridge_documents::{BenchResults, Environment, Manifest, Measurement, Missing, Program, RowStatus, to_text};
use serde_json::{Map, Value, json};

use super::error::BenchError;
use super::event::Plan;
use super::folder::write_whole;
use super::mbirjax;
use super::options::{BenchOptions, Layout};
use super::outcome::{BenchCell, BenchOutcome, BenchRow, BenchStatus};
use super::shares::{self, Figures};
use super::size::size_dir;
use crate::redact::Redaction;

/// What is measured so far.
pub(super) struct Results {
    out: PathBuf,
    plan: Plan,
    sizes: Vec<u32>,
    started: Instant,
    asked: Value,
    added_environment: Map<String, Value>,
    environment: Option<Environment>,
    measurements: Vec<Measurement>,
    rows: Vec<(u32, String, Value)>,
    costs: Map<String, Value>,
    modules: Vec<Value>,
    redaction: Redaction,
    pub(super) interrupted: bool,
}

impl Results {
    /// Of a benchmark that is written in `place`.
    pub(super) fn new(
        options: &BenchOptions,
        place: &Path,
        plan: Plan,
        sizes: Vec<u32>,
        added: Vec<(String, String)>,
    ) -> Results {
        let redaction = Redaction::of_this_machine();
        Results {
            out: place.to_path_buf(),
            asked: redaction.apply(asked(options, &sizes)),
            plan,
            sizes,
            started: Instant::now(),
            added_environment: added.into_iter().map(|(key, value)| (key, Value::String(value))).collect(),
            environment: None,
            measurements: Vec::new(),
            rows: Vec::new(),
            costs: Map::new(),
            modules: Vec::new(),
            redaction,
            interrupted: false,
        }
    }

    pub(super) fn environment(&mut self, environment: Environment) {
        self.environment.get_or_insert(environment);
    }

    pub(super) fn measurement(&mut self, measurement: Measurement) {
        self.measurements.push(measurement);
    }

    /// Keep an operation's modules for the manifest, and XLA's costs for the results; later modules come without.
    pub(super) fn modules(&mut self, size: u32, operation: &str, modules: Vec<Value>, costs: Value) {
        for mut module in modules {
            if let Some(dir) = module["dir"].as_str() {
                module["dir"] = json!(format!("{}/{dir}", size_dir(size)));
            }
            module["operation"] = json!(operation);
            module["volume_size"] = json!(size);
            self.modules.push(module);
        }
        if costs.is_null() {
            return;
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
        let status = status_of(&typed(&row));
        self.rows.push((size, operation.to_owned(), row));
        self.write()?;
        Ok(status)
    }

    /// The operations of the plan that have no row at `size` yet.
    pub(super) fn missing(&self, size: u32) -> Vec<String> {
        let has_row = |name: &str| self.rows.iter().any(|(at, operation, _)| *at == size && operation == name);
        self.plan.operations.iter().filter(|name| !has_row(name)).cloned().collect()
    }

    /// Lay it out as was asked, and write it for the last time.
    pub(super) fn finish(&mut self, layout: Layout) -> Result<(), BenchError> {
        if layout == Layout::Mbirjax {
            self.lay_out_as_mbirjax()?;
        }
        self.write()
    }

    fn lay_out_as_mbirjax(&mut self) -> Result<(), BenchError> {
        let began = self.plan.began.clone();
        for size in &self.sizes {
            let failed = |source| BenchError::Write { path: self.out.clone(), source };
            mbirjax::move_size(&self.out, &began, *size).map_err(failed)?;
        }
        let moved = |path: &mut Value, size: u32| {
            if let Some(text) = path.as_str() {
                *path = json!(mbirjax::path_of(text, &began, size));
            }
        };
        for (size, _, row) in &mut self.rows {
            row.get_mut("traces")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
                .for_each(|path| moved(path, *size));
        }
        for module in &mut self.modules {
            if let Some(size) = module["volume_size"].as_u64().and_then(|size| u32::try_from(size).ok()) {
                moved(&mut module["dir"], size);
            }
        }
        let (begin, end) = mbirjax::FILE;
        let text = to_text(&mbirjax::document(&self.results(), &began));
        write_whole(&self.out.join(format!("{begin}{began}{end}")), &text)
    }

    pub(super) fn write(&self) -> Result<(), BenchError> {
        write_whole(&self.out.join("results.json"), &to_text(&self.results()))?;
        write_whole(&self.out.join("manifest.json"), &to_text(&self.manifest()))
    }

    /// What it came to, of a benchmark that will be found in `out`.
    pub(super) fn outcome(&self, out: &Path) -> BenchOutcome {
        let rows = self.plan.operations.iter().map(|name| self.table_row(name)).collect();
        BenchOutcome {
            suite: self.plan.suite.clone(),
            results: out.join("results.json"),
            out: out.to_path_buf(),
            sizes: self.sizes.clone(),
            rows,
            parts: shares::parts(&self.plan, &self.sizes, self),
            ratios: shares::ratios(&self.plan, &self.sizes, self),
            interrupted: self.interrupted,
        }
    }

    fn table_row(&self, operation: &str) -> BenchRow {
        let cell = |&size: &u32| {
            let row = self.rows.iter().find(|(at, name, _)| *at == size && name == operation);
            let not_run = || BenchStatus::NotRun { reason: "not run".into() };
            BenchCell { size, status: row.map_or_else(not_run, |(_, _, row)| status_of(&typed(row))) }
        };
        BenchRow { operation: operation.to_owned(), cells: self.sizes.iter().map(cell).collect() }
    }

    fn results(&self) -> BenchResults<Value> {
        BenchResults {
            suite: self.plan.suite.clone(),
            environment: self.environment.clone(),
            added_environment: self.added_environment.clone(),
            options: self.asked.clone(),
            interrupted: self.interrupted,
            wall_s: self.started.elapsed().as_secs_f64(),
            measurements: self.measurements.clone(),
            summary: self.rows.iter().map(|(_, _, row)| row.clone()).collect(),
            cost_analysis: self.costs.clone(),
            parts: shares::parts(&self.plan, &self.sizes, self),
            ratios: shares::ratios(&self.plan, &self.sizes, self),
            ..BenchResults::default()
        }
    }

    /// The manifest of a capture folder, so that whatever reads captures reads this one.
    fn manifest(&self) -> Value {
        let missing = self.missing_from_capture();
        let environment = self.environment.clone().unwrap_or_default();
        let manifest = Manifest {
            kind: "bench".to_owned(),
            command: vec!["ridgeline".to_owned(), "bench".to_owned(), self.plan.suite.clone()],
            program: Some(Program {
                exit_code: (!self.interrupted).then_some(0),
                signal: self.interrupted.then(|| "SIGINT".to_owned()),
                wall_s: Some(self.started.elapsed().as_secs_f64()),
            }),
            versions: Some(environment.versions.unwrap_or_default()),
            devices: Some(environment.devices.unwrap_or_default()),
            cpu: environment.cpu,
            options: self.asked.as_object().cloned().unwrap_or_default(),
            added_environment: self.added_environment.clone(),
            modules: self.modules.clone(),
            complete: Some(missing.is_empty()),
            missing,
            ..Manifest::default()
        };
        let mut manifest = json!(manifest);
        // The order of keys is that of earlier versions.
        for key in ["complete", "missing"] {
            let value = manifest.as_object_mut().and_then(|members| members.shift_remove(key));
            manifest[key] = value.unwrap_or_default();
        }
        manifest
    }

    fn missing_from_capture(&self) -> Vec<Missing> {
        let mut missing = Vec::new();
        for (size, operation, row) in &self.rows {
            let what = format!("{operation} at {size}");
            let row = typed(row);
            missing.extend(row.reason.map(|reason| Missing { what: what.clone(), why: Some(reason) }));
            let part = |note: Missing| Missing { what: format!("{what}: {}", note.what), why: note.why };
            missing.extend(row.notes.into_iter().map(part));
        }
        missing
    }
}

impl Figures for Results {
    fn median_s(&self, operation: &str, size: u32) -> Option<f64> {
        let row = self.rows.iter().find(|(at, name, _)| *at == size && name == operation);
        row.and_then(|(_, _, row)| row["median_s"].as_f64())
    }

    fn bytes(&self, operation: &str, size: u32) -> Option<f64> {
        self.costs.get(operation)?[size.to_string()]["bytes_accessed_once"].as_f64().filter(|bytes| *bytes > 0.0)
    }
}

/// A row for an operation of which no worker told the end.
pub(super) fn row_without_worker(
    size: u32,
    operation: &str,
    status: RowStatus,
    phase: Option<&str>,
    reason: &str,
) -> Value {
    json!(ridge_documents::BenchRow {
        operation: operation.to_owned(),
        volume_size: size.into(),
        status,
        reason: Some(reason.to_owned()),
        phase: phase.map(str::to_owned),
        ..ridge_documents::BenchRow::default()
    })
}

/// A row as far as it can be understood; of a worker of another version that may be nothing, which counts as failed.
fn typed(row: &Value) -> ridge_documents::BenchRow {
    ridge_documents::part(row).map(|parsed| parsed.document).unwrap_or_default()
}

fn asked(options: &BenchOptions, sizes: &[u32]) -> Value {
    json!({
        "suite": options.suite,
        "sizes": sizes,
        "operations": options.operations,
        "runs": options.runs,
        "warm_up": options.warm_up,
        "xla_dump": options.xla_dump,
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

fn status_of(row: &ridge_documents::BenchRow) -> BenchStatus {
    let reason = || row.reason.clone().unwrap_or_else(|| "no reason given".to_owned());
    match (row.status, row.median_s, row.min_s, row.spread_s) {
        (RowStatus::Ok, Some(median_s), Some(min_s), Some(spread_s)) => BenchStatus::Ok {
            runs: row.runs,
            median_s,
            min_s,
            spread_s,
            compile_s: row.compile_s,
            peak_rss_bytes: row.peak_rss_bytes,
            recompiles: row.recompiles(),
        },
        (RowStatus::NotRun, ..) => BenchStatus::NotRun { reason: reason() },
        _ => BenchStatus::Failed { reason: reason() },
    }
}
