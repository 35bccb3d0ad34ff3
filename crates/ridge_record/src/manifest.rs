//! Put the pieces together: what was captured, what it cost, what is missing.
//!
//! The manifest is JSON with the schema name of [`ridge_documents::Manifest`]; a field that is not known is `null`, never guessed.
//! Times are in seconds, sizes in bytes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ridge_documents::{self as document, Program, Written};
use serde_json::{Map, Value, json};

use crate::launch::CONFIG_VARIABLE;
use crate::no_harness::why_no_harness;
use crate::options::{RecordOptions, WarmUp, Window};
use crate::outcome::{Missing, Overhead, ProgramStatus, RecordOutcome, Run};
use crate::pieces::{Piece, Pieces};
use crate::profiler::Profiler;
use crate::redact::Redaction;

/// Why a manifest that was written while the program ran is the last one.
const NOT_FINISHED: &str = "the recording was not finished: it still runs, or ridgeline or the machine was stopped before the program \
                            ended; what is here was written before";

/// What follows from the pieces and is shown both in the manifest and to the caller.
#[derive(Debug)]
pub(crate) struct Gathered {
    traces: Vec<(PathBuf, u64)>,
    modules: Vec<Value>,
    missing: Vec<Missing>,
    overhead: Overhead,
}

impl Gathered {
    pub(crate) fn new(out: &Path, options: &RecordOptions, pieces: &Pieces, run: Run, plain: Option<Run>) -> Gathered {
        let traces = traces(out, pieces);
        let mut missing = missing(out, &options.command, pieces, run.status);
        if options.measure_overhead && plain.is_none() {
            missing.push(lost("overhead", "the program could not be run again without the recorder"));
        }
        if traces.is_empty() && missing.is_empty() {
            missing.push(lost("trace", "no capture was written"));
        }
        Gathered {
            traces,
            modules: modules(pieces),
            missing,
            overhead: overhead(pieces, plain.map(|plain| plain.wall)),
        }
    }

    /// What there is while the program runs: no end of it is known yet, and so nothing else is called missing.
    pub(crate) fn so_far(out: &Path, pieces: &Pieces) -> Gathered {
        let mut missing = vec![lost("end of the recording", NOT_FINISHED)];
        missing.extend(told_by_pieces(pieces));
        Gathered { missing, traces: traces(out, pieces), modules: modules(pieces), overhead: overhead(pieces, None) }
    }

    /// Says that one more thing is not there.
    pub(crate) fn lost(&mut self, what: &str, why: &str) {
        self.missing.push(lost(what, why));
    }

    pub(crate) fn outcome(self, out: &Path, run: Run) -> RecordOutcome {
        RecordOutcome {
            out: out.to_owned(),
            status: run.status,
            wall: run.wall,
            overhead: self.overhead,
            traces: self.traces.into_iter().map(|(path, bytes)| (out.join(path), bytes)).collect(),
            modules: self.modules.len(),
            missing: self.missing,
        }
    }
}

/// The manifest as it is while the program runs, for whom the recorder does not live to write another.
pub(crate) fn compose_so_far(
    options: &RecordOptions,
    pieces: &Pieces,
    gathered: &Gathered,
    wall: Duration,
    prepare_s: f64,
    redaction: &Redaction,
) -> Written {
    let run = Run { status: ProgramStatus::Exited(0), wall };
    let manifest = compose(options, pieces, gathered, run, prepare_s, redaction);
    let program = manifest.program.map(|program| Program { exit_code: None, ..program });
    Written { program, finished: Some(false), ..manifest }
}

