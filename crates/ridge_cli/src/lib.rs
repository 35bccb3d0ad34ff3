//! The command line: what the user types becomes calls of the façade and the recorder, and their answers become output.
//!
//! [`main`] parses, runs one of the [`commands`] ([`command_line`] knows them), and ends the process.
//! One decision and why: commands return a [`Failure`](failure::Failure) or an [`Ending`] instead of exiting, so that the exit
//! status and the form of an error message are decided in one place.
//!
//! Nothing is computed here: numbers come from the façade, text from `ridge_report`.
//!
//! Floors, lowest first: `ending`, `failure`, `format`, `quantities`, `timings`; `arguments`; `output`; `commands`; `command_line`.

mod arguments;
mod command_line;
mod commands;
mod compiled_as;
mod ending;
mod failure;
mod format;
mod output;
mod quantities;
mod timings;
mod views;

pub use command_line::reference;

use clap::Parser as _;
use command_line::Cli;
use ending::Ending;
use failure::Failure;
use std::ffi::OsString;
use timings::Timings;

/// Runs the command in `arguments`, the program's name first, and ends the process.
pub fn main(arguments: Vec<OsString>) -> ! {
    let mut timings = Timings::start();
    ridgeline::explain_lost_files();
    // Without it a limit that is met ends the process and leaves what was begun, which is no reason to do nothing.
    let _ = ridge_record::survive_file_size_limit();
    let cli = Cli::parse_from(arguments);
    cli.globals.color.write_global();
    let result = command_line::run(&cli, &mut timings);
    if cli.globals.timings {
        timings.print();
    }
    match result {
        Ok(Ending::Code(code)) => std::process::exit(code),
        Ok(Ending::Like(status)) => status.end_like(),
        Err(failure) => std::process::exit(report(&failure)),
    }
}

/// Says what failed, unless nobody reads any more.
fn report(failure: &Failure) -> i32 {
    if failure.is_broken_pipe() {
        return 0;
    }
    failure.print();
    failure.code
}
