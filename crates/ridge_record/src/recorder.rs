//! The course of a recording: prepare, run, gather.
//!
//! Each step is in a file of its own; here is only their order, and what becomes of a failure.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use crate::error::RecordError;
use crate::folder::{CaptureFolder, default_out_dir};
use crate::harness::write_harness;
use crate::launch::{Run, run_plain, run_recorded};
use crate::manifest::{Gathered, compose};
use crate::options::{RecordOptions, WarmUp, Window};
use crate::outcome::{Missing, RecordEvent, RecordOutcome};
use crate::pack::pack_torch_traces;
use crate::pieces::read_pieces;
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
    let prepare = Instant::now();
    let out = options.out.clone().unwrap_or_else(|| default_out_dir(&options.command));
    let folder = CaptureFolder::claim(&out)?;
    write_inputs(&folder, options)?;
    tell(RecordEvent::Prepared { out: folder.path.clone() });
    let prepare_s = prepare.elapsed().as_secs_f64();
    let run = run_recorded(&options.command, &folder, tell)?;
    tell(RecordEvent::Ended { status: run.status, wall: run.wall });
    let plain = options.measure_overhead.then(|| {
        tell(RecordEvent::RunningWithoutRecorder);
        run_plain(&options.command, tell)
    });
    Ok(gather(&folder, options, run, plain.and_then(Result::ok), prepare_s))
}

fn write_inputs(folder: &CaptureFolder, options: &RecordOptions) -> Result<(), RecordError> {
    let failed = |source| RecordError::Folder { path: folder.path.clone(), source };
    write_harness(&folder.harness()).map_err(failed)?;
    fs::write(folder.config(), config(folder, options).to_string()).map_err(failed)
}

fn gather(
    folder: &CaptureFolder,
    options: &RecordOptions,
    run: Run,
    plain: Option<Run>,
    prepare_s: f64,
) -> RecordOutcome {
    let redaction = if options.keep_private { Redaction::none() } else { Redaction::of_this_machine() };
    let mut pieces = read_pieces(&folder.pieces());
    pack_torch_traces(&folder.path, &mut pieces, &redaction);
    let gathered = Gathered::new(&folder.path, options, &pieces, run, plain);
    let manifest = redaction.apply(compose(options, &pieces, &gathered, run, prepare_s, &redaction));
    folder.release_reserve();
    let text = format!("{manifest:#}\n");
    let mut outcome = gathered.outcome(&folder.path, run);
    match fs::write(folder.manifest(), text) {
        // The pieces are all there is if the manifest could not be written, so they stay.
        Err(error) => outcome
            .missing
            .push(Missing { what: "manifest.json".into(), why: format!("it could not be written: {error}") }),
        Ok(()) => {
            // What stays behind is small and is cleared by the next recording here.
            let _ = folder.remove_work();
        }
    }
    outcome
}

/// What the harness is told, as `schedule.py` and `session.py` read it.
fn config(folder: &CaptureFolder, options: &RecordOptions) -> Value {
    let mut profile_options = serde_json::Map::new();
    profile_options.insert("python_tracer_level".into(), json!(i32::from(options.python_tracer)));
    for (key, value) in &options.profile_options {
        profile_options.insert(key.clone(), json!(value));
    }
    json!({
        "schema": "ridgeline.record.v1",
        "out": folder.path,
        "pieces": folder.pieces(),
        "window": window(&options.window),
        "warm_up": warm_up(options.warm_up),
        "step_function": options.step_function,
        "max_windows": options.max_windows,
        "hlo": options.hlo.iter().map(|format| format.name()).collect::<Vec<_>>(),
        "xla_dump": options.xla_dump.as_ref().map(|dump| json!({"formats": dump.formats, "passes": dump.passes})),
        "profile_options": profile_options,
        "expand_command_buffers": options.expand_command_buffers,
        "keep_command_buffers": options.keep_command_buffers,
        "memory_profiles": options.memory_profiles,
        "torch": torch(options),
        "max_trace_s": options.limits.max_trace_time.as_secs_f64(),
        "max_trace_bytes": options.limits.max_trace_bytes,
        "max_modules": options.limits.max_modules,
        "max_module_bytes": options.limits.max_module_bytes,
        "keep_hostnames": options.keep_private,
    })
}

/// What PyTorch's profiler is asked for, for the harness and the manifest.
pub(crate) fn torch(options: &RecordOptions) -> Value {
    json!({
        "shapes": options.torch.shapes,
        "stacks": options.python_tracer,
        "allocations": options.torch.allocations,
        "allocator_history": options.torch.allocator_history,
        "host_only": options.torch.host_only,
    })
}

/// The window as JSON, for the harness and the manifest.
pub(crate) fn window(window: &Window) -> Value {
    match window {
        Window::WholeProgram => json!({"kind": "whole"}),
        Window::Steps(steps) => json!({"kind": "steps", "first": steps.first, "end": steps.end}),
        Window::Annotation(name) => json!({"kind": "annotation", "name": name}),
    }
}

/// The warm-up as JSON, times in seconds.
pub(crate) fn warm_up(warm_up: WarmUp) -> Value {
    match warm_up {
        WarmUp::None => json!({"kind": "none"}),
        WarmUp::Time(time) => json!({"kind": "time", "s": time.as_secs_f64()}),
        WarmUp::Quiet(time) => json!({"kind": "quiet", "s": time.as_secs_f64()}),
    }
}
