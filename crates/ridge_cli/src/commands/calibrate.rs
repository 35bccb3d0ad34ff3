//! `ridgeline calibrate`: measure what this machine and its devices reach.

mod progress;
mod tables;

use crate::arguments::{Globals, OutputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::format::Format;
use crate::output::{deliver, deliver_json};
use clap::{Args, ValueEnum, ValueHint};
use progress::Progress;
use ridge_record::calibrate::{CalibrateError, CalibrateOptions, Calibration, Effort, Scope, calibrate};
use ridge_report::Report;
use ridgeline::units::Share;
use ridgeline::{Note, Severity, ceilings_folder};
use std::io::Write as _;
use std::path::PathBuf;

/// Measure what this machine and its devices achieve: bandwidth, multiply-adds, matrix products, launches, copies
///
/// Measures the host with native loops on all cores, and one device of each kind with loops compiled by JAX. The best
/// round counts, but a busy machine still measures low, so run this on a quiet one. The figures are stored per device and
/// used, marked as measured, in every analysis of that device's captures. Ctrl-C keeps the figures measured so far.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct CalibrateArguments {
    /// Measure only this part
    #[arg(long, value_name = "PART")]
    only: Option<Part>,

    /// Measure each figure for a fraction of a second, on smaller arrays
    #[arg(long)]
    quick: bool,

    /// Python interpreter with JAX [default: from $VIRTUAL_ENV, else .venv, else python3]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    python: Option<PathBuf>,

    /// Show the figures without storing them
    #[arg(long)]
    no_keep: bool,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline calibrate                                 host and devices, one to two minutes
  ridgeline calibrate --only host --quick             the host only, in a few seconds
  ridgeline calibrate -f json -o h200.json            a file to use on other machines
  ridgeline calibrate -f csv                          everything in one table

Figures are stored in $XDG_DATA_HOME/ridgeline/ceilings, by default ~/.local/share/ridgeline/ceilings, one file per device.
See docs/calibrate.md for the meaning of each figure, and docs/json for the document.

Exit status:
  0 if anything was measured, 1 if nothing was, 130 if interrupted.";

/// Exit code of an interrupted calibration, as a shell gives for SIGINT.
const INTERRUPTED: i32 = 130;

/// What can be measured alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// CPU and main memory, with native loops
    Host,
    /// The devices that JAX finds
    Device,
}

impl CalibrateArguments {
    fn options(&self) -> CalibrateOptions {
        let scope = match self.only {
            Some(Part::Host) => Scope::Host,
            Some(Part::Device) => Scope::Device,
            None => Scope::Both,
        };
        let effort = if self.quick { Effort::Quick } else { Effort::Full };
        CalibrateOptions { scope, effort, python: self.python.clone() }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &CalibrateArguments, globals: &Globals) -> Result<Ending, Failure> {
    let mut progress = Progress::new(globals.verbose);
    let outcome = calibrate(&arguments.options(), &mut |event| progress.tell(&event));
    progress.end();
    let calibration = outcome?;
    if !arguments.no_keep {
        keep(&calibration)?;
    }
    match arguments.output.format {
        Format::Json => deliver_json(&calibration.to_json(), &arguments.output)?,
        format => {
            let tables = if format.holds_one_table() { tables::flat(&calibration) } else { tables::all(&calibration) };
            let tables = tables?.into_iter().map(|listing| listing.table).collect();
            let tables = super::listed(tables, usize::MAX, &arguments.output)?;
            let report = Report { notes: notes(&calibration), tables, ..Report::EMPTY };
            deliver(&report, &arguments.output, globals)?;
        }
    }
    Ok(Ending::Code(match calibration.measured() {
        _ if calibration.interrupted => INTERRUPTED,
        0 => crate::failure::FAILED,
        _ => 0,
    }))
}

/// Adds the figures to those that are kept, and says where.
fn keep(calibration: &Calibration) -> Result<(), Failure> {
    let Some(folder) = ceilings_folder() else {
        return Err(Failure::failed("expected a home directory to store the figures in, found none")
            .hint("set XDG_DATA_HOME, or use `--no-keep`"));
    };
    for path in calibration.keep(&folder)? {
        // The figures are on disk whether or not somebody reads this.
        let _ = anstream::stderr().write_all(format!("  kept  {}\n", path.display()).as_bytes());
    }
    Ok(())
}

fn notes(calibration: &Calibration) -> Vec<Note> {
    let note = |severity, message| Note { severity, message, file: None, offset: None, count: 1 };
    let mut notes = Vec::new();
    if calibration.interrupted {
        notes.push(note(Severity::Partial, "interrupted: showing the measurements so far".to_owned()));
    }
    if let Some((figures, share)) = calibration.disturbed() {
        let share = Share(share).rounded();
        let message = format!(
            "the machine was busy: other processes used up to {share} of its CPU time while {figures} of {} figures were measured, so they may be low",
            calibration.measured()
        );
        notes.push(note(Severity::Partial, message));
    }
    if let Some(reason) = &calibration.no_device {
        notes.push(note(Severity::Partial, format!("devices were not measured, or not to the end: {reason}")));
    }
    notes
}

impl From<CalibrateError> for Failure {
    fn from(error: CalibrateError) -> Failure {
        let path = match &error {
            CalibrateError::Write { path, .. } => Some(path.clone()),
            _ => None,
        };
        Failure::about(&error.to_string(), path.as_deref()).hints(error.hints())
    }
}
