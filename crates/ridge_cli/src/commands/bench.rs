//! `ridgeline bench`: measure the operations of a suite at several sizes.

mod progress;
mod summary;

use crate::arguments::{Globals, OutputArguments, TextLayout, TextOutput};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::format::Format;
use crate::output::deliver;
use crate::quantities::time;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum, ValueHint};
use progress::Progress;
use ridge_record::HloFormat;
use ridge_record::bench::{BenchError, BenchOptions, Layout, bench};
use ridge_report::escape_controls;
use ridgeline::escape::shell_word;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Measure the operations of a suite at several sizes
///
/// Each size runs in a fresh process, so that memory figures are not mixed: a first run to compile, one run under the
/// profiler, then timed runs. An operation that fails becomes a row with its reason. The output directory can be read like
/// any capture: `ridgeline stats DIR`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct BenchArguments {
    /// A suite's name (kernels, mbirjax, shallow_water) or the path of its Python file
    #[arg(value_name = "SUITE", value_hint = ValueHint::FilePath)]
    suite: String,

    /// Comma-separated sizes, in this order [default: the suite's own]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    sizes: Vec<u32>,

    /// Only operations with names that match these comma-separated shell patterns
    #[arg(long, value_name = "GLOB", value_delimiter = ',')]
    ops: Vec<String>,

    /// Timed runs per operation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Untimed runs before the timed ones, after the first run (which compiles) and the traced run
    #[arg(long = "warm-up-runs", alias = "warm-up", value_name = "N", default_value_t = 0)]
    warm_up: u32,

    /// Start no operation after this time; the others become rows with a note
    #[arg(long, value_name = "TIME", value_parser = time)]
    budget: Option<Duration>,

    /// A variant that the suite declares, such as other kernels
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,

    /// Forms of each compiled module to keep, comma-separated; `none` keeps nothing. `portable` is StableHLO as bytecode, which
    /// `--as` and `compile` need
    #[arg(long, value_name = "FORMS", value_delimiter = ',', default_value = "text,proto,portable",
          value_parser = PossibleValuesParser::new(["text", "proto", "dot", "jaxpr", "stablehlo", "portable", "none"]))]
    hlo: Vec<String>,

    /// Have XLA dump the modules of each operation too, in these comma-separated forms; `html` is a graph to open in a
    /// browser
    #[arg(long, value_name = "FORMS", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(["text", "proto", "dot", "html"]))]
    xla_dump: Vec<String>,

    /// How files are laid out: `mbirjax` writes `mbirjax_profile_TIME.json`, `jax_traces/`, `hlo_dumps/` and
    /// `hlo_dumps_xla/` as MBIRJAX's profiler does, in addition to results.json
    #[arg(long, value_name = "LAYOUT", default_value = "ridgeline")]
    layout: LayoutName,

    /// Python interpreter [default: from $VIRTUAL_ENV, else .venv, else python3]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    python: Option<PathBuf>,

    /// Directory to write [default: bench-out/SUITE]
    #[arg(short = 'o', long = "output", alias = "out", value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,

    /// Width of the table in characters [default: the terminal's width]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
}

/// A layout on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LayoutName {
    /// A directory per size
    Ridgeline,
    /// The layout of MBIRJAX's profiler
    Mbirjax,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline bench mbirjax --sizes 32,64,128 --ops 'cone_*'
  ridgeline bench mbirjax --sizes 64 --runs 10 --budget 300s -o before/
  ridgeline bench mbirjax --xla-dump html --layout mbirjax -o output/
  ridgeline bench my_suite.py --variant no_pallas

Files in the directory:
  results.json                environment, every measurement, summary and costs
  size_064/plugins/profile/   the traced run of each operation, as TensorBoard and XProf list them
  size_064/hlo/               its modules

Exit status:
  0 if anything was measured, 1 if nothing was, 130 if interrupted.";

/// Exit code of an interrupted benchmark, as a shell gives for SIGINT.
const INTERRUPTED: i32 = 130;

/// Runs the command.
pub(crate) fn run(arguments: &BenchArguments, globals: &Globals) -> Result<Ending, Failure> {
    let mut progress = Progress::new(globals.verbose);
    let outcome = bench(&arguments.options(), &mut |event| progress.tell(&event));
    progress.end();
    let outcome = outcome?;
    deliver(&summary::report(&outcome)?, &arguments.table_output(), globals)?;
    let folder = shell_word(&outcome.out.to_string_lossy());
    let results = outcome.results.to_string_lossy();
    let next = format!("\n  results  {}\n  next     ridgeline stats {folder}\n", escape_controls(&results));
    // The results are on disk whether or not somebody reads this.
    let _ = anstream::stderr().write_all(next.as_bytes());
    Ok(Ending::Code(match summary::measured(&outcome) {
        _ if outcome.interrupted => INTERRUPTED,
        0 => crate::failure::FAILED,
        _ => 0,
    }))
}

impl BenchArguments {
    fn options(&self) -> BenchOptions {
        BenchOptions {
            suite: self.suite.clone(),
            out: self.out.clone().unwrap_or_else(|| default_out(&self.suite)),
            sizes: self.sizes.clone(),
            operations: self.ops.clone(),
            runs: self.runs,
            warm_up: self.warm_up,
            xla_dump: self.xla_dump.iter().cloned().collect(),
            layout: match self.layout {
                LayoutName::Ridgeline => Layout::Own,
                LayoutName::Mbirjax => Layout::Mbirjax,
            },
            budget: self.budget,
            variant: self.variant.clone(),
            hlo: self.hlo.iter().filter_map(|name| name.parse::<HloFormat>().ok()).collect(),
            python: self.python.clone(),
        }
    }

    fn table_output(&self) -> OutputArguments {
        let layout = TextLayout { width: self.width, ..TextLayout::default() };
        OutputArguments { format: Format::Table, sort: None, text: TextOutput { output: None, layout } }
    }
}

/// A place of its own for each suite.
fn default_out(suite: &str) -> PathBuf {
    let name = Path::new(suite).file_stem().unwrap_or(suite.as_ref());
    Path::new("bench-out").join(name)
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Failure {
        let path = match &error {
            BenchError::FolderInUse { path } | BenchError::Write { path, .. } => Some(path.clone()),
            BenchError::Spawn { python, .. } => Some(python.clone()),
            _ => None,
        };
        Failure::about(&error.to_string(), path.as_deref()).hints(error.hints())
    }
}
