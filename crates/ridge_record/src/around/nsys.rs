//! A recording by Nsight Systems: its command line, and its report as the database that Ridgeline reads.
//!
//! Options are those of `nsys profile` and `nsys export` since 2022.1, when `--cuda-graph-trace` came (Nsight Systems User Guide,
//! "CLI Profile Command Switch Options", "CLI Export Command Switch Options").

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{output_argument, telling};
use crate::folder::CaptureFolder;
use crate::options::RecordOptions;
use crate::profiler::Profiler;

use crate::outcome::{ProgramStatus, RecordEvent, Run};

/// What is traced, and what is left out because it costs much and is read by nobody: samples of the host, its context switches.
///
/// Graphs are traced by node, because by graph there is one event for all their kernels.
const OPTIONS: [&str; 6] = [
    "--trace=cuda,nvtx,osrt",
    "--cuda-graph-trace=node",
    "--cuda-memory-usage=true",
    "--sample=none",
    "--cpuctxsw=none",
    "--force-overwrite=true",
];

/// The report's name in the folder of traces, without its ending.
const REPORT: &str = "nsys";

/// A range that the harness begins and ends; by default the profiler would end the program with it.
const RANGE: [&str; 2] = ["--capture-range=cudaProfilerApi", "--capture-range-end=stop"];

/// Hardware counters of all GPUs, sampled.
const METRICS: &str = "--gpu-metrics-devices=all";

/// What `options` add to what is always asked of it.
pub(crate) fn extra(options: &RecordOptions) -> Vec<OsString> {
    let range = RANGE.into_iter().filter(|_| options.has_range());
    range.chain(options.gpu_metrics.then_some(METRICS)).map(OsString::from).collect()
}

/// The words that run `command` under the profiler.
pub(crate) fn around(tool: &Path, folder: &CaptureFolder, command: &[OsString], extra: Vec<OsString>) -> Vec<OsString> {
    let mut words = vec![tool.as_os_str().to_owned(), "profile".into()];
    words.extend(OPTIONS.map(OsString::from));
    words.extend(extra);
    words.push(output_argument("--output=", &folder.path.join("trace").join(REPORT)));
    words.extend(telling(&folder.told(), command));
    words
}

/// What became of the report, as a piece of the manifest: the capture, or why there is none.
pub(crate) fn gather(tool: &Path, folder: &CaptureFolder, run: Run, tell: &mut dyn FnMut(RecordEvent)) -> Value {
    let trace = folder.path.join("trace");
    let report = trace.join(format!("{REPORT}.nsys-rep"));
    let missing = |why: String| json!({ "missing": [{ "what": "trace", "why": why }] });
    if !report.is_file() {
        // Empty, or it would have been of use.
        let _ = fs::remove_dir(&trace);
        return missing(why_no_report(folder, &trace, run.status));
    }
    tell(RecordEvent::Exporting { profiler: Profiler::Nsys });
    let database = trace.join(format!("{REPORT}.sqlite"));
    match export(tool, &report, &database) {
        Ok(()) => json!({ "traces": [{
            "path": format!("trace/{REPORT}.sqlite"),
            "bytes": fs::metadata(&database).map_or(0, |found| found.len()),
            "window": 1,
            "part": 1,
            "profiler": Profiler::Nsys.product(),
            "report": format!("trace/{REPORT}.nsys-rep"),
            "ended_because": "the program ended",
        }] }),
        Err(why) => {
            // Half a database is none.
            let _ = fs::remove_file(&database);
            missing(format!(
                "trace/{REPORT}.nsys-rep could not be exported: {why}; `nsys export --type=sqlite` of a newer version may read it"
            ))
        }
    }
}

fn why_no_report(folder: &CaptureFolder, trace: &Path, status: ProgramStatus) -> String {
    if trace.join(format!("{REPORT}.qdstrm")).is_file() {
        return format!(
            "nsys left trace/{REPORT}.qdstrm and made no report of it; the QdstrmImporter of its host package does"
        );
    }
    match (super::told(&folder.told()), status) {
        (Some(_), _) => "nsys wrote no report; see its output above".to_owned(),
        (None, ProgramStatus::Exited(code)) => {
            format!("nsys ended with status {code} before it ran the program; see its output above")
        }
        (None, ProgramStatus::Signaled(signal)) => format!("signal {signal} ended nsys before it wrote a report"),
    }
}

fn export(tool: &Path, report: &Path, database: &Path) -> Result<(), String> {
    let mut command = Command::new(tool);
    command.args(["export", "--type=sqlite", "--force-overwrite=true"]);
    command.arg(output_argument("--output=", database)).arg(report).stdin(Stdio::null());
    let output = command.output().map_err(|error: io::Error| error.to_string())?;
    if output.status.success() && database.is_file() {
        return Ok(());
    }
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it printed nothing").to_owned();
    Err(match output.status.code() {
        Some(0) => "it wrote no file".to_owned(),
        Some(code) => format!("status {code}, {last}"),
        None => "a signal ended it".to_owned(),
    })
}
