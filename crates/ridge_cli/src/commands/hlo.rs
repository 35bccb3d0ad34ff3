//! `ridgeline hlo`: the compiled modules of a capture.

use crate::arguments::{Globals, OutputArguments};
use crate::ending::Ending;
use crate::failure::Failure;
use crate::output::{deliver, deliver_text};
use crate::timings::Timings;
use clap::{Args, ValueEnum, ValueHint};
use ridge_report::{Report, texts};
use ridgeline::{HloStage, OpenOptions, Session, Table};
use std::path::PathBuf;

/// Rows of a listing where none were asked.
const ROWS: usize = 50;
/// Modules named in a hint.
const MODULES_IN_HINT: usize = 8;

/// Show compiled modules: a list of them, their operations, text and graph
///
/// Without `--module`, lists the modules; with it, the module's operations. `--text`, `--dot` and the like print that
/// form instead; a capture with a single module needs no `--module`.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct HloArguments {
    /// A capture: a file, a recording, a TensorBoard log directory
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    path: PathBuf,

    /// Read the capture as this format instead of detecting it from its content
    #[arg(long, value_name = "NAME")]
    read_as: Option<String>,

    /// Module, by its name as listed
    #[arg(long, short, value_name = "MODULE")]
    module: Option<String>,

    /// Show only this operation of the module
    #[arg(long, value_name = "OP")]
    op: Option<String>,

    #[command(flatten)]
    form: FormArguments,

    /// With --fused: show what this compilation of the same module fused differently
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, requires = "fused")]
    against: Option<PathBuf>,

    /// Rows of a listing, 0 for all [default: 50; all for json, csv and arrow]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline hlo run/                                        the modules
  ridgeline hlo run/ --module jit_step                      its operations
  ridgeline hlo run/ --module jit_step --text               what ran, as HLO text
  ridgeline hlo run/ --module jit_step --stage before       the same before optimization
  ridgeline hlo run/ --module jit_step --fused              which kernel contains each operation
  ridgeline hlo new/ --module jit_step --fused --against old/
                                                            what two compilations fused differently
  ridgeline hlo run/ --module jit_step --op fusion.3        one operation with what it calls
  ridgeline hlo run/ --opcodes                              how often each opcode occurs
  ridgeline hlo run/ --module jit_step --dot | dot -Tsvg -o step.svg";

/// The forms of a module.
#[derive(Debug, Args)]
#[group(multiple = false)]
#[command(next_help_heading = "Form")]
struct FormArguments {
    /// HLO text as it ran; same as --stage after
    #[arg(long)]
    text: bool,
    /// HLO text before or after optimization, if recorded
    #[arg(long, value_name = "STAGE")]
    stage: Option<StageName>,
    /// Number of instructions by opcode, in the module or in all modules
    #[arg(long)]
    opcodes: bool,
    /// Graph for Graphviz
    #[arg(long)]
    dot: bool,
    /// The name of `--stage before` in earlier versions.
    #[arg(long, hide = true)]
    before: bool,
    /// The name of `--stage after` in earlier versions.
    #[arg(long, hide = true)]
    after: bool,
    /// Each operation of the program and the kernel that contains it; needs HLO before optimization
    #[arg(long)]
    fused: bool,
    /// The jaxpr, if recorded
    #[arg(long)]
    jaxpr: bool,
    /// The StableHLO that JAX passed to XLA, if recorded
    #[arg(long)]
    stablehlo: bool,
}

/// A side of XLA's optimization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum StageName {
    /// Before optimization
    Before,
    /// After optimization, as it ran
    After,
}

/// What to print of a module.
enum Form {
    Listing,
    Text(HloStage),
    Dot,
    Opcodes,
    Fused,
}

impl HloArguments {
    fn form(&self) -> Form {
        let form = &self.form;
        let stages = [
            (form.before || form.stage == Some(StageName::Before), HloStage::Before),
            (form.after || form.text || form.stage == Some(StageName::After), HloStage::After),
            (form.jaxpr, HloStage::Jaxpr),
            (form.stablehlo, HloStage::StableHlo),
        ];
        match stages.into_iter().find(|(asked, _)| *asked) {
            Some((_, stage)) => Form::Text(stage),
            None if form.dot => Form::Dot,
            None if form.opcodes => Form::Opcodes,
            None if form.fused => Form::Fused,
            None if self.op.is_some() => Form::Text(HloStage::After),
            None => Form::Listing,
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &HloArguments, globals: &Globals, timings: &mut Timings) -> Result<Ending, Failure> {
    let options = OpenOptions { format: arguments.read_as.clone(), ..OpenOptions::default() };
    let session = super::open_paths(std::slice::from_ref(&arguments.path), &options, timings)?;
    let op = arguments.op.as_deref();
    match (arguments.form(), &arguments.module) {
        (Form::Listing, None) => listed(vec![session.hlo_modules()], &session, arguments, globals)?,
        (Form::Listing, Some(module)) => listed(vec![session.hlo_ops(module)?], &session, arguments, globals)?,
        (Form::Opcodes, module) => listed(vec![session.opcodes(module.as_deref())?], &session, arguments, globals)?,
        (Form::Text(stage), module) => {
            let module = one_module(&session, module.as_deref())?;
            deliver_text(&session.hlo_text(&module, op, stage)?, &arguments.output)?;
        }
        (Form::Fused, module) => {
            let module = one_module(&session, module.as_deref())?;
            let tables = match &arguments.against {
                None => session.hlo_fused(&module)?,
                Some(path) => {
                    let other = super::open_paths(std::slice::from_ref(path), &options, timings)?;
                    vec![session.hlo_fused_changes(&other, &module)?]
                }
            };
            listed(tables, &session, arguments, globals)?;
        }
        (Form::Dot, module) => {
            let module = one_module(&session, module.as_deref())?;
            deliver_text(&session.hlo_dot(&module, op)?, &arguments.output)?;
        }
    }
    Ok(Ending::Code(0))
}

fn listed(tables: Vec<Table>, session: &Session, arguments: &HloArguments, globals: &Globals) -> Result<(), Failure> {
    let rows = match arguments.top {
        Some(0) => usize::MAX,
        Some(rows) => rows,
        None if arguments.output.format.is_for_programs() => usize::MAX,
        None => ROWS,
    };
    let tables = super::listed(tables, rows, &arguments.output)?;
    let report = Report { notes: session.notes().to_vec(), tables, ..Report::EMPTY };
    deliver(&report, &arguments.output, globals)
}

/// The module asked for, or the only one there is.
fn one_module(session: &Session, asked: Option<&str>) -> Result<String, Failure> {
    if let Some(asked) = asked {
        return Ok(asked.to_owned());
    }
    let table = session.hlo_modules();
    let modules = texts(&table, "module");
    match modules[..] {
        [only] => Ok(only.to_owned()),
        [] => Err(Failure::failed("expected a compiled module, found none in this capture")
            .hint("`ridgeline record` keeps modules; some profilers do not")),
        _ => {
            let more = if modules.len() > MODULES_IN_HINT { ", …" } else { "" };
            let names = modules[..modules.len().min(MODULES_IN_HINT)].join(", ");
            Err(Failure::usage(format!("expected one module, found {}", modules.len()))
                .hint(format!("name one with `--module`: {names}{more}")))
        }
    }
}
