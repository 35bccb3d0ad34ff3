//! `ridgeline guide`: how far the way from a capture to a decision about hardware is, and the next command.

use crate::arguments::{CeilingsArguments, Globals, InputArguments, TextOutput};
use crate::compiled_as::{As, compiled_as};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::deliver_checked;
use crate::timings::Timings;
use clap::{Args, ValueEnum};
use ridge_report::checklist;
use ridge_report::guide::{json, text};
use ridge_report::terminal::Layout;
use ridgeline::GuideOptions;

/// Show which of seven analysis stages a capture supports, and the next command to run
///
/// Seven stages, in order: timeline, graph, ground truth, deep dive, memory sizing, offload verdict, hand-off.
/// Each is complete (with the command that shows it), partial, or missing (with the command that would complete it).
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct GuideArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Target GPU for a CPU recording, given by part of its name
    #[arg(long = "as", value_name = "GPU")]
    meant: Option<String>,

    /// Answer a checklist of fifteen questions about data, device, memory and synchronization instead, each with its
    /// evidence or the command that would answer it
    #[arg(long, conflicts_with = "meant")]
    checklist: bool,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    format: GuideFormat,

    #[command(flatten)]
    ceilings: CeilingsArguments,

    #[command(flatten)]
    text: TextOutput,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline guide run/                    completed stages, open stages and the next command
  ridgeline guide run/ --as h100          the same for a program that targets another device
  ridgeline guide run/ deep.ncu-rep       including hardware counters from Nsight Compute
  ridgeline guide run/ --checklist        fifteen questions of a profiling session, answered
  ridgeline guide run/ -f json            for programs; docs/json has the schema";

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GuideFormat {
    /// For a terminal
    Text,
    /// A versioned document; see docs/json
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: &GuideArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let session = super::open_with(&arguments.input, arguments.ceilings.choice(), timings)?;
    if arguments.checklist {
        let list = timings.phase("guide", || session.checklist());
        let render = |layout: &Layout| match arguments.format {
            GuideFormat::Text => checklist::text(&list, layout),
            GuideFormat::Json => checklist::json(&list),
        };
        let to = arguments.text.output.as_deref();
        timings.phase("output", || deliver_checked(render, to, &arguments.text.layout, globals))?;
        return Ok(Ending::Code(0));
    }
    let options = GuideOptions { meant: arguments.meant.clone() };
    let compiled = match &arguments.meant {
        Some(gpu) if session.is_of_processor() => Some((gpu, compiled_as(&session, gpu, timings))),
        _ => None,
    };
    let (compiled, said) = match compiled {
        Some((_, As::Compiled(compiled, notes))) => (Some(compiled), notes),
        Some((gpu, As::Not(why))) => (None, vec![why.note(gpu)]),
        None => (None, Vec::new()),
    };
    let mut guide = timings.phase("guide", || session.guide_compiled(&options, compiled.as_deref()))?;
    guide.notes.splice(0..0, said);
    let render = |layout: &Layout| match arguments.format {
        GuideFormat::Text => text(&guide, layout),
        GuideFormat::Json => json(&guide),
    };
    timings.phase("output", || {
        deliver_checked(render, arguments.text.output.as_deref(), &arguments.text.layout, globals)
    })?;
    Ok(Ending::Code(0))
}
