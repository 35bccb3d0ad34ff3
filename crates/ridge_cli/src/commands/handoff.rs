//! `ridgeline handoff`: everything that hardware engineers need of a region, and the record of every check.

mod emulate;
mod words;
mod write;

use crate::arguments::{CeilingsArguments, Globals, InputArguments};
use crate::compiled_as::meant;
use crate::ending::Ending;
use crate::failure::{FAILED, Failure};
use crate::timings::Timings;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use ridgeline::HandoffOptions;
use ridgeline::handing_over::Fixed;
use ridgeline::handing_over::bundle::{Check, CheckState};
use ridgeline::handing_over::stop;
use ridgeline::handing_over::verify::{Running, open, verify};
use serde_json::json;
use std::path::PathBuf;
use words::{lines, progress, refuse_stopped, say};

/// Generate a hardware handoff bundle for a region: specification, test vectors, reference code
///
/// The bundle has the interface, HLO and StableHLO if recorded, the dataflow graph, golden vectors from several engines
/// with a derived tolerance, reference C++ with a test bench, Verilog if the region allows it, and a manifest with the
/// hash of every file and the result of every check.
/// For a region without a specification, it has the reason instead.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct HandoffArguments {
    #[command(subcommand)]
    command: Option<HandoffCommand>,

    #[command(flatten)]
    input: Option<InputArguments>,

    /// A region of `ridgeline offload`: its number from 1, or a part of its name
    #[arg(long, value_name = "REGION")]
    region: Option<String>,

    /// A compiled module instead, by its name or program id
    #[arg(long, value_name = "MODULE", conflicts_with = "region")]
    module: Option<String>,

    /// Limit to one fusion, call or loop body of the module
    #[arg(long, value_name = "OP")]
    op: Option<String>,

    /// Number formats to try besides the program's own: `fixed<W,I>`, W bits with I before the point; may be repeated
    #[arg(long = "number-format", alias = "format", value_name = "FORMAT", default_values = ["fixed<32,16>", "fixed<24,12>", "fixed<16,8>"])]
    format: Vec<Fixed>,

    /// Target GPU for a CPU recording, given by part of its name; the recording is compiled for it if possible
    #[arg(long = "as", value_name = "GPU")]
    meant: Option<String>,

    /// Python interpreter with JAX, for the outputs of other engines [default: from $VIRTUAL_ENV, else python3]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    python: Option<PathBuf>,

    /// Output directory; must not exist
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    output: Option<PathBuf>,

    #[command(flatten)]
    ceilings: CeilingsArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline handoff run/ --region 1 -o median.handoff/             the region that takes most time
  ridgeline handoff run/ --region back_project -o bp.handoff/      a region by a part of its name
  ridgeline handoff run/ --module jit_f --op fusion.3 -o f.handoff/
  ridgeline handoff run/ --region 1 --number-format 'fixed<18,6>' -o m.handoff/
  ridgeline handoff verify median.handoff/                         repeat every check
  ridgeline handoff emulate median.handoff/ -- python recon.py     its code in the program, on the CPU

Exit status of verify:
  0  every check that was run passes
  1  a file was changed, or a check failed";

/// What else can be done with a bundle.
#[derive(Debug, Subcommand)]
enum HandoffCommand {
    /// Check a bundle again, offline: every hash, then every check that the tools on this machine allow
    ///
    /// If all hashes match, it compiles and runs the bundle's code, so verify only bundles from someone you trust;
    /// `--no-run` runs none of it.
    Verify(VerifyArguments),

    Emulate(emulate::EmulateArguments),
}

/// Forms of the answers about a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BundleFormat {
    /// For a terminal
    Text,
    /// A versioned document
    Json,
}

#[derive(Debug, Args)]
struct VerifyArguments {
    /// The bundle
    #[arg(value_name = "BUNDLE", value_hint = ValueHint::DirPath)]
    bundle: PathBuf,

    /// Run none of the bundle's code: check only hashes, and the vectors with Ridgeline's own interpreter
    #[arg(long)]
    no_run: bool,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text")]
    format: BundleFormat,

    /// The name of `--format json` in earlier versions.
    #[arg(long, hide = true)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: &HandoffArguments, _globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    if !matches!(arguments.command, Some(HandoffCommand::Emulate(_))) {
        stop::watch();
    }
    match &arguments.command {
        Some(HandoffCommand::Verify(arguments)) => return verified(arguments),
        Some(HandoffCommand::Emulate(arguments)) => return emulate::run(arguments),
        None => {}
    }
    let Some(input) = &arguments.input else { return Err(Failure::usage("expected a capture")) };
    let Some(output) = &arguments.output else {
        return Err(Failure::usage("expected an output directory").hint("add `-o REGION.handoff`"));
    };
    if arguments.region.is_none() && arguments.module.is_none() {
        return Err(Failure::usage("expected a region or a module, found neither")
            .hint("`--region 1` is the region that takes most time; `ridgeline offload` lists them"));
    }
    let session = super::open_with(input, arguments.ceilings.choice(), timings)?;
    let (session, meant, said) = meant(session, arguments.meant.as_deref(), timings);
    said.iter().for_each(|note| anstream::eprintln!("ridgeline: {}", note.message));
    let options = HandoffOptions {
        region: arguments.region.clone(),
        module: arguments.module.clone(),
        op: arguments.op.clone(),
        meant,
        formats: arguments.format.clone(),
    };
    let handoff = timings.phase("hand-off", || session.handoff(&options, &mut progress("vectors and designs")))?;
    let ledger = write::made(&session, handoff, output, arguments.python.as_deref(), timings)?;
    Ok(Ending::Code(if ledger.iter().any(|check| check.state == CheckState::Failed) { FAILED } else { 0 }))
}

fn verified(arguments: &VerifyArguments) -> Result<Ending, Failure> {
    let bundle = open(&arguments.bundle)
        .map_err(|error| Failure::failed(error.to_string()).at(&arguments.bundle).hint("nothing of it was run"))?;
    let running = if arguments.no_run { Running::NothingOfIt } else { Running::Everything };
    let ledger = verify(&bundle, running, progress("checks"));
    refuse_stopped()?;
    if arguments.json || arguments.format == BundleFormat::Json {
        let checks: Vec<_> = ledger.iter().map(Check::document).collect();
        let document = json!({ "schema": "ridgeline.handoff-ledger.v1", "bundle": arguments.bundle.display().to_string(), "ledger": checks });
        say(&format!("{document:#}\n"))?;
    } else {
        say(&lines(&ledger))?;
    }
    Ok(Ending::Code(if ledger.iter().any(|check| check.state == CheckState::Failed) { FAILED } else { 0 }))
}
