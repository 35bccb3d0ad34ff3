//! A CPU's recording as the GPU that is meant would run it: its modules, compiled for that GPU here.
//!
//! What was compiled is kept by its content, so that the next question about the recording costs nothing.

use crate::failure::Failure;
use crate::timings::Timings;
use ridge_files::NewFolder;
use ridge_record::compile::{
    CompileEvent, Compiled, Compiler, Job, Sources, compile, compiler, sources_of, write_manifest,
};
use ridgeline::compiling::Target;
use ridgeline::{
    CeilingsChoice, LoopTrips, ModuleRuns, Note, OpenOptions, Recorded, Session, Severity, predict_recorded,
};
use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a module that is looked at to know it again.
const MOST_SOURCE_BYTES: u64 = 1 << 30;

/// How far the fallback is off: `docs/compile.md` says of which modules.
const FALLBACK: &str =
    "which overstates modules of five launches or more: compiled, eight in ten take 0.27 to 0.89 of that";

/// What came of compiling a recording for the GPU that is meant.
pub(crate) enum As {
    /// Its predicted timeline, and what a reader must know of it.
    Compiled(Box<Session>, Vec<Note>),
    /// Why there is none, and what would make one.
    Not(Why),
}

/// Why a recording was not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Why {
    /// In words.
    pub(crate) why: String,
    /// The command that mends it, in a sentence.
    pub(crate) hint: Option<String>,
}

impl Why {
    fn new(why: impl Into<String>, hint: &str) -> Why {
        Why { why: why.into(), hint: (!hint.is_empty()).then(|| hint.to_owned()) }
    }

    /// It as a note, where something else is shown instead.
    pub(crate) fn note(&self, gpu: &str) -> Note {
        let hint = self.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        note(
            Severity::Partial,
            format!("not compiled for {gpu}: {}; the CPU's HLO is used instead, {FALLBACK}{hint}", self.why),
        )
    }
}

