//! `ridgeline check`: what holds the program back, where, why, and what mending it would save.

mod baseline;
mod config;
mod fail_on;

use super::explain::unknown_rule;
use super::query::compare_hosts;
use crate::arguments::{CeilingsArguments, Globals, InputArguments, TextOutput};
use crate::ending::Ending;
use crate::failure::{Failure, USAGE};
use crate::output::{deliver_checked, write_file};
use crate::timings::Timings;
use baseline::Baseline;
use clap::{Args, ValueEnum, ValueHint};
use config::Config;
use fail_on::FailOn;
use ridge_report::check::{Options, github, items, json, junit, markdown, sarif, text};
use ridge_report::terminal::Layout;
use ridgeline::{Check, RULES, Selection, State};
use std::fs;
use std::path::{Path, PathBuf};

/// Diagnose bottlenecks: location, cause, fix and predicted saving
///
/// First checks the quality of the capture. Each rule then finds a problem, finds none, or reports why it can't decide.
/// Causes of at least 3% of the step (10% on CPUs) are shown, largest first; `--all` shows the rest. See docs/check.md for the basis of
/// savings and their accuracy.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text")]
    format: CheckFormat,

    /// Also show minor causes, informational findings, and rules that couldn't decide
    #[arg(long)]
    all: bool,

    /// Run only these rules or groups (comma-separated)
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    select: Vec<String>,

    /// Skip these rules or groups (comma-separated)
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    ignore: Vec<String>,

    /// Exit with status 1 for findings of this level or above; if you pass it, also for an unusable capture
    /// [default: warning]
    #[arg(long, value_name = "LEVEL")]
    fail_on: Option<FailOn>,

    /// Accept the findings listed in FILE: they are hidden and don't cause a failure
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    baseline: Option<PathBuf>,

    /// Write the current findings to FILE, to be accepted from now on
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    write_baseline: Option<PathBuf>,

    /// Read `select`, `ignore`, `fail-on` and `baseline` from FILE [default: ridgeline.toml in the current directory, if
    /// it exists]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,

    /// Show the savings that `ridgeline experiment` measured, from its directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    measured: Option<PathBuf>,

    /// Compare the hosts of a dataset that `ridgeline collect` made, and their findings; needs `ridgeline-query`
    #[arg(long)]
    fleet: bool,

    /// With --fleet, write a page to FILE instead: a heat map of step times by host, and both tables
    #[arg(long, value_name = "FILE", requires = "fleet", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,

    #[command(flatten)]
    ceilings: CeilingsArguments,

    #[command(flatten)]
    text: TextOutput,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline check run/                                    the few causes that matter
  ridgeline check trace.json.gz --all                     everything the rules found
  ridgeline check run/ --select host,copies               groups of rules, or rules by name
  ridgeline check run/ -f json                            for programs; docs/json has the schema
  ridgeline check run/ -f sarif -o findings.sarif         for code hosts and editors
  ridgeline check run/ --measured measured/               with the savings that experiments measured
  ridgeline check --fleet fleet/                          hosts and findings that are unlike the others
  ridgeline check --fleet fleet/ --html fleet.html        the same as a page, with a heat map of steps
  ridgeline check run/ --write-baseline accepted.json     accept today's findings
  ridgeline check run/ --baseline accepted.json --fail-on warning     fail on new ones

Exit status:
  0  nothing at or above the level, or the capture is unusable
  1  findings at or above the level; with --fail-on, also an unusable capture
  2  the command failed";

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// A block per cause, for a terminal
    #[value(name = "text", aliases = ["full", "table"])]
    Full,
    /// One line per cause
    Concise,
    /// A versioned document; see docs/json
    Json,
    /// One finding per line, as JSON
    JsonLines,
    /// GitHub-flavored Markdown
    Markdown,
    /// SARIF 2.1.0
    Sarif,
    /// GitHub Actions annotations
    Github,
    /// JUnit XML: one test case per rule
    Junit,
}

