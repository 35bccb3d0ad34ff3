//! `ridgeline what-if`: what a change would save, before anyone makes it.

use crate::arguments::{Globals, InputArguments, OutputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::deliver;
use crate::timings::Timings;
use clap::{Args, ValueEnum};
use ridge_report::Report;
use ridgeline::{Change, Effect, OtherDevice};

/// Predict the saving of changes to the program
///
/// Replays the capture's dependencies with all changes applied together, and predicts the time they save.
/// Also prints how well the replay explains the unchanged capture, and refuses to predict if it doesn't. See
/// docs/what-if.md. NAME is a kernel, an operation, a copy, a call or a range; `*` matches any characters and `?` one.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct WhatIfArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Remove this work (host calls if no device work has the name); repeat for more
    #[arg(long, value_name = "NAME")]
    remove: Vec<String>,

    /// Scale the speed of this work: `gemm*=2x`
    #[arg(long, value_name = "NAME=TIMES", value_parser = Change::speed)]
    scale: Vec<(String, f32)>,

    /// Scale the speed of the host's own time between calls within these ranges: `load*=4x`
    #[arg(long = "scale-host", alias = "host", value_name = "NAME=TIMES", value_parser = Change::speed)]
    host: Vec<(String, f32)>,

    /// Let these calls return without waiting for the device
    #[arg(long, value_name = "NAME")]
    no_wait: Vec<String>,

    /// Let this work overlap the host
    #[arg(long, value_name = "WHAT")]
    overlap: Vec<Overlap>,

    /// Predict for another GPU, from its data sheet: `h100`, `A100 80GB`, `NVIDIA H200`
    #[arg(long = "target", alias = "device", value_name = "GPU")]
    device: Option<String>,

    /// GPU that the capture ran on, if not recorded
    #[arg(long = "as", alias = "captured-on", value_name = "GPU", requires = "device")]
    captured_on: Option<String>,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline what-if run/                                     how well the capture can be replayed
  ridgeline what-if run/ --remove 'copy*'                    without its copies
  ridgeline what-if run/ --scale 'ampere_sgemm*=2x'          with these kernels twice as fast
  ridgeline what-if run/ --scale-host 'enumerate(DataLoader)*=4x'  with a loader that takes a quarter of the time
  ridgeline what-if run/ --no-wait cudaStreamSynchronize     without waiting for streams
  ridgeline what-if run/ --target h100                       on an H100, using both data sheets
  ridgeline what-if run/ --overlap transfers -f json         no call waits for its copy, for programs";

/// What may overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Overlap {
    /// Copies that calls wait for
    Transfers,
}

/// Runs the command.
pub(crate) fn run(arguments: &WhatIfArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let session = super::open(&arguments.input, timings)?;
    let changes = arguments.changes();
    let device = arguments
        .device
        .as_ref()
        .map(|name| OtherDevice { name: name.clone(), captured_on: arguments.captured_on.clone() });
    let answer = timings.phase("replay", || session.what_if(&changes, device.as_ref()))?;
    // What holds one table has that of the changes, where there is anything in it.
    let one_table = arguments.output.format.holds_one_table();
    let shows_changes = !changes.is_empty() || (one_table && answer.on_target.is_none());
    let mut tables: Vec<_> = answer.on_target.into_iter().collect();
    tables.extend(shows_changes.then_some(answer.changes));
    if one_table {
        tables.drain(..tables.len() - 1);
    }
    let notes = session.notes().iter().cloned().chain(answer.notes).collect();
    let tables = super::listed(tables, usize::MAX, &arguments.output)?;
    let report = Report { notes, sections: answer.sections, tables };
    timings.phase("output", || deliver(&report, &arguments.output, globals))?;
    Ok(Ending::Code(0))
}

impl WhatIfArguments {
    fn changes(&self) -> Vec<Change> {
        let change = |pattern: &str, effect| Change { pattern: pattern.to_owned(), effect };
        let removed = self.remove.iter().map(|name| change(name, Effect::Remove));
        let scaled = self.scale.iter().map(|(name, times)| change(name, Effect::Faster(*times)));
        let host = self.host.iter().map(|(name, times)| change(name, Effect::HostFaster(*times)));
        let no_wait = self.no_wait.iter().map(|name| change(name, Effect::NoWait));
        let overlap = self.overlap.iter().map(|Overlap::Transfers| change("*", Effect::Overlap));
        removed.chain(scaled).chain(host).chain(no_wait).chain(overlap).collect()
    }
}
