//! The stages, one function each.

use super::commands::Commands;
use super::origin::{Framework, Origin};
use super::{FollowUp, GuideOptions, Stage, StageState};
use crate::error::OpenError;
use crate::escape::shell_word;
use crate::kernels::{base_name, longest, summed};
use crate::note::Severity;
use crate::offload::{OffloadAnswer, OffloadOptions};
use crate::session::Session;
use ridge_analysis::models::operators::Operators;
use ridge_analysis::{Analysis, Limit};
use ridge_offload::{Host, Verdict};
use ridge_table::Basis;
use ridge_trace::EventKind;
use ridge_units::{Bytes, Nanos, Share};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The part of device time from which on a question counts as answered for the program.
const NEARLY_ALL: f64 = 0.95;

/// How compiled modules are kept in every form that a hand-off wants.
const HLO: &str = "--hlo text,proto,stablehlo";

/// How PyTorch's allocators are watched: every allocation, and who made it.
const ALLOCATIONS: &str = "--allocations --allocator-history";

/// Kernels that a deeper look begins with.
const DEEP: usize = 3;

/// Why PyTorch's work has no verdict.
const NO_MODULE: &str = "no verdict: it is given on parts of compiled modules, and PyTorch leaves none; \
     a part that matters, written in JAX, has one";

/// Bundles that are looked at, and bytes that are read of the manifest of one.
const MOST_BUNDLES: usize = 16;
const MOST_MANIFEST_BYTES: u64 = 16 << 20;

fn stage(name: &'static str, question: &'static str) -> Stage {
    Stage {
        name,
        question,
        state: StageState::Missing,
        answer: String::new(),
        lacks: None,
        shown_by: None,
        next: Vec::new(),
        then: None,
    }
}

/// What ran, when, and for how long.
pub(super) fn timeline(session: &Session, analysis: &Analysis<'_>, commands: &Commands, origin: Origin) -> Stage {
    let mut stage = stage("timeline", "the work on the device, and its duration");
    let total = analysis.groups().total_self_ns();
    let Some((name, ns)) = by_name(analysis).into_iter().next().filter(|_| total > 0) else {
        on_the_host(&mut stage, commands, origin, "the capture has no device work");
        return stage;
    };
    stage.answer = format!("{} of device work; `{name}` takes {} of it", Nanos(total), Share(ns as f64 / total as f64));
    stage.shown_by = Some(commands.show("stats"));
    let lost = session.notes().iter().find(|note| note.severity == Severity::Lost);
    stage.state = if lost.is_some() { StageState::Partly } else { StageState::Answered };
    if let Some(note) = lost {
        stage.lacks = Some(format!("data is gone: {}", note.message));
        stage.next = vec![commands.record("")];
    }
    let whole = analysis.groups().groups.iter().filter(|group| group.kind == EventKind::GraphLaunch);
    let whole = whole.map(|group| group.self_ns).sum::<i64>() as f64 / total as f64;
    if origin.is_nsys && whole > 1.0 - NEARLY_ALL {
        stage.state = StageState::Partly;
        stage.lacks =
            Some(format!("which kernels ran in CUDA graphs, which are traced as wholes: {} of it", Share(whole)));
        stage.next = vec![commands.record("--with nsys")];
    }
    stage
}

/// Which operations of the program the work was, and what they compute.
pub(super) fn graph(analysis: &Analysis<'_>, commands: &Commands, origin: Origin) -> Stage {
    let mut stage = stage("graph", "the operation of each piece of work, and its computation");
    let total = analysis.groups().total_self_ns();
    let known = analysis.groups().groups.iter().filter(|group| analysis.instruction(group.op).is_some());
    let share = known.map(|group| group.self_ns).sum::<i64>() as f64 / (total.max(1) as f64);
    let modules = analysis.hlo.len();
    if modules == 0 || share <= 0.0 {
        stage.answer = match modules {
            0 => "the capture has no compiled module".to_owned(),
            _ => format!("{modules} compiled modules, and no work of theirs"),
        };
        stage.next = vec![commands.record(modules_of(origin))];
        return stage;
    }
    stage.answer = format!("{} of device time belongs to an operation of {modules} compiled modules", Share(share));
    stage.shown_by = Some(commands.show("hlo"));
    stage.state = if share >= NEARLY_ALL { StageState::Answered } else { StageState::Partly };
    if stage.state == StageState::Partly {
        stage.lacks = Some(format!("for {} the computation is unknown", Share(1.0 - share)));
        stage.next = vec![commands.show_with("stats", "--by kernel"), commands.record(HLO)];
    }
    stage
}