/// Runs the command; what fails here ends with 2, because 1 says that something was found.
pub(crate) fn run(arguments: &CheckArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    found(arguments, globals, timings).map_err(|failure| failure.ending(USAGE))
}

fn found(arguments: &CheckArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    if arguments.fleet {
        let format = match arguments.format {
            CheckFormat::Full => "text",
            CheckFormat::Markdown => "markdown",
            _ => {
                return Err(Failure::usage("expected `text` or `markdown` with `--fleet`")
                    .hint("`ridgeline query DATASET --fleet=hosts -f json` writes one of the tables as JSON"));
            }
        };
        return Err(compare_hosts(&arguments.input.paths, format, arguments.html.as_deref()));
    }
    let config = Config::read(arguments.config.as_deref())?;
    let selection = Selection {
        only: if arguments.select.is_empty() { config.select.clone() } else { arguments.select.clone() },
        ignored: [&arguments.ignore[..], &config.ignore[..]].concat(),
    };
    selection.only.iter().chain(&selection.ignored).try_for_each(|name| known(name))?;
    let baseline = arguments.baseline.as_ref().or(config.baseline.as_ref());
    let accepted = baseline.map(|path| Baseline::read(path)).transpose()?.unwrap_or_default().accepted;
    let session = super::open_with(&arguments.input, arguments.ceilings.choice(), timings)?;
    let mut check = timings.phase("check", || session.check(&selection));
    if let Some(folder) = &arguments.measured {
        take_measured(&mut check, folder)?;
    }
    let options = Options { all: arguments.all, accepted };
    if let Some(path) = &arguments.write_baseline {
        write_file(path, Baseline::of(&check).text().as_bytes())?;
    }
    timings.phase("output", || deliver(arguments, globals, &check, &options))?;
    Ok(Ending::Code(status(&check, &options, arguments.fail_on.or(config.fail_on))))
}

/// Takes the savings that experiments measured.
fn take_measured(check: &mut Check, folder: &Path) -> Result<(), Failure> {
    let file = if folder.is_dir() { folder.join("experiment.json") } else { folder.to_owned() };
    let text =
        fs::read_to_string(&file).map_err(|error| Failure::io("cannot read the experiments", &error).at(&file))?;
    let count = check.with_measured(&text).map_err(|error| Failure::failed(error.to_string()).at(&file))?;
    if count == 0 {
        anstream::eprintln!("ridgeline: no finding of this capture was measured there: {}", file.display());
    }
    Ok(())
}

fn known(name: &str) -> Result<(), Failure> {
    if RULES.iter().any(|rule| rule.id == name || rule.group.name() == name) {
        return Ok(());
    }
    Err(unknown_rule(format!("unknown rule or group `{name}`"), name))
}

fn deliver(arguments: &CheckArguments, globals: &Globals, check: &Check, options: &Options) -> Result<(), Failure> {
    let render = |layout: &Layout| match arguments.format {
        CheckFormat::Full => text::full(check, options, layout),
        CheckFormat::Concise => text::concise(check, options, layout),
        CheckFormat::Json => json::document(check, options),
        CheckFormat::JsonLines => json::lines(check, options),
        CheckFormat::Markdown => markdown::render(check, options),
        CheckFormat::Sarif => sarif::log(check, options),
        CheckFormat::Github => github::annotations(check, options),
        CheckFormat::Junit => junit::report(check, options),
    };
    deliver_checked(render, arguments.text.output.as_deref(), &arguments.text.layout, globals)
}

fn status(check: &Check, options: &Options, fail_on: Option<FailOn>) -> i32 {
    let bar = fail_on.unwrap_or(FailOn::Warning);
    let fails = |item: &ridge_report::check::Item<'_>| bar.reached(item.finding.level) && !options.accepts(item);
    let cannot = fail_on.is_some_and(|bar| bar != FailOn::Never) && check.diagnosis.state == State::CannotJudge;
    i32::from(cannot || items(check).any(|item| fails(&item)))
}
