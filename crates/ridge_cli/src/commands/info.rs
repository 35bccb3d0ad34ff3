//! `ridgeline info`: what is in a capture.

use crate::arguments::{Globals, InputArguments, OutputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::format::Format;
use crate::output::{deliver, deliver_json};
use crate::timings::Timings;
use clap::Args;
use ridge_report::{Report, json};

/// Show the contents of a capture: versions, devices, options, sizes, and lost data
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct InfoArguments {
    #[command(flatten)]
    input: InputArguments,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline info run/                      a directory written by `ridgeline record`
  ridgeline info host.xplane.pb            a capture from any tool
  ridgeline info run/ -f json              for programs; see docs/json";

/// Runs the command.
pub(crate) fn run(arguments: &InfoArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    if arguments.output.format.holds_one_table() {
        return Err(Failure::usage("expected table, json or markdown for facts, which are not a table")
            .hint("`ridgeline stats PATH --by track` lists the recorded tracks"));
    }
    if arguments.output.sort.is_some() {
        return Err(Failure::usage("expected no `--sort`: facts have no rows"));
    }
    let session = super::open(&arguments.input, timings)?;
    let report = Report { notes: session.notes().to_vec(), sections: session.info(), tables: Vec::new() };
    timings.phase("output", || match arguments.output.format {
        Format::Json => deliver_json(&json::info(&report), &arguments.output),
        _ => deliver(&report, &arguments.output, globals),
    })?;
    Ok(Ending::Code(0))
}
