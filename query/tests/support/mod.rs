//! Runs the program on captures of the project.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What a run of the program left.
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The program.
pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_ridgeline-query"))
}

/// A capture among the fixtures of the project.
pub(crate) fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(path)
}

/// What the program answers to these arguments.
pub(crate) fn answer(capture: &Path, arguments: &[&str]) -> Answer {
    let Output { status, stdout, stderr } = program().arg(capture).args(arguments).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Answer { code: status.code(), out: text(stdout), err: text(stderr) }
}

/// The rows of the answer to `sql`, each a list of values.
pub(crate) fn rows(capture: &Path, sql: &str) -> Vec<Vec<serde_json::Value>> {
    let answer = answer(capture, &["-f", "json", sql]);
    assert_eq!(answer.code, Some(0), "{sql}\n{}", answer.err);
    let document: serde_json::Value = serde_json::from_str(&answer.out).expect("JSON");
    let rows = document["rows"].as_array().expect("rows").iter();
    rows.map(|row| row.as_object().expect("a row").values().cloned().collect()).collect()
}

/// Whether two values are the same, reals up to how they are added.
#[allow(dead_code, reason = "not every file of tests compares reals")]
pub(crate) fn is_same(one: &serde_json::Value, other: &serde_json::Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-9 * one.abs().max(other.abs()),
        _ => one == other,
    }
}
