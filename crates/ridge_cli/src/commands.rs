//! The subcommands, one file each.

pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod hlo;
pub(crate) mod info;
pub(crate) mod record;
pub(crate) mod reference;
pub(crate) mod stats;

use crate::Ending;
use crate::arguments::{Cli, Command, InputArguments};
use crate::failure::Failure;
use crate::timings::Timings;
use indicatif::ProgressBar;
use ridgeline::units::Bytes;
use ridgeline::{OpenOptions, Session};
use std::path::PathBuf;
use std::time::Duration;

/// Runs the command that was typed.
pub(crate) fn run(cli: &Cli, timings: &mut Timings) -> Result<Ending, Failure> {
    let globals = &cli.globals;
    match &cli.command {
        Command::Record(arguments) => record::run(arguments, globals),
        Command::Stats(arguments) => stats::run(arguments, globals, timings),
        Command::Info(arguments) => info::run(arguments, globals, timings),
        Command::Hlo(arguments) => hlo::run(arguments, globals, timings),
        Command::Bench(arguments) => bench::run(arguments, globals),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Reference(arguments) => reference::run(arguments),
    }
}

/// Opens the captures in `input`.
fn open(input: &InputArguments, timings: &mut Timings) -> Result<Session, Failure> {
    open_paths(&input.paths, input.read_as.clone(), timings)
}

fn open_paths(paths: &[PathBuf], format: Option<String>, timings: &mut Timings) -> Result<Session, Failure> {
    let spinner = spinner_for(paths);
    let session = timings.phase("open", || Session::open(paths, &OpenOptions { format }));
    if let Some(spinner) = spinner {
        spinner.finish_and_clear();
    }
    Ok(session?)
}

/// Files below this open before anybody would look for a sign of life.
const LONG_WORK_BYTES: u64 = 256 << 20;

/// A sign of life on the terminal while large files are read; nothing where standard error is no terminal.
fn spinner_for(paths: &[PathBuf]) -> Option<ProgressBar> {
    let sizes = paths.iter().filter_map(|path| std::fs::metadata(path).ok()).filter(|found| found.is_file());
    let bytes: u64 = sizes.map(|found| found.len()).sum();
    if bytes < LONG_WORK_BYTES {
        return None;
    }
    let spinner = ProgressBar::new_spinner().with_message(format!("reading {}", Bytes(bytes)));
    spinner.enable_steady_tick(Duration::from_millis(100));
    Some(spinner)
}
