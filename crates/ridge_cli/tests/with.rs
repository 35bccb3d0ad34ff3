//! Recordings with profilers around the program: stand-ins behave as those of NVIDIA and AMD do, and the program is a shell.

mod run;

use expect_test::{Expect, expect};
use run::{Ran, finish, ridgeline};
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Longest kernels of the database that a stand-in exports, with those of the report it hands out.
const KERNELS: &str = "saxpy gemm";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A folder with stand-ins on a path of its own, and the Python that runs them.
struct Place(tempfile::TempDir, PathBuf);

impl Place {
    /// `None` where there is no Python to run them.
    fn new(test: &str, tools: &[&str]) -> Option<Place> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let python = std::env::split_paths(&folders).map(|folder| folder.join("python3")).find(|path| path.is_file());
        let Some(python) = python else {
            println!("skipped: {test}: no python3 on the path");
            return None;
        };
        let place = Place(tempfile::tempdir().expect("a folder"), python);
        fs::create_dir(place.path("bin")).expect("a folder");
        for tool in tools {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/stand_in/{tool}.py"));
            let text = format!("#!/bin/sh\nexec '{}' -I '{}' \"$@\"\n", place.python().display(), script.display());
            write_program(&place.path(&format!("bin/{tool}")), &text);
        }
        Some(place)
    }

    fn python(&self) -> &Path {
        &self.1
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `ridgeline record` with `options`, of a shell that runs `script`.
    fn command(&self, options: &[&str], script: &str) -> Command {
        let out = self.path("run").display().to_string();
        let mut words = vec!["record", "-o", &out];
        words.extend(options);
        words.extend(["--", "sh", "-c", script]);
        let mut command = ridgeline(&words);
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display())).current_dir(self.0.path());
        for (name, file) in [
            ("STAND_IN_DATABASE", "fixtures/nsys/two_processes.sqlite"),
            ("STAND_IN_REPORT", "fixtures/ncu/made_up.ncu-rep"),
            ("STAND_IN_PAGE", "fixtures/ncu/made_up.raw.csv"),
            ("STAND_IN_CAPTURE", "fixtures/rocprof/made_up_results.json"),
        ] {
            command.env(name, root().join(file));
        }
        command.env("STAND_IN_KERNELS", KERNELS);
        command
    }

    fn record(&self, options: &[&str], script: &str) -> Ran {
        finish(self.command(options, script))
    }

    /// What is in the folder of traces.
    fn traces(&self) -> String {
        let entries = fs::read_dir(self.path("run/trace")).into_iter().flatten().filter_map(Result::ok);
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names.join(" ")
    }

    fn manifest(&self) -> Value {
        let text = fs::read_to_string(self.path("run/manifest.json")).expect("a manifest");
        serde_json::from_str(&text).expect("JSON")
    }
}

