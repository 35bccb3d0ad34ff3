//! One Python process that measures.
//!
//! Its standard output carries events; what else it prints goes to a log; closing its standard input asks it to end.
//! The process stays in the caller's process group, so Ctrl-C in a terminal reaches it too.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

/// Events that may wait before the worker does.
const WAITING_EVENTS: usize = 256;

/// Bytes of the end of a log that are searched for what the process said last; a stack trace fits.
const LOG_TAIL_BYTES: u64 = 32 * 1024;

/// Characters of it that a reason keeps.
const LONGEST_LAST_WORDS: usize = 400;

/// A running worker whose lines are events of type `E`.
pub(crate) struct Worker<E> {
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<E>,
}

/// What came from a worker within a time.
pub(crate) enum Next<E> {
    Event(Box<E>),
    Quiet,
    /// Its output ended.
    Ended,
}

impl<E: Send + 'static> Worker<E> {
    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Start `command`; what it prints beside events is appended to `log`. A line that `parse` does not know is left out.
    ///
    /// # Errors
    /// What the system says if the process cannot be started.
    pub(crate) fn start(mut command: Command, log: File, parse: fn(&str) -> Option<E>) -> io::Result<Worker<E>> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        Worker::follow(command.spawn()?, parse)
    }

    fn follow(mut child: Child, parse: fn(&str) -> Option<E>) -> io::Result<Worker<E>> {
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("standard output is a pipe");
        let (sender, events) = sync_channel(WAITING_EVENTS);
        let read = move || {
            let lines = BufReader::new(stdout).split(b'\n').map_while(Result::ok);
            for event in lines.filter_map(|line| parse(&String::from_utf8_lossy(&line))) {
                if sender.send(event).is_err() {
                    break;
                }
            }
        };
        match Builder::new().spawn(read) {
            Ok(_) => Ok(Worker { child, stdin, events }),
            Err(error) => {
                // Nobody would hear it. It fails only for a process that has ended.
                let _ = child.kill();
                let _ = child.wait();
                Err(io::Error::new(error.kind(), format!("no thread to listen to the worker: {error}")))
            }
        }
    }

    /// The next event, waiting at most `timeout`.
    pub(crate) fn next(&self, timeout: Duration) -> Next<E> {
        match self.events.recv_timeout(timeout) {
            Ok(event) => Next::Event(Box::new(event)),
            Err(RecvTimeoutError::Timeout) => Next::Quiet,
            Err(RecvTimeoutError::Disconnected) => Next::Ended,
        }
    }

    /// Ask it to end; it interrupts itself as soon as it runs Python code again.
    pub(crate) fn ask_to_end(&mut self) {
        self.stdin = None;
    }

    /// End it now.
    pub(crate) fn kill(&mut self) {
        // It fails only for a process that has ended.
        let _ = self.child.kill();
    }

    /// Wait for its end.
    pub(crate) fn wait(mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}

/// How a process ended that should not have, with what it said last in its log.
pub(crate) fn death(status: ExitStatus, phase: Option<&str>, log: &Path) -> String {
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
