//! What the user types: the command, and what holds for all of them.

use crate::Ending;
use crate::arguments::Globals;
use crate::commands::{
    annotate, bench, calibrate, check, completions, diff, explain, export, hlo, idle, info, memory, offload, record,
    redact, reference, roofline, rules, scaling, stats, transfers, trial, what_if,
};
use crate::failure::Failure;
use crate::timings::Timings;
use clap::{CommandFactory as _, Parser, Subcommand};

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

/// Runs the command that was typed.
pub(crate) fn run(cli: &Cli, timings: &mut Timings) -> Result<Ending, Failure> {
    let globals = &cli.globals;
    match &cli.command {
        Command::Record(arguments) => record::run(arguments, globals),
        Command::Check(arguments) => check::run(arguments, globals, timings),
        Command::Annotate(arguments) => annotate::run(arguments, globals, timings),
        Command::Try(arguments) => trial::run(arguments, globals),
        Command::Diff(arguments) => diff::run(arguments, globals, timings),
        Command::Explain(arguments) => explain::run(arguments, globals),
        Command::Rules(arguments) => rules::run(arguments, globals),
        Command::Stats(arguments) => stats::run(arguments, globals, timings),
        Command::Info(arguments) => info::run(arguments, globals, timings),
        Command::Roofline(arguments) => roofline::run(arguments, globals, timings),
        Command::Idle(arguments) => idle::run(arguments, globals, timings),
        Command::Transfers(arguments) => transfers::run(arguments, globals, timings),
        Command::Hlo(arguments) => hlo::run(arguments, globals, timings),
        Command::Memory(arguments) => memory::run(arguments, globals, timings),
        Command::Offload(arguments) => offload::run(arguments, globals, timings),
        Command::Export(arguments) => export::run(arguments, globals, timings),
        Command::Redact(arguments) => redact::run(arguments),
        Command::Bench(arguments) => bench::run(arguments, globals),
        Command::Calibrate(arguments) => calibrate::run(arguments, globals),
        Command::Scaling(arguments) => scaling::run(arguments, globals, timings),
        Command::WhatIf(arguments) => what_if::run(arguments, globals, timings),
        Command::Completions(arguments) => completions::run(arguments, &mut Cli::command()),
        Command::Reference(_) => reference::run(Cli::command()),
    }
}

/// The reference page, `docs/cli.md`, as Markdown: the long help of each command.
pub fn reference() -> String {
    reference::page(Cli::command())
}
