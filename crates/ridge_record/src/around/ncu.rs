//! Hardware counters by Nsight Compute, of the kernels that matter, put beside a recording of the same program.
//!
//! A kernel that is counted is run again some forty times, so only the first launches of named kernels are: `--kernel-id` counts
//! launches for each name, where `--launch-count` counts them all and a kernel that runs often would take every one (Nsight
//! Compute CLI manual, "Command Line Options", "Profile").

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Profiler, output_argument, telling, told};
use crate::error::RecordError;
use crate::folder_content::WORK;
use crate::launch::run_words;
use crate::outcome::{Missing, ProgramStatus, RecordEvent};
use crate::redact::Redaction;

/// The report in the folder of traces, without its ending.
const REPORT: &str = "deep-dive";

/// Launches of each kernel that are counted: the first may be a warm-up.
const LAUNCHES: &str = "^(1|2)$";

/// Launches for each kernel at most: newer versions count those of each shape by themselves.
const MOST_LAUNCHES: usize = 16;

/// What to count.
#[derive(Clone, Debug)]
pub struct CounterOptions {
    /// The profiler's executable.
    pub tool: PathBuf,
    /// The capture folder of the recording.
    pub run: PathBuf,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Which kernels.
    pub kernels: Kernels,
}

/// Which kernels are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// The first launches of these, by their names without types, arguments and namespaces; at least one.
    Named(Vec<String>),
    /// Those that a regular expression finds in such a name.
    Matching {
        /// The expression.
        pattern: String,
        /// Launches that are left out first.
        skip: u32,
        /// Launches that are counted.
        count: u32,
    },
}

impl Kernels {
    /// What is asked for, in words.
    fn words(&self) -> Vec<String> {
        match self {
            Kernels::Named(names) => names.clone(),
            Kernels::Matching { pattern, .. } => vec![pattern.clone()],
        }
    }