/// A question about a device of a capture that has none: with operators of PyTorch the program ran on the host, and recording it
/// again there would say no more.
fn on_the_host(stage: &mut Stage, commands: &Commands, origin: Origin, answer: &str) {
    stage.answer = answer.to_owned();
    if origin.ran_on_the_host {
        stage.answer.push_str("; PyTorch's operators ran on the host");
        stage.lacks = Some("the times on a GPU; run the next command on a machine that has one".to_owned());
    }
    stage.next = vec![commands.record("")];
}

/// How modules are asked for: where nothing says that XLA compiles the program, its options say nothing either.
fn modules_of(origin: Origin) -> &'static str {
    if origin.framework == Framework::Xla { HLO } else { "" }
}

/// Which operators of PyTorch the work was, what they worked on, and who called them.
pub(super) fn operators(analysis: &Analysis<'_>, commands: &Commands, origin: Origin) -> Stage {
    let mut stage = stage("graph", "the operation of each piece of work, and its computation");
    let trace = analysis.trace;
    let Operators(rows) = analysis.get::<Operators>();
    let total: i64 = rows.iter().fold(0, |sum, row| sum.saturating_add(row.sums.self_device_ns));
    let Some(first) = rows.first() else {
        stage.answer = match origin.is_nsys {
            true => "kernels are PyTorch's; Nsight Systems does not know which operator launched them".to_owned(),
            false => "kernels are PyTorch's; no operator that launched them is in the capture".to_owned(),
        };
        stage.next = vec![commands.record("--shapes")];
        return stage;
    };
    let name = analysis.text(first.name);
    stage.answer = match total {
        0 => format!("{} PyTorch operators and ranges; none launched work on a device", rows.len()),
        _ => format!(
            "{} PyTorch operators and ranges; `{name}` launched {} of the device's work",
            rows.len(),
            Share(first.sums.self_device_ns as f64 / total as f64)
        ),
    };
    stage.shown_by = Some(commands.show_with("stats", "--by operator"));
    let known = |text: &str| !text.is_empty() && text != "[]";
    let has_shapes = trace.operator_shapes.iter().any(|shape| known(analysis.text(shape.dims)));
    let has_stacks = trace.events.kind.contains(&(EventKind::PythonCall as u8));
    let mut lacks = Vec::new();
    let mut options = Vec::new();
    if !has_shapes {
        lacks.push("the shapes of their inputs");
        options.push("--shapes");
    }
    if !has_stacks {
        lacks.push("which lines of Python called them");
        options.push("--python-tracer");
    }
    stage.state = if lacks.is_empty() { StageState::Answered } else { StageState::Partly };
    if !lacks.is_empty() {
        stage.lacks = Some(lacks.join("; and "));
        stage.next = vec![commands.record(&options.join(" "))];
    }
    stage
}

/// Whether times and roofs were measured on the device that is meant.
pub(super) fn ground_truth(analysis: &Analysis<'_>, commands: &Commands, origin: Origin) -> Stage {
    let mut stage = stage("ground truth", "times of the accelerator, with measured roofs");
    let worked: BTreeSet<u32> = analysis.groups().groups.iter().map(|group| group.device).collect();
    let Some(&first) = worked.first() else {
        on_the_host(&mut stage, commands, origin, "no device worked");
        return stage;
    };
    let device = analysis.trace.devices.get(first as usize);
    let is_processor = device.is_some_and(ridge_trace::Device::is_processor);
    let ceilings = analysis.ceilings.get(first as usize);
    let measured =
        ceilings.and_then(|known| known.get(Limit::Memory)).is_some_and(|roof| roof.basis == Basis::Measured);
    let name = ceilings.map(|known| known.device.as_str()).filter(|name| !name.is_empty());
    let name = name.or_else(|| device?.model.as_deref()).unwrap_or("a device without a name").to_owned();
    let roofs = if measured { "its roofs are measured" } else { "its roofs are from a data sheet, or unknown" };
    stage.shown_by = Some(commands.show("roofline"));
    stage.state = if measured && !is_processor { StageState::Answered } else { StageState::Partly };
    stage.answer = match is_processor {
        true => format!("times are measured, on a CPU ({name})"),
        false => format!("times are measured on {name}; {roofs}"),
    };
    let mut lacks = Vec::new();
    if is_processor {
        lacks.push("the time on an accelerator; run the next command on a machine that has it");
        stage.next.push(commands.record(""));
    }
    if !measured {
        lacks.push(match origin.framework {
            Framework::Torch => "which roofs this machine reaches, which the next command measures with JAX",
            Framework::Xla | Framework::Unknown => "which roofs this machine reaches",
        });
        stage.next.push("ridgeline calibrate".to_owned());
    }
    stage.lacks = (!lacks.is_empty()).then(|| lacks.join("; and "));
    stage
}

