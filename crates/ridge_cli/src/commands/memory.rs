//! `ridgeline memory`: what needs memory, how much of it, and when.

use crate::arguments::{Globals, InputArguments, OutputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::format::Format;
use crate::output::deliver;
use crate::timings::Timings;
use crate::views::ViewOf;
use clap::{Args, ValueHint};
use ridge_report::Report;
use ridge_report::terminal::{Glyphs, sparkline};
use ridgeline::{Answer, CeilingsChoice, Fact, FactValue, Question, Section, Session, Topic, View};
use std::path::PathBuf;

/// Rows of each table where all tables are shown.
const ROWS_OF_EACH: usize = 10;
/// Rows where tables were named.
const ROWS_OF_NAMED: usize = 30;
/// Characters of a line of use over time.
const LINE_WIDTH: usize = 24;

/// Show memory use: planned by the compiler, used by allocators, kept in snapshots
///
/// Compiled modules: the peak of each, what is alive at the peak, and arguments that could have been donated. Allocator
/// events (XPlane, Kineto, torch snapshots and timelines): use over time, what used memory at the peak, what was
/// cached, rounded up or fragmented, and growth from step to step. Snapshots (JAX device memory profiles, torch
/// snapshots): blocks by the line that allocated them.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct MemoryArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Show one table instead of the overview (comma-separated)
    #[arg(long, value_name = "TABLE", value_delimiter = ',', value_parser = ViewOf(Topic::Memory))]
    by: Vec<&'static View>,

    /// Module for the peak, by its name as listed [default: the one with the largest peak]
    #[arg(long, short, value_name = "MODULE")]
    module: Option<String>,

    /// Show the changes from PATH to OTHER instead
    #[arg(long, value_name = "OTHER", value_hint = ValueHint::AnyPath, conflicts_with_all = ["by", "module"])]
    diff: Option<PathBuf>,

    /// Target GPU for a CPU recording: compile its modules for that GPU, and show the predicted memory plans
    #[arg(long = "as", value_name = "GPU")]
    meant: Option<String>,

    /// Rows per table, 0 for all [default: 30 with --by or --diff, else 10; all for json, csv and arrow]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline memory run/                              overview, then the top of each table
  ridgeline memory run/ --by alive -m jit_step       what is alive at the peak of one module
  ridgeline memory run/ --as h100                    as XLA plans it for that GPU
  ridgeline memory run/ --by donation                arguments that could have been donated
  ridgeline memory run/memory/before.pb.gz --diff run/memory/after.pb.gz
                                                     what a JAX program still keeps
  ridgeline memory snapshot.pickle --by holder       what used memory at the peak of a torch program
  ridgeline memory run/ --by usage -f csv            use over time, for a spreadsheet";

/// Runs the command.
pub(crate) fn run(arguments: &MemoryArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let named = if arguments.diff.is_some() { 1 } else { arguments.by.len() };
    super::require_one_table(&arguments.output, named, ", for example `--by module`")?;
    let session = super::open(&arguments.input, timings)?;
    let (session, said) = super::meant(session, arguments.meant.as_deref(), timings)?;
    let mut report = match &arguments.diff {
        None => timings.phase("tables", || report(&session, arguments))?,
        Some(other) => {
            let options = super::options(&arguments.input, CeilingsChoice::None);
            let other = super::open_paths(std::slice::from_ref(other), &options, timings)?;
            timings.phase("tables", || changes(&session, &other, arguments))?
        }
    };
    report.notes.splice(0..0, said);
    timings.phase("output", || deliver(&report, &arguments.output, globals))?;
    Ok(Ending::Code(0))
}

fn report(session: &Session, arguments: &MemoryArguments) -> Result<Report, Failure> {
    let named = !arguments.by.is_empty();
    let views = if named { arguments.by.clone() } else { super::shown(session, Topic::Memory, &arguments.output) };
    let question = Question { module: arguments.module.as_deref(), ..Question::default() };
    let Answer { mut sections, tables } = session.answer(Topic::Memory, &views, question)?;
    if arguments.output.format == Format::Table {
        let glyphs = if arguments.output.text.layout.ascii { Glyphs::Ascii } else { Glyphs::Unicode };
        draw_lines(&mut sections, &session.memory_lines(), glyphs);
    }
    Ok(Report {
        notes: session.notes().to_vec(),
        sections: if named { Vec::new() } else { sections },
        tables: super::listings(&views, tables, rows(arguments), named, &arguments.output)?,
    })
}

/// Puts use over time into the section of each allocator.
fn draw_lines(sections: &mut [Section], lines: &[(String, Vec<u64>)], glyphs: Glyphs) {
    for (name, values) in lines {
        let title = format!("Allocator {name}");
        let section = sections.iter_mut().find(|section| section.title == title);
        if let Some(section) = section.filter(|_| values.len() > 1) {
            let line = FactValue::Text(sparkline(values, LINE_WIDTH, glyphs));
            let definition = "bytes in use from the first allocator event to the last";
            section.facts.push(Fact::new("line", "Over time", line, definition));
        }
    }
}

fn changes(session: &Session, other: &Session, arguments: &MemoryArguments) -> Result<Report, Failure> {
    let notes = session.notes().iter().chain(other.notes()).cloned().collect();
    let table = session.memory_changes(other);
    let tables = super::listed(vec![table], rows(arguments), &arguments.output)?;
    Ok(Report { notes, tables, ..Report::EMPTY })
}

fn rows(arguments: &MemoryArguments) -> usize {
    let named = !arguments.by.is_empty() || arguments.diff.is_some();
    super::rows_of(arguments.top, &arguments.output, if named { ROWS_OF_NAMED } else { ROWS_OF_EACH })
}
