//! `ridgeline transfers`: what was copied, how fast, and who asked for it.

use crate::arguments::{CeilingsArguments, Globals, InputArguments, OutputArguments};
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

/// Show copies: how much, how fast, what overlapped them, and what requested them
///
/// Copies between host and device, between devices and within one device, with the part not overlapped by compute; and
/// the copies and layout changes inside modules. docs/transfers.md defines each number.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct TransfersArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Show one table instead of the summary (comma-separated)
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = ViewOf(Topic::Transfers))]
    by: Vec<&'static View>,

    /// Only this device: its number or part of its name
    #[arg(long, value_name = "DEVICE")]
    device: Option<String>,

    #[command(flatten)]
    ceilings: CeilingsArguments,

    /// Rows per table, 0 for all [default: 30 with --by, else 10; all for json, csv and arrow]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline transfers run/                     what was copied, and the copies inside modules
  ridgeline transfers run/ --by cause          which range, operation, call and line requested copies
  ridgeline transfers run/ --by repeat         repeated copies, and how often per step
  ridgeline transfers run/ --by size           a histogram of sizes with the rate of each
  ridgeline transfers run/ --device 0 -f json  the first device, for programs";

/// Runs the command.
pub(crate) fn run(arguments: &TransfersArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    super::require_one_table(&arguments.output, arguments.by.len(), " with `--by`")?;
    let session = super::open_with(&arguments.input, arguments.ceilings.choice(), timings)?;
    let report = timings.phase("tables", || report(&session, arguments))?;
    timings.phase("output", || deliver(&report, &arguments.output, globals))?;
    Ok(Ending::Code(0))
}

fn report(session: &Session, arguments: &TransfersArguments) -> Result<Report, Failure> {
    let named = !arguments.by.is_empty();
    let views = if named { arguments.by.clone() } else { super::shown(session, Topic::Transfers, &arguments.output) };
    let rows = super::rows_of(arguments.top, &arguments.output, if named { ROWS_OF_NAMED } else { ROWS_OF_EACH });
    let question = Question { device: arguments.device.as_deref(), ..Question::default() };
    let Answer { sections, tables } = session.answer(Topic::Transfers, &views, question)?;
    Ok(Report {
        notes: session.notes().to_vec(),
        sections: if named { Vec::new() } else { sections },
        tables: super::listings(&views, tables, rows, named, &arguments.output)?,
    })
}
