//! `ridgeline stats`: where the time went.

use crate::Ending;
use crate::arguments::{CeilingsArguments, Globals, InputArguments, OutputArguments};
use crate::failure::Failure;
use crate::output::deliver;
use crate::timings::Timings;
use clap::{Args, ValueEnum};
use ridge_report::{Listing, Report};
use ridgeline::{By, Note, Session, Severity};

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
    ceilings: CeilingsArguments,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline stats run/                                    overview, then the top of each table
  ridgeline stats run/ --by op --top 50                   the 50 operations that took longest
  ridgeline stats run/ --by source                        device time per line of Python
  ridgeline stats trace.json.gz --by operator             PyTorch operators, as key_averages()
  ridgeline stats rank*.json.gz --by rank                 who waits for whom in collectives
  ridgeline stats host.xplane.pb --by kernel -f csv       raw numbers for a spreadsheet
  ridgeline stats run.sqlite --by cuda_api_sum            a report of `nsys stats` by its name
  ridgeline stats run/ --by op -f arrow -o op.arrow       for pandas.read_feather or polars.read_ipc
  ridgeline stats run/ -f json | jq '.overview'           for programs; see docs/json";

/// What to group time by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Grouping {
    /// HLO operation
    Op,
    /// Kernel on the device
    #[value(aliases = ["cuda_gpu_kern_sum", "cuda_gpu_sum", "gpukernsum"])]
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
    #[value(aliases = ["nvtx_sum", "nvtx_pushpop_sum", "nvtx_startend_sum", "nvtx_gpu_proj_sum", "nvtxsum"])]
    Operation,
    /// Framework operator, as PyTorch's key_averages()
    Operator,
    /// Framework operator and the sizes of its inputs
    OperatorShapes,
    /// Collective operation, matched over ranks
    Collective,
    /// Rank: who waits for whom
    Rank,
    /// Step (StepTraceAnnotation)
    Step,
    /// Stream, thread or lane
    Track,
    /// Launch of a kernel under a hardware profiler (Nsight Compute)
    Profile,
    /// Call of the host: runtime and driver API, libraries
    #[value(aliases = ["cuda_api_sum", "osrt_sum", "cudaapisum"])]
    Call,
    /// Copy or memory set, by direction and memory
    #[value(aliases = ["cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "gpumemtimesum", "gpumemsizesum"])]
    Copy,
    /// Call and the kernel that it launched, with the time in between
    #[value(aliases = ["cuda_kern_exec_sum", "kernexecsum"])]
    Launch,
}

impl Grouping {
    /// What is shown where no table is named, in the order that narrows from the whole to the part.
    const ALL: [Grouping; 13] = [
        Grouping::Operation,
        Grouping::Step,
        Grouping::Rank,
        Grouping::Collective,
        Grouping::Operator,
        Grouping::Module,
        Grouping::Category,
        Grouping::Op,
        Grouping::Kernel,
        Grouping::Source,
        Grouping::Scope,
        Grouping::Track,
        Grouping::Profile,
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
            Grouping::Operator => By::Operator,
            Grouping::OperatorShapes => By::OperatorShapes,
            Grouping::Collective => By::Collective,
            Grouping::Rank => By::Rank,
            Grouping::Step => By::Step,
            Grouping::Track => By::Track,
            Grouping::Profile => By::Profile,
            Grouping::Call => By::Call,
            Grouping::Copy => By::Copy,
            Grouping::Launch => By::Launch,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &StatsArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    super::require_one_table(&arguments.output, arguments.by.len(), ", for example `--by op`")?;
    let mut session = super::open(&arguments.input, timings)?;
    session.use_ceilings(&arguments.ceilings.choice())?;
    let report = timings.phase("tables", || report(&session, arguments));
    timings.phase("output", || deliver(&report, &arguments.output, globals))?;
    Ok(Ending::Code(0))
}

fn report(session: &Session, arguments: &StatsArguments) -> Report {
    let named = !arguments.by.is_empty();
    let groupings = if named { arguments.by.clone() } else { answered(session) };
    let rows = super::rows_of(arguments.top, &arguments.output, if named { ROWS_OF_NAMED } else { ROWS_OF_EACH });
    let groupings: Vec<By> = groupings.iter().map(|grouping| grouping.by()).collect();
    let (sections, tables) = match groupings[..] {
        [one] if named => (Vec::new(), vec![session.table(one)]),
        _ => session.report(&groupings),
    };
    Report {
        notes: [session.notes(), &untimed(session)].concat(),
        sections: if named { Vec::new() } else { sections },
        tables: tables.into_iter().map(|table| Listing::top(table, rows)).collect(),
    }
}

/// Where to look in a capture in which nothing has a time.
fn untimed(session: &Session) -> Vec<Note> {
    let trace = session.trace();
    if !trace.events.is_empty() || !trace.profiles.is_empty() {
        return Vec::new();
    }
    let has_memory = !trace.memory.blocks.is_empty() || !trace.allocations.time_ns.is_empty();
    let command = match (has_memory, trace.modules.is_empty()) {
        (true, _) => "`ridgeline memory` shows what was held",
        (false, false) => "`ridgeline hlo` shows the modules",
        (false, true) => "`ridgeline info` says what is there",
    };
    let message = format!("nothing in it has a time, so there are no tables; {command}");
    vec![Note { severity: Severity::Info, message, file: None, offset: None, count: 1 }]
}

/// The tables that the capture can answer: events have one kind, launches under a profiler another.
fn answered(session: &Session) -> Vec<Grouping> {
    let trace = session.trace();
    let (events, profiles) = (!trace.events.is_empty(), !trace.profiles.is_empty());
    let can = |grouping: &Grouping| match grouping {
        Grouping::Profile => profiles,
        Grouping::Operator => !trace.operator_shapes.is_empty(),
        Grouping::Collective => !trace.collectives.is_empty(),
        Grouping::Rank => trace.processes.iter().filter(|process| process.rank.is_some()).count() > 1,
        _ => events,
    };
    Grouping::ALL.into_iter().filter(can).collect()
}
