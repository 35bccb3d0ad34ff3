//! The course of a recording: prepare, run, gather.
//!
//! Each step is in a file of its own; here is only their order, and what becomes of a failure.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::around::{nsys, rocprof};
use crate::error::RecordError;
use crate::folder::CaptureFolder;
use crate::folder_content::{Content, content};
use crate::harness::write_harness;
use crate::launch::{run_plain, run_recorded};
use crate::manifest::{Gathered, compose, torch, warm_up, window};
use crate::options::{Limits, RecordOptions};
use crate::outcome::{Missing, RecordEvent, RecordOutcome, Run};
use crate::pack::pack_torch_traces;
use crate::pieces::{name_unlisted_traces, read_pieces};
use crate::profile_options;
use crate::progress::{Progress, write_manifest};
use crate::rank::Rank;
use crate::ranks;
use crate::redact::Redaction;

/// Run `options.command` under the recorder and gather what it leaves.
///
/// `tell` is called on this thread as things happen.
/// The program inherits the terminal and the process group; its output is its own.
///
/// # Errors
/// [`RecordError`] if the program could not be started or watched.
/// A program that fails is not an error, nor is a capture that is incomplete: the outcome says so.
pub fn record(options: &RecordOptions, tell: &mut dyn FnMut(RecordEvent)) -> Result<RecordOutcome, RecordError> {
    if options.command.is_empty() {
        return Err(RecordError::NoCommand);
    }
    profile_options::check(&options.profile_options)?;
    let prepare = Instant::now();
    let began = SystemTime::now();
    let rank = Rank::of_environment().filter(|_| options.out.is_some());
    let job = options.out.as_deref().zip(rank).map(|(folder, rank)| Job { folder, rank, began });
    let folder = match &job {
        None => CaptureFolder::claim(options.out.as_deref(), &options.command)?,
        Some(job) => job.claim(&options.command)?,
    };
    if let Some(busy) = folder.busy() {
        tell(RecordEvent::OtherDirectory { busy: busy.to_owned(), out: folder.place().to_owned() });
    }
    let redaction = if options.keep_private { Redaction::none() } else { Redaction::of_this_machine() };
    match run_in(&folder, options, &redaction, prepare, tell) {
        Ok((run, prepare_s)) => {
            let mut outcome = finish(folder, options, &redaction, run, prepare_s, tell);
            if let Some(Err(error)) = job.map(|job| ranks::join(job.folder, job.rank, job.began)) {
                let why = format!("it could not be written for all ranks: {error}");
                outcome.missing.push(Missing { what: "manifest.json".to_owned(), why });
            }
            Ok(outcome)
        }
        Err(error) => {
            folder.give_up();
            Err(error)
        }
    }
}

/// A job of several processes, of which this is one.
struct Job<'a> {
    folder: &'a Path,
    rank: Rank,
    began: SystemTime,
}

impl Job<'_> {
    /// The folder of this rank.
    fn claim(&self, command: &[OsString]) -> Result<CaptureFolder, RecordError> {
        let failed = |source| RecordError::Folder { path: self.folder.to_owned(), source };
        if let Content::Others(found) = content(self.folder).map_err(failed)? {
            return Err(RecordError::FolderInUse { found });
        }
        fs::create_dir_all(self.folder).map_err(failed)?;
        CaptureFolder::claim(Some(&self.rank.folder(self.folder)), command)
    }
}

/// Run the program in a folder that is ready; how it went, and what preparing took in seconds.
fn run_in(
    folder: &CaptureFolder,
    options: &RecordOptions,
    redaction: &Redaction,
    prepare: Instant,
    tell: &mut dyn FnMut(RecordEvent),
) -> Result<(Run, f64), RecordError> {
    let failed = |source| RecordError::Folder { path: folder.path.clone(), source };
    write_harness(&folder.harness()).map_err(failed)?;
    if options.around().is_some() {
        // It writes into folders and makes none.
        fs::create_dir_all(folder.path.join("trace")).map_err(failed)?;
    }
    fs::write(folder.config(), config(folder, options).to_string()).map_err(failed)?;
    let prepare_s = prepare.elapsed().as_secs_f64();
    let mut progress = Progress::new(folder, options, redaction, prepare_s);
    progress.write(Duration::ZERO).map_err(failed)?;
    tell(RecordEvent::Prepared { out: folder.place().to_owned() });
    let run = run_recorded(options, folder, tell, &mut |wall, tell| progress.look(wall, tell))?;
    tell(RecordEvent::Ended { status: run.status, wall: run.wall });
    Ok((run, prepare_s))
}

