//! `ridgeline compile`: what XLA makes of a program for a GPU that is not there.

mod tables;

use crate::arguments::{Globals, OutputArguments, TextLayout, TextOutput};
use crate::compiled_as::{described, trips_by_name};
use crate::ending::Ending;
use crate::failure::{FAILED, Failure};
use crate::format::Format;
use crate::output::deliver;
use clap::{Args, ValueHint};
use indicatif::ProgressBar;
use ridge_record::compile::{
    CompileError, CompileEvent, Compiled, Compiler, Dump, InstallError, Job, LowerError, SourceError, Sources,
    WriteError, begin, claim, compile, compiler, compiler_folder, dump_of, install, lay_out, lower, sources_of,
    why_no_dump, write_manifest,
};
use ridge_record::{HloFormat, ProgramStatus, RecordOptions, record};
use ridgeline::compiling::{Target, targets};
use ridgeline::{CeilingsChoice, OpenOptions, Prediction, Recorded, Session, Trips, predict, predict_recorded};
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// Compile a program for a GPU that you don't have, and keep everything that XLA produces
///
/// XLA's own compiler runs on this machine; neither the GPU nor its driver is needed. For each module, you get the HLO
/// before and after optimization, the memory plan, the launches, PTX and machine code, and the assembler's report, in a
/// recording per GPU that every other command reads. Nothing runs on a GPU, so autotuning is off; docs/compile.md lists
/// the differences on a real one.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct CompileArguments {
    /// A recording, a directory of XLA dumps (--xla_dump_to), or `FILE.py:FUNCTION` with --args
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath, conflicts_with = "command")]
    input: Option<PathBuf>,

    /// The GPUs to compile for (comma-separated)
    #[arg(long = "for", value_name = "GPU", value_delimiter = ',', default_value = "h100", long_help = long_help_of_for())]
    gpus: Vec<String>,

    /// Arguments of the function, separated by spaces: `f64[6,96,96]` is an array, `n=3` or `0.5` a Python value
    #[arg(long, value_name = "ARGUMENTS", requires = "input")]
    args: Option<String>,

    /// Output directory, with one recording per GPU [default: ridgeline-compiled-N]
    #[arg(long = "output", short = 'o', alias = "out", value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,

    /// Python interpreter that imports FILE.py [default: from $VIRTUAL_ENV, else .venv, else python3]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    python: Option<PathBuf>,

    /// Python interpreter with the compiler [default: $RIDGELINE_COMPILER, else the one from --install]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::ExecutablePath)]
    compiler: Option<PathBuf>,

    /// Install the compiler, JAX with its CUDA plugin and ptxas (1.4 GB), into a separate environment
    #[arg(long, conflicts_with_all = ["input", "command", "args", "out", "compiler"])]
    install: bool,

    /// Version of JAX to install; must match the program's
    #[arg(long, value_name = "VERSION", requires = "install")]
    jax: Option<String>,

    /// Output format
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    format: Format,

    #[command(flatten)]
    layout: TextLayout,

    /// A program to record on the CPU first, with its arguments
    #[arg(last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline compile --install                                        once: the compiler, into its own environment
  ridgeline compile --for h100 -- python recon.py                    run once on the CPU, compile every module
  ridgeline compile --for h100,a100 run/                             the modules of a recording
  ridgeline compile --for h100 solver.py:step --args 'f64[6,96,96]'  nothing runs
  ridgeline compile dump/                                            XLA's own dumps, as a recording
  ridgeline hlo ridgeline-compiled-1/h100                            look at the result

To record the best form for compiling, use `ridgeline record --hlo text,proto,jaxpr,stablehlo,lowered`.

Exit status:
  0 if every module was compiled, 1 if one was not; with a COMMAND that failed, its own.";

