//! `ridgeline idle`: why the devices were idle.

use crate::arguments::{Globals, InputArguments, OutputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::deliver;
use crate::timings::Timings;
use crate::views::ViewOf;
use clap::Args;
use ridge_report::Report;
use ridgeline::{Answer, Question, Session, Topic, View};

/// Rows of each table where none was named.
const ROWS_OF_EACH: usize = 10;
/// Rows where tables were named.
const ROWS_OF_NAMED: usize = 30;

/// Gaps in a JSON document where no number is asked for: a capture may have millions.
const GAPS_IN_JSON: usize = 1000;

/// Show why each device was idle: host late, launch latency, copies, waits, graphs, or unknown
///
/// Every gap of every device is attributed, to the nanosecond; docs/idle.md states the rules. Unknown time is
/// shown as unknown.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct IdleArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Show one table instead of the summary (comma-separated)
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = ViewOf(Topic::Idle))]
    by: Vec<&'static View>,

    /// Only this device: its number or part of its name
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
  ridgeline idle run/                          why each device was idle, and the longest gaps
  ridgeline idle run/ --by host                host activity during idle time
  ridgeline idle run/ --by gap --top 50        the 50 longest gaps
  ridgeline idle run/ --device 0 --by op       before which operations the first device was idle
  ridgeline idle run/ --by gap -f csv          every gap, for a spreadsheet";

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
    let views = if named { arguments.by.clone() } else { super::shown(session, Topic::Idle, &arguments.output) };
    let rows = super::rows_of(arguments.top, &arguments.output, if named { ROWS_OF_NAMED } else { ROWS_OF_EACH });
    let made = if named || arguments.top.is_some() { rows } else { rows.min(GAPS_IN_JSON) };
    // The shortest of all gaps is not among the longest.
    let made = if arguments.output.sort.is_some() { usize::MAX } else { made };
    let question = Question { device: arguments.device.as_deref(), rows: Some(made), ..Question::default() };
    let Answer { sections, tables } = session.answer(Topic::Idle, &views, question)?;
    Ok(Report {
        notes: session.notes().to_vec(),
        sections: if named { Vec::new() } else { sections },
        tables: super::listings(&views, tables, rows, named, &arguments.output)?,
    })
}
