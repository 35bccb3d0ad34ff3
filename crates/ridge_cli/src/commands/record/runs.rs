//! `ridgeline record --runs N`: the program several times, a folder a run, which `diff` takes as one side.

use super::arguments::RecordArguments;
use super::words::{causes, from_here, of_one_run, print_stderr, summary};
use crate::arguments::Globals;
use crate::failure::Failure;
use ridge_record::{
    ProgramStatus, RecordError, RecordEvent, RecordOptions, default_out_dir, record, remove_if_recording,
};
use ridgeline::escape::shell_word;
use std::path::Path;

/// Records every run; gives how the program ended when it last ran. A run that fails is the last.
pub(super) fn run(
    arguments: &RecordArguments,
    globals: &Globals,
    tell: &mut dyn FnMut(RecordEvent),
) -> Result<ProgramStatus, Failure> {
    let folder = arguments.out.clone().unwrap_or_else(|| default_out_dir(&arguments.command));
    let manifest = folder.join("manifest.json");
    if manifest.exists() {
        // A recording would stand for the runs inside of it.
        return Err(RecordError::FolderInUse { found: manifest }.into());
    }
    let count = u32::from(arguments.runs);
    for number in 1..=count {
        let out = Some(folder.join(number.to_string()));
        let outcome = record(&RecordOptions { out, ..arguments.options() }, tell)?;
        print_stderr(&of_one_run(&outcome, number, count));
        let failed = outcome.status != ProgramStatus::Exited(0);
        if failed || number == count {
            print_stderr(&summary(&outcome));
            print_stderr(&causes(&outcome, globals));
        }
        if failed {
            return Ok(outcome.status);
        }
    }
    forget_others(&folder, count);
    let side = shell_word(&from_here(&folder).display().to_string());
    print_stderr(&format!("\nridgeline: {count} runs, one side of a comparison: ridgeline diff BEFORE {side}\n"));
    Ok(ProgramStatus::Exited(0))
}

/// Removes runs above `count`, which an earlier recording of more runs left: they are of another program by now.
fn forget_others(folder: &Path, count: u32) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries {
        let number: Option<u32> = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if number.is_some_and(|number| number > count) {
            match remove_if_recording(&entry.path()) {
                Ok(true) => {}
                Ok(false) => print_stderr(&left(
                    &entry.path(),
                    "it is not a recording, or another program is being recorded there",
                )),
                Err(error) => print_stderr(&left(&entry.path(), &error.to_string())),
            }
        }
    }
}

fn left(path: &Path, why: &str) -> String {
    let path = shell_word(&from_here(path).display().to_string());
    format!("ridgeline: {path} stays: {why}\n")
}
