//! `results.json` of a benchmark: every run, a row for each operation and size, costs.

use crate::manifest::{Cpu, Device, Missing};
use crate::read::Document;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a benchmark measured. Times are in seconds, sizes in bytes.
///
/// The recorder passes on rows as the worker wrote them (`BenchResults<Value>`); readers take them as [`BenchRow`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, bound(deserialize = "R: Deserialize<'de>"))]
pub struct BenchResults<R = BenchRow> {
    /// [`Document::SCHEMA`].
    pub schema: String,
    /// Name of the suite.
    pub suite: String,
    /// What it ran on; `None` where no worker came so far.
    pub environment: Option<Environment>,
    /// Environment variables that the runner or the variant set.
    pub added_environment: Map<String, Value>,
    /// What was asked.
    pub options: Value,
    /// Whether a signal ended it early.
    pub interrupted: bool,
    /// Wall time of the whole.
    pub wall_s: f64,
    /// Every run that ended.
    pub measurements: Vec<Measurement>,
    /// A row for each operation and size.
    pub summary: Vec<R>,
    /// By operation, then by size: XLA's own costs of the modules.
    pub cost_analysis: Map<String, Value>,
    /// Operations that are parts of others, at each size.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartShare>,
    /// Operations that do the work of others, at each size.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ratios: Vec<Ratio>,
}

/// How much of an operation one of its parts is, each timed by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartShare {
    /// Name of the part.
    pub operation: String,
    /// Name of the whole.
    pub part_of: String,
    /// The size they ran at.
    pub volume_size: u64,
    /// Its median time as part of the sum of all parts'.
    pub share: f64,
    /// Its bytes accessed as part of the sum of all parts', by XLA's cost analysis; `None` where one part has none.
    pub expected_share: Option<f64>,
    /// Its median time as part of the whole's; all parts together may take more than the whole. `None` where the whole has no time.
    pub of_whole: Option<f64>,
}

/// How much longer one operation takes than another that does the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// Name of the one.
    pub slower: String,
    /// Name of the other.
    pub faster: String,
    /// The size they ran at.
    pub volume_size: u64,
    /// Median time of the one over that of the other.
    pub ratio: f64,
}

impl<R> Default for BenchResults<R> {
    fn default() -> BenchResults<R> {
        BenchResults {
            schema: BenchResults::SCHEMA.to_owned(),
            suite: String::new(),
            environment: None,
            added_environment: Map::new(),
            options: Value::Null,
            interrupted: false,
            wall_s: 0.0,
            measurements: Vec::new(),
            summary: Vec::new(),
            cost_analysis: Map::new(),
            parts: Vec::new(),
            ratios: Vec::new(),
        }
    }
}

impl Document for BenchResults {
    const SCHEMA: &'static str = "ridgeline.bench.v1";
    const MAX_BYTES: u64 = 1 << 30;
}

/// What a benchmark ran on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// Versions of Python and the packages that matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<Map<String, Value>>,
    /// Devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<Device>>,
    /// The processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// What else is known.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Name of the operation.
    pub operation: String,
    /// The size it ran at.
    pub volume_size: u64,
    /// 0 for the traced run, then from 1.
    pub run: u32,
    /// Until the result was ready, seconds.
    pub time: f64,
    /// Whether the profiler ran.
    pub traced: bool,
}

/// How an operation ended at one size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// It was measured.
    Ok,
    /// It was not started, or interrupted.
    NotRun,
    /// It failed, or its process died; also a word that is not known here.
    #[default]
    #[serde(other)]
    Failed,
}

/// One operation at one size. Times are of the timed runs unless they say otherwise.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    /// Name of the operation.
    pub operation: String,
    /// The size it ran at.
    pub volume_size: u64,
    /// How it ended.
    #[serde(default)]
    pub status: RowStatus,
    /// Why it failed or did not run.
    pub reason: Option<String>,
    /// Where it failed.
    pub phase: Option<String>,
    /// Timed runs.
    #[serde(default)]
    pub runs: u32,
    /// The fastest, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_s: Option<f64>,
    /// The median, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_s: Option<f64>,
    /// Half the distance between the quartiles, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_s: Option<f64>,
    /// Time in the compiler in the first run, summed over modules, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compile_s: Option<f64>,
    /// Times of the runs before the timed ones that were asked for, seconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm_up_s: Vec<f64>,
    /// Captures of the traced run, paths in the folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<String>,
    /// Most memory of the process, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_rss_bytes: Option<u64>,
    /// Most memory in use by device, bytes.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub device_peak_bytes: Map<String, Value>,
    /// Modules that the traced and the timed runs compiled, after the first had compiled all it needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_modules: Option<u64>,
    /// Time in the compiler for them, summed over modules, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_compile_s: Option<f64>,
    /// Time of the runs that they were compiled in, the traced one and the timed ones, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_runs_s: Option<f64>,
    /// The same modules by name: how often each was compiled.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub late_names: Map<String, Value>,
    /// What could not be kept of it.
    #[serde(default)]
    pub notes: Vec<Missing>,
}