/// The manifest, not yet redacted but for its command.
pub(crate) fn compose(
    options: &RecordOptions,
    pieces: &Pieces,
    gathered: &Gathered,
    run: Run,
    prepare_s: f64,
    redaction: &Redaction,
) -> Written {
    let main = pieces.recorded().max_by_key(|piece| piece.content["traces"].as_array().map_or(0, Vec::len));
    let of_main = |key: &str| main.or(pieces.pieces.first()).map_or(Value::Null, |piece| piece.content[key].clone());
    let (exit_code, signal) = match run.status {
        ProgramStatus::Exited(code) => (Some(code), None),
        ProgramStatus::Signaled(signal) => (None, Some(signal_name(signal))),
    };
    let missing = |lost: &Missing| document::Missing { what: lost.what.clone(), why: Some(lost.why.clone()) };
    Written {
        kind: "record".to_owned(),
        recorder_version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        command: redaction.command(&options.command),
        program: Some(Program { exit_code, signal, wall_s: Some(secs(run.wall)) }),
        finished: Some(true),
        complete: Some(gathered.missing.is_empty()),
        missing: gathered.missing.iter().map(missing).collect(),
        versions: of_main("versions").as_object().cloned(),
        devices: of_main("devices").as_array().cloned(),
        cpu: Some(of_main("cpu")).filter(|cpu| !cpu.is_null()),
        os: Some(of_main("os").as_str().map(str::to_owned)),
        options: members(asked(options)),
        added_environment: added_environment(pieces),
        timings: members(json!({"prepare_s": prepare_s, "program_wall_s": secs(run.wall)})),
        overhead: members(overhead_json(&gathered.overhead, run.wall)),
        traces: Some(listed(pieces, "traces")),
        memory: Some(listed(pieces, "memory")),
        modules: gathered.modules.clone(),
        notes: Some(listed(pieces, "notes")),
        processes: Some(pieces.pieces.iter().map(process).collect()),
        ..Written::default()
    }
}

/// The members of an object that was written here.
fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// What is said of each process: enough to see which did what, and how far it came.
fn process(piece: &Piece) -> Value {
    const KEYS: [&str; 14] = [
        "pid",
        "ordinal",
        "state",
        "jax",
        "torch",
        "idle",
        "libraries",
        "started_unix_s",
        "timings",
        "peak_rss_bytes",
        "steps_seen",
        "step_times",
        "cpu_waits",
        "compilations",
    ];
    KEYS.iter().map(|key| ((*key).to_owned(), piece.content[*key].clone())).collect::<Map<_, _>>().into()
}

fn asked(options: &RecordOptions) -> Value {
    let limits = options.limits;
    json!({
        "window": window(&options.window),
        "warm_up": warm_up(options.warm_up),
        "step_function": options.step_function,
        "max_windows": options.max_windows,
        "hlo": options.hlo.iter().map(|format| format.name()).collect::<Vec<_>>(),
        "xla_dump": options.xla_dump.as_ref().map(|dump| json!({"formats": dump.formats, "passes": dump.passes})),
        "profile_options": options.profile_options.iter().map(|(key, value)| (key.clone(), json!(value))).collect::<Map<_, _>>(),
        "python_tracer": options.python_tracer,
        "expand_command_buffers": options.expand_command_buffers,
        "keep_command_buffers": options.keep_command_buffers,
        "around": options.around().map(Profiler::name),
        "memory_profiles": options.memory_profiles,
        "memory_at": options.memory_at,
        "torch": torch(options),
        "limits": {
            "max_trace_s": secs(limits.max_trace_time), "rotate_s": limits.rotate.map(secs), "max_trace_bytes": limits.max_trace_bytes,
            "max_overhead_pct": Some(limits.max_overhead_pct).filter(|most| *most != u32::MAX),
            "max_modules": limits.max_modules, "max_module_bytes": limits.max_module_bytes,
        },
        "samples": options.samples,
        "sources": options.sources,
        "keep_private": options.keep_private,
        "measure_overhead": options.measure_overhead,
    })
}

/// Environment that the recorder added; the user's own values are not shown.
fn added_environment(pieces: &Pieces) -> Map<String, Value> {
    let added = [("PYTHONPATH", "<harness>, before the program's own"), (CONFIG_VARIABLE, "<harness configuration>")];
    let mut added: Map<String, Value> =
        added.map(|(name, value)| (name.to_owned(), json!(value))).into_iter().collect();
    let mut flags: Vec<&str> = Vec::new();
    for piece in &pieces.pieces {
        for flag in piece.content["added_flags"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !flags.contains(&flag) {
                flags.push(flag);
            }
        }
    }
    if !flags.is_empty() {
        added.insert("XLA_FLAGS".to_owned(), json!(flags.join(" ")));
    }
    added
}

fn listed(pieces: &Pieces, key: &str) -> Vec<Value> {
    let all = pieces.pieces.iter().map(|piece| &piece.content).chain(&pieces.around);
    all.flat_map(|content| content[key].as_array().cloned().unwrap_or_default()).collect()
}

