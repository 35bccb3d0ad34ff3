//! `ridgeline snapshot`: what programs did just now, from a ring that the profiler inside of them keeps.

use super::remote::{captured, told};
use crate::ending::Ending;
use crate::failure::Failure;
use clap::{Args, ValueHint};
use ridge_record::default_out_dir;
use ridge_remote::{Ask, Limits, Target};
use std::path::PathBuf;

/// Save the most recent activity of running JAX programs (a flight recorder)
///
/// `--start` makes each program record into a ring buffer of its most recent events. Without an option, the buffer is
/// saved, as often as you like; `--stop` ends it. Ridgeline connects to the port that each program opened with
/// `jax.profiler.start_server`, all at the same time. The server uses plain TCP without a password.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct SnapshotArguments {
    /// Addresses of the programs' profiler servers
    #[arg(required = true, value_name = "HOST:PORT", value_delimiter = ',')]
    targets: Vec<Target>,

    /// Start recording into the ring buffer
    #[arg(long, conflicts_with_all = ["stop", "out", "no_modules"])]
    start: bool,

    /// Stop recording, and discard the ring buffer
    #[arg(long, conflicts_with_all = ["out", "no_modules"])]
    stop: bool,

    /// Recording [default: a new one, ridgeline-run-N]
    #[arg(short = 'o', long = "output", alias = "out", value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,

    /// Don't get compiled modules: they aren't in the ring buffer, and getting them restarts it
    #[arg(long)]
    no_modules: bool,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline snapshot --start node1:9012,node2:9012     start; costs as much as JAX's profiler
  ridgeline snapshot node1:9012,node2:9012 -o slow/    save the most recent events of both
  ridgeline snapshot --stop node1:9012,node2:9012      stop

Exit status:
  0 if every program answered, 1 if one did not; what came from the others is kept.";

/// Runs the command.
pub(crate) fn run(arguments: &SnapshotArguments) -> Result<Ending, Failure> {
    let (targets, limits) = (&arguments.targets, Limits::default());
    if arguments.start {
        return told(targets, Ask::Start, limits, "records into a ring from now on");
    }
    if arguments.stop {
        return told(targets, Ask::Stop, limits, "stopped");
    }
    let out = arguments.out.clone().unwrap_or_else(|| default_out_dir(&[]));
    captured(targets, Ask::Snapshot { with_modules: !arguments.no_modules }, limits, &out, || ())
}
