//! `ridgeline roofline`: how far operations are from what their device allows.

use crate::Ending;
use crate::arguments::{CeilingsArguments, Globals, InputArguments, OutputArguments};
use crate::failure::Failure;
use crate::output::{deliver_drawn, write_drawing, write_file};
use crate::timings::Timings;
use clap::{Args, ValueEnum, ValueHint};
use ridge_report::csv::{self, Controls};
use ridge_report::roofline::svg;
use ridge_report::terminal::{self, Layout};
use ridge_report::{Listing, Report};
use ridgeline::{By, Chart, Roofline};
use std::path::PathBuf;

/// Rows where none were asked.
const ROWS: usize = 20;

/// Say how far operations are from what their device allows: rate, intensity, bound and headroom
///
/// Work is counted from the compiled modules, time is measured, and the roofs are the data sheet's or what
/// `ridgeline calibrate` measured. Intensity is on compulsory traffic: what memory has to carry at least.
/// Headroom is measured time over the least time the device needs. See docs/roofline.md.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RooflineArguments {
    #[command(flatten)]
    input: InputArguments,

    /// What a point is
    #[arg(long, value_name = "WHAT", default_value = "op")]
    by: Grouping,

    /// Rows of the table, 0 for all [default: 20; all for json, csv and arrow]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Draw it as SVG to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    svg: Option<PathBuf>,

    /// Draw it as PNG to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    png: Option<PathBuf>,

    /// Write all rows as CSV to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    csv: Option<PathBuf>,

    #[command(flatten)]
    ceilings: CeilingsArguments,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline roofline run/                                 the drawing and the longest 20
  ridgeline roofline run/ --by module                     the same for whole programs
  ridgeline roofline report.ncu-rep --by profile          L1, L2 and DRAM of profiled kernels
  ridgeline roofline run/ --svg roof.svg --png roof.png   drawings for a report
  ridgeline roofline run/ --ceilings none                 against the data sheet, whatever was measured
  ridgeline roofline run/ -f json | jq '.tables[0].rows'  for programs; see docs/json";

/// What a point of the roofline is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Grouping {
    /// HLO operation
    Op,
    /// Kernel on the device
    Kernel,
    /// Compiled module
    Module,
    /// Step (StepTraceAnnotation)
    Step,
    /// Annotated operation (TraceAnnotation) with all work it caused
    Operation,
    /// Launch under a hardware profiler (Nsight Compute): L1, L2 and DRAM by its counters
    Profile,
}

impl Grouping {
    fn by(self) -> By {
        match self {
            Grouping::Op => By::Op,
            Grouping::Kernel => By::Kernel,
            Grouping::Module => By::Module,
            Grouping::Step => By::Step,
            Grouping::Operation => By::Operation,
            Grouping::Profile => By::Profile,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &RooflineArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let mut session = super::open(&arguments.input, timings)?;
    session.use_ceilings(&arguments.ceilings.choice())?;
    let Roofline { sections, charts, table } = timings.phase("roofline", || session.roofline(arguments.by.by()));
    let all = Listing::whole(table);
    timings.phase("drawings", || write_drawings(&charts, &all, arguments))?;
    let rows = super::rows_of(arguments.top, &arguments.output, ROWS);
    let report = Report { notes: session.notes().to_vec(), sections, tables: vec![Listing::top(all.table, rows)] };
    let draw =
        |layout: &Layout| charts.iter().map(|chart| terminal::roofline(chart, layout)).collect::<Vec<_>>().join("\n");
    timings.phase("output", || deliver_drawn(&report, draw, &arguments.output, globals))?;
    Ok(Ending::Code(0))
}

/// Writes the files that were asked for.
fn write_drawings(charts: &[Chart], all: &Listing, arguments: &RooflineArguments) -> Result<(), Failure> {
    if arguments.svg.is_some() || arguments.png.is_some() {
        if charts.is_empty() {
            return Err(Failure::failed("expected operations with known work to draw, found none").hint(
                match arguments.by {
                    Grouping::Profile => "a drawing needs operations and bytes; `ncu --set roofline` counts them",
                    _ => "a drawing needs compiled modules in the capture; `ridgeline record` keeps them",
                },
            ));
        }
        write_drawing(&svg(charts), arguments.svg.as_deref(), arguments.png.as_deref())?;
    }
    match &arguments.csv {
        Some(path) => write_file(path, csv::table(all, Controls::Keep).as_bytes()),
        None => Ok(()),
    }
}
