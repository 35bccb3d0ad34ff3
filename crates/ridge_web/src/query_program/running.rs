//! A program run for its answer: for so long, for so many bytes and lines, and while somebody waits for it.

use super::groups::Groups;
use crate::interest::Interest;
use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How often it is asked whether somebody waits.
const GLANCE: Duration = Duration::from_millis(30);
/// Bytes that are kept of what a program complains.
const MOST_COMPLAINED: usize = 1 << 16;
const CHUNK: usize = 1 << 16;
/// Chunks that wait to be taken: a program that writes faster than it is read waits, too.
const WAITING: usize = 8;

/// How much a program may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) time: Duration,
    pub(super) bytes: usize,
    pub(super) lines: usize,
}

/// What a program wrote, and how it ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) output: Vec<u8>,
    pub(super) complaint: String,
    pub(super) end: End,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself.
    Exited(ExitStatus),
    /// It wrote more than was wanted.
    Cut,
    /// It took too long.
    Late,
    /// Nobody waits for it.
    Unwanted,
}

enum Part {
    Output(Vec<u8>),
    Complaint(Vec<u8>),
}

/// Runs `command` until it ends or is over `bounds`, and ends all that it started.
pub(super) fn run(mut command: Command, bounds: &Bounds, groups: &Groups, interest: &Interest) -> io::Result<Ran> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let until = Instant::now() + bounds.time;
    let mut group = groups.start(command)?;
    let parts = heard(&mut group.child)?;
    let mut ran = Ran { output: Vec::new(), complaint: String::new(), end: End::Late };
    let (mut complaint, mut lines, mut is_silent) = (Vec::new(), 0, false);
    ran.end = loop {
        match if is_silent { later() } else { parts.recv_timeout(GLANCE) } {
            Ok(Part::Output(bytes)) => {
                lines += bytes.iter().filter(|byte| **byte == b'\n').count();
                ran.output.extend_from_slice(&bytes);
            }
            Ok(Part::Complaint(bytes)) => {
                let room = MOST_COMPLAINED.saturating_sub(complaint.len());
                complaint.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Err(RecvTimeoutError::Disconnected) => is_silent = true,
            Err(RecvTimeoutError::Timeout) => {}
        }
        match () {
            () if ran.output.len() > bounds.bytes || lines > bounds.lines => break End::Cut,
            () if interest.is_lost() => break End::Unwanted,
            () if Instant::now() >= until => break End::Late,
            () => {}
        }
        if is_silent && let Some(status) = group.ended()? {
            break End::Exited(status);
        }
    };
    ran.complaint = String::from_utf8_lossy(&complaint).into_owned();
    Ok(ran)
}

/// A program that has closed its outputs is about to end.
fn later() -> Result<Part, RecvTimeoutError> {
    std::thread::sleep(Duration::from_millis(1));
    Err(RecvTimeoutError::Timeout)
}

/// What the program writes, from threads that end when it does, or when nobody takes more.
fn heard(child: &mut std::process::Child) -> io::Result<Receiver<Part>> {
    let (to, parts) = sync_channel(WAITING);
    if let Some(output) = child.stdout.take() {
        hear(output, to.clone(), Part::Output)?;
    }
    if let Some(complaint) = child.stderr.take() {
        hear(complaint, to, Part::Complaint)?;
    }
    Ok(parts)
}

fn hear(mut from: impl Read + Send + 'static, to: SyncSender<Part>, part: fn(Vec<u8>) -> Part) -> io::Result<()> {
    let listen = move || {
        let mut chunk = vec![0; CHUNK];
        loop {
            match from.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(count) if count > 0 && to.send(part(chunk[..count].to_vec())).is_ok() => {}
                _ => return,
            }
        }
    };
    std::thread::Builder::new().name("query".to_owned()).spawn(listen).map(drop)
}
