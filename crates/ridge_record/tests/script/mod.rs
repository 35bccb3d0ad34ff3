//! An executable script for a test.
//!
//! A process of its own writes it: were it written here, a process that another test starts meanwhile could hold the file open
//! for writing, and the system would refuse to run it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes `text` to `path` as a program.
pub(crate) fn write(path: &Path, text: &str) {
    let mut writer = Command::new("sh");
    writer.args(["-c", r#"cat >"$1" && chmod 755 "$1""#, "sh"]).arg(path).stdin(Stdio::piped());
    let mut writer = writer.spawn().expect("a shell");
    writer.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("the shell reads");
    assert!(writer.wait().expect("the shell ends").success());
}
