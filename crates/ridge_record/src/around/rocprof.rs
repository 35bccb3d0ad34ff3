//! A recording by AMD's `rocprofv3`: its command line, and the files that it leaves.
//!
//! Options are those of ROCm 6.2 and later (ROCprofiler-SDK, "Using rocprofv3"). It puts its library into every process of the
//! program and writes a file for each: also for the shell that tells how the program ended, which is removed.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{telling, told};
use crate::folder::CaptureFolder;
use crate::options::RocprofOptions;
use crate::outcome::{ProgramStatus, Run};
use crate::profiler::Profiler;

/// What is traced: calls of HIP, kernels, copies, memory, RCCL and ranges of roctx. HSA's own calls cost much and say little more.
const TRACED: [&str; 6] = [
    "--hip-runtime-trace",
    "--kernel-trace",
    "--memory-copy-trace",
    "--memory-allocation-trace",
    "--marker-trace",
    "--rccl-trace",
];

/// How the names of its files begin and end; the process id is in between.
const NAME: &str = "rocprofv3_";
const ENDING: &str = "_results.json";

/// The words that run `command` under the profiler.
pub(crate) fn around(options: &RocprofOptions, folder: &CaptureFolder, command: &[OsString]) -> Vec<OsString> {
    let mut words = vec![options.tool.as_os_str().to_owned()];
    words.extend(TRACED.map(OsString::from));
    if !options.counters.is_empty() {
        words.push("--pmc".into());
        words.extend(options.counters.iter().map(OsString::from));
    }
    options.kernels.iter().for_each(|kernels| words.extend(["--kernel-include-regex".into(), kernels.into()]));
    words.extend(["--output-format", "json", "--output-file"].map(OsString::from));
    words.push(format!("{NAME}%pid%").into());
    words.extend(["--output-directory".into(), folder.path.join("trace").into_os_string(), "--".into()]);
    words.extend(telling(&folder.told(), command));
    words
}

/// What became of the files, as a piece of the manifest: the captures, or why there are none.
pub(crate) fn gather(folder: &CaptureFolder, run: Run) -> Value {
    let trace = folder.path.join("trace");
    let shell = super::teller(&folder.told());
    let mut captures = Vec::new();
    for name in written(&trace) {
        let path = trace.join(&name);
        let pid = name[NAME.len()..name.len() - ENDING.len()].parse::<u32>().ok();
        if pid.is_some() && pid == shell {
            let _ = fs::remove_file(&path);
            continue;
        }
        captures.push(json!({
            "path": format!("trace/{name}"),
            "bytes": fs::metadata(&path).map_or(0, |found| found.len()),
            "window": 1,
            "part": captures.len() + 1,
            "profiler": Profiler::Rocprof.product(),
            "ended_because": "the program ended",
        }));
    }
    if captures.is_empty() {
        // Empty, or it would have been of use.
        let _ = fs::remove_dir(&trace);
        return json!({ "missing": [{ "what": "trace", "why": why_none(folder, run.status) }] });
    }
    json!({ "traces": captures })
}

/// The names of its files, in order.
fn written(trace: &Path) -> Vec<String> {
    let entries = fs::read_dir(trace).into_iter().flatten().filter_map(Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names
        .filter(|name| name.len() > NAME.len() + ENDING.len() && name.starts_with(NAME) && name.ends_with(ENDING))
        .collect();
    names.sort();
    names
}

fn why_none(folder: &CaptureFolder, status: ProgramStatus) -> String {
    match (told(&folder.told()), status) {
        (Some(_), _) => "rocprofv3 wrote no file; see its output above".to_owned(),
        (None, ProgramStatus::Exited(code)) => {
            format!("rocprofv3 ended with status {code} before it ran the program; see its output above")
        }
        (None, ProgramStatus::Signaled(signal)) => format!("signal {signal} ended rocprofv3 before it wrote a file"),
    }
}