/// Gather what there is, run the program again if that was asked for, and put the recording in its place.
fn finish(
    folder: CaptureFolder,
    options: &RecordOptions,
    redaction: &Redaction,
    run: Run,
    prepare_s: f64,
    tell: &mut dyn FnMut(RecordEvent),
) -> RecordOutcome {
    let mut pieces = read_pieces(&folder.pieces());
    name_unlisted_traces(&folder.path, &mut pieces);
    pack_torch_traces(&folder.path, &mut pieces, redaction, tell);
    pieces.around = match (&options.nsys, &options.rocprof) {
        (Some(tool), _) => Some(nsys::gather(tool, &folder, run, tell)),
        (None, asked) => asked.as_ref().map(|_| rocprof::gather(&folder, run)),
    };
    folder.release_reserve();
    let write = |gathered: &Gathered| {
        let manifest = compose(options, &pieces, gathered, run, prepare_s, redaction);
        write_manifest(&folder, &redaction.apply(json!(manifest)))
    };
    let mut plain = None;
    if options.measure_overhead {
        // Written before as well: the program may be killed while it runs for the second time.
        let _ = write(&Gathered::new(&folder.path, options, &pieces, run, None));
        tell(RecordEvent::RunningWithoutRecorder);
        plain = run_plain(options, tell).ok();
    }
    let mut gathered = Gathered::new(&folder.path, options, &pieces, run, plain);
    match write(&gathered) {
        // The pieces are all there is if the manifest could not be written, so they stay.
        Err(error) => gathered.lost("manifest.json", &format!("it could not be written: {error}")),
        Ok(()) => {
            // What stays behind is small and is cleared by the next recording here.
            let _ = folder.remove_work();
        }
    }
    let (path, why) = folder.settle();
    if let Some(why) = why {
        gathered.lost("earlier recording", &format!("not replaced, this one is in {}: {why}", path.display()));
    }
    gathered.outcome(&path, run)
}

/// Percent of the program's time that recording may take; null for all of it.
fn overhead(limits: Limits) -> Option<u32> {
    Some(limits.max_overhead_pct).filter(|most| *most != u32::MAX)
}

/// What the harness is told, as `schedule.py` and `session.py` read it.
fn config(folder: &CaptureFolder, options: &RecordOptions) -> Value {
    let mut settings = serde_json::Map::new();
    settings.insert("python_tracer_level".into(), json!(i32::from(options.python_tracer)));
    for (key, value) in &options.profile_options {
        settings.insert(profile_options::passed_on(key).to_owned(), json!(value));
    }
    json!({
        "schema": "ridgeline.record.v1",
        "out": folder.path,
        "pieces": folder.pieces(),
        "window": if options.around().is_some() && !options.has_range() { json!({"kind": "none"}) } else { window(&options.window) },
        "range": options.has_range(),
        "warm_up": warm_up(options.warm_up),
        "step_function": options.step_function,
        // The profiler's capture is over where its first range ends.
        "max_windows": if options.has_range() { 1 } else { options.max_windows },
        "hlo": options.hlo.iter().map(|format| format.name()).collect::<Vec<_>>(),
        "xla_dump": options.xla_dump.as_ref().map(|dump| json!({"formats": dump.formats, "passes": dump.passes})),
        "profile_options": settings,
        "expand_command_buffers": options.expand_command_buffers,
        "keep_command_buffers": options.keep_command_buffers,
        "memory_profiles": options.memory_profiles,
        "memory_at": options.memory_at,
        "torch": torch(options),
        "golden": options.golden,
        "max_golden_bytes": options.max_golden_bytes,
        "max_trace_s": options.limits.max_trace_time.as_secs_f64(),
        "max_overhead_pct": overhead(options.limits),
        "rotate_s": options.limits.rotate.map(|time| time.as_secs_f64()),
        "samples": options.samples,
        "sources": options.sources,
        "max_trace_bytes": options.limits.max_trace_bytes,
        "max_modules": options.limits.max_modules,
        "max_module_bytes": options.limits.max_module_bytes,
        "keep_hostnames": options.keep_private,
    })
}
