//! What the user may type, apart from what belongs to one command.

use crate::commands::{
    annotate, bench, calibrate, check, completions, diff, explain, export, guide, handoff, hlo, idle, info, memory,
    offload, record, redact, reference, roofline, rules, scaling, stats, transfers, trial, what_if,
};
use crate::output::Format;
use anstream::AutoStream;
use anstream::stream::RawStream;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use ridgeline::{CeilingsChoice, data_sheet};
use std::path::PathBuf;

/// See what a program did on its accelerator, and where the time went
///
/// Ridgeline records JAX and PyTorch programs as they are, reads the captures that profilers write, and answers in tables.
#[derive(Debug, Parser)]
#[command(name = "ridgeline", version, after_long_help = AFTER_HELP, max_term_width = 100, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// What holds for every command.
    #[command(flatten)]
    pub(crate) globals: Globals,
}

const AFTER_HELP: &str = "\
Examples:
  ridgeline record -- python solver.py     record a program; its output and exit status are its own
  ridgeline check run/                     what holds it back, and what to do
  ridgeline diff before/ after/            what got faster or slower, and how sure that is
  ridgeline stats run/                     where the time went
  ridgeline stats run/ --by source         the same by line of Python
  ridgeline annotate solver.py run/        the file, with what each line did
  ridgeline try --patch fix.diff -- python solver.py     whether a change helps, and how sure that is
  ridgeline roofline run/                  how far operations are from what the device allows
  ridgeline idle run/                      why the device was idle
  ridgeline bench mbirjax --sizes 32,64    measure the operations of a suite

Exit status:
  0  done (record: the program's own status)
  1  the command failed (check: something was found; diff: the gate does not open)
  2  usage error (check, diff: the command failed, too)";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Record(record::RecordArguments),
    Check(check::CheckArguments),
    Annotate(annotate::AnnotateArguments),
    Try(trial::TryArguments),
    Diff(diff::DiffArguments),
    Explain(explain::ExplainArguments),
    Rules(rules::RulesArguments),
    Stats(stats::StatsArguments),
    Info(info::InfoArguments),
    Roofline(roofline::RooflineArguments),
    Idle(idle::IdleArguments),
    Transfers(transfers::TransfersArguments),
    Hlo(hlo::HloArguments),
    Memory(memory::MemoryArguments),
    Offload(offload::OffloadArguments),
    Handoff(handoff::HandoffArguments),
    Guide(guide::GuideArguments),
    Export(export::ExportArguments),
    Redact(redact::RedactArguments),
    Bench(bench::BenchArguments),
    Calibrate(calibrate::CalibrateArguments),
    Scaling(scaling::ScalingArguments),
    WhatIf(what_if::WhatIfArguments),
    Completions(completions::CompletionsArguments),
    #[command(hide = true)]
    Reference(reference::ReferenceArguments),
}

/// What holds for every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// When to color: `auto` follows the terminal and NO_COLOR, CLICOLOR, CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    pub(crate) color: Color,

    /// Print our own wall time by phase and our peak memory to standard error
    #[arg(long, global = true)]
    pub(crate) timings: bool,

    /// Show more: what each number means; with record and bench, what happens as it happens
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
}

/// When to color.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// Where a terminal reads it and the environment does not object
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

impl Color {
    fn as_choice(self) -> anstream::ColorChoice {
        match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
    }

    /// Makes this the choice for standard output and standard error.
    pub(crate) fn write_global(self) {
        self.as_choice().write_global();
    }

    /// What this choice means for `stream`.
    pub(crate) fn choice(self, stream: &impl RawStream) -> anstream::ColorChoice {
        match self {
            Color::Auto => AutoStream::choice(stream),
            decided => decided.as_choice(),
        }
    }

    /// Whether colors are wanted even in files.
    pub(crate) fn is_always(self) -> bool {
        self == Color::Always
    }
}

/// The form of an answer and where it goes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArguments {
    /// Form of the answer
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "table")]
    pub(crate) format: Format,

    /// Write to FILE instead of standard output; replaced atomically
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Columns of text for tables; the terminal's width if not given
    #[arg(long, value_name = "N")]
    pub(crate) width: Option<usize>,

    /// Draw bars and marks in ASCII
    #[arg(long)]
    pub(crate) ascii: bool,
}

/// The captures to read.
#[derive(Debug, Args)]
pub(crate) struct InputArguments {
    /// Captures: files, run folders, TensorBoard log folders; several are read as one
    #[arg(required = true, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Read the captures as this format rather than as what their content says
    #[arg(long, value_name = "NAME")]
    pub(crate) read_as: Option<String>,

    /// Read no more than this of what a compressed capture unpacks to [default: 16GiB, or 250 times its size]
    #[arg(long, value_name = "SIZE", value_parser = crate::quantities::size, hide_short_help = true)]
    pub(crate) max_unpacked: Option<u64>,
}

/// The ceilings that rates are compared with.
#[derive(Debug, Args)]
pub(crate) struct CeilingsArguments {
    /// Compare with the measured ceilings in FILE, with the data sheet of a device by its name (`NVIDIA H100 SXM5 80GB`)
    /// where the capture does not name it, or with data sheets alone for `none` [default: those that `ridgeline calibrate`
    /// kept for this device, else its data sheet]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    ceilings: Option<PathBuf>,
}

impl CeilingsArguments {
    /// What was chosen.
    pub(crate) fn choice(&self) -> CeilingsChoice {
        match &self.ceilings {
            None => CeilingsChoice::Kept,
            Some(path) if path.as_os_str() == "none" => CeilingsChoice::None,
            Some(path) => match path.to_str().filter(|name| !path.exists() && data_sheet(name, None).is_some()) {
                Some(name) => CeilingsChoice::Sheet(name.to_owned()),
                None => CeilingsChoice::File(path.clone()),
            },
        }
    }
}
