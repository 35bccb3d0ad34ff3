//! Programs that answer queries now, each in a group of its own with all that it starts, so that none outlives the server.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The groups that run.
#[derive(Debug, Default)]
pub(super) struct Groups(Mutex<Vec<u32>>);

impl Groups {
    /// Starts `command` in a group that ends with what is returned.
    pub(super) fn start(&self, mut command: Command) -> io::Result<Group<'_>> {
        // Under the lock, so that none begins behind the end of all.
        let mut running = self.running();
        let child = command.process_group(0).spawn()?;
        running.push(child.id());
        Ok(Group { child, all: self })
    }

    /// Ends all.
    pub(super) fn end(&self) {
        self.running().drain(..).for_each(kill);
    }

    fn running(&self) -> MutexGuard<'_, Vec<u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A program and all that it started.
#[derive(Debug)]
pub(super) struct Group<'g> {
    pub(super) child: Child,
    all: &'g Groups,
}

impl Group<'_> {
    /// How the program ended; `None` while it runs.
    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        let id = self.child.id();
        self.all.running().retain(|running| *running != id);
        // The number is not given to others while one of the group lives.
        kill(id);
        let _ = self.child.wait();
    }
}

/// Those of a group that have ended already are none to end.
fn kill(group: u32) {
    let pid = i32::try_from(group).ok().and_then(Pid::from_raw);
    let _ = pid.map(|pid| kill_process_group(pid, Signal::KILL));
}
