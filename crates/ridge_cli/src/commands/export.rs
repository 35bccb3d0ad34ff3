//! `ridgeline export`: captures for other tools.

use crate::arguments::{Globals, InputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::{tell_losses, write_stdout, write_streamed};
use crate::timings::Timings;
use clap::{Args, ValueEnum, ValueHint};
use indicatif::{ProgressBar, ProgressStyle};
use ridge_export::tables::{Tables, write_events, write_folder};
use ridge_export::{Form, Privacy, export};
use ridge_files::NewFolder;
use ridgeline::Session;
use std::path::{Path, PathBuf};

/// Captures with more events show how far the export is.
const LONG_WORK_EVENTS: u64 = 1_000_000;

/// Write a capture for another tool: Perfetto, Chrome, speedscope, a spreadsheet, a data frame
///
/// Writes every event of the capture, with its time to the nanosecond, its arguments, and arrows from launches to the
/// work they started. Host, user and process names, home directories and tokens are removed from names.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Format to write
    #[arg(long, value_name = "FORMAT")]
    to: To,

    /// Write to FILE, or to standard output for `-`; replaced atomically; for `parquet` also a directory, as `DIR/`
    /// [default: named after the capture, in the current directory]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Keep host, user and process names, home directories and tokens
    #[arg(long = "no-redact", alias = "with-private")]
    with_private: bool,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline export run/ --to perfetto                  run.pftrace, to open at ui.perfetto.dev
  ridgeline export run/ --to chrome -o trace.json      for chrome://tracing and tools that read its traces
  ridgeline export run/ --to speedscope                to open at speedscope.app
  ridgeline export run/ --to csv -o - | head           one line per event
  ridgeline export run/ --to parquet                   run.parquet, for pandas, Polars, DuckDB
  ridgeline export run/ --to parquet -o tables/        every table as a file, with DuckDB views
  ridgeline export run/ --to pgle -o run.pbtxt         for XLA_FLAGS=--xla_gpu_pgle_profile_file_or_directory_path=run.pbtxt";

/// A format to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum To {
    /// Trace event JSON
    Chrome,
    /// Perfetto's own format
    Perfetto,
    /// Evented profiles, one per thread and stream
    Speedscope,
    /// One line per event
    Csv,
    /// For data frames and SQL engines: one row per event; with `-o DIR/` every table, and views for DuckDB
    Parquet,
    /// Times of HLO instructions for XLA's scheduler (profile-guided latency estimates)
    Pgle,
}

impl To {
    /// The form of events; `None` for what is no list of events.
    fn form(self) -> Option<Form> {
        match self {
            To::Chrome => Some(Form::Chrome),
            To::Perfetto => Some(Form::Perfetto),
            To::Speedscope => Some(Form::Speedscope),
            To::Csv => Some(Form::Csv),
            To::Parquet | To::Pgle => None,
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            To::Parquet => ".parquet",
            To::Pgle => ".pbtxt",
            _ => self.form().map_or("", Form::suffix),
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &ExportArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let session = super::open(&arguments.input, timings)?;
    tell_losses(session.notes());
    let trace = session.trace();
    let words = timings.phase("names", || ridgeline::private_words(&arguments.input.paths));
    let privacy = if arguments.with_private { Privacy::Kept } else { Privacy::RemovedWith(&words) };
    let path = arguments.output.clone().unwrap_or_else(|| default_output(&arguments.input.paths, arguments.to));
    let bar = bar(trace.events.len() as u64);
    let told = &mut |rows| bar.set_position(rows);
    timings.phase("export", || match arguments.to.form() {
        Some(form) => {
            let programs = |module: usize| session.program_text(module);
            write_streamed(&path, &mut |out| export(trace, &programs, form, privacy, out, told))
        }
        None if arguments.to == To::Pgle => {
            let text = session.latencies()?;
            write_streamed(&path, &mut |out| out.write_all(text.as_bytes()))
        }
        None => {
            let tables = Tables::new(&session, privacy);
            match is_folder(&path) {
                true => write_tables(&session, &tables, &path, told),
                false => write_streamed(&path, &mut |out| write_events(&tables, out, told)),
            }
        }
    })?;
    bar.finish_and_clear();
    if arguments.output.is_none() {
        let line = format!("{}\n", ridge_report::escape_controls(&path.display().to_string()));
        write_stdout(line.as_bytes(), globals.color.choice(&std::io::stdout()))?;
    }
    Ok(Ending::Code(0))
}

/// Whether `path` is meant as a directory: it is written as one, or it is one.
fn is_folder(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

/// Every table as a file of a new directory, which gets its name when all of it is there.
pub(crate) fn write_tables(
    session: &Session,
    tables: &Tables<'_>,
    path: &Path,
    told: &mut dyn FnMut(u64),
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::io("cannot write the output", &error).at(path);
    // A directory of something else is not replaced, whatever is asked.
    let is_ours = path.join("views.sql").is_file() && path.join("raw/event.parquet").is_file();
    let is_free = path.read_dir().map_or(true, |mut entries| entries.next().is_none());
    if !is_ours && !is_free {
        return Err(Failure::usage("expected a new directory, or one of an earlier export").at(path));
    }
    let new = NewFolder::beside(path).map_err(failed)?;
    write_folder(session, tables, new.path(), told).map_err(failed)?;
    new.keep_instead().map_err(|(_, error)| failed(error))
}

/// `run.pftrace` for `run/`, `host0.pftrace` for `run/plugins/profile/trace/host0.xplane.pb`.
fn default_output(inputs: &[PathBuf], to: To) -> PathBuf {
    let name = inputs.first().and_then(|path| path.canonicalize().ok());
    let name = name.as_deref().and_then(|path| path.file_name()).unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("capture");
    PathBuf::from(format!("{stem}{}", to.suffix()))
}

fn bar(events: u64) -> ProgressBar {
    if events < LONG_WORK_EVENTS {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("exporting {bar:30} {percent}%  {human_pos} of {human_len} events");
    let bar = ProgressBar::new(events);
    style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style))
}
