//! `ridgeline redact`: a copy of a capture that is safe to share.

use crate::ending::Ending;
use crate::failure::Failure;
use clap::{Args, ValueHint};
use ridge_report::escape_controls;
use ridgeline::{Redacted, What, redact};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

/// Copy a capture without the private data in it
///
/// Removes host, user and process names, home directories, addresses, environment blocks, command lines and secrets; the
/// copy yields the same numbers. Works on captures of every supported format, compressed or not, and on directories of them.
/// Any other file is refused; in a directory it is left out of the copy, and reported. The search knows certain names and
/// patterns, not everything: review what matters before you share it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RedactArguments {
    /// The capture: a file or a directory
    #[arg(value_name = "IN", value_hint = ValueHint::AnyPath)]
    input: PathBuf,

    /// The copy, which must not exist
    #[arg(value_name = "OUT", value_hint = ValueHint::AnyPath)]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline redact run/ shared/                        a recording
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
    let kinds: Vec<&str> = What::ALL.iter().map(|what| what.name()).collect();
    if redacted.removed.total() == 0 {
        text.push_str("  removed   nothing: none of these kinds found\n");
    }
    text.push_str(&format!("  looked for {}\n", kinds.join(", ")));
    for (why, files) in by_reason(&redacted.left_out) {
        let more = files.len().saturating_sub(SHOWN);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let shown = files[..files.len().min(SHOWN)].join(", ");
        text.push_str(&format!("  left out  {}{more}: {}\n", escape_controls(&shown), escape_controls(why)));
    }
    text
}

/// Files that are named of those left out for one reason.
const SHOWN: usize = 5;

fn by_reason(left_out: &[(String, String)]) -> BTreeMap<&str, Vec<&str>> {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    left_out.iter().for_each(|(file, why)| files.entry(why).or_default().push(file));
    files
}
