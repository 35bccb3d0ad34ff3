//! `ridgeline record`: run a program under the recorder.

mod arguments;
mod attach;
mod profilers;
mod runs;
mod with;
mod words;

pub(crate) use arguments::{RecordArguments, WindowArguments};

use super::collect::add_recording;
use crate::arguments::Globals;
use crate::ending::Ending;
use crate::failure::Failure;
use arguments::DatasetArguments;
use ridge_record::{RecordError, RecordEvent, record};
use ridge_report::escape_controls;
use ridgeline::name_in_dataset;
use ridgeline::units::Bytes;
use std::collections::BTreeMap;
use std::path::Path;
use words::{causes, nanos, print_stderr, summary};

/// Runs the command.
pub(crate) fn run(arguments: &RecordArguments, globals: &Globals) -> Result<Ending, Failure> {
    if !arguments.attach.is_empty() {
        return attach::run(arguments);
    }
    let mut said = BTreeMap::new();
    if !arguments.with.is_empty() {
        let (status, out) = with::run(arguments, globals, &mut |event| tell(&event, globals, &mut said))?;
        add(&arguments.dataset, &out);
        return Ok(Ending::Like(status));
    }
    if arguments.runs > 1 {
        return runs::run(arguments, globals, &mut |event| tell(&event, globals, &mut said)).map(Ending::Like);
    }
    let outcome = record(&arguments.options(), &mut |event| tell(&event, globals, &mut said))?;
    print_stderr(&summary(&outcome));
    print_stderr(&causes(&outcome, globals));
    add(&arguments.dataset, &outcome.out);
    Ok(Ending::Like(outcome.status))
}

/// Adds the recording to a dataset where one is named. It is kept whatever comes of that, and so is the program's status.
fn add(dataset: &DatasetArguments, recording: &Path) {
    let Some(to) = &dataset.to else { return };
    ridgeline::start_threads();
    let host = named(dataset.host.as_ref(), "SLURMD_NODENAME").or_else(host_name).unwrap_or_else(|| "host".to_owned());
    let job = named(dataset.job.as_ref(), "SLURM_JOB_ID").unwrap_or_else(|| "job".to_owned());
    match add_recording(recording, to, &job, &host) {
        Ok(()) => print_stderr(&format!("  dataset   {}\n", escape_controls(&to.display().to_string()))),
        Err(failure) => failure.print(),
    }
}

/// What was typed, else what the scheduler calls it.
fn named(typed: Option<&String>, variable: &str) -> Option<String> {
    typed
        .cloned()
        .or_else(|| std::env::var(variable).ok().filter(|name| !name.is_empty()).map(|name| name_in_dataset(&name)))
}

/// How the system calls this host.
fn host_name() -> Option<String> {
    Some(name_in_dataset(ridgeline::host_name()?.trim())).filter(|name| !name.is_empty())
}

/// When writing a trace is worth a word, in seconds; after the last, each minute.
const WORTH_A_WORD: [u64; 4] = [3, 10, 30, 60];

/// A trace as text that takes a while to pack, in bytes.
const SLOW_TO_PACK: u64 = 32 << 20;

/// The program's terminal is its own, so little is said while it runs unless asked: that it is kept waiting.
fn tell(event: &RecordEvent, globals: &Globals, said: &mut BTreeMap<u64, u64>) {
    let text = match event {
        RecordEvent::RunningWithoutRecorder => "running the program again without recording".to_owned(),
        RecordEvent::Writing { pid, took } if is_worth_a_word(*pid, took.as_secs(), said) => {
            format!("process {pid} has been writing its trace for {} s", took.as_secs())
        }
        RecordEvent::Exporting { profiler } => format!("{} exports its report", profiler.name()),
        RecordEvent::Counting { kernels } => {
            format!("running the program again under ncu, for {}", kernels.join(", "))
        }
        RecordEvent::Packing { bytes } if *bytes >= SLOW_TO_PACK => format!("packing a trace of {}", Bytes(*bytes)),
        RecordEvent::OtherDirectory { busy, out } => format!(
            "another program is being recorded in {}, this one in {}",
            escape_controls(&busy.display().to_string()),
            escape_controls(&out.display().to_string())
        ),
        _ if !globals.verbose => return,
        RecordEvent::Prepared { out } => format!("recording {}", out.display()),
        RecordEvent::Started { pid } => format!("process {pid} started"),
        RecordEvent::Forwarded { signal } => format!("signal {signal} passed on"),
        RecordEvent::Ended { wall, .. } => format!("ended after {}, gathering", nanos(*wall)),
        _ => return,
    };
    print_stderr(&format!("ridgeline: {text}\n"));
}

/// Whether it is time to say that process `pid` is writing a trace; `said` is when that was said of each for the last
/// time.
fn is_worth_a_word(pid: u64, secs: u64, said: &mut BTreeMap<u64, u64>) -> bool {
    let said = said.entry(pid).or_default();
    if secs < *said {
        *said = 0; // another trace
    }
    let next = WORTH_A_WORD.into_iter().find(|at| *at > *said).unwrap_or(*said + 60);
    let is_due = secs >= next;
    if is_due {
        *said = secs;
    }
    is_due
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Failure {
        let path = match &error {
            RecordError::FolderInUse { found: path } | RecordError::FolderBusy { path } => Some(path.clone()),
            RecordError::Folder { path, .. } => Some(path.clone()),
            _ => None,
        };
        Failure::about(&error.to_string(), path.as_deref()).hints(error.hints()).code(error.shell_code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_write_is_told_now_and_then() {
        let mut said = BTreeMap::new();
        let told: Vec<u64> = (0..200).chain(0..5).filter(|secs| is_worth_a_word(1, *secs, &mut said)).collect();
        assert_eq!(told, [3, 10, 30, 60, 120, 180, 3]);
    }

    #[test]
    fn processes_that_write_at_once_are_told_apart() {
        let mut said = BTreeMap::new();
        // The second began two seconds later.
        let both = (2..12_u64).flat_map(|secs| [(1, secs), (2, secs - 2)]);
        let told: Vec<(u64, u64)> = both.filter(|(pid, secs)| is_worth_a_word(*pid, *secs, &mut said)).collect();
        assert_eq!(told, [(1, 3), (2, 3), (1, 10)]);
    }
}
