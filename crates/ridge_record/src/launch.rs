//! Start the program with the harness on its path, and wait for it.
//!
//! The program keeps the terminal, the process group and the environment it would have had, with two variables added.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crate::around::{self, nsys, rocprof};
use crate::error::RecordError;
use crate::folder::CaptureFolder;
use crate::options::RecordOptions;
use crate::outcome::{ProgramStatus, RecordEvent, Run};
use crate::signals::Forwarding;

/// Called about once a second with how long the program has run, and with who is to be told of what happens.
pub(crate) type EachSecond<'e> = dyn FnMut(Duration, &mut dyn FnMut(RecordEvent)) + 'e;

/// Tells the harness where its configuration is.
pub(crate) const CONFIG_VARIABLE: &str = "RIDGELINE_RECORD";

/// Run the program of `options` under the harness in `folder` to its end.
pub(crate) fn run_recorded(
    options: &RecordOptions,
    folder: &CaptureFolder,
    tell: &mut dyn FnMut(RecordEvent),
    each_second: &mut EachSecond<'_>,
) -> Result<Run, RecordError> {
    let words = match (&options.nsys, &options.rocprof) {
        (Some(tool), _) => nsys::around(tool, folder, &there(&options.command)?, nsys::extra(options)),
        (None, Some(asked)) => rocprof::around(asked, folder, &there(&options.command)?),
        (None, None) => options.command.clone(),
    };
    let run = run_under(options, &words, &folder.harness(), (CONFIG_VARIABLE, &folder.config()), tell, each_second)?;
    let told = options.around().and_then(|_| around::told(&folder.told()));
    Ok(Run { status: told.unwrap_or(run.status), ..run })
}

/// Run `words` as the program of `options`, with the harness that lies in `harness` and the configuration that a variable names.
pub(crate) fn run_under(
    options: &RecordOptions,
    words: &[OsString],
    harness: &Path,
    (variable, config): (&str, &Path),
    tell: &mut dyn FnMut(RecordEvent),
    each_second: &mut EachSecond<'_>,
) -> Result<Run, RecordError> {
    let mut program = program(options, words)?;
    let own = options.environment.iter().rev().find(|(name, _)| name == "PYTHONPATH").map(|(_, path)| path.clone());
    let path = own.or_else(|| std::env::var_os("PYTHONPATH"));
    program.env("PYTHONPATH", path_with_first(harness, path));
    program.env(variable, config);
    run(program, tell, each_second)
}

/// Run a program that is given as its words, with the terminal and the signals that it would have.
pub(crate) fn run_words(words: &[OsString], tell: &mut dyn FnMut(RecordEvent)) -> Result<Run, RecordError> {
    let (name, arguments) = words.split_first().ok_or(RecordError::NoCommand)?;
    let mut program = Command::new(name);
    program.args(arguments);
    run(program, tell, &mut |_, _| {})
}

/// `command` if it can be started, which a tool around it would report as a failure of its own.
pub(crate) fn there(command: &[OsString]) -> Result<Vec<OsString>, RecordError> {
    match command.first() {
        Some(name) if !around::is_there(name) => Err(RecordError::Spawn {
            program: name.to_string_lossy().into_owned(),
            source: io::Error::from_raw_os_error(libc::ENOENT),
        }),
        _ => Ok(command.to_vec()),
    }
}

/// Run the program of `options` as if there were no recorder.
pub(crate) fn run_plain(options: &RecordOptions, tell: &mut dyn FnMut(RecordEvent)) -> Result<Run, RecordError> {
    run(program(options, &options.command)?, tell, &mut |_, _| {})
}

fn program(options: &RecordOptions, words: &[OsString]) -> Result<Command, RecordError> {
    let (name, arguments) = words.split_first().ok_or(RecordError::NoCommand)?;
    let mut program = Command::new(name);
    program.args(arguments).envs(options.environment.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = &options.folder {
        program.current_dir(folder);
    }
    if let Some(path) = &options.log {
        let failed = |source| RecordError::Folder { path: path.clone(), source };
        let log = File::create(path).map_err(failed)?;
        program.stdout(log.try_clone().map_err(failed)?).stderr(log);
    }
    Ok(program)
}

fn run(
    mut program: Command,
    tell: &mut dyn FnMut(RecordEvent),
    each_second: &mut EachSecond<'_>,
) -> Result<Run, RecordError> {
    // Signals are caught before the program exists, so that none ends the recorder and leaves the program alone.
    let forwarding = Forwarding::begin().map_err(|source| RecordError::Watch { source })?;
    let started = Instant::now();
    let waiter = Waiter::start();
    let child = program.spawn().map_err(|source| RecordError::Spawn {
        program: program.get_program().to_string_lossy().into_owned(),
        source,
    })?;
    tell(RecordEvent::Started { pid: child.id() });
    let forwarded = forwarding.to(child.id());
    let status = waiter.wait(child, &mut || each_second(started.elapsed(), tell));
    let status = ProgramStatus::from_exit(status.map_err(|source| RecordError::Watch { source })?);
    let wall = started.elapsed();
    forwarded.end().into_iter().for_each(|signal| tell(RecordEvent::Forwarded { signal }));
    Ok(Run { status, wall })
}

/// A thread that waits for a program, so that this one can look after the recording meanwhile.
///
/// It is there before the program, because where no thread can be had the program must not be lost.
struct Waiter(Option<(SyncSender<Child>, Receiver<io::Result<ExitStatus>>)>);

impl Waiter {
    fn start() -> Waiter {
        let (give, given) = sync_channel::<Child>(1);
        let (end, ended) = sync_channel(1);
        let wait = move || {
            if let Ok(mut child) = given.recv() {
                // Nobody listens any more where the recorder has failed meanwhile.
                let _ = end.send(child.wait());
            }
        };
        Waiter(Builder::new().spawn(wait).ok().map(|_| (give, ended)))
    }

    /// Wait for `child`, and call `each_second` until it ends.
    fn wait(self, mut child: Child, each_second: &mut dyn FnMut()) -> io::Result<ExitStatus> {
        let Some((give, ended)) = self.0 else { return child.wait() };
        if let Err(SendError(mut child)) = give.send(child) {
            return child.wait();
        }
        loop {
            match ended.recv_timeout(Duration::from_secs(1)) {
                Ok(status) => return status,
                Err(RecvTimeoutError::Timeout) => each_second(),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the thread that waited for it ended"));
                }
            }
        }
    }
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