/// Written by another process: one that a test starts meanwhile could hold the file open, and the system would not run it.
fn write_program(path: &Path, text: &str) {
    let status = Command::new("sh").args(["-c", r#"printf %s "$2" >"$1""#, "sh"]).arg(path).arg(text).status();
    assert!(status.expect("a shell").success());
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}

/// What was said, without times, sizes and paths.
fn said(place: &Place, ran: &Ran) -> String {
    let text = ran.stderr.replace(&format!("{}/", place.0.path().display()), "");
    let mut lines = String::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.split_once(" in run").filter(|_| line.starts_with("ridgeline: ")) {
            Some(_) => lines.push_str("ridgeline: … in run\n"),
            None if line.starts_with("  program") => {
                lines.push_str(&format!("{}\n", line.split(',').next().unwrap_or_default()));
            }
            None => lines.push_str(&format!("{line}\n")),
        }
    }
    lines
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(text);
}

#[test]
fn nsys_leaves_its_timeline_and_the_programs_own_status() {
    let Some(place) = Place::new("nsys_leaves_its_timeline_and_the_programs_own_status", &["nsys"]) else { return };
    let ran = place.record(&["--with", "nsys"], "echo own output; exit 3");
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("own output\n"), "{}", ran.stdout);
    check(
        &said(&place, &ran),
        expect![[r#"
            ridgeline: nsys exports its report
            ridgeline: … in run
              program   exit status 3
              next      ridgeline stats run
        "#]],
    );
    assert_eq!(place.traces(), "nsys.nsys-rep nsys.sqlite");
    let manifest = place.manifest();
    assert_eq!(manifest["options"]["around"], "nsys");
    assert_eq!(manifest["traces"][0]["path"], "trace/nsys.sqlite");
    assert_eq!(manifest["program"]["exit_code"], 3);
    let run = place.path("run").display().to_string();
    let stats = finish(ridgeline(&["stats", &run]));
    assert_eq!(stats.code, Some(0), "{}", stats.stderr);
}

#[test]
fn counters_go_into_the_recording_of_the_same_command() {
    let Some(place) = Place::new("counters_go_into_the_recording_of_the_same_command", &["nsys", "ncu"]) else {
        return;
    };
    let script = "echo ran >>runs; exit 0";
    assert_eq!(place.record(&["--with", "nsys"], script).code, Some(0));
    let ran = place.record(&["--with", "ncu:top=2"], script);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    check(
        &said(&place, &ran),
        expect![[r#"
        ridgeline: running the program again under ncu, for gemm, axpy
          counters  run/trace/deep-dive.ncu-rep (1.43 KiB)
          next      ridgeline roofline run --by profile
    "#]],
    );
    assert_eq!(place.traces(), "deep-dive.ncu-rep nsys.nsys-rep nsys.sqlite");
    assert_eq!(fs::read_to_string(place.path("runs")).expect("the program ran").lines().count(), 2);
    assert_eq!(place.manifest()["traces"][1]["path"], "trace/deep-dive.ncu-rep");
    // Another command is another recording.
    let other = place.record(&["--with", "nsys,ncu:top=1"], "exit 5");
    assert_eq!(other.code, Some(5), "{}", other.stderr);
    check(
        &said(&place, &other),
        expect![[r#"
        ridgeline: nsys exports its report
        ridgeline: … in run
          program   exit status 5
          next      ridgeline stats run
          missing   counters: the program failed, and was not run again for them
    "#]],
    );
    assert_eq!(place.traces(), "nsys.nsys-rep nsys.sqlite");
}

#[test]
fn what_a_profiler_could_not_do_is_said() {
    let Some(place) = Place::new("what_a_profiler_could_not_do_is_said", &["nsys", "ncu"]) else { return };
    let mut told = String::new();
    for (variable, value, options) in [
        ("STAND_IN_NSYS", "old", "nsys"),
        ("STAND_IN_NSYS", "no-report", "nsys"),
        ("STAND_IN_NSYS", "no-export", "nsys"),
        ("STAND_IN_NCU", "denied", "nsys,ncu"),
        ("STAND_IN_KERNELS", "another", "nsys,ncu"),
    ] {
        let mut command = place.command(&["--with", options], "exit 0");
        command.env(variable, value);
        let ran = finish(command);
        let missing: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("missing")).collect();
        told.push_str(&format!("{value}: {:?}, {}\n", ran.code, missing.join("; ").replace("  ", " ")));
    }
    check(
        &told,
        expect![[r#"
        old: Some(1),  missing  trace: nsys ended with status 1 before it ran the program; see its output above
        no-report: Some(0),  missing  trace: nsys wrote no report; see its output above
        no-export: Some(0),  missing  trace: trace/nsys.nsys-rep could not be exported: status 1, Importer error status: Importation failed.; `nsys export --type=sqlite` of a newer version may read it
        denied: Some(9),  missing  counters: the driver allows only administrators to read performance counters; run as root, or allow all users: https://developer.nvidia.com/ERR_NVGPUCTRPERM
        another: Some(0),  missing  counters: the program launched none of gemm, axpy
    "#]],
    );
}

#[test]
fn without_the_profiler_nothing_is_run() {
    let Some(place) = Place::new("without_the_profiler_nothing_is_run", &[]) else { return };
    for (tool, product) in [("nsys", "NVIDIA Nsight"), ("ncu", "NVIDIA Nsight"), ("rocprofv3", "AMD's ROCprofiler-SDK")]
    {
        let ran = place.record(&["--with", tool], "echo ran >runs");
        if ran.code != Some(2) {
            println!("skipped: without_the_profiler_nothing_is_run: {tool} is installed on this machine");
            continue;
        }
        assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
        assert!(
            ran.stderr.starts_with(&format!("error: expected `{tool}`, the command of {product}")),
            "{}",
            ran.stderr
        );
        assert!(!place.path("runs").exists() && !place.path("run").exists());
    }
}

#[test]
fn options_of_the_profiler_that_is_replaced_are_refused() {
    let Some(place) = Place::new("options_of_the_profiler_that_is_replaced_are_refused", &["nsys"]) else { return };
    let ran = place.record(&["--with", "nsys", "--shapes"], "exit 0");
    assert_eq!(ran.code, Some(2));
    check(
        &ran.stderr,
        expect![[r#"
        error: `--shapes` selects what JAX's or PyTorch's own profiler records, but nsys replaces it
        hint: leave one of the two out
    "#]],
    );
}

#[test]
fn a_range_is_what_nsys_waits_for() {
    let Some(place) = Place::new("a_range_is_what_nsys_waits_for", &["nsys"]) else { return };
    let mut told = String::new();
    for (options, script) in [
        (&["--with", "nsys", "--steps", "2..4"][..], "touch \"$STAND_IN_RANGE\""),
        (&["--with", "nsys", "--steps", "2..4"], "exit 0"),
        (&["--with", "nsys", "--warm-up", "5s"], "touch \"$STAND_IN_RANGE\""),
        (&["--with", "nsys:gpu-metrics"], "exit 0"),
    ] {
        let _ = (fs::remove_file(place.path("range")), fs::remove_dir_all(place.path("run")));
        let mut command = place.command(options, script);
        command.env("STAND_IN_RANGE", place.path("range")).env("STAND_IN_ASKED", place.path("asked"));
        let ran = finish(command);
        let asked = fs::read_to_string(place.path("asked")).expect("what was asked");
        let asked: Vec<&str> = asked.split(' ').filter(|word| word.contains("range") || word.contains("gpu")).collect();
        let traces = place.traces();
        let missing = ran.stderr.lines().filter(|line| line.contains("missing")).map(str::trim).collect::<String>();
        told.push_str(&format!("{:?} {}: {traces}{missing}\n", ran.code, asked.join(" ")));
    }
    check(
        &told,
        expect![[r#"
        Some(0) --capture-range=cudaProfilerApi --capture-range-end=stop: nsys.nsys-rep nsys.sqlite
        Some(0) --capture-range=cudaProfilerApi --capture-range-end=stop: missing   trace: nsys wrote no report; see its output above
        Some(0) --capture-range=cudaProfilerApi --capture-range-end=stop: nsys.nsys-rep nsys.sqlite
        Some(0) --gpu-metrics-devices=all: nsys.nsys-rep nsys.sqlite
    "#]],
    );
}

#[test]
fn kernels_are_counted_by_an_expression() {
    let Some(place) = Place::new("kernels_are_counted_by_an_expression", &["nsys", "ncu"]) else { return };
    let options = ["--with", "nsys,ncu:kernel=^ge.m$,skip=10,count=2"];
    let ran = place.record(&options, "exit 0");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("running the program again under ncu, for ^ge.m$"), "{}", ran.stderr);
    assert_eq!(place.traces(), "deep-dive.ncu-rep nsys.nsys-rep nsys.sqlite");
    let none = place.record(&["--with", "ncu:kernel=^conv"], "exit 0");
    assert!(none.stderr.contains("counters: the program launched none of ^conv"), "{}", none.stderr);
    let odd = place.record(&["--with", "ncu:top=2,skip=3"], "exit 0");
    assert_eq!(odd.code, Some(2), "{}", odd.stderr);
}

#[test]
fn a_program_that_is_not_there_is_no_failure_of_the_profiler() {
    let test = "a_program_that_is_not_there_is_no_failure_of_the_profiler";
    let Some(place) = Place::new(test, &["nsys"]) else { return };
    let mut command = ridgeline(&["record", "-o", "run", "--with", "nsys", "--", "no-such-program"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", place.path("bin").display())).current_dir(place.0.path());
    let ran = finish(command);
    assert_eq!(ran.code, Some(127), "{}", ran.stderr);
    check(
        &ran.stderr,
        expect![[r#"
        error: cannot start the program: No such file or directory (os error 2): no-such-program
        hint: check that the program runs without the recorder
    "#]],
    );
    assert!(!place.path("run").exists());
}

#[test]
fn a_report_that_is_not_read_becomes_a_page_that_is() {
    let Some(place) = Place::new("a_report_that_is_not_read_becomes_a_page_that_is", &["nsys", "ncu"]) else { return };
    fs::write(place.path("newer"), "NVR\0a report of a version to come").expect("a file");
    let mut command = place.command(&["--with", "nsys,ncu"], "exit 0");
    command.env("STAND_IN_REPORT", place.path("newer"));
    let ran = finish(command);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    check(
        &said(&place, &ran),
        expect![[r#"
        ridgeline: nsys exports its report
        ridgeline: … in run
          program   exit status 0
          next      ridgeline stats run
        ridgeline: running the program again under ncu, for gemm, axpy
          counters  run/trace/deep-dive.ncu-rep (33 B), read as deep-dive.ncu.csv
          next      ridgeline roofline run --by profile
    "#]],
    );
    assert_eq!(place.traces(), "deep-dive.ncu-rep.unread deep-dive.ncu.csv nsys.nsys-rep nsys.sqlite");
    let run = place.path("run").display().to_string();
    let roofline = finish(ridgeline(&["roofline", &run, "--by", "profile"]));
    assert_eq!(roofline.code, Some(0), "{}", roofline.stderr);
    assert!(roofline.stdout.contains("scale("), "{}", roofline.stdout);
    // What is left of it is a recording's, and the next one takes its place.
    assert_eq!(place.record(&["--with", "nsys"], "exit 0").code, Some(0));
    assert_eq!(place.traces(), "nsys.nsys-rep nsys.sqlite");
}

/// The traces in the folder, with numbers of processes left out.
fn traces_of_processes(place: &Place) -> String {
    place.traces().replace(|letter: char| letter.is_ascii_digit(), "").replace("rocprofv_", "rocprofv3_PID")
}

#[test]
fn rocprofv3_leaves_a_file_for_each_process_and_the_programs_own_status() {
    let test = "rocprofv3_leaves_a_file_for_each_process_and_the_programs_own_status";
    let Some(place) = Place::new(test, &["rocprofv3"]) else { return };
    let mut command = place.command(&["--with", "rocprofv3"], "echo own output; exit 3");
    command.env("STAND_IN_ASKED", place.path("asked"));
    let ran = finish(command);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("own output\n"), "{}", ran.stdout);
    check(
        &said(&place, &ran),
        expect![[r#"
            ridgeline: … in run
              program   exit status 3
              next      ridgeline stats run
        "#]],
    );
    check(
        &fs::read_to_string(place.path("asked")).expect("what was asked"),
        expect![
            "--hip-runtime-trace --kernel-trace --memory-copy-trace --memory-allocation-trace --marker-trace --rccl-trace --output-format json"
        ],
    );
    // The file of the shell between the two is gone.
    assert_eq!(traces_of_processes(&place), "rocprofv3_PID_results.json");
    let manifest = place.manifest();
    assert_eq!(manifest["options"]["around"], "rocprofv3");
    assert_eq!(manifest["traces"].as_array().map(Vec::len), Some(1));
    let run = place.path("run").display().to_string();
    let stats = finish(ridgeline(&["stats", &run, "--by", "kernel", "-f", "csv"]));
    assert_eq!(stats.code, Some(0), "{}", stats.stderr);
    assert!(stats.stdout.contains("gemm(float*)"), "{}", stats.stdout);
    // The next recording takes its place.
    assert_eq!(place.record(&["--with", "rocprofv3"], "exit 0").code, Some(0));
    assert_eq!(traces_of_processes(&place), "rocprofv3_PID_results.json");
}

#[test]
fn rocprofv3_is_asked_for_counters_and_what_it_could_not_do_is_said() {
    let test = "rocprofv3_is_asked_for_counters_and_what_it_could_not_do_is_said";
    let Some(place) = Place::new(test, &["rocprofv3"]) else { return };
    let mut told = String::new();
    for (fails, options) in [
        ("", "rocprofv3,pmc=SQ_WAVES,pmc=GRBM_GUI_ACTIVE,kernel=^gemm"),
        ("old", "rocprofv3"),
        ("no-file", "rocprofv3"),
        ("", "rocprofv3,nsys"),
        ("", "rocprofv3,kernel=x"),
    ] {
        let mut command = place.command(&["--with", options], "exit 0");
        command.env("STAND_IN_ROCPROF", fails).env("STAND_IN_ASKED", place.path("asked"));
        let ran = finish(command);
        let asked = fs::read_to_string(place.path("asked")).unwrap_or_default();
        let _ = fs::remove_file(place.path("asked"));
        let counters = asked.split_once("--pmc").map(|(_, rest)| format!(" --pmc{rest}")).unwrap_or_default();
        let line = ran.stderr.lines().find(|line| line.contains("missing") || line.starts_with("error")).unwrap_or("");
        told.push_str(&format!("{:?}{counters} {}\n", ran.code, line.trim()));
    }
    let ran = place.record(&["--with", "rocprofv3", "--steps", "2..4"], "exit 0");
    told.push_str(&ran.stderr);
    check(
        &told,
        expect![[r#"
        Some(0) --pmc SQ_WAVES GRBM_GUI_ACTIVE --kernel-include-regex ^gemm --output-format json 
        Some(2) missing   trace: rocprofv3 ended with status 2 before it ran the program; see its output above
        Some(0) missing   trace: rocprofv3 wrote no file; see its output above
        Some(2) error: `rocprofv3` is AMD's and cannot run with nsys or ncu
        Some(2) error: `kernel=` selects kernels for `pmc=`, but no counter is named
        error: rocprofv3 captures the whole program: `--steps`, `--annotation` and `--warm-up` choose a part of it
        hint: leave them out; steps that the program marks are found in the capture
    "#]],
    );
}

#[test]
fn an_interrupt_keeps_what_was_captured() {
    let Some(place) = Place::new("an_interrupt_keeps_what_was_captured", &["nsys"]) else { return };
    // The program ends itself once it is interrupted, and says when it can be.
    let script = "trap 'exit 7' INT; echo ready; while :; do read line || :; done";
    let recorder = place.command(&["--with", "nsys"], script);
    // In a job of the background interrupts are ignored, and would stay so.
    let hear =
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])";
    let mut command = Command::new(place.python());
    command.args(["-I", "-c", hear]).arg(recorder.get_program()).args(recorder.get_args()).current_dir(place.0.path());
    command.envs(recorder.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdout(Stdio::piped());
    let mut child = command.process_group(0).stdin(Stdio::piped()).spawn().expect("it starts");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    output.read_line(&mut line).expect("it writes");
    assert_eq!(line, "ready\n");
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().expect("kill").success());
    // With nothing more to read, a program that was not interrupted would go on for ever.
    let input = child.stdin.take();
    let ended = child.wait().expect("it ends");
    drop(input);
    assert_eq!(ended.code(), Some(7));
    assert_eq!(place.traces(), "nsys.nsys-rep nsys.sqlite");
}
