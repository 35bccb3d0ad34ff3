//! `ridgeline record --attach`: programs that run already.

use super::RecordArguments;
use crate::commands::remote::{captured, say};
use crate::ending::Ending;
use crate::failure::Failure;
use ridge_record::default_out_dir;
use ridge_remote::{Ask, Limits};

/// Captures every program at once, into a directory each where they are several.
pub(super) fn run(arguments: &RecordArguments) -> Result<Ending, Failure> {
    let out = arguments.out.clone().unwrap_or_else(|| default_out_dir(&[]));
    let count = arguments.attach.len();
    let programs = if count == 1 { "a program".to_owned() } else { format!("{count} programs") };
    let begun = || say(&format!("capturing {programs} for {} s", arguments.duration.as_secs_f64()));
    captured(&arguments.attach, Ask::Capture(arguments.duration), Limits::default(), &out, begun)
}
