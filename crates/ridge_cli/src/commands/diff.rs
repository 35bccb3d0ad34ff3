//! `ridgeline diff`: what got faster or slower from one recording to another, by how much, how sure that is, and why.

use crate::arguments::{Globals, TextOutput};
use crate::ending::Ending;
use crate::failure::{Failure, USAGE};
use crate::output::{deliver_checked, write_file};
use crate::timings::Timings;
use clap::{Args, ValueEnum, ValueHint};
use ridge_report::diff::{Options, Shown, github, json, junit, markdown, sarif, text};
use ridge_report::terminal::Layout;
use ridgeline::comparison::By;
use ridgeline::{CausesAsked, CeilingsChoice, Diff, DiffOptions, OpenOptions, diff, summaries_of, summary_text};
use std::path::PathBuf;

/// Compare two captures: what got faster or slower, by how much, how certain that is, and why
///
/// Compares two captures from any tools, or several per side, and first reports what is not comparable. Operations are
/// matched by structure and source line, kernels by name and template; all parts add up to the whole difference. A
/// change counts if it is statistically significant and larger than `--min-change`; docs/diff.md explains how that is
/// determined.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct DiffArguments {
    /// The two sides, before and after: capture files, recordings, directories of runs or of `ridgeline bench`, or
    /// summaries from --write-summary
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath, num_args = 0..=2)]
    paths: Vec<PathBuf>,

    /// Runs before the change, instead of the first PATH
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, num_args = 1.., conflicts_with = "paths", requires = "after")]
    before: Vec<PathBuf>,

    /// Runs after the change
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, num_args = 1.., conflicts_with = "paths", requires = "before")]
    after: Vec<PathBuf>,

    /// How to break down the time, or what else to show
    #[arg(long, value_name = "WHAT", default_value = "part")]
    by: DiffBy,

    /// Maximum number of rows; 0 for all [default: 8]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Ignore differences below this share of the time before
    #[arg(long = "min-change", alias = "practical", value_name = "PERCENT", default_value = "2%", value_parser = percent)]
    min_change: f64,

    /// Confidence level of intervals
    #[arg(long, value_name = "PERCENT", default_value = "95%", value_parser = crate::quantities::confidence)]
    confidence: f64,

    /// Exit with status 1 if the second side is slower by PERCENT or more, or if the result is inconclusive
    #[arg(long = "fail-on-regression", alias = "fail-on", value_name = "PERCENT", value_parser = percent)]
    fail_on: Option<f64>,

    /// Whether to run the rules of `check` on both sides
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    causes: Causes,

    /// Write a summary of the second side, or of the only one, to FILE: a small file that can replace all its runs in
    /// later comparisons
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    write_summary: Option<PathBuf>,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    format: DiffFormat,

    #[command(flatten)]
    text: TextOutput,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline diff before/ after/                            what changed, by how much, how certain
  ridgeline diff a.json.gz b.xplane.pb --by op             captures of other tools, by operation
  ridgeline diff --before a1 a2 a3 --after b1 b2 b3        several runs per side, to measure how much runs vary
  ridgeline diff before/ after/ --by line                  by line of the program
  ridgeline diff before/ after/ --fail-on-regression 5%               a gate for continuous integration
  ridgeline diff runs/ --write-summary base.json           keep a small summary of several runs
  ridgeline diff base.json new-runs/ --fail-on-regression 5%          compare with it later

Exit status:
  0  compared; with --fail-on-regression, not slower by that much
  1  with --fail-on-regression: slower by that much, or inconclusive
  2  the command failed";

/// What the time is divided by, or what else is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DiffBy {
    /// Operations, copies, and idle time by its cause
    Part,
    /// Operations
    Op,
    /// Kernels
    Kernel,
    /// Kinds of work
    Category,
    /// Lines of the program
    #[value(alias = "source")]
    Line,
    /// Copies
    Copy,
    /// Idle time by its cause and what the host did
    Idle,
    /// Times of single steps
    Step,
    /// Planned and measured memory
    Memory,
    /// Time in the compiler
    Compile,
}

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DiffFormat {
    /// For a terminal
    #[value(name = "text", aliases = ["full", "table"])]
    Full,
    /// A versioned document; see docs/json
    Json,
    /// GitHub-flavored Markdown
    Markdown,
    /// SARIF 2.1.0, for code hosts: the lines of work that takes more time
    Sarif,
    /// A test report
    Junit,
    /// GitHub Actions annotations
    Github,
}

