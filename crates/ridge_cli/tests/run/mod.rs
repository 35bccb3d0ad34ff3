//! Runs the real program in an empty environment of colors and widths.

#![allow(dead_code, reason = "each test file uses some of these")]

use std::process::{Command, Stdio};

/// What a run left.
pub(crate) struct Ran {
    /// Exit code; none if a signal ended it.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

/// The program with `arguments`, both outputs piped.
pub(crate) fn ridgeline(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ridgeline"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR"] {
        command.env_remove(name);
    }
    // Nothing that was measured on this machine.
    command.env("XDG_DATA_HOME", "/nowhere");
    command
}

/// Runs the program with `arguments`.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    finish(ridgeline(arguments))
}

/// Runs `command` to its end.
pub(crate) fn finish(mut command: Command) -> Ran {
    let output = command.output().expect("the program starts");
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
