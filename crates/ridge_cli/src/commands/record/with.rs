//! `ridgeline record --with`: profilers of NVIDIA and AMD around the program, and what they leave in the recording.

use super::arguments::RecordArguments;
use super::profilers::{Counted, With};
use super::words::{causes, from_here, print_stderr, summary};
use crate::arguments::Globals;
use crate::failure::Failure;
use anstyle::{AnsiColor, Style};
use ridge_record::{
    CounterOptions, Kernels, Profiler, ProgramStatus, RecordEvent, RecordOptions, RocprofOptions, WarmUp, Window,
    count, export_page, is_recording_of, record,
};
use ridge_report::escape_controls;
use ridgeline::escape::shell_word;
use ridgeline::units::Bytes;
use ridgeline::{OpenOptions, Session};
use std::path::{Path, PathBuf};

/// Records with the profilers that are asked for; gives how the program ended when it last ran, and the recording.
pub(super) fn run(
    arguments: &RecordArguments,
    globals: &Globals,
    tell: &mut dyn FnMut(RecordEvent),
) -> Result<(ProgramStatus, PathBuf), Failure> {
    let gpu_metrics = arguments.with.contains(&With::NsysMetrics);
    let nsys = gpu_metrics || arguments.with.contains(&With::Nsys);
    let counted_kernels = With::counted(&arguments.with).map_err(Failure::usage)?;
    let rocprof = With::rocprof(&arguments.with).map_err(Failure::usage)?;
    let instead = if nsys { Some("nsys") } else { rocprof.as_ref().map(|_| "rocprofv3") };
    if let (Some(instead), Some(option)) = (instead, arguments.of_the_profiler()) {
        let why = format!("selects what JAX's or PyTorch's own profiler records, but {instead} replaces it");
        return Err(Failure::usage(format!("`{option}` {why}")).hint("leave one of the two out"));
    }
    let is_whole = |options: &RecordOptions| options.window == Window::WholeProgram && options.warm_up == WarmUp::None;
    if rocprof.is_some() && !is_whole(&arguments.options()) {
        let why = "rocprofv3 captures the whole program: `--steps`, `--annotation` and `--warm-up` choose a part of it";
        return Err(Failure::usage(why).hint("leave them out; steps that the program marks are found in the capture"));
    }
    // Both are looked for before anything runs.
    let ncu = counted_kernels.as_ref().map(|_| Profiler::Ncu.find()).transpose()?;
    let nsys_tool = if nsys { Some(Profiler::Nsys.find()?) } else { None };
    let rocprof = match rocprof {
        None => None,
        Some((counters, kernels)) => Some(RocprofOptions { tool: Profiler::Rocprof.find()?, counters, kernels }),
    };
    let options = RecordOptions { nsys: nsys_tool, gpu_metrics, rocprof, ..arguments.options() };
    let earlier =
        arguments.out.as_ref().filter(|out| ncu.is_some() && !nsys && is_recording_of(out, &arguments.command));
    let (status, out) = match earlier {
        Some(out) => (ProgramStatus::Exited(0), out.clone()),
        None => {
            let outcome = record(&options, tell)?;
            print_stderr(&summary(&outcome));
            if ncu.is_none() {
                print_stderr(&causes(&outcome, globals));
            }
            (outcome.status, outcome.out)
        }
    };
    let (Some(tool), Some(kernels)) = (ncu, counted_kernels) else { return Ok((status, out)) };
    if status != ProgramStatus::Exited(0) {
        said("missing", "counters: the program failed, and was not run again for them");
        return Ok((status, out));
    }
    Ok((counted(&tool, &out, kernels, arguments, tell)?, out))
}

/// Runs the program again for the counters of `kernels`, or of those that take most time in the recording at `out`.
fn counted(
    tool: &Path,
    out: &Path,
    kernels: Counted,
    arguments: &RecordArguments,
    tell: &mut dyn FnMut(RecordEvent),
) -> Result<ProgramStatus, Failure> {
    let kernels = match kernels {
        Counted::Kernels(kernels) => kernels,
        Counted::Longest(top) => {
            ridgeline::start_threads();
            let names = Session::open(&[out.to_path_buf()], &OpenOptions::default())
                .map_or_else(|_| Vec::new(), |session| session.longest_kernels(top));
            if names.is_empty() {
                said("missing", "counters: the recording names no GPU kernels, and only those are counted");
                return Ok(ProgramStatus::Exited(0));
            }
            Kernels::Named(names)
        }
    };
    let options = CounterOptions {
        tool: tool.to_path_buf(),
        run: out.to_path_buf(),
        command: arguments.command.clone(),
        kernels,
    };
    let outcome = count(&options, tell)?;
    for lost in &outcome.missing {
        said("missing", &format!("{}: {}", lost.what, lost.why));
    }
    if let Some((report, bytes)) = &outcome.report {
        match readable(tool, report) {
            Ok(note) => {
                let path = from_here(report).display().to_string();
                said("counters", &format!("{path} ({}){note}", Bytes(*bytes)));
                let folder = from_here(out).display().to_string();
                said("next", &format!("ridgeline roofline {} --by profile", shell_word(&folder)));
            }
            Err(why) => said("missing", &format!("counters: {why}")),
        }
    }
    Ok(outcome.status)
}

/// Sees to it that the report is read: it is by itself, or as a page that the profiler makes of it.
fn readable(tool: &Path, report: &PathBuf) -> Result<String, String> {
    let Err(error) = Session::open(std::slice::from_ref(report), &OpenOptions::default()) else {
        return Ok(String::new());
    };
    let page = export_page(tool, report)
        .map_err(|why| format!("the report cannot be read ({}), nor exported: {why}", error.message()))?;
    // It stays for the profiler's own viewer, under a name that is not taken for a capture.
    let aside = report.with_extension("ncu-rep.unread");
    std::fs::rename(report, &aside).map_err(|error| format!("the report cannot be renamed: {error}"))?;
    Ok(format!(", read as {}", page.file_name().unwrap_or_default().to_string_lossy()))
}

/// A line below the summary.
fn said(label: &str, text: &str) {
    let style = if label == "missing" { AnsiColor::Yellow.on_default().bold() } else { Style::new() };
    print_stderr(&format!("  {style}{label:8}{style:#}  {}\n", escape_controls(text)));
}