/// Whether the rules are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Causes {
    /// If no capture is large
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `5%` or `5`, as a part.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    let percent: f64 = number.parse().map_err(|_| format!("expected a percentage such as 5%, found `{text}`"))?;
    if !(percent.is_finite() && (0.0..=1000.0).contains(&percent)) {
        return Err(format!("expected 0% to 1000%, found {text}"));
    }
    Ok(percent / 100.0)
}

/// Runs the command; what fails here ends with 2, because 1 says that the gate does not open.
pub(crate) fn run(arguments: &DiffArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    compared(arguments, globals, timings).map_err(|failure| failure.ending(USAGE))
}

fn compared(arguments: &DiffArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let options = arguments.options();
    ridgeline::start_threads();
    let (before, after) = match (&arguments.paths[..], &arguments.before[..]) {
        ([before, after], []) => (vec![before.clone()], vec![after.clone()]),
        ([_], []) if arguments.write_summary.is_some() => {
            let (runs, notes) = timings.phase("open", || summaries_of(&arguments.paths, &options))?;
            crate::output::tell_losses(&notes);
            return written(arguments, &summary_text(&runs));
        }
        ([], [_, ..]) => (arguments.before.clone(), arguments.after.clone()),
        _ => {
            return Err(Failure::usage("expected two captures to compare")
                .hint("`ridgeline diff BEFORE AFTER`, or `--before A1 A2 --after B1 B2` for several runs of each"));
        }
    };
    let found = timings.phase("compare", || diff(&before, &after, &options))?;
    timings.phase("output", || deliver(arguments, globals, &found))?;
    written(arguments, &summary_text(&found.summaries.1))?;
    let fails = found.comparison.verdict.passes == Some(false);
    Ok(Ending::Code(i32::from(fails)))
}

fn written(arguments: &DiffArguments, text: &str) -> Result<Ending, Failure> {
    if let Some(path) = &arguments.write_summary {
        write_file(path, text.as_bytes())?;
    }
    Ok(Ending::Code(0))
}

fn deliver(arguments: &DiffArguments, globals: &Globals, found: &Diff) -> Result<(), Failure> {
    let shown = arguments.shown();
    let render = |layout: &Layout| match arguments.format {
        DiffFormat::Full => text::render(found, &shown, layout),
        DiffFormat::Json => json::document(found, &shown),
        DiffFormat::Markdown => markdown::render(found, &shown),
        DiffFormat::Sarif => sarif::log(found, &shown),
        DiffFormat::Junit => junit::report(found, &shown),
        DiffFormat::Github => github::annotations(found, &shown),
    };
    deliver_checked(render, arguments.text.output.as_deref(), &arguments.text.layout, globals)
}

impl DiffArguments {
    fn options(&self) -> DiffOptions {
        let compare = ridgeline::comparison::Options {
            min_change: self.min_change,
            confidence: self.confidence,
            fail_on: self.fail_on,
            ..ridgeline::comparison::Options::default()
        };
        let causes = match self.causes {
            Causes::Auto => CausesAsked::Usually,
            Causes::Always => CausesAsked::Always,
            Causes::Never => CausesAsked::Never,
        };
        let open = OpenOptions { ceilings: CeilingsChoice::None, ..OpenOptions::default() };
        DiffOptions { compare, open, causes }
    }

    fn shown(&self) -> Options {
        let by = match self.by {
            DiffBy::Part => Shown::Division(By::Part),
            DiffBy::Op => Shown::Division(By::Op),
            DiffBy::Kernel => Shown::Division(By::Kernel),
            DiffBy::Category => Shown::Division(By::Category),
            DiffBy::Line => Shown::Division(By::Line),
            DiffBy::Copy => Shown::Division(By::Copy),
            DiffBy::Idle => Shown::Division(By::Idle),
            DiffBy::Step => Shown::Steps,
            DiffBy::Memory => Shown::Memory,
            DiffBy::Compile => Shown::Compile,
        };
        let rows = match self.top {
            Some(0) => usize::MAX,
            Some(rows) => rows,
            None => Options::default().rows,
        };
        Options { by, rows }
    }
}
