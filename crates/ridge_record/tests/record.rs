//! Recordings of programs that need no jax: a shell, and Python without it.
//!
//! What the harness does inside a program that uses jax is tested on the Python side, with this recorder.

#[path = "../../ridge_report/tests/schema/mod.rs"]
mod schema;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::{Expect, expect};
use ridge_record::{RecordError, RecordEvent, RecordOptions, RecordOutcome, record};
use serde_json::Value;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn out(&self) -> PathBuf {
        self.0.path().join("run")
    }

    /// Record a shell script that gets the name of a file to write to as `$1`.
    fn shell(&self, script: &str) -> RecordOutcome {
        let note = self.0.path().join("note");
        let command = [OsString::from("sh"), "-c".into(), script.into(), "sh".into(), note.into()];
        self.record(&command).expect("a recording")
    }

    fn record(&self, command: &[OsString]) -> Result<RecordOutcome, RecordError> {
        let mut options = RecordOptions::new(command.to_vec());
        options.out = Some(self.out());
        record(&options, &mut |_| {})
    }

    fn note(&self) -> String {
        fs::read_to_string(self.0.path().join("note")).expect("the script wrote it")
    }

    fn manifest(&self) -> Value {
        manifest(&self.out())
    }
}

fn manifest(out: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(out.join("manifest.json")).expect("a manifest")).expect("JSON")
}

