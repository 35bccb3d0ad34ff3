//! `ridgeline scaling`: how time, work and memory grow with size, and how the steps of one run drift.

use crate::arguments::{Globals, InputArguments, OutputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::{deliver, deliver_drawn, write_drawing};
use crate::timings::Timings;
use clap::{Args, ValueEnum, ValueHint};
use ridge_report::Report;
use ridge_report::terminal::{self, Layout};
use ridgeline::{GrowthChart, Note, ScalingOptions, Table, WorkFrom, is_benchmark, scaling};
use std::path::PathBuf;

/// Rows of each table where none were asked for.
const ROWS: usize = 40;

/// Show how time, work and memory grow with problem size, and what dominates at the next size
///
/// Reads directories written by `ridgeline bench`; several are joined, so sizes can be added later. Fits time = a N^b with
/// the 95% interval of b, finds where it bends, and compares it with the growth of the work in
/// the captures:
/// an operation with time that grows faster than its work gets less efficient.
/// For any other capture, it looks at the steps marked by the program: warm-up, drift, outliers.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ScalingArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Size to extrapolate to [default: the largest times its ratio to the one before]
    #[arg(long, value_name = "N")]
    next: Option<u32>,

    /// Exponents of N^D: 3 for the elements of a volume with the size as its edge
    #[arg(long, value_name = "D", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=8))]
    dimensions: u32,

    /// Do not read the captures: times and memory only
    #[arg(long)]
    no_work: bool,

    /// Show one table; csv and arrow have the first if none is named
    #[arg(long = "by", alias = "table", value_name = "TABLE")]
    table: Option<Which>,

    /// Rows per table, 0 for all [default: 40; all for json, csv and arrow]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Write a chart of time by size as SVG to FILE (benchmarks)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    svg: Option<PathBuf>,

    /// Write a chart of time by size as PNG to FILE (benchmarks)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    png: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline bench mbirjax --sizes 32,48,64,96,128 -o sizes/
  ridgeline scaling sizes/                            growth, and what dominates at the next size
  ridgeline scaling sizes/ --next 512                 the same, extrapolated to 512
  ridgeline scaling sizes/ --png growth.png           time by size as a picture
  ridgeline scaling small/ large/ --dimensions 3      exponents per element, over two benchmarks
  ridgeline scaling run/                              the steps of one recording

docs/scaling.md has the formulas.";

/// The tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Exponents of time, work and memory (benchmarks)
    Growth,
    /// Times at the next size (benchmarks)
    Next,
    /// Warm-up, drift and spread by kind of step (captures)
    Steps,
    /// Outlying steps (captures)
    Outliers,
}

impl Which {
    /// The table's own name.
    fn name(self) -> &'static str {
        match self {
            Which::Growth => "growth",
            Which::Next => "next",
            Which::Steps => "steps",
            Which::Outliers => "outliers",
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &ScalingArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let (notes, tables, chart) = answer(arguments, timings)?;
    timings.phase("drawings", || write_drawings(chart.as_ref(), arguments))?;
    let tables = select(tables, arguments)?;
    let rows = match arguments.top {
        Some(0) => usize::MAX,
        Some(rows) => rows,
        None if arguments.output.format.is_for_programs() => usize::MAX,
        None => ROWS,
    };
    let tables = super::listed(tables, rows, &arguments.output)?;
    let report = Report { notes, tables, ..Report::EMPTY };
    timings.phase("output", || match chart.filter(|_| arguments.table.is_none()) {
        Some(chart) => {
            let draw = |layout: &Layout| terminal::growth(&chart, layout);
            deliver_drawn(&report, draw, &arguments.output, globals)
        }
        None => deliver(&report, &arguments.output, globals),
    })?;
    Ok(Ending::Code(0))
}

/// Writes the files that were asked for.
fn write_drawings(chart: Option<&GrowthChart>, arguments: &ScalingArguments) -> Result<(), Failure> {
    if arguments.svg.is_none() && arguments.png.is_none() {
        return Ok(());
    }
    let timed = chart.filter(|chart| !chart.lines.is_empty());
    let chart = timed.ok_or_else(|| {
        Failure::failed("expected times by size to draw, found none")
            .hint("pass `ridgeline bench` directories; the steps of one capture have no size")
    })?;
    write_drawing(&ridge_report::scaling::svg(chart), arguments.svg.as_deref(), arguments.png.as_deref())
}

/// Notes, tables, and for a benchmark the drawing.
type Answer = (Vec<Note>, Vec<Table>, Option<GrowthChart>);

fn answer(arguments: &ScalingArguments, timings: &mut Timings) -> Result<Answer, Failure> {
    let paths = &arguments.input.paths;
    if !paths.iter().any(|path| is_benchmark(path)) {
        let session = super::open(&arguments.input, timings)?;
        return Ok((session.notes().to_vec(), timings.phase("tables", || session.steps()), None));
    }
    let options = ScalingOptions {
        dimensions: arguments.dimensions,
        next: arguments.next.map(f64::from),
        work: if arguments.no_work { WorkFrom::Nowhere } else { WorkFrom::Captures },
    };
    let found = timings.phase("tables", || scaling(paths, &options))?;
    Ok((found.notes, [found.growth].into_iter().chain(found.next).collect(), Some(found.chart)))
}

/// The table that was named, or for a form that holds one the first, or all.
fn select(mut tables: Vec<Table>, arguments: &ScalingArguments) -> Result<Vec<Table>, Failure> {
    if let Some(which) = arguments.table {
        let known: Vec<&str> = tables.iter().map(|table| table.name).collect();
        let missing = format!("expected a table among {}, found {}", known.join(", "), which.name());
        tables.retain(|table| table.name == which.name());
        if tables.is_empty() {
            return Err(Failure::usage(missing)
                .hint("benchmarks have growth and next (of two sizes and more), captures steps and outliers"));
        }
    }
    if arguments.output.format.holds_one_table() {
        tables.truncate(1);
    }
    Ok(tables)
}