/// The captures that pieces speak of and that are there, by their paths in `out`.
fn traces(out: &Path, pieces: &Pieces) -> Vec<(PathBuf, u64)> {
    let listed = listed(pieces, "traces");
    let paths = listed.iter().filter_map(|trace| trace["path"].as_str()).map(PathBuf::from);
    paths.filter_map(|path| out.join(&path).metadata().ok().map(|metadata| (path, metadata.len()))).collect()
}

fn missing(out: &Path, command: &[OsString], pieces: &Pieces, status: ProgramStatus) -> Vec<Missing> {
    let mut missing = told_by_pieces(pieces);
    for name in &pieces.unreadable {
        missing.push(lost(
            &format!("piece {name}"),
            "it could not be read; its process may have been killed while writing it",
        ));
    }
    missing.extend(pieces.recorded().filter_map(|piece| unfinished(out, piece, status)));
    // Of a program that is not Python, a profiler around it sees as much.
    if pieces.recorded().next().is_none() && pieces.around.is_none() {
        missing.push(lost("capture", &why_not_recorded(command, pieces)));
    }
    if listed(pieces, "traces").is_empty() {
        missing.extend(idle(pieces).map(|why| lost("trace", why)));
    }
    missing
}

/// What the processes say is missing.
fn told_by_pieces(pieces: &Pieces) -> Vec<Missing> {
    let text = |lost: &Value, key: &str| lost[key].as_str().unwrap_or("unknown").to_owned();
    let told = listed(pieces, "missing");
    told.iter().map(|lost| Missing { what: text(lost, "what"), why: text(lost, "why") }).collect()
}

fn modules(pieces: &Pieces) -> Vec<Value> {
    pieces.pieces.iter().flat_map(|piece| piece.modules.iter().cloned()).collect()
}

/// Libraries that were imported and did nothing; with a capture of another library that is as it should be.
fn idle(pieces: &Pieces) -> impl Iterator<Item = &str> {
    let mut seen: Vec<&str> = Vec::new();
    let whys = pieces.recorded().filter_map(|piece| piece.content["idle"].as_str());
    whys.filter(move |why| {
        let is_new = !seen.contains(why);
        seen.push(why);
        is_new
    })
}

/// A process that wrote no end: it was killed, or crashed, or its disk was full.
fn unfinished(out: &Path, piece: &Piece, status: ProgramStatus) -> Option<Missing> {
    let state = piece.content["state"].as_str().unwrap_or("unknown");
    if state == "ended" {
        return None;
    }
    let how = match status {
        ProgramStatus::Signaled(signal) => format!("the program was ended by {}", signal_name(signal)),
        ProgramStatus::Exited(_) if is_full(out) => "no space left on the disk of the recording".to_owned(),
        ProgramStatus::Exited(code) => format!("the process ended without warning; the program exited with {code}"),
    };
    let pid = &piece.content["pid"];
    Some(match state {
        "tracing" => {
            lost("trace", &format!("the recording was not finished in process {pid}: {how} while the profiler ran"))
        }
        "writing" => {
            lost("trace", &format!("the recording was not finished in process {pid}: {how} while it wrote the trace"))
        }
        _ => lost("end of the recording", &format!("process {pid} was {state}: {how}")),
    })
}

/// Less than this is no space, in bytes.
const LEAST_SPACE: u64 = 1 << 20;

fn is_full(out: &Path) -> bool {
    rustix::fs::statvfs(out).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < LEAST_SPACE)
}

fn why_not_recorded(command: &[OsString], pieces: &Pieces) -> String {
    if pieces.pieces.is_empty() {
        return why_no_harness(command, &pieces.refused);
    }
    let mut libraries: Vec<&str> = pieces
        .pieces
        .iter()
        .flat_map(|piece| piece.content["libraries"].as_array().into_iter().flatten().filter_map(Value::as_str))
        .collect();
    libraries.sort_unstable();
    libraries.dedup();
    let other = if libraries.contains(&"tensorflow") {
        "; tensorflow was, and tf.profiler can write an XPlane trace to open instead".to_owned()
    } else if libraries.is_empty() {
        "; nor any other library that the recorder knows, and nsys or rocprof may see more".to_owned()
    } else {
        format!("; {} was imported, and nsys can record it", libraries.join(", "))
    };
    format!("no process imported jax or torch{other}")
}

