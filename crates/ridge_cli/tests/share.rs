//! Captures that leave the house: exports and redacted copies, as the program makes them of real captures.

mod run;

use run::{ridgeline, run};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name).display().to_string()
}

fn text(path: &Path) -> String {
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// Tables that hold no paths, as raw numbers.
fn numbers(capture: &str) -> Vec<String> {
    let table = |by: &str| run(&["stats", capture, "--by", by, "-f", "csv"]);
    ["op", "kernel", "category", "module", "step", "operation", "track"]
        .map(|by| {
            let ran = table(by);
            assert_eq!(ran.code, Some(0), "{by}: {}", ran.stderr);
            ran.stdout
        })
        .to_vec()
}

/// The exit code of the program where no file may grow beyond one block.
fn run_limited(arguments: &[&str]) -> Option<i32> {
    let mut shell = std::process::Command::new("sh");
    // The signal that comes with the limit is ignored, so that writing fails as on a full disk.
    shell
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_ridgeline")])
        .args(arguments);
    shell.output().expect("a shell").status.code()
}

#[test]
fn redacted_copies_hold_the_same_numbers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (given, copy) in [
        ("xplane/train_steps.xplane.pb", "a.xplane.pb"),
        ("chrome/train.json", "b.json"),
        ("nsys/two_processes.sqlite", "c.sqlite"),
        ("ncu/made_up.ncu-rep", "d.ncu-rep"),
        ("ncu/made_up.raw.csv", "d.csv"),
        ("nsys-jax/one_process.zip", "e.zip"),
    ] {
        let copy: PathBuf = folder.path().join(copy);
        let ran = run(&["redact", &fixture(given), &text(&copy)]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.starts_with("1 file copied\n  removed   "), "{}", ran.stdout);
        assert_eq!(numbers(&text(&copy)), numbers(&fixture(given)), "{given}");
    }
}

#[test]
fn a_folder_leaves_out_what_it_does_not_know() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (given, copy) = (folder.path().join("run"), folder.path().join("shared"));
    std::fs::create_dir_all(given.join("trace")).expect("folders");
    std::fs::copy(fixture("xplane/train_steps.xplane.pb"), given.join("trace/ada-laptop.xplane.pb")).expect("a copy");
    std::fs::write(given.join("notes.bin"), b"\x80\x04secret").expect("a file");
    std::fs::write(given.join("foreign.json"), r#"{"patients": ["ada"]}"#).expect("a file");
    std::fs::write(folder.path().join("elsewhere.json"), "{\"traceEvents\": []}").expect("a file");
    std::os::unix::fs::symlink(folder.path().join("elsewhere.json"), given.join("link.json")).expect("a link");
    std::fs::write(
        given.join("manifest.json"),
        r#"{"schema": "ridgeline.manifest.v1", "command": ["python", "/home/ada/x.py"]}"#,
    )
    .expect("a file");
    let ran = run(&["redact", &text(&given), &text(&copy)]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("2 files copied"), "{}", ran.stdout);
    assert!(ran.stdout.contains("left out  foreign.json, notes.bin: ") && ran.stdout.contains("left out  link.json: "));
    assert!(ran.stdout.contains("looked for host names, user names, home directories, IP addresses"), "{}", ran.stdout);
    assert!(copy.join("trace/host0.copy.xplane.pb").is_file());
    assert!(["notes.bin", "foreign.json", "link.json"].iter().all(|name| !copy.join(name).exists()));
    let manifest = std::fs::read_to_string(copy.join("manifest.json")).expect("a copy");
    assert_eq!(manifest, r#"{"schema": "ridgeline.manifest.v1", "command": ["<redacted>", "<redacted>"]}"#);
}

#[test]
fn what_cannot_be_redacted_is_refused_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (given, copy) = (folder.path().join("a.sqlite"), folder.path().join("b.sqlite"));
    std::fs::write(&given, b"SQLite format 3\0....").expect("a file");
    let ran = run(&["redact", &text(&given), &text(&copy)]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("a SQLite header of 100 bytes") && ran.stderr.contains("hint: "), "{}", ran.stderr);
    assert!(!copy.exists());
    let again = run(&["redact", &fixture("chrome/train.json"), &text(&given)]);
    assert!(again.stderr.contains("found something there"), "{}", again.stderr);
}

#[test]
fn nothing_found_is_said_as_that() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (given, copy) = (folder.path().join("a.json"), folder.path().join("b.json"));
    std::fs::write(&given, "{\"traceEvents\": []}").expect("a file");
    let ran = run(&["redact", &text(&given), &text(&copy)]);
    assert!(ran.stdout.contains("removed   nothing: none of these kinds found\n"), "{}", ran.stdout);
}

