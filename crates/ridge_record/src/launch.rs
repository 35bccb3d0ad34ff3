//! Start the program with the harness on its path, and wait for it.
//!
//! The program keeps the terminal, the process group and the environment it would have had, with two variables added.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use crate::error::RecordError;
use crate::folder::CaptureFolder;
use crate::outcome::{ProgramStatus, RecordEvent};
use crate::signals::Forwarding;

/// Tells the harness where its configuration is.
pub(crate) const CONFIG_VARIABLE: &str = "RIDGELINE_RECORD";

/// How a run of the program went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) status: ProgramStatus,
    pub(crate) wall: Duration,
}

/// Run `command` under the harness in `folder` to its end.
pub(crate) fn run_recorded(
    command: &[OsString],
    folder: &CaptureFolder,
    tell: &mut dyn FnMut(RecordEvent),
) -> Result<Run, RecordError> {
    let mut program = program(command)?;
    program.env("PYTHONPATH", path_with_first(&folder.harness(), std::env::var_os("PYTHONPATH")));
    program.env(CONFIG_VARIABLE, folder.config());
    run(program, tell)
}

/// Run `command` as if there were no recorder.
pub(crate) fn run_plain(command: &[OsString], tell: &mut dyn FnMut(RecordEvent)) -> Result<Run, RecordError> {
    run(program(command)?, tell)
}

fn program(command: &[OsString]) -> Result<Command, RecordError> {
    let (name, arguments) = command.split_first().ok_or(RecordError::NoCommand)?;
    let mut program = Command::new(name);
    program.args(arguments);
    Ok(program)
}

fn run(mut program: Command, tell: &mut dyn FnMut(RecordEvent)) -> Result<Run, RecordError> {
    // Signals are caught before the program exists, so that none ends the recorder and leaves the program alone.
    let forwarding = Forwarding::begin().map_err(|source| RecordError::Watch { source })?;
    let started = Instant::now();
    let mut child = program.spawn().map_err(|source| RecordError::Spawn {
        program: program.get_program().to_string_lossy().into_owned(),
        source,
    })?;
    tell(RecordEvent::Started { pid: child.id() });
    let forwarded = forwarding.to(child.id());
    let status = wait(&mut child)?;
    let wall = started.elapsed();
    forwarded.end().into_iter().for_each(|signal| tell(RecordEvent::Forwarded { signal }));
    Ok(Run { status, wall })
}

fn wait(child: &mut Child) -> Result<ProgramStatus, RecordError> {
    let status = child.wait().map_err(|source| RecordError::Watch { source })?;
    Ok(ProgramStatus::from_exit(status))
}

/// `PYTHONPATH` with `first` before what it was.
///
/// An empty variable stays out: to Python an empty entry means the current folder.
fn path_with_first(first: &Path, rest: Option<OsString>) -> OsString {
    let mut path = PathBuf::from(first).into_os_string();
    if let Some(rest) = rest.filter(|rest| !rest.is_empty()) {
        path.push(":");
        path.push(rest);
    }
    path
}