fn overhead(pieces: &Pieces, unrecorded_wall: Option<Duration>) -> Overhead {
    let seconds = |value: &Value| Duration::try_from_secs_f64(value.as_f64().unwrap_or(0.0)).unwrap_or_default();
    let time = |piece: &Piece, key: &str| seconds(&piece.content["timings"][key]);
    let of = |piece: &Piece| Overhead {
        harness: time(piece, "harness_s"),
        attach: time(piece, "attach_s"),
        start_trace: time(piece, "start_trace_s"),
        stop_trace: time(piece, "stop_trace_s"),
        events: time(piece, "events_s"),
        packing: time(piece, "packing_s"),
        drain: time(piece, "drain_s"),
        modules: time(piece, "modules_s"),
        module_forms: seconds(&piece.content["module_forms_s"]),
        memory: time(piece, "memory_s"),
        samples: time(piece, "samples_s"),
        watching: time(piece, "watching_s"),
        unrecorded_wall,
    };
    let most = pieces.pieces.iter().map(of).max_by_key(|overhead| overhead.harness);
    most.unwrap_or(Overhead { unrecorded_wall, ..Overhead::default() })
}

fn overhead_json(overhead: &Overhead, wall: Duration) -> Value {
    let wall_s = secs(wall + overhead.packing);
    json!({
        "basis": "measured by the harness in the process where it worked longest, and by the recorder; events_s is estimated",
        "harness_s": secs(overhead.harness),
        "share_of_wall": if wall_s > 0.0 { json!(secs(overhead.harness) / wall_s) } else { Value::Null },
        "attach_s": secs(overhead.attach),
        "start_trace_s": secs(overhead.start_trace),
        "stop_trace_s": secs(overhead.stop_trace),
        "events_s": secs(overhead.events),
        "packing_s": secs(overhead.packing),
        "drain_s": secs(overhead.drain),
        "modules_s": secs(overhead.modules),
        "module_forms_s": secs(overhead.module_forms),
        "memory_s": secs(overhead.memory),
        "samples_s": secs(overhead.samples),
        "watching_s": secs(overhead.watching),
        "unrecorded_wall_s": overhead.unrecorded_wall.map(secs),
        "added_wall_s": overhead.unrecorded_wall.map(|plain| secs(wall) - secs(plain)),
    })
}

fn lost(what: &str, why: &str) -> Missing {
    Missing { what: what.to_owned(), why: why.to_owned() }
}

fn secs(time: Duration) -> f64 {
    time.as_secs_f64()
}

fn signal_name(signal: i32) -> String {
    signal_hook::low_level::signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
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

#[cfg(test)]
mod tests {
    use super::*;
    use ridge_documents::Manifest;

    /// What is composed here is what readers know, and nothing beside it.
    #[test]
    fn the_manifest_is_the_document_that_readers_know() {
        let content = json!({
            "pid": 7, "jax": true, "state": "ended", "libraries": ["jax"], "os": "Linux",
            "versions": {"python": "3.12", "jax": "0.10.2"},
            "devices": [{"id": 0, "kind": "cpu", "platform": "cpu", "process_index": 0}],
            "cpu": {"model": "X", "architecture": "x86_64", "logical_cores": 2, "usable_cores": 2, "memory_bytes": 7},
            "traces": [{"path": "trace/a.xplane.pb"}], "memory": [], "notes": [{"what": "x", "why": "y"}],
            "missing": [{"what": "memory profiles", "why": "the device has none"}],
            "timings": {"harness_s": 0.5}, "added_flags": ["--xla_x"], "module_forms_s": 0.25,
        });
        let modules = vec![json!({"name": "jit_f", "dir": "hlo/jit_f.1", "compile_s": 0.5, "memory": null})];
        let pieces = Pieces { pieces: vec![Piece { content, modules }], ..Pieces::default() };
        let options = RecordOptions::new(["python", "x.py"]);
        let run = Run { status: ProgramStatus::Exited(3), wall: Duration::from_secs(2) };
        let gathered = Gathered::new(Path::new("absent"), &options, &pieces, run, None);
        let none = Redaction::none();
        for written in [
            compose(&options, &pieces, &gathered, run, 0.1, &none),
            compose_so_far(&options, &pieces, &Gathered::so_far(Path::new("absent"), &pieces), run.wall, 0.1, &none),
        ] {
            let text = json!(written).to_string();
            let again: Written = serde_json::from_str(&text).expect("a manifest");
            assert_eq!(again, written);
            let read = ridge_documents::read::<Manifest>(text.as_bytes()).expect("a manifest");
            assert!(read.damaged.is_empty(), "{:?}", read.damaged);
        }
    }
}
