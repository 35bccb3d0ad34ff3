//! What the user types: the command, and what holds for all of them.

use crate::arguments::Globals;
#[cfg(feature = "mcp")]
use crate::commands::mcp;
use crate::commands::{
    annotate, bench, calibrate, check, collect, compile, completions, diff, doctor, experiment, explain, export, guide,
    handoff, hlo, idle, info, memory, offload, query, record, redact, reference, roofline, rules, scaling, snapshot,
    stats, top, transfers, trial, what_if,
};
#[cfg(feature = "page")]
use crate::commands::{report, view};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::timings::Timings;
use clap::{CommandFactory as _, Parser, Subcommand};

/// Find out why a JAX or PyTorch program is slow on its accelerator, and how to fix it
///
/// Ridgeline records unmodified JAX and PyTorch programs, reads captures from other profilers, and reports where the
/// time went, what limits performance, and what a fix would save.
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
  ridgeline record -- python solver.py     record a program; its output and exit status don't change
  ridgeline check run/                     why it is slow, and how to fix it
  ridgeline diff before/ after/            what got faster or slower, and how certain that is
  ridgeline view run/                      view it in the browser
  ridgeline stats run/                     where the time went
  ridgeline stats run/ --by source         the same, per line of Python
  ridgeline annotate solver.py run/        the file, with times next to each line
  ridgeline try --patch fix.diff -- python solver.py     whether a change helps
  ridgeline roofline run/                  how close operations come to the device's limits
  ridgeline idle run/                      why the device was idle
  ridgeline bench mbirjax --sizes 32,64    measure the operations of a suite

Exit status:
  0  success (record: the program's own status)
  1  the command failed (check: findings; diff: the gate failed)
  2  usage error (check, diff: also when the command failed)";

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Record(record::RecordArguments),
    Snapshot(snapshot::SnapshotArguments),
    Check(check::CheckArguments),
    Annotate(annotate::AnnotateArguments),
    Try(trial::TryArguments),
    Experiment(experiment::ExperimentArguments),
    Diff(diff::DiffArguments),
    Explain(explain::ExplainArguments),
    Rules(rules::RulesArguments),
    #[cfg(feature = "page")]
    View(view::ViewArguments),
    #[cfg(feature = "page")]
    Report(report::ReportArguments),
    Stats(stats::StatsArguments),
    Info(info::InfoArguments),
    Roofline(roofline::RooflineArguments),
    Idle(idle::IdleArguments),
    Transfers(transfers::TransfersArguments),
    Hlo(hlo::HloArguments),
    Memory(memory::MemoryArguments),
    Compile(compile::CompileArguments),
    Offload(offload::OffloadArguments),
    Handoff(handoff::HandoffArguments),
    Guide(guide::GuideArguments),
    Query(query::QueryArguments),
    Export(export::ExportArguments),
    Collect(collect::CollectArguments),
    Redact(redact::RedactArguments),
    Bench(bench::BenchArguments),
    Calibrate(calibrate::CalibrateArguments),
    Scaling(scaling::ScalingArguments),
    Doctor(doctor::DoctorArguments),
    Top(top::TopArguments),
    WhatIf(what_if::WhatIfArguments),
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpArguments),
    Completions(completions::CompletionsArguments),
    #[command(hide = true)]
    Reference(reference::ReferenceArguments),
}

/// Runs the command that was typed.
pub(crate) fn run(cli: &Cli, timings: &mut Timings) -> Result<Ending, Failure> {
    let globals = &cli.globals;
    match &cli.command {
        Command::Record(arguments) => record::run(arguments, globals),
        Command::Snapshot(arguments) => snapshot::run(arguments),
        Command::Check(arguments) => check::run(arguments, globals, timings),
        Command::Annotate(arguments) => annotate::run(arguments, globals, timings),
        Command::Try(arguments) => trial::run(arguments, globals),
        Command::Experiment(arguments) => experiment::run(arguments, globals),
        Command::Diff(arguments) => diff::run(arguments, globals, timings),
        Command::Explain(arguments) => explain::run(arguments, globals),
        Command::Rules(arguments) => rules::run(arguments, globals),
        #[cfg(feature = "page")]
        Command::View(arguments) => view::run(arguments, globals, timings),
        #[cfg(feature = "page")]
        Command::Report(arguments) => report::run(arguments, globals, timings),
        Command::Stats(arguments) => stats::run(arguments, globals, timings),
        Command::Info(arguments) => info::run(arguments, globals, timings),
        Command::Roofline(arguments) => roofline::run(arguments, globals, timings),
        Command::Idle(arguments) => idle::run(arguments, globals, timings),
        Command::Transfers(arguments) => transfers::run(arguments, globals, timings),
        Command::Hlo(arguments) => hlo::run(arguments, globals, timings),
        Command::Memory(arguments) => memory::run(arguments, globals, timings),
        Command::Compile(arguments) => compile::run(arguments, globals),
        Command::Offload(arguments) => offload::run(arguments, globals, timings),
        Command::Handoff(arguments) => handoff::run(arguments, globals, timings),
        Command::Guide(arguments) => guide::run(arguments, globals, timings),
        Command::Query(arguments) => query::run(arguments, &mut Cli::command()),
        Command::Export(arguments) => export::run(arguments, globals, timings),
        Command::Collect(arguments) => collect::run(arguments, globals, timings),
        Command::Redact(arguments) => redact::run(arguments),
        Command::Bench(arguments) => bench::run(arguments, globals),
        Command::Calibrate(arguments) => calibrate::run(arguments, globals),
        Command::Doctor(arguments) => doctor::run(arguments, globals),
        Command::Top(arguments) => top::run(arguments),
        Command::Scaling(arguments) => scaling::run(arguments, globals, timings),
        Command::WhatIf(arguments) => what_if::run(arguments, globals, timings),
        #[cfg(feature = "mcp")]
        Command::Mcp(arguments) => mcp::run(arguments, globals),
        Command::Completions(arguments) => completions::run(arguments, &mut Cli::command()),
        Command::Reference(_) => reference::run(Cli::command()),
    }
}

/// The reference page, `docs/cli.md`, as Markdown: the long help of each command.
pub fn reference() -> String {
    reference::page(Cli::command())
}
