//! `manifest.json` of a capture folder: what was recorded, how, with what, and what is missing.

use crate::read::Document;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a capture folder holds, and how it was made. Times are in seconds, sizes in bytes.
///
/// The recorder passes on modules, devices and the processor as the harness wrote them ([`Written`]); readers take them as
/// [`Module`], [`Device`] and [`Cpu`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, bound(deserialize = "M: Deserialize<'de>, D: Deserialize<'de>, C: Deserialize<'de>"))]
pub struct Manifest<M = Module, D = Device, C = Cpu> {
    /// [`Document::SCHEMA`].
    pub schema: String,
    /// Which command wrote it: `record` or `bench`.
    pub kind: String,
    /// Version of the recorder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorder_version: Option<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How the program ended.
    pub program: Option<Program>,
    /// Whether the recording came to its end; `None` where that is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<bool>,
    /// Whether nothing is missing; `None` where that is not said.
    pub complete: Option<bool>,
    /// What could not be recorded.
    pub missing: Vec<Missing>,
    /// Versions of Python and the packages that matter; `None` where no harness ran.
    pub versions: Option<Map<String, Value>>,
    /// Devices that the program saw; `None` where no harness ran.
    pub devices: Option<Vec<D>>,
    /// The processor.
    pub cpu: Option<C>,
    /// The system's name; the inner `None` where the recorder could not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<Option<String>>,
    /// What was asked of the recorder.
    pub options: Map<String, Value>,
    /// Environment variables that the recorder added.
    pub added_environment: Map<String, Value>,
    /// Times of the recorder's parts.
    pub timings: Map<String, Value>,
    /// What recording cost.
    pub overhead: Map<String, Value>,
    /// The captures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traces: Option<Vec<Value>>,
    /// Memory profiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Vec<Value>>,
    /// The compiled modules, in the order in which they were compiled.
    pub modules: Vec<M>,
    /// What went wrong without harm to the capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<Value>>,
    /// Each Python process: what it did and how far it came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<Vec<Value>>,
}

/// A manifest as the recorder writes it, with what the harness wrote passed on.
pub type Written = Manifest<Value, Value, Value>;

impl<M, D, C> Default for Manifest<M, D, C> {
    fn default() -> Manifest<M, D, C> {
        Manifest {
            schema: <Manifest as Document>::SCHEMA.to_owned(),
            kind: String::new(),
            recorder_version: None,
            command: Vec::new(),
            program: None,
            finished: None,
            complete: None,
            missing: Vec::new(),
            versions: None,
            devices: None,
            cpu: None,
            os: None,
            options: Map::new(),
            added_environment: Map::new(),
            timings: Map::new(),
            overhead: Map::new(),
            traces: None,
            memory: None,
            modules: Vec::new(),
            notes: None,
            processes: None,
        }
    }
}

impl Document for Manifest {
    const SCHEMA: &'static str = "ridgeline.manifest.v1";
    const MAX_BYTES: u64 = 64 << 20;
}

/// How a program ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    /// Its exit status; `None` where a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// Its wall time, seconds.
    pub wall_s: Option<f64>,
}

/// Something that could not be recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// What is missing.
    pub what: String,
    /// Why, in words.
    pub why: Option<String>,
}

/// A device as JAX or PyTorch describes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Device {
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// Its name as the driver reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// `cpu`, `gpu`, `tpu`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// What else is known of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A processor and its memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cpu {
    /// As its maker names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Architecture (`x86_64`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// All logical cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_cores: Option<u64>,
    /// Those that the process could use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usable_cores: Option<u64>,
    /// Main memory, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// What else is known of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A compiled module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Module {
    /// Its name; empty where that is not said.
    #[serde(default)]
    pub name: String,
    /// Its folder in the capture folder.
    pub dir: Option<String>,
    /// Its number in XLA, where the folder's name does not end in it.
    pub program_id: Option<u64>,
    /// Time in the compiler, seconds, a hit in its cache included.
    pub compile_s: Option<f64>,
    /// Its buffers as XLA assigned them, bytes.
    pub memory: Option<BufferSizes>,
    /// The line of the program's own that had it compiled.
    pub at: Option<CompiledAt>,
    /// The types of its arguments as JAX compares them (`f32[8]`, `f32[] weak`); empty where that is not said.
    #[serde(default)]
    pub types: Vec<String>,
    /// Of a benchmark: the operation that it was compiled for.
    pub operation: Option<String>,
    /// Of a benchmark: the size at which it was.
    pub volume_size: Option<u64>,
}

/// A line of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct CompiledAt {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The function that it is in.
    pub function: String,
}

/// Buffers of a module, bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BufferSizes {
    /// All at once at most.
    pub peak_memory_in_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{read, to_text};

    /// As the recorder writes them: keys, order and values come back as they were.
    #[test]
    fn what_was_read_is_written_alike() {
        let text = r#"{
  "schema": "ridgeline.manifest.v1",
  "kind": "record",
  "recorder_version": "0.1.0",
  "command": ["python", "x.py"],
  "program": {"exit_code": null, "signal": "SIGKILL", "wall_s": 1.5},
  "complete": false,
  "missing": [{"what": "trace", "why": "cut"}],
  "versions": {"python": "3.11", "jax": "0.10.2"},
  "devices": [{"id": 0, "kind": "H", "platform": "gpu", "process_index": 0, "core_count": 132}],
  "cpu": {"model": "X", "architecture": "x86_64", "logical_cores": 2, "usable_cores": 2, "memory_bytes": 7},
  "os": "Linux",
  "options": {"window": {"kind": "whole"}},
  "added_environment": {"PYTHONPATH": "<harness>"},
  "timings": {"prepare_s": 0.01},
  "overhead": {"harness_s": 0},
  "traces": [{"path": "trace/a.xplane.pb"}],
  "memory": [],
  "modules": [{"name": "jit_f", "dir": "hlo/jit_f.1", "files": ["after.txt"], "bytes": 7, "flops": null}],
  "notes": [],
  "processes": [{"pid": 7}]
}"#;
        let expected: Value = serde_json::from_str(text).expect("JSON");
        let manifest: Manifest<Value> = serde_json::from_str(text).expect("a manifest");
        assert_eq!(to_text(&manifest), to_text(&expected));
        let read = read::<Manifest>(text.as_bytes()).expect("a manifest");
        assert_eq!((read.damaged.len(), read.document.modules[0].name.as_str()), (0, "jit_f"));
    }
}