/// What hardware counters say of the kernels that matter.
pub(super) fn deep_dive(analysis: &Analysis<'_>, commands: &Commands, origin: Origin) -> Stage {
    let mut stage = stage("deep dive", "hardware counters of the longest kernels");
    let trace = analysis.trace;
    let profiled: BTreeSet<&str> =
        trace.profiles.launches.iter().map(|launch| base_name(analysis.text(launch.name))).collect();
    let top = longest(analysis, DEEP);
    let open: Vec<&str> = top.iter().map(String::as_str).filter(|name| !profiled.contains(name)).collect();
    if !profiled.is_empty() {
        stage.answer =
            format!("{} launches of {} kernels have counters", trace.profiles.launches.len(), profiled.len());
        stage.shown_by = Some(commands.show_with("roofline", "--by profile"));
        stage.state = if open.is_empty() { StageState::Answered } else { StageState::Partly };
        stage.lacks = (!open.is_empty()).then(|| format!("counters of {}", list(&open)));
    } else if top.is_empty() && !analysis.hlo.is_empty() {
        stage.answer = "bounds are modelled from the operations; no counters were collected".to_owned();
        stage.shown_by = Some(commands.show("roofline"));
        stage.state = StageState::Partly;
        stage.lacks = Some("counters: record on a GPU first, this capture names no kernels of one".to_owned());
        stage.next = vec![commands.record("")];
    } else {
        on_the_host(&mut stage, commands, origin, "no kernel of the capture has counters");
        stage.next.clear();
    }
    if origin.is_amd {
        stage.lacks = Some(
            "counters, and those of AMD's profilers are not read here; the next command has its own views".to_owned(),
        );
        stage.next = vec![commands.under("rocprof-compute profile --name deep-dive --")];
    } else if !open.is_empty() {
        stage.next = commands.count(DEEP);
    } else if top.is_empty() && profiled.is_empty() && stage.next.is_empty() {
        stage.next = vec![commands.record("")];
    }
    stage
}

/// How much memory the program needs, here and at the size that is meant.
pub(super) fn memory(session: &Session, commands: &Commands, origin: Origin) -> Stage {
    let mut stage = stage("memory sizing", "how much memory it needs, here and at a larger size");
    let largest = session.with_analysis(|analysis| {
        let memory = analysis.memory();
        let planned = memory.modules.first().map(|module| (module.name(analysis).to_owned(), module.plan.peak_bytes));
        let held = memory.allocators.first().map(|one| (one.label.clone(), one.peak_bytes(analysis.trace)));
        (planned, held)
    });
    stage.answer = match largest {
        (Some((module, planned)), Some((label, held))) => {
            format!("{} at the peak of {label}; the largest plan is {} for `{module}`", Bytes(held), Bytes(planned))
        }
        (Some((module, planned)), None) => {
            format!("the largest plan is {} for `{module}`; no allocator was watched", Bytes(planned))
        }
        (None, Some((label, held))) => format!("{} at the peak of {label}", Bytes(held)),
        (None, None) => {
            stage.answer = "the capture has neither plans nor allocations".to_owned();
            stage.next = match origin.framework {
                Framework::Torch => vec![commands.record(ALLOCATIONS)],
                Framework::Xla | Framework::Unknown => vec![commands.record("")],
            };
            return stage;
        }
    };
    stage.shown_by = Some(commands.show("memory"));
    stage.state = if commands.sizes > 1 { StageState::Answered } else { StageState::Partly };
    if commands.sizes > 1 {
        stage.shown_by = Some(commands.show("scaling"));
        stage.answer.push_str(&format!(", at {} sizes", commands.sizes));
    } else {
        stage.lacks = Some("how it grows: that needs more than one size".to_owned());
        stage.next = match origin.framework {
            Framework::Torch => vec![commands.larger(ALLOCATIONS), "ridgeline memory LARGER".to_owned()],
            Framework::Xla | Framework::Unknown => vec![commands.at_sizes(), "ridgeline scaling RUN".to_owned()],
        };
    }
    stage
}

