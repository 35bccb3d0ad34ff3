//! Captures that leave the house: exports and redacted copies, as the program makes them of real captures.

mod run;

use run::run;
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

#[test]
fn redacted_copies_hold_the_same_numbers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (given, copy) in [
        ("xplane/train_steps.xplane.pb", "a.xplane.pb"),
        ("chrome/train.json", "b.json"),
        ("nsys/two_processes.sqlite", "c.sqlite"),
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
    std::fs::write(given.join("manifest.json"), r#"{"schema": "x", "command": ["python", "/home/ada/x.py"]}"#)
        .expect("a file");
    let ran = run(&["redact", &text(&given), &text(&copy)]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("2 files copied") && ran.stdout.contains("left out  notes.bin: "), "{}", ran.stdout);
    assert!(copy.join("trace/host0.copy.xplane.pb").is_file() && !copy.join("notes.bin").exists());
    let manifest = std::fs::read_to_string(copy.join("manifest.json")).expect("a copy");
    assert_eq!(manifest, r#"{"schema": "x", "command": ["<redacted>", "<redacted>"]}"#);
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