/// `/dev/full` takes nothing, as a full disk does.
#[test]
fn a_full_disk_fails() {
    let capture = fixture("xplane/train_steps.xplane.pb");
    let ran = run(&["export", &capture, "--to", "csv", "-o", "/dev/full"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (given, copy) = (folder.path().join("run"), folder.path().join("shared"));
    std::fs::create_dir_all(&given).expect("a folder");
    std::fs::copy(&capture, given.join("a.xplane.pb")).expect("a copy");
    std::fs::create_dir(given.join("b")).expect("a folder");
    std::fs::copy(&capture, given.join("b/b.xplane.pb")).expect("a copy");
    let ran = run_limited(&["redact", &text(&given), &text(&copy)]);
    assert_eq!(ran, Some(1));
    assert!(!copy.exists(), "half a copy is left");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::io::Read as _;
    let capture = fixture("xplane/train_steps.xplane.pb");
    for form in ["csv", "chrome", "perfetto", "speedscope"] {
        let mut child = ridgeline(&["export", &capture, "--to", form, "-o", "-"]).spawn().expect("it starts");
        // Less than a pipe holds is read, then the pipe is closed.
        child.stdout.take().expect("a pipe").read_exact(&mut [0; 64]).expect("it writes");
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""), "{form}");
    }
}

#[test]
fn exports_learn_the_machine_from_the_capture() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let given = folder.path().join("vm7_123.456.pt.trace.json");
    let trace = r#"{"traceEvents": [{"ph": "X", "name": "f on vm7 and lab9", "ts": 1, "dur": 2, "pid": 1, "tid": 1, "args": {"hostname": "lab9"}}]}"#;
    std::fs::write(&given, trace).expect("a file");
    let ran = run(&["export", &text(&given), "--to", "csv", "-o", "-"]);
    assert!(ran.stdout.contains("f on <host> and <host>"), "{}{}", ran.stdout, ran.stderr);
    let ran = run(&["export", &text(&given), "--to", "csv", "-o", "-", "--with-private"]);
    assert!(ran.stdout.contains("f on vm7 and lab9"), "{}", ran.stdout);
}

#[test]
fn exports_are_written_whole_or_to_standard_output() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let capture = fixture("xplane/train_steps.xplane.pb");
    for form in ["chrome", "perfetto", "speedscope", "csv", "parquet"] {
        let path = folder.path().join(form);
        let ran = run(&["export", &capture, "--to", form, "-o", &text(&path)]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{form}: {}", ran.stderr);
        assert!(path.metadata().expect("a file").len() > 1000, "{form}");
    }
    let csv = run(&["export", &capture, "--to", "csv", "-o", "-"]);
    assert!(csv.stdout.starts_with("row,process,device,track,kind,name,start_ns,dur_ns"), "{}", csv.stderr);
}

#[test]
fn captures_become_parts_of_a_dataset() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |path: &str| folder.path().join(path);
    for (host, name) in [("node0", "chrome/train.json"), ("node1", "xplane/train_steps.xplane.pb")] {
        std::fs::create_dir_all(at(host)).expect("room");
        std::fs::copy(fixture(name), at(host).join("capture")).expect("room");
    }
    std::fs::create_dir(at("node2")).expect("room");
    std::fs::write(at("node2/capture"), "nothing").expect("room");
    let captures = ["node0", "node1", "node2"].map(|host| text(&at(host).join("capture")));
    let dataset = text(&at("fleet"));
    let ran = run(&["collect", &captures[0], &captures[1], &captures[2], "-o", &dataset, "--job", "4711"]);
    // One that cannot be read is named, and the others are there.
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(1), &*format!("2 of 3 captures in {dataset}\n")),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("node2/capture"), "{}", ran.stderr);
    // The rank is the capture's own.
    let events = |host: &str| {
        let ranks = at(&format!("fleet/job=4711/host={host}")).read_dir().expect("the host").flatten();
        ranks.map(|rank| rank.path().join("raw/event.parquet")).filter(|path| path.is_file()).collect::<Vec<_>>()
    };
    assert_eq!((events("node0").len(), events("node1").len()), (1, 1));
    // A part describes its capture.
    let about = events("node1")[0].ancestors().nth(2).expect("the part").join("_ridgeline.json");
    let about: serde_json::Value = serde_json::from_slice(&std::fs::read(about).expect("a file")).expect("JSON");
    let of_part = ["schema", "job", "host"].map(|key| about[key].as_str().unwrap_or_default());
    assert_eq!(of_part, ["ridgeline.part.v1", "4711", "node1"]);
    let size = at("node1/capture").metadata().expect("a file").len();
    let capture = &about["captures"][0];
    assert_eq!((capture["format"].as_str(), capture["bytes"].as_u64()), (Some("xplane"), Some(size)));
    assert!(about["clock"]["zero_unix_ns"].is_u64() && about["clock"]["residual_ns"].is_null(), "{about}");
    assert!(!at("fleet/job=4711/host=node2").exists());
    // A part that is collected again is replaced.
    std::fs::write(&events("node0")[0], "old").expect("room");
    let ran = run(&["collect", &captures[0], "-o", &dataset, "--job", "4711", "--host", "node0"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_ne!(std::fs::read(&events("node0")[0]).expect("a file"), b"old");
    // Two captures cannot be the same part, and a name may not lead out of the dataset.
    let ran = run(&["collect", &captures[1], &captures[1], "-o", &dataset, "--host", "same"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("are the same host and rank"), "{}", ran.stderr);
    let ran = run(&["collect", &captures[0], "-o", &dataset, "--host", "../outside"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}
