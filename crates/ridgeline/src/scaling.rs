//! Growth over the sizes of a benchmark: reads `results.json` and `manifest.json` of the folders that `ridgeline bench` writes,
//! and the captures in them for the work that was done.
//!
//! The mathematics is in `ridge_analysis::scaling`.

use crate::compilations::inside;
use crate::document::read_document;
use crate::error::OpenError;
use crate::manifest::Manifest;
use crate::note::{Note, Severity, damaged};
use crate::session::{OpenOptions, Session};
use rayon::prelude::*;
use ridge_analysis::scaling::{CaptureWork, GrowthChart, Series, SizePoint, growth_chart};
use ridge_analysis::{growth_table, next_table};
use ridge_documents::{BenchResults, BenchRow, Parsed};
use ridge_table::Table;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is said where there is no time.
const UNTIMED: &str = "operations failed or did not run at a size, and are left out there";

/// How to look at growth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalingOptions {
    /// Exponents of `N^dimensions`: 1 for the size, 3 for the elements of a volume whose edge is the size.
    pub dimensions: u32,
    /// The size to extrapolate to; `None` for as much beyond the largest as that is beyond the one before.
    pub next: Option<f64>,
    /// Where the work comes from.
    pub work: WorkFrom,
}

/// Where the work of an operation comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkFrom {
    /// The captures beside the results: the cost of each module, as often as it ran.
    Captures,
    /// Nowhere: times and memory alone.
    Nowhere,
}

/// Growth over sizes.
#[derive(Debug)]
pub struct Scaling {
    /// What a reader must know, gravest first.
    pub notes: Vec<Note>,
    /// How each operation grows.
    pub growth: Table,
    /// What dominates at the next size; `None` for fewer than two sizes.
    pub next: Option<Table>,
    /// The drawing of both.
    pub chart: GrowthChart,
}

/// Whether `path` is a folder that `ridgeline bench` wrote.
pub fn is_benchmark(path: &Path) -> bool {
    results(path).is_ok()
}

/// Growth over the sizes of the benchmarks in `folders`.
///
/// # Errors
/// [`OpenError`] where a folder holds no results of a benchmark.
pub fn scaling(folders: &[PathBuf], options: &ScalingOptions) -> Result<Scaling, OpenError> {
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for folder in folders {
        let results = results(folder)?;
        notes.extend(results.damaged.iter().map(|damage| damaged(damage, &folder.join("results.json"))));
        let buffers = module_peaks(Manifest::of(folder).0.as_ref());
        rows.extend(results.document.summary.into_iter().map(|row| row_of(folder, row, &buffers)));
    }
    if options.work == WorkFrom::Captures {
        add_work(&mut rows, &mut notes);
    }
    let untimed = rows.iter().filter(|row| row.point.time_s.is_none()).count() as u64;
    if untimed > 0 {
        notes.push(note(Severity::Partial, UNTIMED, untimed));
    }
    let series = series(&rows);
    let sizes: Vec<f64> = sizes(&series);
    let size = options.next.or_else(|| next_size(&sizes));
    let next = size.map(|size| next_table(&series, size));
    let chart = growth_chart(&series, size);
    notes.sort_by_key(|note| std::cmp::Reverse(note.severity));
    Ok(Scaling { notes, growth: growth_table(&series, options.dimensions), next, chart })
}

/// One operation at one size.
struct Row {
    operation: String,
    point: SizePoint,
    traces: Vec<PathBuf>,
}

fn results(folder: &Path) -> Result<Parsed<BenchResults>, OpenError> {
    let read = read_document(&folder.join("results.json"));
    read.map_err(|error| error.hint("`ridgeline bench` writes it; pass its output directory"))
}

fn row_of(folder: &Path, row: BenchRow, buffers: &BTreeMap<(String, u64), f64>) -> Row {
    let device = row.device_peak_bytes.values().filter_map(Value::as_f64).max_by(f64::total_cmp);
    let point = SizePoint {
        size: row.volume_size as f64,
        time_s: row.median_s.filter(|time| *time > 0.0),
        peak_bytes: device.or_else(|| buffers.get(&(row.operation.clone(), row.volume_size)).copied()),
        ..SizePoint::default()
    };
    let traces = row.traces.iter().filter_map(|path| inside(folder, path)).collect();
    Row { operation: row.operation, point, traces }
}

/// The largest module of each operation and size: its buffers at their peak, bytes, as XLA assigned them.
fn module_peaks(manifest: Option<&Manifest>) -> BTreeMap<(String, u64), f64> {
    let mut peaks = BTreeMap::new();
    for module in manifest.iter().flat_map(|manifest| &manifest.document.modules) {
        let peak = module.memory.and_then(|memory| memory.peak_memory_in_bytes);
        if let (Some(peak), Some(operation), Some(size)) = (peak, &module.operation, module.volume_size) {
            let known = peaks.entry((operation.clone(), size)).or_insert(peak as f64);
            *known = known.max(peak as f64);
        }
    }
    peaks
}