/// Asks what other hardware would gain.
pub(super) fn offload_asked(session: &Session, options: &GuideOptions) -> Result<OffloadAnswer, OpenError> {
    session.offload(&OffloadOptions { meant: options.meant.clone(), ..OffloadOptions::default() })
}

/// Which parts other hardware would speed up.
pub(super) fn offload(answer: &OffloadAnswer, commands: &Commands, origin: Origin) -> Stage {
    let mut stage = stage("offload verdict", "which parts other hardware would speed up");
    let found = &answer.found;
    if origin.framework == Framework::Torch {
        stage.answer = NO_MODULE.to_owned();
        stage.next = vec![commands.in_jax(), "ridgeline offload RUN".to_owned()];
        return stage;
    }
    if found.regions.is_empty() {
        stage.answer = "there is no work to divide into regions".to_owned();
        stage.next = vec![commands.record("")];
        return stage;
    }
    let share = |verdict: Verdict| -> f64 {
        found.regions.iter().filter(|one| one.verdict == verdict).map(|one| one.region.share).sum()
    };
    let unsaid = share(Verdict::NoSpecification);
    if unsaid >= NEARLY_ALL {
        stage.answer = format!("no verdict: for {} the computation is unknown", Share(unsaid));
        stage.shown_by = Some(commands.offload());
        stage.next = vec![commands.record(modules_of(origin))];
        return stage;
    }
    stage.answer = found.headline.trim_end_matches('.').to_owned();
    stage.shown_by = Some(commands.offload());
    let mut lacks = Vec::new();
    if found.baseline.host == Host::MeasuredOnProcessor {
        lacks.push("it is compared with a CPU, not with the target GPU".to_owned());
        stage.next.push(commands.show_with("offload", "--as GPU"));
    }
    if unsaid > 1.0 - NEARLY_ALL {
        lacks.push(format!("{} has no specification", Share(unsaid)));
        stage.next.push(commands.record(HLO));
    }
    let undecided = share(Verdict::Undecided);
    if undecided > 1.0 - NEARLY_ALL {
        lacks.push(format!("{} is undecided", Share(undecided)));
        stage.next.push(format!("{} --all --what-if clock=250MHz,resident=100", commands.offload()));
    }
    stage.state = if lacks.is_empty() { StageState::Answered } else { StageState::Partly };
    stage.lacks = (!lacks.is_empty()).then(|| lacks.join("; "));
    stage.then = mended(answer, commands);
    stage
}

/// The change of the program that is worth more than other hardware, and how to measure what it saves.
fn mended(answer: &OffloadAnswer, commands: &Commands) -> Option<FollowUp> {
    let found = &answer.found;
    let (one, fix) = found.regions.iter().find_map(|one| Some((one, one.fix?)))?;
    let on = match found.baseline.host {
        Host::Sheet | Host::Compiled => format!(", on a machine with {}", found.baseline.device),
        Host::Measured | Host::MeasuredOnProcessor => String::new(),
    };
    Some(FollowUp {
        what: format!("fix `{}` in the program first ({}), and measure the saving{on}", one.region.name, fix.words()),
        command: commands.try_fix(),
    })
}

