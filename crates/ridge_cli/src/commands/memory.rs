//! `ridgeline memory`: what needs memory, how much of it, and when.

use crate::Ending;
use crate::arguments::{Globals, InputArguments, OutputArguments};
use crate::failure::Failure;
use crate::output::{Format, deliver};
use crate::timings::Timings;
use clap::{Args, ValueEnum, ValueHint};
use ridge_report::terminal::{Glyphs, sparkline};
use ridge_report::{Listing, Report};
use ridgeline::{Fact, FactValue, MemoryAnswer, MemoryBy, OpenOptions, Session};
use std::path::PathBuf;

/// Rows of each table where all tables are shown.
const ROWS_OF_EACH: usize = 10;
/// Rows where tables were named.
const ROWS_OF_NAMED: usize = 30;
/// Characters of a line of use over time.
const LINE_WIDTH: usize = 24;

/// Say what needs memory: planned by the compiler, used by allocators, held at the moment of a snapshot
///
/// Compiled modules: the peak of each, what is alive then, arguments that could have been donated.
/// Allocator events (XPlane, Kineto, torch snapshots and timelines): use over time, who held memory at the peak,
/// what was cached, rounded up or fragmented, growth from step to step.
/// Snapshots (JAX device memory profiles, torch snapshots): blocks by the line that made them.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct MemoryArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Show one table instead of the overview; several with commas
    #[arg(long, value_name = "TABLE", value_delimiter = ',')]
    by: Vec<Grouping>,

    /// Module whose peak is looked into, by name as listed [default: the one with the largest]
    #[arg(long, short, value_name = "MODULE")]
    module: Option<String>,

    /// Show what changed from PATH to OTHER instead
    #[arg(long, value_name = "OTHER", value_hint = ValueHint::AnyPath, conflicts_with_all = ["by", "module"])]
    diff: Option<PathBuf>,

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
  ridgeline memory run/ --by donation                arguments that could have been donated
  ridgeline memory run/memory/before.pb.gz --diff run/memory/after.pb.gz
                                                     what a JAX program still holds
  ridgeline memory snapshot.pickle --by holder       who held memory at the peak of a torch program
  ridgeline memory run/ --by usage -f csv            use over time, for a spreadsheet";

/// Tables of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Grouping {
    /// Compiled module: its planned peak and classes
    Module,
    /// Value alive at the peak of one module
    Alive,
    /// Argument that could have been donated
    Donation,
    /// Allocator
    Allocator,
    /// Owner of memory at the peak of each allocator
    Holder,
    /// Stretch of time
    Usage,
    /// Segment that an allocator took from its driver
    Segment,
    /// Snapshot and device
    Snapshot,
    /// Block of snapshots by the line that made it
    Block,
}

impl Grouping {
    fn by(self) -> MemoryBy {
        match self {
            Grouping::Module => MemoryBy::Module,
            Grouping::Alive => MemoryBy::Alive,
            Grouping::Donation => MemoryBy::Donation,
            Grouping::Allocator => MemoryBy::Allocator,
            Grouping::Holder => MemoryBy::Holder,
            Grouping::Usage => MemoryBy::Usage,
            Grouping::Segment => MemoryBy::Segment,
            Grouping::Snapshot => MemoryBy::Snapshot,
            Grouping::Block => MemoryBy::Block,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &MemoryArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let named = if arguments.diff.is_some() { 1 } else { arguments.by.len() };
    super::require_one_table(&arguments.output, named, ", for example `--by module`")?;
    let session = super::open(&arguments.input, timings)?;
    let report = match &arguments.diff {
        None => timings.phase("tables", || report(&session, arguments))?,
        Some(other) => {
            let input = &arguments.input;
            let options = OpenOptions { format: input.read_as.clone(), max_unpacked_bytes: input.max_unpacked };
            let other = super::open_paths(std::slice::from_ref(other), options, timings)?;
            timings.phase("tables", || changes(&session, &other, arguments))
        }
    };
    timings.phase("output", || deliver(&report, &arguments.output, globals))?;
    Ok(Ending::Code(0))
}

fn report(session: &Session, arguments: &MemoryArguments) -> Result<Report, Failure> {
    let named = !arguments.by.is_empty();
    let tables: Vec<MemoryBy> = match named {
        true => arguments.by.iter().map(|grouping| grouping.by()).collect(),
        // Use over time is drawn in the overview where people read it.
        false if arguments.output.format.is_for_programs() => MemoryBy::ALL.to_vec(),
        false => MemoryBy::ALL.into_iter().filter(|by| *by != MemoryBy::Usage).collect(),
    };
    let mut answer = session.memory(&tables, arguments.module.as_deref())?;
    if arguments.output.format == Format::Table {
        draw_lines(&mut answer, if arguments.output.ascii { Glyphs::Ascii } else { Glyphs::Unicode });
    }
    let rows = rows(arguments);
    Ok(Report {
        notes: session.notes().to_vec(),
        sections: if named { Vec::new() } else { answer.sections },
        tables: answer.tables.into_iter().map(|table| Listing::top(table, rows)).collect(),
    })
}

/// Puts use over time into the section of each allocator.
fn draw_lines(answer: &mut MemoryAnswer, glyphs: Glyphs) {
    for (name, values) in &answer.lines {
        let title = format!("Allocator {name}");
        let section = answer.sections.iter_mut().find(|section| section.title == title);
        if let Some(section) = section.filter(|_| values.len() > 1) {
            section.facts.push(Fact {
                key: "line".to_owned(),
                title: "Over time".to_owned(),
                value: FactValue::Text(sparkline(values, LINE_WIDTH, glyphs)),
                share: None,
                definition: "bytes in use from the first allocator event to the last".to_owned(),
            });
        }
    }
}

fn changes(session: &Session, other: &Session, arguments: &MemoryArguments) -> Report {
    let notes = session.notes().iter().chain(other.notes()).cloned().collect();
    let table = session.memory_changes(other);
    Report { notes, tables: vec![Listing::top(table, rows(arguments))], ..Report::EMPTY }
}

fn rows(arguments: &MemoryArguments) -> usize {
    let named = !arguments.by.is_empty() || arguments.diff.is_some();
    super::rows_of(arguments.top, &arguments.output, if named { ROWS_OF_NAMED } else { ROWS_OF_EACH })
}
