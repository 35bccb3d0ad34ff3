//! `ridgeline idle`: why the devices stood still.

use crate::Ending;
use crate::arguments::{Globals, InputArguments, OutputArguments};
use crate::failure::Failure;
use crate::output::deliver;
use crate::timings::Timings;
use clap::{Args, ValueEnum};
use ridge_report::{Listing, Report};
use ridgeline::{IdleBy, IdleReport, Session, Table};

/// Rows of each table where none was named.
const ROWS_OF_EACH: usize = 10;
/// Rows where tables were named.
const ROWS_OF_NAMED: usize = 30;

/// Say why each device stood still: host late, launch latency, copies, waits, graphs, or unknown
///
/// Every gap of every device is attributed to the nanosecond; docs/idle.md states the rules.
/// Shares that are not known are said to be.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct IdleArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Show one table instead of the summary; several with commas
    #[arg(long, value_name = "TABLE", value_delimiter = ',')]
    by: Vec<Grouping>,

    /// Only this device: its number, or a part of its name
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,

    /// Rows per table, 0 for all [default: 30 with --by, else 10; in json, csv and arrow all, but without --by only the
    /// 1000 longest gaps]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline idle run/                          why each device stood still, and the longest gaps
  ridgeline idle run/ --by host                what the host did meanwhile
  ridgeline idle run/ --by gap --top 50        the 50 longest gaps
  ridgeline idle run/ --device 0 --by op       before which operations the first device was idle
  ridgeline idle run/ --by gap -f csv          every gap, for a spreadsheet";

/// What to group idle time by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Grouping {
    /// Device
    Device,
    /// Cause
    Cause,
    /// What the host did meanwhile
    Host,
    /// Operation of the next work
    Op,
    /// Named range (TraceAnnotation) that caused the next work
    Annotation,
    /// Source line of the next work
    Source,
    /// Each gap by itself
    Gap,
}

impl Grouping {
    /// What the summary shows, besides a section for each device.
    const SUMMARY: [Grouping; 5] =
        [Grouping::Device, Grouping::Host, Grouping::Op, Grouping::Annotation, Grouping::Gap];
    /// Gaps in a JSON document where no number is asked for: a capture may have millions.
    const GAPS_IN_JSON: usize = 1000;

    fn by(self) -> IdleBy {
        match self {
            Grouping::Device => IdleBy::Device,
            Grouping::Cause => IdleBy::Cause,
            Grouping::Host => IdleBy::Host,
            Grouping::Op => IdleBy::Op,
            Grouping::Annotation => IdleBy::Annotation,
            Grouping::Source => IdleBy::Source,
            Grouping::Gap => IdleBy::Gap,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &IdleArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    super::require_one_table(&arguments.output, arguments.by.len(), " with `--by`")?;
    let session = super::open(&arguments.input, timings)?;
    let report = timings.phase("tables", || report(&session, arguments))?;
    timings.phase("output", || deliver(&report, &arguments.output, globals))?;
    Ok(Ending::Code(0))
}

fn report(session: &Session, arguments: &IdleArguments) -> Result<Report, Failure> {
    let named = !arguments.by.is_empty();
    let groupings = if named { &arguments.by[..] } else { &Grouping::SUMMARY[..] };
    let rows = super::rows_of(arguments.top, &arguments.output, if named { ROWS_OF_NAMED } else { ROWS_OF_EACH });
    let gaps = if named || arguments.top.is_some() { rows } else { rows.min(Grouping::GAPS_IN_JSON) };
    let by: Vec<IdleBy> = groupings.iter().map(|grouping| grouping.by()).collect();
    let found = session.idle(&by, arguments.device.as_deref(), gaps)?;
    let IdleReport { sections, tables, gaps } = found;
    let listings = tables.into_iter().map(|table| listing(table, rows, gaps));
    Ok(Report {
        notes: session.notes().to_vec(),
        sections: if named { Vec::new() } else { sections },
        tables: listings.filter(|listing| named || says_something(listing)).collect(),
    })
}

/// A table as it is shown; that of gaps was cut where it was made.
fn listing(mut table: Table, rows: usize, gaps: usize) -> Listing {
    let shown = table.batch.num_rows();
    if table.name != "gap" || shown == gaps {
        return Listing::top(table, rows);
    }
    table.footnotes.push(format!("{shown} of {gaps} rows shown"));
    Listing { table, rows_total: gaps }
}

/// A device alone is in its section already, and a table without rows says nothing in a summary.
fn says_something(listing: &Listing) -> bool {
    let least = if listing.table.name == "device" { 2 } else { 1 };
    listing.rows_total >= least
}