/// Whether a checked bundle of a region is there.
pub(super) fn hand_off(session: &Session, answer: &OffloadAnswer, commands: &Commands, origin: Origin) -> Stage {
    let mut stage = stage("hand-off", "what the engineers get, and what of it is checked");
    let regions = &answer.found.regions;
    let modules: BTreeSet<&str> = regions.iter().map(|one| one.region.module.as_str()).collect();
    let bundles: Vec<Bundle> =
        bundles(session).into_iter().filter(|bundle| modules.contains(bundle.module.as_str())).collect();
    if let Some(bundle) = bundles.first() {
        let path = shell_word(&bundle.path);
        let [passed, failed, not_run, unfinished] = bundle.checks;
        stage.answer = format!(
            "{} has `{}`: {passed} checks passed, {failed} failed, {not_run} not run",
            bundle.path, bundle.module
        );
        if unfinished > 0 {
            stage.answer.push_str(&format!(", {unfinished} not finished"));
        }
        stage.shown_by = Some(format!("ridgeline handoff verify {path}"));
        stage.state =
            if failed + not_run + unfinished == 0 && passed > 0 { StageState::Answered } else { StageState::Partly };
        if stage.state == StageState::Partly {
            stage.lacks = Some("a check that did not run, or failed, proves nothing".to_owned());
            stage.next = vec![format!("ridgeline handoff verify {path}")];
        }
        stage.then = bundle.has_code.then(|| emulated("its code", &bundle.path, commands));
        return stage;
    }
    let specified = |at: &usize| regions[*at].region.specification.is_ok();
    let best = (0..regions.len())
        .find(|at| regions[*at].verdict.is_candidate())
        .or_else(|| (0..regions.len()).find(specified));
    let Some(best) = best else {
        stage.answer = "no region has a specification to hand over".to_owned();
        stage.next = match origin.framework {
            Framework::Torch => {
                vec![commands.in_jax(), "ridgeline handoff RUN --region 1 -o REGION.handoff".to_owned()]
            }
            Framework::Xla | Framework::Unknown => vec![commands.record(modules_of(origin))],
        };
        return stage;
    };
    stage.answer = match regions[best].verdict.is_candidate() {
        true => format!("no bundle of `{}`, which is a candidate", regions[best].region.name),
        false => format!("no bundle, and no region is a candidate; `{}` takes most time", regions[best].region.name),
    };
    stage.next = vec![commands.show_with("handoff", &format!("--region {} -o REGION.handoff", best + 1))];
    stage.then = Some(emulated("the bundle's code", "REGION.handoff", commands));
    stage
}

/// What shows before any hardware exists what the region's number formats do to the program's results.
fn emulated(code: &str, bundle: &str, commands: &Commands) -> FollowUp {
    FollowUp {
        what: format!(
            "run the program with {code} in the region's place, as typed and in each number format, before any hardware exists"
        ),
        command: commands.emulate(bundle),
    }
}

/// A bundle that was found beside the capture.
struct Bundle {
    path: String,
    module: String,
    /// Checks that passed, failed, did not run, did not finish.
    checks: [usize; 4],
    /// Whether there is code of the region, and not its specification alone.
    has_code: bool,
}

/// Bundles in the capture's folder and beside it.
fn bundles(session: &Session) -> Vec<Bundle> {
    let root = session.root();
    let folders = [root.is_dir().then_some(root), root.parent()];
    let mut paths: Vec<PathBuf> = folders
        .into_iter()
        .flatten()
        .map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "handoff"))
        .collect();
    paths.sort();
    paths.iter().take(MOST_BUNDLES).filter_map(|path| bundle(path)).collect()
}

fn bundle(path: &Path) -> Option<Bundle> {
    let manifest = path.join("MANIFEST.json");
    if std::fs::metadata(&manifest).ok()?.len() > MOST_MANIFEST_BYTES {
        return None;
    }
    let document: Value = serde_json::from_slice(&std::fs::read(manifest).ok()?).ok()?;
    if document["schema"] != "ridgeline.handoff.v1" {
        return None;
    }
    let checks = document["ledger"].as_array()?;
    let count = |state: &str| checks.iter().filter(|check| check["state"] == state).count();
    Some(Bundle {
        path: path.display().to_string(),
        module: document["source"]["module"].as_str()?.to_owned(),
        checks: [count("passed"), count("failed"), count("not run"), count("not finished")],
        has_code: path.join("hls/kernel.cpp").is_file(),
    })
}

/// Device time by the operation's name, or the event's where none is known; most first.
fn by_name(analysis: &Analysis<'_>) -> Vec<(String, i64)> {
    let name = |group: &ridge_analysis::Group| {
        let operation = analysis.operation(group.op).map(|op| analysis.text(op.name));
        operation.unwrap_or_else(|| analysis.text(ridge_trace::StringId(group.name))).to_owned()
    };
    summed(analysis.groups().groups.iter().map(|group| (name(group), group.self_ns)))
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
