//! `ridgeline stats`: where the time went.

use crate::Ending;
use crate::arguments::{Globals, InputArguments, OutputArguments};
use crate::failure::Failure;
use crate::output::deliver;
use crate::timings::Timings;
use clap::{Args, ValueEnum};
use ridge_report::{Listing, Report};
use ridgeline::{By, Session};

/// Rows of each table where all tables are shown.
const ROWS_OF_EACH: usize = 10;
/// Rows where tables were named.
const ROWS_OF_NAMED: usize = 30;

/// Say where the time went: an overview, then the top of each table
///
/// Reads any capture: a file (`*.xplane.pb`), a folder written by `ridgeline record` or `ridgeline bench`,
/// a TensorBoard log folder, captures of several hosts.
/// What was lost is said first.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct StatsArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Show one table instead of the overview; several with commas
    #[arg(long, value_name = "TABLE", value_delimiter = ',')]
    by: Vec<Grouping>,

    /// Rows per table, 0 for all [default: 30 with --by, else 10; all for json, csv and arrow]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline stats run/                                    overview, then the top of each table
  ridgeline stats run/ --by op --top 50                   the 50 operations that took longest
  ridgeline stats run/ --by source                        device time per line of Python
  ridgeline stats host.xplane.pb --by kernel -f csv       raw numbers for a spreadsheet
  ridgeline stats run/ --by op -f arrow -o op.arrow       for pandas.read_feather or polars.read_ipc
  ridgeline stats run/ -f json | jq '.overview'           for programs; see docs/json";

/// What to group time by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Grouping {
    /// HLO operation
    Op,
    /// Kernel on the device
    Kernel,
    /// Kind of operation
    Category,
    /// Compiled module
    Module,
    /// Line of Python source
    Source,
    /// Scope, as in jit(f)/while/body
    Scope,
    /// Annotated operation (TraceAnnotation) with all work it caused
    Operation,
    /// Step (StepTraceAnnotation)
    Step,
    /// Stream, thread or lane
    Track,
}

impl Grouping {
    /// In the order that narrows from the whole to the part.
    const ALL: [Grouping; 9] = [
        Grouping::Operation,
        Grouping::Step,
        Grouping::Module,
        Grouping::Category,
        Grouping::Op,
        Grouping::Kernel,
        Grouping::Source,
        Grouping::Scope,
        Grouping::Track,
    ];

    fn by(self) -> By {
        match self {
            Grouping::Op => By::Op,
            Grouping::Kernel => By::Kernel,
            Grouping::Category => By::Category,
            Grouping::Module => By::Module,
            Grouping::Source => By::Source,
            Grouping::Scope => By::Scope,
            Grouping::Operation => By::Operation,
            Grouping::Step => By::Step,
            Grouping::Track => By::Track,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &StatsArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    require_one_table(arguments)?;
    let session = super::open(&arguments.input, timings)?;
    let report = timings.phase("tables", || report(&session, arguments));
    timings.phase("output", || deliver(&report, &arguments.output, globals))?;
    Ok(Ending::Code(0))
}

fn require_one_table(arguments: &StatsArguments) -> Result<(), Failure> {
    if !arguments.output.format.holds_one_table() || arguments.by.len() == 1 {
        return Ok(());
    }
    let found = if arguments.by.is_empty() { "none".to_owned() } else { arguments.by.len().to_string() };
    Err(Failure::usage(format!("expected one table for this format, found {found}"))
        .hint("name one, for example `--by op`; `--format json` holds all of them"))
}

fn report(session: &Session, arguments: &StatsArguments) -> Report {
    let named = !arguments.by.is_empty();
    let groupings = if named { &arguments.by[..] } else { &Grouping::ALL[..] };
    let rows = rows(arguments, named);
    let groupings: Vec<By> = groupings.iter().map(|grouping| grouping.by()).collect();
    let (sections, tables) = match groupings[..] {
        [one] if named => (Vec::new(), vec![session.table(one)]),
        _ => session.report(&groupings),
    };
    Report {
        notes: session.notes().to_vec(),
        sections: if named { Vec::new() } else { sections },
        tables: tables.into_iter().map(|table| Listing::top(table, rows)).collect(),
    }
}

fn rows(arguments: &StatsArguments, named: bool) -> usize {
    match arguments.top {
        Some(0) => usize::MAX,
        Some(rows) => rows,
        None if arguments.output.format.is_for_programs() => usize::MAX,
        None if named => ROWS_OF_NAMED,
        None => ROWS_OF_EACH,
    }
}
