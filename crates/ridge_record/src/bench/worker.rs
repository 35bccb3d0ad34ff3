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

/// Bytes of the end of a log that are searched for what the process said last; a stack trace fits.
const LOG_TAIL_BYTES: u64 = 32 * 1024;

/// Characters of it that a reason keeps.
const LONGEST_LAST_WORDS: usize = 400;

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
            let lines = BufReader::new(stdout).split(b'\n').map_while(Result::ok);
            for event in lines.filter_map(|line| parse(&String::from_utf8_lossy(&line))) {
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

/// How a process ended that should not have, with what it said last in its log.
pub(super) fn death(status: ExitStatus, phase: Option<&str>, log: &Path) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => {
            let name = signal_hook::low_level::signal_name(signal).unwrap_or("an unknown signal");
            let guess = if signal == signal_hook::consts::SIGKILL { " (perhaps for want of memory)" } else { "" };
            format!("the worker was ended by {name}{guess}")
        }
        (None, code) => format!("the worker exited with status {}", code.unwrap_or_default()),
    };
    let phase = phase.map(|phase| format!(" during {phase}")).unwrap_or_default();
    let words = tail(log).and_then(|tail| last_words(&tail)).map(|words| format!(": {words}")).unwrap_or_default();
    format!("{how}{phase}{words}")
}

fn tail(log: &Path) -> Option<String> {
    let mut file = File::open(log).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL_BYTES))).ok()?;
    let mut tail = Vec::new();
    file.take(LOG_TAIL_BYTES).read_to_end(&mut tail).ok()?;
    Some(String::from_utf8_lossy(&tail).into_owned())
}

/// The line of a log that says why its process ended: XLA's last fatal message, else the last line that is no stack frame.
fn last_words(log: &str) -> Option<String> {
    let lines = || log.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let is_frame = |line: &str| line.starts_with('@') || line.starts_with("***");
    let line = lines().find_map(fatal_message).or_else(|| lines().find(|line| !is_frame(line)))?;
    Some(line.chars().take(LONGEST_LAST_WORDS).collect())
}

/// The message of a fatal line of XLA's log: `F1120 13:54:07.838683   14146 rendezvous.cc:161] the message`.
fn fatal_message(line: &str) -> Option<&str> {
    let (head, message) = line.split_once("] ")?;
    let date = head.strip_prefix('F')?.split(' ').next()?;
    (date.len() == 4 && date.bytes().all(|byte| byte.is_ascii_digit())).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fatal_message_is_preferred_to_the_frames_after_it() {
        let log = "a warning\nF1120 13:54:07.838683   14146 rendezvous.cc:161] [id=0] Termination timeout\n\
                   *** Check failure stack trace: ***\n    @     0x7ff3bdf72104  absl::SendToLog()\n";
        assert_eq!(last_words(log).as_deref(), Some("[id=0] Termination timeout"));
    }

    #[test]
    fn else_the_last_line_with_text_counts() {
        assert_eq!(last_words("one\ntwo\n\n").as_deref(), Some("two"));
        assert_eq!(last_words("Fine] weather\n").as_deref(), Some("Fine] weather"));
        assert_eq!(last_words("\n \n"), None);
    }
}
