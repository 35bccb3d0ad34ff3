//! `ridgeline record --runs`: a folder a run, and nothing of an earlier recording among them.

mod run;

use run::{Ran, finish, ridgeline};
use std::fs;
use std::path::Path;

fn record(folder: &Path, runs: &str, script: &str) -> Ran {
    let mut command = ridgeline(&["record", "--runs", runs, "-o", "side", "--", "sh", "-c", script]);
    command.current_dir(folder);
    finish(command)
}

/// The folders below `side`, each with whether it is a recording.
fn sides(folder: &Path) -> Vec<(String, bool)> {
    let entries = fs::read_dir(folder.join("side")).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut found: Vec<(String, bool)> = entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path().join("manifest.json").is_file()))
        .collect();
    found.sort();
    found
}

fn owned(expected: &[(&str, bool)]) -> Vec<(String, bool)> {
    expected.iter().map(|(name, is)| ((*name).to_owned(), *is)).collect()
}

#[test]
fn each_run_has_a_folder_and_fewer_runs_leave_no_old_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let three = record(folder.path(), "3", "echo ran >> ran");
    assert_eq!(three.code, Some(0), "{}", three.stderr);
    assert_eq!(fs::read_to_string(folder.path().join("ran")).expect("it ran"), "ran\nran\nran\n");
    assert_eq!(sides(folder.path()), owned(&[("1", true), ("2", true), ("3", true)]));
    assert!(three.stderr.contains("3 runs, one side of a comparison: ridgeline diff BEFORE side"), "{}", three.stderr);
    // What the user keeps there is theirs, whatever it is called.
    fs::create_dir(folder.path().join("side/7")).expect("a folder");
    fs::write(folder.path().join("side/7/notes.txt"), "mine").expect("a file");
    let two = record(folder.path(), "2", "true");
    assert_eq!(two.code, Some(0), "{}", two.stderr);
    assert_eq!(sides(folder.path()), owned(&[("1", true), ("2", true), ("7", false)]));
    assert_eq!(fs::read_to_string(folder.path().join("side/7/notes.txt")).expect("it stays"), "mine");
    assert!(two.stderr.contains("side/7 stays: it is not a recording"), "{}", two.stderr);
}

#[test]
fn a_run_that_fails_is_the_last() {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = record(folder.path(), "3", "test ! -e second && touch second || exit 7");
    assert_eq!(ran.code, Some(7), "{}", ran.stderr);
    assert_eq!(sides(folder.path()), owned(&[("1", true), ("2", true)]));
    assert!(!ran.stderr.contains("one side of a comparison"), "{}", ran.stderr);
}

#[test]
fn runs_are_not_put_into_a_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut single = ridgeline(&["record", "-o", "side", "--", "true"]);
    single.current_dir(folder.path());
    assert_eq!(finish(single).code, Some(0));
    let ran = record(folder.path(), "2", "touch ran");
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(!folder.path().join("ran").exists());
}