    /// The options that ask for them.
    fn options(&self) -> Vec<String> {
        match self {
            Kernels::Named(names) => {
                let patterns: Vec<String> = names.iter().map(|name| pattern(name)).collect();
                let launches = (names.len() * MOST_LAUNCHES).to_string();
                [
                    "--kernel-id".to_owned(),
                    format!("::regex:^({})$:{LAUNCHES}", patterns.join("|")),
                    "--launch-count".to_owned(),
                    launches,
                ]
                .to_vec()
            }
            Kernels::Matching { pattern, skip, count } => [
                "--kernel-name".to_owned(),
                format!("regex:{pattern}"),
                "--launch-skip".to_owned(),
                skip.to_string(),
                "--launch-count".to_owned(),
                count.to_string(),
            ]
            .to_vec(),
        }
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct CounterOutcome {
    /// How the program ended.
    pub status: ProgramStatus,
    /// From its start to its end, under the profiler.
    pub wall: Duration,
    /// The report, and its bytes.
    pub report: Option<(PathBuf, u64)>,
    /// Why there is none.
    pub missing: Vec<Missing>,
}

/// Whether `run` holds a finished recording of `command`.
pub fn is_recording_of(run: &Path, command: &[OsString]) -> bool {
    let Some(manifest) = manifest_of(run) else { return false };
    let is_same = |redaction: Redaction| redaction.apply(json!(redaction.command(command))) == manifest["command"];
    manifest["finished"] == true && (is_same(Redaction::of_this_machine()) || is_same(Redaction::none()))
}

fn manifest_of(run: &Path) -> Option<Value> {
    serde_json::from_str(&fs::read_to_string(run.join("manifest.json")).ok()?).ok()
}

/// Runs the program once more, under the profiler, and puts its report into the recording.
///
/// # Errors
/// [`RecordError`] where the folder cannot be written or the profiler not be started. What it could not count is in the outcome.
pub fn count(options: &CounterOptions, tell: &mut dyn FnMut(RecordEvent)) -> Result<CounterOutcome, RecordError> {
    let failed = |path: &Path, source| RecordError::Folder { path: path.to_owned(), source };
    let run_folder = std::path::absolute(&options.run).map_err(|error| failed(&options.run, error))?;
    let work = run_folder.join(WORK);
    fs::create_dir_all(&work).map_err(|error| failed(&work, error))?;
    let lock = File::create(work.join("lock")).map_err(|error| failed(&work, error))?;
    if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(RecordError::FolderBusy { path: run_folder });
    }
    let outcome = count_in(options, &run_folder, &work, tell);
    // What stays behind is small and is cleared by the next recording here.
    let _ = fs::remove_dir_all(&work);
    outcome
}

fn count_in(
    options: &CounterOptions,
    run_folder: &Path,
    work: &Path,
    tell: &mut dyn FnMut(RecordEvent),
) -> Result<CounterOutcome, RecordError> {
    let (log, end) = (work.join("ncu.log"), work.join("told"));
    let made = work.join(format!("{REPORT}.ncu-rep"));
    let words = around(options, work, &log, &end);
    tell(RecordEvent::Counting { kernels: options.kernels.words() });
    let run = run_words(&words, tell)?;
    tell(RecordEvent::Ended { status: run.status, wall: run.wall });
    let status = told(&end).unwrap_or(run.status);
    let said = fs::read(&log).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let mut missing: Vec<Missing> = why_less(&said, &options.kernels.words()).into_iter().map(lost).collect();
    let mut report = None;
    if fs::metadata(&made).is_ok_and(|found| found.len() > 0) {
        match put_in(&made, run_folder) {
            Ok(found) => report = Some(found),
            Err(error) => missing.push(lost(format!("the report could not be put into the recording: {error}"))),
        }
    } else if missing.is_empty() {
        missing.push(lost(match told(&end) {
            Some(_) => "ncu wrote no report".to_owned(),
            None => format!("ncu ended before it ran the program; its output: {}", last_line(&said)),
        }));
    }
    Ok(CounterOutcome { status, wall: run.wall, report, missing })
}

fn around(options: &CounterOptions, work: &Path, log: &Path, end: &Path) -> Vec<OsString> {
    let mut words = vec![options.tool.as_os_str().to_owned()];
    words.extend(
        ["--target-processes", "all", "--graph-profiling", "node", "--nvtx", "--set", "full"].map(OsString::from),
    );
    words.extend(["--kernel-name-base", "function"].map(OsString::from));
    words.extend(options.kernels.options().into_iter().map(OsString::from));
    // What it says of itself goes to a file, and the program's output stays the program's.
    words.extend(["--log-file".into(), log.as_os_str().to_owned(), "--force-overwrite".into(), "--export".into()]);
    words.push(output_argument("", &work.join(REPORT)));
    words.extend(telling(end, &options.command));
    words
}

/// A name as a part of the expression: colons would end it, and other signs mean something in it.
fn pattern(name: &str) -> String {
    name.chars().map(|letter| if letter.is_alphanumeric() || letter == '_' { letter } else { '.' }).collect()
}

/// What the profiler says that it could not do.
fn why_less(said: &str, kernels: &[String]) -> Option<String> {
    if said.contains("ERR_NVGPUCTRPERM") {
        return Some(
            "the driver allows only administrators to read performance counters; run as root, or allow all users: https://developer.nvidia.com/ERR_NVGPUCTRPERM"
                .to_owned(),
        );
    }
    if said.contains("No kernels were profiled") {
        return Some(format!("the program launched none of {}", kernels.join(", ")));
    }
    let errors = said.lines().filter_map(|line| line.trim().strip_prefix("==ERROR==")).map(str::trim);
    // The program's own status is passed on, and is no failure of the profiler.
    let mut errors = errors.filter(|line| !line.starts_with("The application returned an error code"));
    errors.next().map(|line| format!("ncu: {line}"))
}

fn last_line(said: &str) -> String {
    said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("nothing").to_owned()
}

fn lost(why: String) -> Missing {
    Missing { what: "counters".to_owned(), why }
}

/// Moves the report into the recording, and names it in the manifest.
fn put_in(made: &Path, run_folder: &Path) -> Result<(PathBuf, u64), std::io::Error> {
    let trace = run_folder.join("trace");
    fs::create_dir_all(&trace)?;
    let report = trace.join(format!("{REPORT}.ncu-rep"));
    fs::rename(made, &report)?;
    // Of an earlier report, it would stand for this one.
    let _ = fs::remove_file(trace.join(format!("{REPORT}.ncu.csv")));
    let bytes = fs::metadata(&report)?.len();
    name_in_manifest(run_folder, &format!("trace/{REPORT}.ncu-rep"), bytes)?;
    Ok((report, bytes))
}

fn name_in_manifest(run_folder: &Path, path: &str, bytes: u64) -> Result<(), std::io::Error> {
    let Some(mut manifest) = manifest_of(run_folder) else { return Ok(()) };
    let entry = json!({ "path": path, "bytes": bytes, "profiler": Profiler::Ncu.product() });
    match manifest["traces"].as_array_mut() {
        Some(traces) => {
            traces.retain(|trace| trace["path"] != path);
            traces.push(entry);
        }
        None => manifest["traces"] = json!([entry]),
    }
    ridge_files::write(&run_folder.join("manifest.json"), format!("{manifest:#}\n").as_bytes())
}

/// The report as the page that any version of Ridgeline reads, beside it; for reports of versions that are not read directly.
///
/// # Errors
/// What the profiler said, where it could not.
pub fn export_page(tool: &Path, report: &Path) -> Result<PathBuf, String> {
    let page = report.with_extension("ncu.csv");
    let output =
        Command::new(tool).args(["--csv", "--page", "raw", "--import"]).arg(report).stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() || output.stdout.is_empty() {
        return Err(last_line(&String::from_utf8_lossy(&[output.stdout, output.stderr].concat())));
    }
    ridge_files::write(&page, &output.stdout).map_err(|error| error.to_string())?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_profiler_says_is_told_as_a_reason() {
        let kernels = ["a".to_owned(), "b".to_owned()];
        for (said, expected) in [
            ("==PROF== Connected to process 7\n==PROF== Disconnected from process 7\n", None),
            ("==ERROR== The application returned an error code (3).\n", None),
            ("==WARNING== No kernels were profiled.\n", Some("the program launched none of a, b")),
            ("==ERROR== Failed to prepare kernel for profiling\n", Some("ncu: Failed to prepare kernel for profiling")),
        ] {
            assert_eq!(why_less(said, &kernels).as_deref(), expected, "{said}");
        }
        let denied = why_less("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", &kernels);
        assert!(denied.is_some_and(|why| why.contains("administrators")));
    }
}
