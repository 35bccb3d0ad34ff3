//! `ridgeline redact`: a copy of a capture that is safe to share.

use crate::Ending;
use crate::failure::Failure;
use clap::{Args, ValueHint};
use ridge_report::escape_controls;
use ridgeline::{Redacted, redact};
use std::io::Write as _;
use std::path::PathBuf;

/// Copy a capture without what says who made it and where
///
/// Host, user and process names, home folders, environment blocks, command lines and tokens are taken out; the copy opens to the same
/// numbers. Traces in JSON, XPlane, HLO and pprof can be copied, also gzipped, exports of Nsight Systems in SQLite, and folders of all these.
/// Any other file is refused, and left out of a folder's copy, which says so.
/// A search by names and patterns finds what it knows: look through what matters before you share it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RedactArguments {
    /// The capture: a file or a folder
    #[arg(value_name = "IN", value_hint = ValueHint::AnyPath)]
    input: PathBuf,

    /// The copy, which must not exist
    #[arg(value_name = "OUT", value_hint = ValueHint::AnyPath)]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline redact run/ shared/                        a run folder
  ridgeline redact rank0.json.gz clean.json.gz         a trace; gzip stays gzip
  ridgeline redact report.sqlite clean.sqlite          an export of Nsight Systems";

/// Runs the command.
pub(crate) fn run(arguments: &RedactArguments) -> Result<Ending, Failure> {
    let redacted = redact(&arguments.input, &arguments.output)?;
    let text = summary(&redacted);
    anstream::stdout()
        .write_all(text.as_bytes())
        .map_err(|error| Failure::io("cannot write to standard output", &error))?;
    Ok(Ending::Code(0))
}

fn summary(redacted: &Redacted) -> String {
    let files = if redacted.files == 1 { "1 file".to_owned() } else { format!("{} files", redacted.files) };
    let mut text = format!("{files} copied\n");
    for (what, count) in redacted.removed.iter() {
        text.push_str(&format!("  removed   {count} {}\n", what.name()));
    }
    if redacted.removed.total() == 0 {
        text.push_str("  removed   nothing: nothing private was found\n");
    }
    for (file, why) in &redacted.left_out {
        text.push_str(&format!("  left out  {}: {}\n", escape_controls(file), escape_controls(why)));
    }
    text
}
