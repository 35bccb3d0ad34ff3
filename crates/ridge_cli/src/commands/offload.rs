//! `ridgeline offload`: which parts other hardware would really speed up, and what forbids the rest.

use crate::arguments::{CeilingsArguments, Globals, InputArguments, TextOutput};
use crate::compiled_as::meant;
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::deliver_checked;
use crate::timings::Timings;
use clap::{Args, ValueEnum, ValueHint};
use ridge_report::offload::{Options, json, markdown, text};
use ridge_report::terminal::Layout;
use ridgeline::OffloadOptions;
use ridgeline::offloading::WhatIf;
use std::path::PathBuf;

/// Report which parts would run faster on an FPGA or another GPU, by how much, and why the rest won't
///
/// Divides the device work into regions, predicts the time of each on every known board with an interval, and reaches a
/// verdict: fix the program first, never on throughput, a candidate, or undecided. All times on boards are predictions.
/// See docs/offload.md for the formulas and docs/offload-validation.md for their accuracy.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct OffloadArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Compare only with these boards (comma-separated) [default: all known boards]
    #[arg(long, value_name = "BOARD", value_delimiter = ',')]
    board: Vec<String>,

    /// Compare with this GPU, given by part of its name (comma-separated)
    #[arg(long = "target", alias = "to", value_name = "GPU", value_delimiter = ',')]
    to: Vec<String>,

    /// GPU to evaluate for, given by part of its name: the target of a CPU recording, which is compiled for it if
    /// possible, or the GPU of a capture that doesn't name its own
    #[arg(long = "as", value_name = "GPU")]
    meant: Option<String>,

    /// Change assumptions: `clock=250MHz`, `resident=100` (calls with data kept on the board), `dtype=int16`,
    /// `stream=yes` (input arrives at the board), or any prior of the model (comma-separated)
    #[arg(long, value_name = "CHANGES", value_parser = changes, default_value = "", hide_default_value = true)]
    what_if: WhatIf,

    /// Use the core of this `ridgeline handoff` bundle in place of the estimate for its region: its clocks in
    /// simulation, and its resources by synthesis; may be repeated
    #[arg(long, value_name = "BUNDLE", value_hint = ValueHint::DirPath)]
    bundle: Vec<PathBuf>,

    /// Show every region and board
    #[arg(long)]
    all: bool,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    format: OffloadFormat,

    #[command(flatten)]
    ceilings: CeilingsArguments,

    #[command(flatten)]
    text: TextOutput,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline offload run/                                  verdicts for every known board
  ridgeline offload run/ --as h100                        a CPU capture, evaluated for the target GPU
  ridgeline offload run/ --board u55c,v80 --all           two boards, every region
  ridgeline offload run/ --board u55c --what-if clock=250MHz,resident=100,dtype=int16
  ridgeline offload run/ --target h200                        another GPU instead of a board
  ridgeline offload run/ --bundle median.handoff/             with the core that was generated of a region
  ridgeline offload run/ -f json                          for programs; docs/json has the schema";

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OffloadFormat {
    /// For a terminal
    #[value(alias = "table")]
    Text,
    /// A versioned document; see docs/json
    Json,
    /// GitHub-flavored Markdown
    #[value(alias = "md")]
    Markdown,
}

fn changes(text: &str) -> Result<WhatIf, String> {
    WhatIf::parse(text).map_err(|error| error.to_string())
}

/// Runs the command.
pub(crate) fn run(arguments: &OffloadArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let session = super::open_with(&arguments.input, arguments.ceilings.choice(), timings)?;
    let (session, meant, said) = meant(session, arguments.meant.as_deref(), timings);
    let options = OffloadOptions {
        boards: arguments.board.clone(),
        gpus: arguments.to.clone(),
        meant,
        bundles: arguments.bundle.clone(),
        what_if: arguments.what_if.clone(),
    };
    let mut answer = timings.phase("offload", || session.offload(&options))?;
    answer.notes.splice(0..0, said);
    let shown = Options { all: arguments.all };
    let render = |layout: &Layout| match arguments.format {
        OffloadFormat::Text => text::full(&answer, shown, layout),
        OffloadFormat::Json => json::document(&answer),
        OffloadFormat::Markdown => markdown::render(&answer, shown),
    };
    timings.phase("output", || {
        deliver_checked(render, arguments.text.output.as_deref(), &arguments.text.layout, globals)
    })?;
    Ok(Ending::Code(0))
}
