//! One Python process that measures one size.
//!
//! Its standard output carries events; what the suite prints goes to a log; closing its standard input asks it to end.
//! The process stays in the caller's process group, so Ctrl-C in a terminal reaches it too.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use super::error::BenchError;
use super::event::{WorkerEvent, parse};

/// Turns JAX's persistent compilation cache off: a compile time read from a cache is none.
pub(super) const NO_COMPILATION_CACHE: (&str, &str) = ("JAX_ENABLE_COMPILATION_CACHE", "false");

/// Events that may wait before the worker does.
const WAITING_EVENTS: usize = 256;

/// Bytes of the end of a log that are searched for its last line.
const LOG_TAIL_BYTES: u64 = 4096;

/// How to start workers: the interpreter and what they need to find.
pub(super) struct Launch {
    pub(super) python: PathBuf,
    /// Folder that holds the `ridgeline` package.
    pub(super) package_root: PathBuf,
    pub(super) suite: PathBuf,
    /// Variables of the variant.
    pub(super) variant: Vec<(String, String)>,
}

impl Launch {
    /// Variables that are set for the worker, beside `PYTHONPATH`; the user's own choice of compilation cache is kept.
    pub(super) fn added_environment(&self) -> Vec<(String, String)> {
        let (key, value) = NO_COMPILATION_CACHE;
        let cache = env::var_os(key).is_none().then(|| (key.to_owned(), value.to_owned()));
        cache.into_iter().chain(self.variant.iter().cloned()).collect()
    }

    /// Start a worker with `arguments` after `--suite`; what it prints is appended to `log`.
    pub(super) fn start(&self, arguments: &[OsString], log: &Path) -> Result<Worker, BenchError> {
        let writing = |source| BenchError::Write { path: log.to_path_buf(), source };
        let log_file = File::options().create(true).append(true).open(log).map_err(writing)?;
        let mut command = Command::new(&self.python);
        command.args(["-m", "ridgeline.bench_worker", "--suite"]).arg(&self.suite).args(arguments);
        command.env("PYTHONPATH", self.python_path()).envs(self.added_environment());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log_file);
        let child = command.spawn();
        Ok(Worker::follow(child.map_err(|source| BenchError::Spawn { python: self.python.clone(), source })?))
    }

    fn python_path(&self) -> OsString {
        let mut path = self.package_root.clone().into_os_string();
        if let Some(own) = env::var_os("PYTHONPATH").filter(|own| !own.is_empty()) {
            path.push(":");
            path.push(own);
        }
        path
    }
}

/// A running worker.
pub(super) struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<WorkerEvent>,
}

/// What came from a worker within a time.
pub(super) enum Next {
    Event(Box<WorkerEvent>),
    Quiet,
    /// Its output ended.
    Ended,
}

impl Worker {
    fn follow(mut child: Child) -> Worker {
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("standard output was asked for as a pipe");
        let (sender, events) = sync_channel(WAITING_EVENTS);
        thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            for event in lines.filter_map(|line| parse(&line)) {
                if sender.send(event).is_err() {
                    break;
                }
            }
        });
        Worker { child, stdin, events }
    }

    /// The next event, waiting at most `timeout`.
    pub(super) fn next(&self, timeout: Duration) -> Next {
        match self.events.recv_timeout(timeout) {
            Ok(event) => Next::Event(Box::new(event)),
            Err(RecvTimeoutError::Timeout) => Next::Quiet,
            Err(RecvTimeoutError::Disconnected) => Next::Ended,
        }
    }

    /// Ask it to end; it interrupts itself as soon as it runs Python code again.
    pub(super) fn ask_to_end(&mut self) {
        self.stdin = None;
    }

    /// End it now.
    pub(super) fn kill(&mut self) {
        // It fails only for a process that has ended.
        let _ = self.child.kill();
    }

    /// Wait for its end.
    pub(super) fn wait(mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

/// How a process ended that should not have, with the last line of its log.
pub(super) fn death(status: ExitStatus, phase: Option<&str>, log: &Path) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let name = signal_hook::low_level::signal_name(signal).unwrap_or("an unknown signal");
            let guess = if signal == signal_hook::consts::SIGKILL { ", perhaps for want of memory" } else { "" };
            format!("the worker was ended by {name}{guess}")
        }
        (None, code) => format!("the worker exited with status {}", code.unwrap_or_default()),
    };
    let phase = phase.map(|phase| format!(" during {phase}")).unwrap_or_default();
    let last = last_line(log).map(|line| format!("; its last line: {line}")).unwrap_or_default();
    format!("{how}{phase}{last}")
}

/// The last line of `log` with text in it, at most 200 characters.
fn last_line(log: &Path) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL_BYTES))).ok()?;
    let mut tail = Vec::new();
    file.take(LOG_TAIL_BYTES).read_to_end(&mut tail).ok()?;
    let tail = String::from_utf8_lossy(&tail);
    let line = tail.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().chars().take(200).collect())
}