impl From<Why> for Failure {
    fn from(why: Why) -> Failure {
        let failure = Failure::failed(why.why);
        match why.hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

fn note(severity: Severity, message: String) -> Note {
    Note { severity, message, file: None, offset: None, count: 1 }
}

/// The recording in `session` for the GPU called `gpu`.
pub(crate) fn compiled_as(session: &Session, gpu: &str, timings: &mut Timings) -> As {
    match made(session, gpu, timings) {
        Ok((session, notes)) => As::Compiled(Box::new(session), notes),
        Err(why) => As::Not(why),
    }
}

/// The same where nothing can stand for it.
pub(crate) fn required_as(session: Session, gpu: &str, timings: &mut Timings) -> Result<(Session, Vec<Note>), Failure> {
    if session.is_predicted() {
        return Ok((session, Vec::new()));
    }
    if !session.is_of_processor() {
        return Err(Failure::usage("`--as` is for CPU captures, and this one is from an accelerator"));
    }
    Ok(made(&session, gpu, timings)?)
}

/// A CPU's capture as the GPU that is meant would run it, where it can be compiled for that; else itself with the GPU whose data
/// sheet stands for it. With what a reader must know of either.
pub(crate) fn meant(
    session: Session,
    gpu: Option<&str>,
    timings: &mut Timings,
) -> (Session, Option<String>, Vec<Note>) {
    let Some(gpu) = gpu else { return (session, None, Vec::new()) };
    if !session.is_of_processor() {
        return (session, Some(gpu.to_owned()), Vec::new());
    }
    match compiled_as(&session, gpu, timings) {
        As::Compiled(compiled, notes) => (*compiled, None, notes),
        As::Not(why) => (session, Some(gpu.to_owned()), vec![why.note(gpu)]),
    }
}

fn made(session: &Session, gpu: &str, timings: &mut Timings) -> Result<(Session, Vec<Note>), Why> {
    let target = Target::named(gpu).ok_or_else(|| {
        Why::new(format!("XLA has no figures for `{gpu}`"), "`ridgeline compile --help` lists the GPUs that it knows")
    })?;
    let sources = sources_of(session.run_folder().unwrap_or(session.root())).map_err(|error| {
        Why::new(
            error.to_string(),
            "`ridgeline record --hlo text,proto,jaxpr,stablehlo,lowered` keeps the compiled modules, and `ridgeline bench` always does",
        )
    })?;
    let (sources, runs) = that_ran(sources, &session.module_runs());
    let Compiler { python } = compiler(None).ok_or_else(|| {
        Why::new("the compiler for GPUs is not installed", "`ridgeline compile --install` installs it")
    })?;
    let failed = |error: String| Why::new(error, "");
    let out = kept_in(&sources, target).map_err(|error| failed(error.to_string()))?;
    let folder = out.join(target.id);
    if !folder.join("manifest.json").is_file() {
        anstream::eprintln!("ridgeline: compiling {} modules for {}", sources.modules.len(), target.name);
        let compiled = timings.phase("compile", || compiled_into(&out, &python, &sources, target)).map_err(failed)?;
        if compiled.modules.is_empty() {
            let why = compiled.failed.first().map_or("there was no module", |(_, why)| why.as_str());
            return Err(failed(format!("no module could be compiled: {why}")));
        }
    }
    let recorded = Recorded { runs: Some(runs), trips: trips_by_name(&sources, session.loop_trips()) };
    let prediction = predict_recorded(&folder, &recorded).map_err(|error| failed(error.to_string()))?;
    if prediction.file.is_none() {
        return Err(failed(prediction.notes.join("; ")));
    }
    let options = OpenOptions { ceilings: CeilingsChoice::None, ..OpenOptions::default() };
    let opened = Session::open(std::slice::from_ref(&folder), &options).map_err(|error| failed(error.to_string()))?;
    let mut notes = vec![note(
        Severity::Info,
        format!(
            "{} modules of {} were compiled for {}",
            prediction.modules.len(),
            session.root().display(),
            target.name
        ),
    )];
    if sources.without > 0 {
        let message = format!("{} modules of the recording have no StableHLO and are left out", sources.without);
        notes.push(note(Severity::Partial, message));
    }
    let elsewhere = sources.modules.iter().filter(|module| module.is_lowered_elsewhere).count();
    if elsewhere > 0 {
        let message = format!(
            "{elsewhere} modules were lowered for the CPU: linear algebra and other code for one platform may differ; `ridgeline record --hlo text,proto,lowered` lowers them for GPUs"
        );
        notes.push(note(Severity::Partial, message));
    }
    Ok((opened, notes))
}

/// The modules that ran in the capture, and how often each, by its name: a benchmark's directory has those of every operation and size.
/// All of them where the capture does not say which ran.
fn that_ran(mut sources: Sources, runs: &ModuleRuns) -> (Sources, ModuleRuns) {
    if sources.modules.iter().any(|module| runs.contains_key(&module.dir)) {
        sources.modules.retain(|module| runs.contains_key(&module.dir));
    }
    let times = sources.modules.iter().filter_map(|module| Some((module.name.clone(), *runs.get(&module.dir)?)));
    let times = times.collect();
    (sources, times)
}

/// The trips of loops by the names of the compiled modules' folders.
pub(crate) fn trips_by_name(sources: &Sources, mut trips: LoopTrips) -> LoopTrips {
    sources.modules.iter().filter_map(|module| Some((module.name.clone(), trips.remove(&module.dir)?))).collect()
}

/// Compiles into `place`, which is whole or not there.
fn compiled_into(place: &Path, python: &Path, sources: &Sources, target: &Target) -> Result<Compiled, String> {
    let said = |error: io::Error| error.to_string();
    place.parent().map_or(Ok(()), fs::create_dir_all).map_err(said)?;
    let new = NewFolder::beside(place).map_err(said)?;
    let job = Job {
        python,
        targets: vec![(target.id.to_owned(), target.config())],
        modules: &sources.modules,
        jaxlib: sources.jaxlib.as_deref(),
        out: new.path(),
    };
    let found = compile(&job, &mut |CompileEvent::Started { .. }| {}).map_err(|error| error.to_string())?;
    let compiled = found.into_iter().next().unwrap_or_default();
    if compiled.modules.is_empty() {
        return Ok(compiled);
    }
    let folder = new.path().join(target.id);
    write_manifest(&folder, &described(target), &sources.command, &compiled).map_err(|error| error.to_string())?;
    // Where another process was first, what it made is the same.
    new.keep().or_else(|error| if place.join(target.id).is_dir() { Ok(()) } else { Err(said(error)) })?;
    Ok(compiled)
}

/// A GPU, for manifests.
pub(crate) fn described(target: &Target) -> serde_json::Value {
    serde_json::json!({
        "id": target.id, "name": target.name, "compute_capability": target.compute_capability, "source": target.source,
    })
}

/// The directory for what these modules are compiled to: named by their content, by what XLA is told, and by this version.
fn kept_in(sources: &Sources, target: &Target) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), target.config(), &sources.jaxlib).hash(&mut hasher);
    for module in &sources.modules {
        module.name.hash(&mut hasher);
        if fs::metadata(&module.source)?.len() <= MOST_SOURCE_BYTES {
            fs::read(&module.source)?.hash(&mut hasher);
        }
    }
    Ok(cache_folder().join(format!("compiled/{:016x}", hasher.finish())))
}

/// `ridgeline` below `$XDG_CACHE_HOME`, else below `~/.cache`, else below the directory for temporary files.
fn cache_folder() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    base.unwrap_or_else(env::temp_dir).join("ridgeline")
}