/// Adds the work of each row's captures, where it is known wholly.
fn add_work(rows: &mut [Row], notes: &mut Vec<Note>) {
    let found: Vec<Option<Result<CaptureWork, OpenError>>> = rows.par_iter().map(|row| work(&row.traces)).collect();
    let (mut unreadable, mut partial) = (0, 0);
    for (row, found) in rows.iter_mut().zip(found) {
        match found {
            Some(Ok(work)) if work.is_whole => {
                row.point.flops = Some(work.flops);
                row.point.compulsory_bytes = Some(work.compulsory_bytes);
            }
            Some(Ok(_)) => partial += 1,
            Some(Err(_)) => unreadable += 1,
            None => {}
        }
    }
    if unreadable > 0 {
        notes.push(note(Severity::Partial, "captures could not be read, so the work in them is unknown", unreadable));
    }
    if partial > 0 {
        let message =
            "captures have work that cannot be counted whole, such as loops of unknown length, and are left without";
        notes.push(note(Severity::Info, message, partial));
    }
}

/// The work of one run; `None` without a capture or without a module in it.
fn work(traces: &[PathBuf]) -> Option<Result<CaptureWork, OpenError>> {
    if traces.is_empty() {
        return None;
    }
    match Session::open(traces, &OpenOptions::default()) {
        Ok(session) => session.work().map(Ok),
        Err(error) => Some(Err(error)),
    }
}

/// The rows as one series per operation, in the order of their first row; of one size measured twice, the faster.
fn series(rows: &[Row]) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for row in rows {
        let at = all.iter().position(|series| series.operation == row.operation).unwrap_or(all.len());
        if at == all.len() {
            all.push(Series { operation: row.operation.clone(), points: Vec::new() });
        }
        let points = &mut all[at].points;
        let time = |point: &SizePoint| point.time_s.unwrap_or(f64::INFINITY);
        match points.iter_mut().find(|point| point.size == row.point.size) {
            Some(known) if time(&row.point) < time(known) => *known = row.point,
            Some(_) => {}
            None => points.push(row.point),
        }
    }
    all.iter_mut().for_each(|series| series.points.sort_by(|a, b| a.size.total_cmp(&b.size)));
    all
}

/// All sizes at which something was timed, ascending.
fn sizes(series: &[Series]) -> Vec<f64> {
    let timed = series.iter().flat_map(|series| &series.points).filter(|point| point.time_s.is_some());
    let mut sizes: Vec<f64> = timed.map(|point| point.size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    sizes
}

/// As much beyond the largest as that is beyond the one before.
fn next_size(sizes: &[f64]) -> Option<f64> {
    let [.., before, last] = sizes else { return None };
    Some((last * last / before).round())
}

fn note(severity: Severity, message: &str, count: u64) -> Note {
    Note { severity, message: message.to_owned(), file: None, offset: None, count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn folder(sizes: &[u64]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let row = |size: &u64| {
            json!({"operation": "project", "volume_size": size, "status": "ok", "median_s": (*size as f64).powi(3) * 1e-6,
                   "traces": ["../../secret.xplane.pb", "/etc/passwd"]})
        };
        let mut summary: Vec<Value> = sizes.iter().map(row).collect();
        summary.push(json!({"operation": "fails", "volume_size": 8, "status": "failed", "median_s": null}));
        summary.push(json!("no row"));
        let module = |size: &u64| json!({"operation": "project", "volume_size": size, "memory": {"peak_memory_in_bytes": size * size}});
        let manifest =
            json!({"schema": "ridgeline.manifest.v1", "modules": sizes.iter().map(module).collect::<Vec<_>>()});
        let write = |name: &str, value: &Value| std::fs::write(folder.path().join(name), value.to_string());
        write("results.json", &json!({"schema": "ridgeline.bench.v1", "summary": summary})).expect("written");
        write("manifest.json", &manifest).expect("written");
        folder
    }

    const OPTIONS: ScalingOptions = ScalingOptions { dimensions: 1, next: None, work: WorkFrom::Captures };

    fn number(table: &Table, column: &str) -> f64 {
        let column = table.batch.column_by_name(column).expect("the table has it");
        column.as_any().downcast_ref::<arrow_array::Float64Array>().expect("real numbers").value(0)
    }

    #[test]
    fn folders_join_to_one_growth() {
        let (small, large) = (folder(&[8, 16]), folder(&[16, 32]));
        let folders = [small.path().to_owned(), large.path().to_owned()];
        let found = scaling(&folders, &OPTIONS).expect("two benchmarks");
        assert!((number(&found.growth, "exponent") - 3.0).abs() < 1e-9);
        assert!((number(&found.growth, "memory_exponent") - 2.0).abs() < 1e-9);
        assert_eq!(found.next.expect("three sizes").title, "At size 64, extrapolated");
        let told = |note: &Note| (note.message.split(':').next().unwrap_or_default().to_owned(), note.count);
        let expected = [("damaged and left out", 1), ("damaged and left out", 1), (UNTIMED, 2)];
        assert_eq!(
            found.notes.iter().map(told).collect::<Vec<_>>(),
            expected.map(|(text, count)| (text.to_owned(), count))
        );
    }

    #[test]
    fn what_is_no_benchmark_is_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        assert!(!is_benchmark(folder.path()));
        for text in ["x", "{}", r#"{"schema":"ridgeline.bench.v9"}"#] {
            std::fs::write(folder.path().join("results.json"), text).expect("written");
            assert!(scaling(&[folder.path().to_owned()], &OPTIONS).is_err(), "{text}");
        }
    }
}
