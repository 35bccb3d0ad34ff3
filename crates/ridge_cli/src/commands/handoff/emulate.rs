//! `ridgeline handoff emulate`: the bundle's code in the place of its region, in the program that it came from.

mod json;
mod outputs;
mod report;
mod text;

use crate::ending::Ending;
use crate::failure::{FAILED, Failure};
use clap::{Args, ValueHint};
use outputs::Outputs;
use report::{Replaced, Report, results};
use ridge_record::ProgramStatus;
use ridge_record::emulate::{EmulatedRun, Region};
use ridgeline::handing_over::emulate::{build, calls, events, place, predicted, sides, tally, version};
use ridgeline::handing_over::verify::{Opened, open};
use ridgeline::handing_over::{Fixed, Program};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Run a program on the CPU with the region replaced by the bundle's code, and report the numerical error
///
/// The program runs as it is, then once for the region in its own types and once for each number format.
/// The bundle's C++ becomes a custom call of XLA; a compiled module that is the region is replaced in the unmodified program, and
/// so is a function that the program calls `ridgeline.region("name")`.
/// The original is computed as well, and the two are compared at every call.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct EmulateArguments {
    /// The bundle
    #[arg(value_name = "BUNDLE", value_hint = ValueHint::DirPath)]
    bundle: PathBuf,

    /// A number format to try, `fixed<W,I>`, W bits with I before the point; may be repeated [default: the bundle's]
    #[arg(long, value_name = "FORMAT")]
    number_format: Vec<Fixed>,

    /// Output format: `text` or `json`; with `json`, what the program prints goes to its log
    // Number formats were given here in earlier versions.
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text")]
    format: Vec<Shown>,

    /// Skip the fixed-point formats; run only the original types
    #[arg(long)]
    only_typed: bool,

    /// NumPy file (.npy) that the program writes as its result; may be repeated; programs can call `ridgeline.result("name",
    /// array)` instead
    #[arg(long, alias = "output", value_name = "FILE", value_hint = ValueHint::FilePath)]
    compare: Vec<PathBuf>,

    /// Name of the region in the program's `ridgeline.region("name")` [default: the bundle's]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Keep builds and outputs of the runs in this directory; must not exist
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    keep: Option<PathBuf>,

    /// The name of `--format json` in earlier versions.
    #[arg(long, hide = true)]
    json: bool,

    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline handoff emulate median.handoff/ -- python recon.py
  ridgeline handoff emulate median.handoff/ --number-format 'fixed<16,8>' --number-format 'fixed<18,6>' -- python recon.py
  ridgeline handoff emulate median.handoff/ --compare volume.npy -- python recon.py --size 32
  ridgeline handoff emulate median.handoff/ --format json -- python recon.py > emulation.json

In the program, where the region is a part of a larger compiled function:
  import ridgeline
  median = ridgeline.region(\"median\")(median)          the function whose arrays are the region's
  ridgeline.result(\"volume\", volume)                   what errors are judged by

Exit status:
  0  the region was replaced in every run
  1  it was not, or the program failed, or the bundle was changed
  2  usage error";

/// A word after `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Text,
    Json,
    In(Fixed),
}

impl FromStr for Shown {
    type Err = String;

    fn from_str(text: &str) -> Result<Shown, String> {
        match text {
            "text" => return Ok(Shown::Text),
            "json" => return Ok(Shown::Json),
            _ => {}
        }
        text.parse().map(Shown::In).map_err(|error: ridgeline::handing_over::FormatError| error.to_string())
    }
}

/// Runs the command.
pub(super) fn run(arguments: &EmulateArguments) -> Result<Ending, Failure> {
    let bundle = open(&arguments.bundle)
        .map_err(|error| Failure::failed(error.to_string()).at(&arguments.bundle).hint("nothing of it was run"))?;
    let program = bundle.program().map_err(|why| {
        Failure::failed(format!("there is no code to replace the region with, because {why}")).at(&arguments.bundle)
    })?;
    if version().is_none() {
        return Err(Failure::failed("g++ is not on PATH").hint("install g++, which compiles the bundle's code"));
    }
    let scratch = tempfile::tempdir().map_err(|error| Failure::io("could not create a directory", &error))?;
    let folder = match &arguments.keep {
        Some(kept) if kept.exists() => {
            return Err(Failure::usage("the directory already exists")
                .at(kept)
                .hint("name another, or remove it first"));
        }
        Some(kept) => absolute(kept)?,
        None => scratch.path().to_path_buf(),
    };
    let report = Emulation { arguments, bundle: &bundle, program: &program, folder }.report()?;
    let is_whole = report.is_whole();
    super::words::say(&if arguments.is_json() { json::document(&report) } else { text::page(&report) })?;
    Ok(Ending::Code(if is_whole { 0 } else { FAILED }))
}

impl EmulateArguments {
    fn is_json(&self) -> bool {
        self.json || self.format.contains(&Shown::Json)
    }

    /// What the region is run in: as typed, then each format.
    fn formats(&self, bundle: &Opened) -> Vec<Option<Fixed>> {
        let earlier =
            self.format.iter().filter_map(|one| if let Shown::In(format) = one { Some(*format) } else { None });
        let asked: Vec<Fixed> = self.number_format.iter().copied().chain(earlier).collect();
        let formats = match (asked.is_empty(), self.only_typed) {
            (_, true) => Vec::new(),
            (true, false) => ridgeline::handing_over::emulate::formats(bundle),
            (false, false) => asked,
        };
        std::iter::once(None).chain(formats.into_iter().map(Some)).collect()
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::io("could not find the directory", &error).at(path))
}

/// What is run where.
struct Emulation<'a> {
    arguments: &'a EmulateArguments,
    bundle: &'a Opened,
    program: &'a Program,
    folder: PathBuf,
}

