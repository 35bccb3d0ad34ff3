//! `ridgeline stats`: where the time went.

use crate::arguments::{CeilingsArguments, Globals, InputArguments, OutputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::format::Format;
use crate::output::deliver_followed;
use crate::timings::Timings;
use crate::views::ViewOf;
use clap::Args;
use ridge_report::Report;
use ridge_report::check::text;
use ridge_report::terminal::Layout;
use ridgeline::{Answer, Note, Question, Session, Severity, Topic, View};

/// Rows of each table where all tables are shown.
const ROWS_OF_EACH: usize = 10;
/// Rows where tables were named.
const ROWS_OF_NAMED: usize = 30;

/// Show where the time went: an overview, then the top of each table
///
/// Reads any capture: a file (`*.xplane.pb`), a directory written by `ridgeline record` or `ridgeline bench`, a
/// TensorBoard log directory, captures of several hosts. Lost data is reported first.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct StatsArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Show one table instead of the overview (comma-separated)
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = ViewOf(Topic::Time))]
    by: Vec<&'static View>,

    /// Rows per table, 0 for all [default: 30 with --by, else 10; all for json, csv and arrow]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    #[command(flatten)]
    ceilings: CeilingsArguments,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline stats run/                                    overview, then the top of each table
  ridgeline stats run/ --by op --top 50                   the 50 operations that took longest
  ridgeline stats run/ --by op --sort calls               those that ran most often
  ridgeline stats run/ --by source                        device time per line of Python
  ridgeline stats trace.json.gz --by operator             PyTorch operators, as key_averages()
  ridgeline stats rank*.json.gz --by rank                 who waits for whom in collectives
  ridgeline stats host.xplane.pb --by kernel -f csv       raw numbers for a spreadsheet
  ridgeline stats run.sqlite --by cuda_api_sum            a report of `nsys stats` by its name
  ridgeline stats run/ --by op -f arrow -o op.arrow       for pandas.read_feather or polars.read_ipc
  ridgeline stats run/ -f json | jq '.overview'           for programs; see docs/json";

/// Runs the command.
pub(crate) fn run(arguments: &StatsArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    super::require_one_table(&arguments.output, arguments.by.len(), ", for example `--by op`")?;
    let session = super::open_with(&arguments.input, arguments.ceilings.choice(), timings)?;
    let report = timings.phase("tables", || report(&session, arguments))?;
    let wants_causes = arguments.by.is_empty() && arguments.output.format == Format::Table;
    let check = wants_causes.then(|| timings.phase("check", || super::judged_unasked(&session))).flatten();
    let causes = |layout: &Layout| check.as_ref().map_or(String::new(), |check| text::brief(check, layout));
    timings.phase("output", || deliver_followed(&report, causes, &arguments.output, globals))?;
    Ok(Ending::Code(0))
}

fn report(session: &Session, arguments: &StatsArguments) -> Result<Report, Failure> {
    let named = !arguments.by.is_empty();
    let views = if named { arguments.by.clone() } else { session.answered(Topic::Time) };
    let rows = super::rows_of(arguments.top, &arguments.output, if named { ROWS_OF_NAMED } else { ROWS_OF_EACH });
    let Answer { sections, tables } = session.answer(Topic::Time, &views, Question::default())?;
    Ok(Report {
        notes: [session.notes(), &untimed(session)].concat(),
        sections: if named { Vec::new() } else { sections },
        tables: super::listed(tables, rows, &arguments.output)?,
    })
}

/// Where to look in a capture in which nothing has a time.
fn untimed(session: &Session) -> Vec<Note> {
    let trace = session.trace();
    let has_tables = !trace.profiles.is_empty() || !trace.counters.time_ns.is_empty();
    if !trace.events.is_empty() || has_tables {
        return Vec::new();
    }
    let has_memory = !trace.memory.blocks.is_empty() || !trace.allocations.time_ns.is_empty();
    let command = match (has_memory, trace.modules.is_empty()) {
        (true, _) => "`ridgeline memory` shows the memory in use",
        (false, false) => "`ridgeline hlo` shows the modules",
        (false, true) => "`ridgeline info` lists the contents",
    };
    let message = format!("nothing in it has a time, so there are no tables; {command}");
    vec![Note { severity: Severity::Info, message, file: None, offset: None, count: 1 }]
}
