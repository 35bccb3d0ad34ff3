//! `ridgeline report`: the page with its answers in one file.

use crate::arguments::{CeilingsArguments, Globals, InputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::{tell_losses, write_file};
use crate::timings::Timings;
use clap::{Args, ValueHint};
use ridge_web::Page;
use ridge_web::report::{Part, ReportOptions, report};
use ridgeline::units::Bytes;
use std::io::Write as _;
use std::path::PathBuf;

/// Write the page of `ridgeline view` to a single file
///
/// The file opens from disk in any browser, works offline, and lists what was left out to keep it small.
/// Without `--redact` it includes the capture's data about the machine and its user; see docs/privacy.md.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    input: InputArguments,

    /// The file to write; replaced atomically
    #[arg(long, short, value_name = "FILE", default_value = "report.html", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Compare with this capture: changes from it to the reported one
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    against: Vec<PathBuf>,

    /// Maximum size of the file; limits the resolution of the timeline
    #[arg(long, value_name = "SIZE", default_value = "20MB", value_parser = crate::quantities::size)]
    max_size: u64,

    #[arg(long, value_name = "VIEW", value_delimiter = ',', value_parser = part, help = views_help())]
    views: Vec<Part>,

    /// Open at this address of the page, copied from `ridgeline view`: its selection, markers and notes
    #[arg(long = "at", value_name = "ADDRESS", value_parser = address)]
    opens_at: Option<String>,

    /// Remove host, user and process names, directories, addresses, secrets, command lines, and the text of source files
    #[arg(long)]
    redact: bool,

    #[command(flatten)]
    ceilings: CeilingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline report run/                                  report.html
  ridgeline report run/ -o solver.html --redact          to share
  ridgeline report run/ --max-size 3MB                   small enough for email
  ridgeline report run/ --at '#/timeline?a=0&b=9000'     open at a selection; --at takes markers too
  ridgeline report run/ --views overview,findings,operations,roofline";

/// Runs the command.
pub(crate) fn run(arguments: &ReportArguments, _globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let session = super::open_with(&arguments.input, arguments.ceilings.choice(), timings)?;
    tell_losses(session.notes());
    let mut page = Page::new(session).of(&arguments.input.paths).against(&arguments.against);
    if arguments.redact {
        let paths: Vec<PathBuf> = arguments.input.paths.iter().chain(&arguments.against).cloned().collect();
        page = page.redacted(timings.phase("names", || ridgeline::private_words(&paths)));
    }
    let parts = if arguments.views.is_empty() { Part::ALL.to_vec() } else { arguments.views.clone() };
    let options = ReportOptions { parts, most_bytes: arguments.max_size, opens_at: arguments.opens_at.clone() };
    let made = timings.phase("report", || report(&page, &options));
    let made = made.map_err(|refusal| Failure::failed(refusal.message).hints(refusal.hints))?;
    timings.phase("output", || write_file(&arguments.output, made.html.as_bytes()))?;
    let size = Bytes(made.html.len() as u64);
    let mut said = format!("{} ({size})\n", ridge_report::escape_controls(&arguments.output.display().to_string()));
    made.left_out.iter().for_each(|left_out| said.push_str(&format!("  left out  {left_out}\n")));
    anstream::stdout()
        .write_all(said.as_bytes())
        .map_err(|error| Failure::io("cannot write to standard output", &error))?;
    Ok(Ending::Code(0))
}

fn views_help() -> String {
    format!("Include only these views, comma-separated: {} [default: all]", all_views())
}

fn all_views() -> String {
    Part::ALL.map(Part::name).join(", ")
}

fn part(name: &str) -> Result<Part, String> {
    let found =
        Part::ALL.into_iter().find(|part| part.name() == name || (name == "tables" && *part == Part::Operations));
    found.ok_or_else(|| format!("expected one of {}", all_views()))
}

/// An address of the page: what is behind `#/` names a view, with parameters perhaps.
fn address(text: &str) -> Result<String, String> {
    let place = text.split_once('#').map_or(text, |(_, place)| place).trim_start_matches('/');
    let view = place.split('?').next().unwrap_or_default();
    // What has parameters alone is the overview's, as the page reads it.
    let is_known = view.is_empty() || view.contains('=') || part(view).is_ok();
    match is_known {
        true => Ok(text.to_owned()),
        false => {
            Err(format!("expected an address of the page, as `#/timeline?a=0&b=9000`, with one of {}", all_views()))
        }
    }
}