impl Emulation<'_> {
    /// Runs the program as it is, then with the region replaced, as long as that makes sense.
    fn report(&self) -> Result<Report, Failure> {
        let region = self.region()?;
        let mut outputs = Outputs::new(&self.arguments.compare)?;
        tell("the unmodified program");
        let original_folder = self.sub("original")?;
        let original = self.one_run(&region, None, &original_folder, &mut outputs)?;
        let (inputs, made) = sides(self.program);
        let mut report = Report {
            bundle: self.arguments.bundle.display().to_string(),
            command: self.arguments.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            place: place(self.bundle),
            hook: region.names.first().cloned().unwrap_or_default(),
            inputs,
            outputs: made,
            status: original.status,
            wall: original.wall,
            calls: calls(&original_folder),
            events: events(&original_folder),
            replaced: Vec::new(),
            predicted: predicted(self.bundle),
            problems: original.no_harness.into_iter().collect(),
            kept: self.arguments.keep.clone(),
        };
        report.problems.extend(outputs.missing());
        if original.status != ProgramStatus::Exited(0) {
            report.problems.push("the unmodified program failed, so nothing was replaced".to_owned());
            return Ok(report);
        }
        let Some(include) = report.events.include.clone() else {
            if report.problems.is_empty() {
                report.problems.push(no_jax(&report));
            }
            return Ok(report);
        };
        for format in self.arguments.formats(self.bundle) {
            let name = format.map_or("typed".to_owned(), Fixed::slug);
            let folder = self.sub(&name)?;
            let library = build(self.bundle, format, &include, &folder)
                .map_err(|error| Failure::failed(error.to_string()).at(&self.arguments.bundle))?;
            tell(&format.map_or("the region in its own types".to_owned(), |format| format!("the region in {format}")));
            let run = self.one_run(&region, Some(&library), &folder, &mut outputs)?;
            let tally = tally(&folder, self.program.inputs.len(), self.program.outputs.len());
            let replaced = Replaced {
                format,
                status: run.status,
                wall: run.wall,
                others: calls(&folder).others,
                tally,
                results: results(&original_folder, &folder),
                events: events(&folder),
                log: folder.join("log.txt"),
            };
            let was_called = replaced.tally.calls > 0;
            let was_asked_to_end = matches!(run.status, ProgramStatus::Signaled(_));
            report.replaced.push(replaced);
            if !was_called || was_asked_to_end {
                break;
            }
        }
        outputs.restore()?;
        Ok(report)
    }

    /// One run, and the results that it wrote.
    fn one_run(
        &self,
        region: &Region,
        library: Option<&Path>,
        folder: &Path,
        outputs: &mut Outputs,
    ) -> Result<EmulatedRun, Failure> {
        let log = folder.join("log.txt");
        let quiet = library.is_some() || self.arguments.is_json();
        outputs.begin();
        let run = ridge_record::emulate::run(&self.arguments.command, region, library, folder, quiet.then_some(&*log))?;
        outputs.collect(folder)?;
        Ok(run)
    }

    fn region(&self) -> Result<Region, Failure> {
        let place = place(self.bundle);
        let spec = self.sub("spec")?;
        let put = |name: &str| -> Result<Option<PathBuf>, Failure> {
            let Some(bytes) = self.bundle.files.get(&format!("spec/{name}")) else { return Ok(None) };
            let path = spec.join(name);
            std::fs::write(&path, bytes).map_err(|error| Failure::io("could not write", &error).at(&path))?;
            Ok(Some(path))
        };
        let (inputs, outputs) = sides(self.program);
        let mut names: Vec<String> = self.arguments.name.iter().cloned().collect();
        names.extend(place.hooks());
        Ok(Region {
            module: place.is_whole.then(|| place.module.clone()),
            names,
            inputs: inputs.ports,
            outputs: outputs.ports,
            stablehlo: put("module.stablehlo.mlir")?,
            hlo: put("module.hlo.txt")?.unwrap_or_default(),
            location: place.location,
        })
    }

    fn sub(&self, name: &str) -> Result<PathBuf, Failure> {
        let folder = self.folder.join(name);
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::io("could not create the directory", &error).at(&folder))?;
        Ok(folder)
    }
}

fn no_jax(report: &Report) -> String {
    match report.events.lost.iter().next() {
        Some((_, why)) => format!("nothing can be replaced in this JAX: {why}"),
        None => "the program did not import jax, so there is nothing to replace".to_owned(),
    }
}

fn tell(what: &str) {
    use std::io::Write as _;
    // Nothing is left to tell it to where standard error is closed.
    let _ = writeln!(anstream::stderr(), "ridgeline: {what}");
}
