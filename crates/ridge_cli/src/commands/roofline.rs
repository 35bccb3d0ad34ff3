//! `ridgeline roofline`: how far operations are from what their device allows.

use crate::arguments::{CeilingsArguments, Globals, InputArguments, OutputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::{deliver_drawn, write_drawing, write_file};
use crate::timings::Timings;
use crate::views::ViewOf;
use clap::{Args, ValueHint};
use ridge_report::csv;
use ridge_report::roofline::svg;
use ridge_report::terminal::{self, Layout};
use ridge_report::{Listing, Report};
use ridgeline::{Answer, Chart, Question, Topic, View};
use std::path::PathBuf;

/// Rows where none were asked.
const ROWS: usize = 20;

/// Show how close operations come to the limits of their device: rate, intensity, bound and headroom
///
/// Work is counted from the compiled modules, time is measured, and the roofs come from the data sheet or from
/// `ridgeline calibrate`. Intensity is based on compulsory traffic: the least that memory has to carry. Headroom is the
/// measured time divided by the least time the device needs. See docs/roofline.md.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RooflineArguments {
    #[command(flatten)]
    input: InputArguments,

    /// Items to plot and list
    #[arg(long, value_name = "WHAT", default_value = "op", value_parser = ViewOf(Topic::Roofline))]
    by: &'static View,

    /// Target GPU for a CPU recording: compile its modules for that GPU, and show predicted times
    #[arg(long = "as", value_name = "GPU")]
    meant: Option<String>,

    /// Rows of the table, 0 for all [default: 20; all for json, csv and arrow]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Write the chart as SVG to FILE
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    svg: Option<PathBuf>,

    /// Write the chart as PNG to FILE
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
  ridgeline roofline run/                                 the chart and the 20 longest
  ridgeline roofline run/ --as h100                       a CPU's recording, compiled for that GPU
  ridgeline roofline run/ --by module                     the same for whole programs
  ridgeline roofline report.ncu-rep --by profile          L1, L2 and DRAM of profiled kernels
  ridgeline roofline run/ --svg roof.svg --png roof.png   charts for a report
  ridgeline roofline run/ --ceilings none                 against the data sheet, even if ceilings were measured
  ridgeline roofline run/ -f json | jq '.tables[0].rows'  for programs; see docs/json";

/// Runs the command.
pub(crate) fn run(arguments: &RooflineArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let session = super::open_with(&arguments.input, arguments.ceilings.choice(), timings)?;
    let (session, said) = super::meant(session, arguments.meant.as_deref(), timings)?;
    let question = Question::default();
    let answer = timings.phase("roofline", || session.answer(Topic::Roofline, &[arguments.by], question))?;
    let charts = session.charts(arguments.by);
    let Answer { sections, tables } = answer;
    let table = tables.into_iter().next().expect("expected one view");
    let all = Listing::whole(table);
    timings.phase("drawings", || write_drawings(&charts, &all, arguments))?;
    let rows = super::rows_of(arguments.top, &arguments.output, ROWS);
    let tables = super::listed(vec![all.table], rows, &arguments.output)?;
    let notes = said.into_iter().chain(session.notes().iter().cloned()).collect();
    let report = Report { notes, sections, tables };
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
                match arguments.by.id {
                    "profile" => "a drawing needs operations and bytes; `ncu --set roofline` counts them",
                    _ => "a drawing needs compiled modules in the capture; `ridgeline record` keeps them",
                },
            ));
        }
        write_drawing(&svg(charts), arguments.svg.as_deref(), arguments.png.as_deref())?;
    }
    match &arguments.csv {
        Some(path) => write_file(path, csv::table(all).as_bytes()),
        None => Ok(()),
    }
}
