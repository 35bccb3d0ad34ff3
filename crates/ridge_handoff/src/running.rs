//! Tools of the machine: whether they are there, which version, and running them within bounds.
//!
//! What a bundle brings is compiled and run here, so a command has bounds in time, in what it says, in memory and in the files it
//! writes; it has no network where the system lets anybody take it away; and it ends with everything that it started.

use crate::stop;
use rustix::fs::OFlags;
use rustix::process::{Pid, Resource, Rlimit, Signal};
use std::ffi::OsStr;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Time for one command.
const PATIENCE: Duration = Duration::from_secs(300);

/// Bytes that are kept of what a command says, from the end.
const MOST_SAID: usize = 4096;

/// The same for commands that answer in JSON.
const MOST_ANSWERED: usize = 1 << 20;

/// Bytes after which a command that goes on talking is ended.
const MOST_HEARD: u64 = 256 << 20;

/// What a process may have: memory, the largest file, and a core file. Simulators and provers take some gigabytes.
const LIMITS: [(Resource, u64); 3] = [(Resource::As, 32 << 30), (Resource::Fsize, 2 << 30), (Resource::Core, 0)];

/// How a command ended.
pub(crate) struct Ran {
    pub(crate) is_success: bool,
    /// Whether it was ended because it took too long.
    pub(crate) is_late: bool,
    /// Its last words.
    pub(crate) said: String,
    pub(crate) wall_s: f64,
}

/// The first line that a tool says of its version; `None` where it is not there.
pub(crate) fn version(tool: &str, flag: &str) -> Option<String> {
    let output = Command::new(tool).arg(flag).stdin(Stdio::null()).output().ok()?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let line = String::from_utf8_lossy(&text).lines().next().unwrap_or("").trim().to_owned();
    Some(line.chars().take(120).collect())
}

/// Runs a command in `folder`, and ends it where it takes too long.
pub(crate) fn run(folder: &Path, words: &[&str]) -> Ran {
    run_within(folder, words, PATIENCE)
}

/// The same, with as much time as is said.
pub(crate) fn run_within(folder: &Path, words: &[&str], patience: Duration) -> Ran {
    let Some((tool, arguments)) = words.split_first() else { return refused("no command".to_owned()) };
    let mut command = alone(OsStr::new(tool));
    // What a compiler that is ended leaves goes with the folder.
    command.args(arguments).current_dir(folder).env("TMPDIR", folder);
    bounded(command, &LIMITS, patience, MOST_SAID)
}

/// Runs a script that answers with a line of JSON, however long it takes.
pub(crate) fn answer(python: &Path, script: &Path, argument: Option<&Path>) -> Ran {
    const LONG: Duration = Duration::from_secs(24 * 3600);
    let mut command = Command::new(python);
    command.arg(script).args(argument);
    // Libraries of accelerators take more addresses than any bound.
    let ran = bounded(command, &LIMITS[2..], LONG, MOST_ANSWERED);
    match ran.wall_s == 0.0 && stop::signal().is_none() {
        true => Ran { said: format!("Python could not be started: {}", ran.said), ..ran },
        false => ran,
    }
}

/// A command without a network, where the system lets users make a namespace.
fn alone(tool: &OsStr) -> Command {
    const WORDS: [&str; 4] = ["--user", "--map-current-user", "--net", "--"];
    static IS_PERMITTED: OnceLock<bool> = OnceLock::new();
    let is_permitted = *IS_PERMITTED.get_or_init(|| {
        let quiet = || Command::new("unshare").args(WORDS).arg("true").stdin(Stdio::null()).output();
        quiet().is_ok_and(|output| output.status.success())
    });
    if !is_permitted {
        return Command::new(tool);
    }
    let mut command = Command::new("unshare");
    command.args(WORDS).arg(tool);
    command
}

fn refused(said: String) -> Ran {
    Ran { is_success: false, is_late: false, said, wall_s: 0.0 }
}