#[test]
fn manifests_keep_to_their_schema() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json/manifest.v1.schema.json");
    let page: Value = serde_json::from_str(&fs::read_to_string(page).expect("the page")).expect("JSON");
    for script in ["exit 0", "exit 3", "kill -TERM $$"] {
        let folder = Folder::new();
        folder.shell(&format!(r#"cp "$(dirname "$(dirname "$RIDGELINE_RECORD")")/manifest.json" "$1"; {script}"#));
        assert_eq!(schema::problems(&page, &folder.manifest()), Vec::<String>::new(), "{script}");
        let early = serde_json::from_str(&folder.note()).expect("JSON");
        assert_eq!(schema::problems(&page, &early), Vec::<String>::new(), "while it ran: {script}");
    }
}

/// Status and what is missing, as outcome and manifest tell it.
fn check(outcome: &RecordOutcome, manifest: &Value, want: Expect) {
    let mut told =
        format!("{:?} {} {}\n", outcome.status, manifest["program"]["exit_code"], manifest["program"]["signal"]);
    for (lost, listed) in outcome.missing.iter().zip(manifest["missing"].as_array().expect("a list")) {
        assert_eq!((listed["what"].as_str(), listed["why"].as_str()), (Some(&*lost.what), Some(&*lost.why)));
        told += &format!("{}: {}\n", lost.what, lost.why);
    }
    want.assert_eq(&told);
}

#[test]
fn a_program_that_is_not_python() {
    let folder = Folder::new();
    let outcome = folder.shell("exit 3");
    check(
        &outcome,
        &folder.manifest(),
        expect![[r#"
            Exited(3) 3 null
            capture: no Python process loaded the harness: the program is not Python, or it starts Python with another environment or with -I, -E or -S; a system profiler such as nsys or rocprof can record it
        "#]],
    );
    assert_eq!(folder.manifest()["complete"], false);
    let left: Vec<_> = fs::read_dir(folder.out())
        .expect("a folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    assert_eq!(left, ["manifest.json"]);
}

#[test]
fn a_program_that_a_signal_ends() {
    let folder = Folder::new();
    let outcome = folder.shell("kill -KILL $$");
    assert_eq!(outcome.status.shell_code(), 137);
    assert_eq!(folder.manifest()["program"]["signal"], "SIGKILL");
}

#[test]
fn pieces_are_gathered() {
    let folder = Folder::new();
    let outcome = folder.shell(
        r#"
        pieces=$(dirname "$RIDGELINE_RECORD")/pieces
        mkdir -p "$(dirname "$pieces")/../trace" && printf xx > "$(dirname "$pieces")/../trace/host0.xplane.pb"
        cat > "$pieces/7-0.json" <<'END'
        {"pid": 7, "jax": true, "state": "tracing", "started_unix_s": 2.0, "traces": [{"path": "trace/host0.xplane.pb"}],
         "timings": {"harness_s": 0.5, "attach_s": 0.25}, "versions": {"jax": "0.10"}, "added_flags": ["--a=b"],
         "missing": [{"what": "jaxprs", "why": "TypeError: no"}]}
END
        printf '{"name": "jit_f"}\n{"name": "ji' > "$pieces/7-0.modules.jsonl"
        printf '{"pid": 8, "jax"' > "$pieces/8-0.json"
        "#,
    );
    check(
        &outcome,
        &folder.manifest(),
        expect![[r#"
            Exited(0) 0 null
            jaxprs: TypeError: no
            piece 8-0.json: it could not be read; its process may have been killed while writing it
            trace: the recording was not finished in process 7: the process ended without warning; the program exited with 0 while the profiler ran
        "#]],
    );
    let manifest = folder.manifest();
    expect![[r#"[{"name":"jit_f"}] {"jax":"0.10"} "--a=b" 0.5"#]].assert_eq(&format!(
        "{} {} {} {}",
        manifest["modules"],
        manifest["versions"],
        manifest["added_environment"]["XLA_FLAGS"],
        manifest["overhead"]["harness_s"]
    ));
    assert_eq!(outcome.traces.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>(), [2]);
}

#[test]
fn the_environment_is_the_programs() {
    let folder = Folder::new();
    folder.shell(r#"printf '%s\n%s' "$PYTHONPATH" "$RIDGELINE_RECORD" > "$1""#);
    let work = folder.out().canonicalize().expect("a folder").join(".ridgeline");
    let note = folder.note();
    let (path, config) = note.split_once('\n').expect("two lines");
    assert_eq!(path.split(':').next(), work.join("harness").to_str());
    assert_eq!(Some(config), work.join("config.json").to_str());
}

#[test]
fn nothing_to_run() {
    let folder = Folder::new();
    assert!(matches!(folder.record(&[]), Err(RecordError::NoCommand)));
    let error = folder.record(&["no-such-program-anywhere".into()]).expect_err("not found");
    expect!["cannot start the program: No such file or directory (os error 2): no-such-program-anywhere; 127"]
        .assert_eq(&format!("{error}; {}", error.shell_code()));
}

#[test]
fn a_folder_that_cannot_be_written() {
    let folder = Folder::new();
    fs::write(folder.out(), "a file").expect("a file");
    assert!(matches!(folder.record(&["true".into()]), Err(RecordError::Folder { .. })));
    assert_eq!(fs::read_to_string(folder.out()).expect("untouched"), "a file");
}

#[test]
fn files_of_others_stay() {
    let folder = Folder::new();
    fs::create_dir(folder.out()).expect("a folder");
    fs::write(folder.out().join("thesis.tex"), "x").expect("a file");
    assert!(matches!(folder.record(&["true".into()]), Err(RecordError::FolderInUse { .. })));
}

#[test]
fn a_second_recording_replaces_the_first() {
    let folder = Folder::new();
    folder.shell("exit 1");
    folder.shell("exit 0");
    assert_eq!(folder.manifest()["program"]["exit_code"], 0);
}

#[test]
fn a_command_that_cannot_be_started_keeps_the_earlier_recording() {
    let folder = Folder::new();
    assert!(folder.record(&["no-such-program-anywhere".into()]).is_err());
    assert!(!folder.out().exists(), "nothing was there before");
    folder.shell("exit 1");
    fs::create_dir(folder.out().join("trace")).expect("a folder");
    fs::write(folder.out().join("trace/host0.xplane.pb"), "x").expect("a file");
    assert!(folder.record(&["no-such-program-anywhere".into()]).is_err());
    assert!(folder.out().join("trace/host0.xplane.pb").exists());
    let outcome = folder.record(&["sh".into(), "no-such-script".into()]).expect("a recording");
    let why = outcome.missing.last().map(|lost| lost.why.replace(&*folder.0.path().to_string_lossy(), ""));
    let why = why.expect("it says why");
    let (number, kept) = why
        .strip_prefix("not replaced, this one is in /run.recording-")
        .and_then(|rest| rest.split_once(": "))
        .expect("a folder of its own");
    assert!(number.starts_with(&std::process::id().to_string()), "{why}");
    assert_eq!(kept, "/run keeps the earlier recording, because this one has no trace");
    assert!(folder.out().join("trace/host0.xplane.pb").exists());
}

#[test]
fn the_manifest_says_while_the_program_runs_that_it_is_not_the_last() {
    let folder = Folder::new();
    folder.shell(r#"cp "$(dirname "$(dirname "$RIDGELINE_RECORD")")/manifest.json" "$1""#);
    let early: Value = serde_json::from_str(&folder.note()).expect("JSON");
    assert_eq!((&early["finished"], &early["complete"]), (&Value::from(false), &Value::from(false)));
    assert!(early["missing"][0]["why"].as_str().is_some_and(|why| why.starts_with("the recording was not finished")));
    assert_eq!(folder.manifest()["finished"], true);
}

#[test]
fn a_program_that_removes_the_folder_keeps_its_status() {
    let folder = Folder::new();
    let outcome = folder.shell(r#"rm -r "$(dirname "$(dirname "$RIDGELINE_RECORD")")"; exit 5"#);
    assert_eq!(outcome.status.shell_code(), 5);
    assert!(outcome.missing.iter().any(|lost| lost.what == "manifest.json"), "{:?}", outcome.missing);
}

#[test]
fn events_come_in_order() {
    let folder = Folder::new();
    let mut options = RecordOptions::new(["true"]);
    options.out = Some(folder.out());
    options.measure_overhead = true;
    let mut told = String::new();
    let outcome = record(&options, &mut |event| {
        told += match event {
            RecordEvent::Prepared { .. } => "prepared ",
            RecordEvent::Started { .. } => "started ",
            RecordEvent::Ended { .. } => "ended ",
            RecordEvent::RunningWithoutRecorder => "again ",
            _ => "other ",
        };
    })
    .expect("a recording");
    expect!["prepared started ended again started "].assert_eq(&told);
    assert!(outcome.overhead.unrecorded_wall.is_some());
}

/// Python is not needed to build or use this crate, so its absence is no failure.
fn python() -> Option<PathBuf> {
    let found =
        Command::new("python3").args(["-c", "import sys; print(sys.executable, sys.version_info >= (3, 10))"]).output();
    let text = String::from_utf8(found.ok()?.stdout).ok()?;
    text.trim().strip_suffix(" True").map(PathBuf::from)
}

#[test]
fn python_without_jax() {
    let Some(python) = python() else {
        eprintln!("skipped: python_without_jax: no Python 3.10 or later");
        return;
    };
    let folder = Folder::new();
    // An empty module of a known name stands for a library that computes on devices.
    fs::write(folder.0.path().join("tensorflow.py"), "").expect("a file");
    fs::write(folder.0.path().join("program.py"), "import sys, tensorflow\nsys.exit(4)").expect("a file");
    let outcome = folder.record(&[python.into(), folder.0.path().join("program.py").into()]).expect("a recording");
    check(
        &outcome,
        &folder.manifest(),
        expect![[r#"
            Exited(4) 4 null
            capture: no process imported jax or torch; tensorflow was, and tf.profiler can write an XPlane trace to open instead
        "#]],
    );
}

#[test]
fn a_launcher_that_drops_the_environment_is_named() {
    let folder = Folder::new();
    let script = folder.0.path().join("launch");
    fs::write(&script, "#!/bin/sh\nenv -i /bin/sh -c 'exit 0'\n").expect("a script");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a script");
    let outcome = folder.record(&[script.into()]).expect("a recording");
    assert_eq!(outcome.missing.len(), 1);
}