/// Runs the command.
pub(crate) fn run(arguments: &CompileArguments, globals: &Globals) -> Result<Ending, Failure> {
    if arguments.install {
        let made = install(arguments.python.as_deref(), arguments.jax.as_deref())?;
        say(&format!(
            "  installed  {}\n  next       ridgeline compile --for h100 -- python PROGRAM\n",
            made.python.display()
        ));
        return Ok(Ending::Code(0));
    }
    let chosen = arguments.gpus.iter().map(|name| target(name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(dump) = dump_in(arguments.input.as_deref()) {
        return of_dump(&dump, arguments, globals);
    }
    if let Some(folder) = arguments.input.as_deref().filter(|folder| !folder.join("manifest.json").exists())
        && let Ok(Some(why)) = why_no_dump(folder)
    {
        return Err(Failure::failed(format!("expected XLA's dump of a program on a GPU, found {why}"))
            .at(folder)
            .hint("`XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text --xla_dump_hlo_as_proto'` where the GPU is"));
    }
    let Compiler { python } = compiler(arguments.compiler.as_deref()).ok_or_else(no_compiler)?;
    let out = arguments.out.clone().unwrap_or_else(free_folder);
    let is_new = !out.exists();
    claim(&out)?;
    let (sources, status) = sources(arguments, &out).inspect_err(|_| {
        if is_new {
            // Goes only if it is empty; otherwise it holds what was recorded.
            let _ = std::fs::remove_dir(&out);
        }
    })?;
    chosen.iter().try_for_each(|target| begin(&out.join(target.id), &described(target)))?;
    let job = Job {
        python: &python,
        targets: chosen.iter().map(|target| (target.id.to_owned(), target.config())).collect(),
        modules: &sources.modules,
        jaxlib: sources.jaxlib.as_deref(),
        out: &out,
    };
    let spinner = std::io::stderr().is_terminal().then(ProgressBar::new_spinner);
    let compiled = compile(&job, &mut |CompileEvent::Started { target, module }| match &spinner {
        Some(spinner) => spinner.set_message(format!("{module} for {target}")),
        None if globals.verbose => say(&format!("ridgeline: {module} for {target}\n")),
        None => {}
    });
    spinner.iter().for_each(ProgressBar::finish_and_clear);
    let compiled = compiled?;
    for (target, compiled) in chosen.iter().zip(&compiled) {
        write_manifest(&out.join(target.id), &described(target), &sources.command, compiled)?;
    }
    let made: Vec<PathBuf> = chosen.iter().map(|target| out.join(target.id)).collect();
    shown(&made, &compiled, &sources, arguments, globals)?;
    Ok(ending(status, &compiled))
}

/// Predicts what is in the recordings of GPUs, and shows it.
fn shown(
    folders: &[PathBuf],
    compiled: &[Compiled],
    sources: &Sources,
    arguments: &CompileArguments,
    globals: &Globals,
) -> Result<(), Failure> {
    let predicted = predicted(folders, sources, recording(arguments, folders).as_deref())?;
    let report = tables::report(&tables::Made { compiled, predicted: &predicted, sources, folders }, arguments.format);
    let layout = TextLayout { width: arguments.layout.width, ascii: arguments.layout.ascii };
    let output = OutputArguments { format: arguments.format, sort: None, text: TextOutput { output: None, layout } };
    deliver(&report, &output, globals)
}

/// What is predicted of each GPU; where a loop's trips are unknown, those of the recording are taken.
fn predicted(folders: &[PathBuf], sources: &Sources, recording: Option<&Path>) -> Result<Vec<Prediction>, Failure> {
    let mut predicted = folders.iter().map(|folder| predict(folder)).collect::<Result<Vec<_>, _>>()?;
    let is_unknown = |one: &Prediction| one.modules.iter().any(|module| module.trips() == Trips::Unknown);
    let Some(recording) = recording.filter(|_| predicted.iter().any(is_unknown)) else { return Ok(predicted) };
    let options = OpenOptions { ceilings: CeilingsChoice::None, ..OpenOptions::default() };
    match Session::open(&[recording.to_path_buf()], &options) {
        Ok(session) if !session.is_predicted() => {
            let recorded = Recorded { runs: None, trips: trips_by_name(sources, session.loop_trips()) };
            folders.iter().map(|folder| Ok(predict_recorded(folder, &recorded)?)).collect()
        }
        Ok(_) => Ok(predicted),
        Err(error) => {
            for one in &mut predicted {
                one.notes.push(format!("the recording does not show how often loops went round: {error}"));
            }
            Ok(predicted)
        }
    }
}

/// The recording that was compiled.
fn recording(arguments: &CompileArguments, folders: &[PathBuf]) -> Option<PathBuf> {
    let made = folders.first()?.parent()?.join("recorded");
    let given = arguments.input.clone().filter(|input| input.join("manifest.json").is_file());
    given.or_else(|| (!arguments.command.is_empty()).then_some(made))
}

/// The dump that `input` is, where it is one and no recording.
fn dump_in(input: Option<&Path>) -> Option<Dump> {
    let folder = input.filter(|folder| folder.is_dir() && !folder.join("manifest.json").exists())?;
    dump_of(folder).ok()?
}

/// Lays a dump out as a recording of the GPU that it is of.
fn of_dump(dump: &Dump, arguments: &CompileArguments, globals: &Globals) -> Result<Ending, Failure> {
    let target = target(dump.device.as_deref().unwrap_or(&arguments.gpus[0]))?;
    let out = arguments.out.clone().unwrap_or_else(free_folder);
    claim(&out)?;
    let folder = out.join(target.id);
    let compiled = [lay_out(dump, &folder)];
    write_manifest(&folder, &described(target), &[], &compiled[0])?;
    shown(&[folder], &compiled, &Sources::default(), arguments, globals)?;
    Ok(ending(None, &compiled))
}

fn ending(status: Option<ProgramStatus>, compiled: &[Compiled]) -> Ending {
    match status {
        Some(status) if status != ProgramStatus::Exited(0) => Ending::Like(status),
        _ if compiled.iter().any(|compiled| !compiled.failed.is_empty()) => Ending::Code(FAILED),
        _ => Ending::Code(0),
    }
}

/// What is compiled, and how the program ended where one was run for it.
fn sources(arguments: &CompileArguments, out: &Path) -> Result<(Sources, Option<ProgramStatus>), Failure> {
    if !arguments.command.is_empty() {
        let folder = out.join("recorded");
        let mut options = RecordOptions::new(arguments.command.iter().cloned());
        options.out = Some(folder.clone());
        options.hlo.insert(HloFormat::Lowered);
        let outcome = record(&options, &mut |_| {})?;
        return Ok((sources_of(&folder)?, Some(outcome.status)));
    }
    let Some(input) = &arguments.input else {
        return Err(Failure::usage("expected a recording, a function or a program to compile, found none")
            .hint("`ridgeline compile --for h100 -- python PROGRAM` runs one; `--install` installs the compiler"));
    };
    if let Some((file, function)) = function_of(input) {
        let given = arguments.args.as_deref().unwrap_or_default();
        let given: Vec<String> = given.split_whitespace().map(str::to_owned).collect();
        let folder = out.join("lowered");
        let lowered = lower(arguments.python.as_deref(), (&file, &function), &given, &folder)?;
        return Ok((lowered, None));
    }
    if arguments.args.is_some() {
        return Err(Failure::usage(format!("`--args` goes with FILE.py:FUNCTION, found {}", input.display())));
    }
    Ok((sources_of(input)?, None))
}

/// `solver.py:step` in its parts.
fn function_of(input: &Path) -> Option<(PathBuf, String)> {
    let (file, function) = input.to_str()?.rsplit_once(':')?;
    let is_python = Path::new(file).extension().is_some_and(|ending| ending == "py");
    (is_python && !function.is_empty()).then(|| (PathBuf::from(file), function.to_owned()))
}

fn target(name: &str) -> Result<&'static Target, Failure> {
    Target::named(name).ok_or_else(|| {
        if is_of_amd(name) {
            return Failure::usage(format!("`{name}` is an AMD GPU, which this compiler does not support"))
                .hint("XLA's plugin for AMD GPUs needs an installed ROCm; record the program on that GPU");
        }
        Failure::usage(format!("unknown GPU `{name}`")).hint(format!("XLA's figures are known for {}", known_gpus()))
    })
}

fn known_gpus() -> String {
    targets().iter().map(|target| target.id).collect::<Vec<_>>().join(", ")
}

fn long_help_of_for() -> String {
    format!("The GPUs to compile for (comma-separated): {}", known_gpus())
}

/// Whether a name is one of AMD's: `mi300x`, `gfx942`.
fn is_of_amd(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_numbered = |rest: &str| rest.starts_with(|letter: char| letter.is_ascii_digit());
    ["mi", "gfx"].iter().any(|start| name.strip_prefix(start).is_some_and(is_numbered))
}

fn no_compiler() -> Failure {
    Failure::failed("the compiler for GPUs is not installed")
        .hint(format!("`ridgeline compile --install` puts it into {} (1.4 GB)", compiler_folder().display()))
}

fn free_folder() -> PathBuf {
    let named = |n: u32| PathBuf::from(format!("ridgeline-compiled-{n}"));
    (1..).map(named).find(|path| !path.exists()).expect("one of four billion names is free")
}

fn say(text: &str) {
    use std::io::Write as _;
    // What was done counts, not whether somebody reads this.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

impl From<CompileError> for Failure {
    fn from(error: CompileError) -> Failure {
        let failure = Failure::failed(error.to_string());
        match error {
            CompileError::Versions { lowered, .. } => {
                failure.hint(format!("`ridgeline compile --install --jax {lowered}` installs the program's version"))
            }
            CompileError::Unusable { .. } => failure.hint("`ridgeline compile --install` reinstalls it"),
            CompileError::Interrupted => failure.code(130),
            _ => failure,
        }
    }
}

impl From<InstallError> for Failure {
    fn from(error: InstallError) -> Failure {
        Failure::failed(error.to_string())
    }
}

impl From<LowerError> for Failure {
    fn from(error: LowerError) -> Failure {
        let failure = Failure::failed(error.to_string());
        match error {
            LowerError::NotImported { .. } => {
                failure.hint("`--python FILE` names the interpreter with the packages that the file imports")
            }
            LowerError::Refused { why, .. } if why.starts_with("TypeError") => {
                failure.hint("`--args 'f32[8,8] n=3'` gives the function an array and a Python value")
            }
            _ => failure,
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Failure {
        let failure = Failure::failed(error.to_string());
        match error {
            SourceError::NoStablehlo { .. } => {
                failure.hint("record it again with `ridgeline record --hlo text,proto,jaxpr,stablehlo,lowered`")
            }
            _ => failure.hint("`ridgeline compile --for h100 -- python PROGRAM` records and compiles a program"),
        }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Failure {
        let failure = Failure::failed(error.to_string());
        match error {
            WriteError::InUse { .. } => failure.hint("`-o DIR` names another directory"),
            _ => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_of_amd_is_refused_with_the_reason() {
        for name in ["mi300x", "MI250X", "gfx942"] {
            let said = format!("{:?}", target(name).expect_err("AMD's"));
            assert!(said.contains("ROCm"), "{said}");
        }
        let unknown = format!("{:?}", target("micro").expect_err("unknown"));
        assert!(!unknown.contains("ROCm"), "{unknown}");
    }

    #[test]
    fn a_function_is_told_from_a_folder() {
        let told =
            |text: &str| function_of(Path::new(text)).map(|(file, function)| format!("{} {function}", file.display()));
        assert_eq!(told("a/solver.py:step").as_deref(), Some("a/solver.py step"));
        assert_eq!(told("solver.py:Model.step").as_deref(), Some("solver.py Model.step"));
        for text in ["run", "run:1", "solver.py", "solver.py:"] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