/// Runs `command` in a group of its own and ends all of the group with it; keeps the last `most` bytes of what it says.
fn bounded(mut command: Command, limits: &[(Resource, u64)], patience: Duration, most: usize) -> Ran {
    if stop::signal().is_some() {
        return refused("interrupted".to_owned());
    }
    let began = Instant::now();
    let started = io::pipe().and_then(|(reader, writer)| {
        rustix::fs::fcntl_setfl(&reader, OFlags::NONBLOCK)?;
        let copy = writer.try_clone()?;
        let child = command.process_group(0).stdin(Stdio::null()).stdout(writer).stderr(copy).spawn()?;
        Ok((reader, Group { child }))
    });
    // It holds the ends of the pipe that the program writes to.
    drop(command);
    let (mut reader, mut group) = match started {
        Ok(started) => started,
        Err(error) => return refused(error.to_string()),
    };
    group.limit(limits);
    let mut words = Words { most, last: Vec::new(), heard: 0 };
    let (status, why) = loop {
        words.hear(&mut reader);
        match group.child.try_wait() {
            Ok(Some(status)) => break (Some(status), None),
            Err(error) => break (None, Some(error.to_string())),
            Ok(None) if began.elapsed() > patience => {
                break (None, Some(format!("it took longer than {} s", patience.as_secs())));
            }
            Ok(None) if words.heard > MOST_HEARD => {
                break (None, Some(format!("it printed more than {} MiB", MOST_HEARD >> 20)));
            }
            Ok(None) if stop::signal().is_some() => break (None, Some("interrupted".to_owned())),
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    drop(group);
    words.hear(&mut reader);
    Ran {
        is_success: status.is_some_and(|status| status.success()),
        is_late: status.is_none() && began.elapsed() > patience,
        said: why.unwrap_or_else(|| String::from_utf8_lossy(&words.last).trim().to_owned()),
        wall_s: began.elapsed().as_secs_f64(),
    }
}

/// A program and whatever it started, which ends with this.
struct Group {
    child: Child,
}

impl Group {
    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// What the program may have, and what it starts from now on.
    fn limit(&self, limits: &[(Resource, u64)]) {
        #[cfg(target_os = "linux")]
        for &(resource, most) in limits {
            let known = rustix::process::getrlimit(resource);
            let most = known.maximum.map_or(most, |maximum| maximum.min(most));
            // It may have ended already.
            let _ = rustix::process::prlimit(self.pid(), resource, Rlimit { current: Some(most), maximum: Some(most) });
        }
        #[cfg(not(target_os = "linux"))]
        let _ = limits;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Those of the group that have ended are none to end; the number is not given to others while one of them lives.
        let _ = self.pid().map(|pid| rustix::process::kill_process_group(pid, Signal::KILL));
        let _ = self.child.wait();
    }
}

/// The last of what a program says.
struct Words {
    most: usize,
    last: Vec<u8>,
    heard: u64,
}

impl Words {
    /// Takes what the pipe has by now, at most some of it, so that the clock is looked at between.
    fn hear(&mut self, pipe: &mut PipeReader) {
        let mut chunk = [0; 1 << 14];
        for _ in 0..256 {
            match pipe.read(&mut chunk) {
                Ok(0) => return,
                Ok(count) => {
                    self.heard += count as u64;
                    self.last.extend_from_slice(&chunk[..count]);
                    let over = self.last.len().saturating_sub(self.most);
                    self.last.drain(..over);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, patience: Duration) -> Ran {
        let folder = tempfile::tempdir().expect("a folder");
        run_within(folder.path(), &["sh", "-c", script], patience)
    }

    #[test]
    fn the_last_words_of_a_command_are_kept_however_much_it_says() {
        let ran = sh("head -c 3000000 /dev/zero; echo the end; exit 3", PATIENCE);
        assert!(!ran.is_success && !ran.is_late && ran.said.ends_with("the end") && ran.said.len() <= MOST_SAID);
        assert!(sh("true", PATIENCE).is_success);
    }

    #[test]
    fn one_that_never_stops_talking_is_ended() {
        let ran = sh("exec cat /dev/zero", PATIENCE);
        assert_eq!((ran.is_success, ran.said.as_str()), (false, "it printed more than 256 MiB"));
    }

    #[test]
    fn what_a_command_started_ends_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        for (script, patience) in
            [("sleep 1000 & echo $! > pid", PATIENCE), ("sleep 1000 & echo $! > pid; wait", Duration::from_millis(300))]
        {
            let ran = run_within(folder.path(), &["sh", "-c", script], patience);
            assert_eq!(ran.is_late, patience != PATIENCE);
            let pid = std::fs::read_to_string(folder.path().join("pid")).expect("it was started");
            let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            // Whoever adopts it takes it away in its own time.
            let is_gone = || state().is_empty() || state().contains(") Z");
            assert!(
                (0..2000).any(|_| is_gone() || {
                    std::thread::yield_now();
                    false
                }),
                "{}",
                state()
            );
        }
    }

    #[test]
    fn a_command_has_no_network_where_that_can_be_taken_away() {
        if alone(OsStr::new("sh")).get_program() == "sh" {
            println!("skipped: a_command_has_no_network_where_that_can_be_taken_away: no namespaces for users here");
            return;
        }
        let ran = sh("cat /proc/net/dev", PATIENCE);
        let named = ran.said.lines().filter(|line| line.contains(':')).count();
        assert_eq!(named, 1, "the loop alone: {}", ran.said);
    }
}
