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
use ridgeline::{OpenOptions, Session};
use std::path::PathBuf;

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
    Ok(timings.phase("open", || Session::open(paths, &OpenOptions { format }))?)
}
