//! Stay alive while the program is told to stop, and pass on what only the recorder was told.
//!
//! Ctrl-C in a terminal reaches the whole process group, the program included, and is not passed on.
//! A signal that a process sends to the recorder alone is.
//! One that the recorder was started to ignore is left alone, so that the program ignores it too.

use std::io;
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;

use crate::ignored::is_ignored;

/// Signals are caught, and wait for a program to go to.
pub(crate) struct Forwarding {
    signals: SignalsInfo<WithOrigin>,
}

/// Signals go to a program.
pub(crate) struct Forwarded {
    handle: signal_hook::iterator::Handle,
    thread: Option<JoinHandle<()>>,
    passed_on: Arc<Mutex<Vec<i32>>>,
}

impl Forwarding {
    pub(crate) fn begin() -> io::Result<Forwarding> {
        let heard = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|signal| !is_ignored(*signal));
        Ok(Forwarding { signals: SignalsInfo::new(heard)? })
    }

    /// Pass signals on to process `pid` until told to end.
    pub(crate) fn to(mut self, pid: u32) -> Forwarded {
        let handle = self.signals.handle();
        let passed_on = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&passed_on);
        // Where no thread can be had the program is not told, which is all that is lost.
        let thread = Builder::new().spawn(move || {
            for origin in self.signals.forever() {
                // The kernel signals the whole foreground group, so the program has that one already.
                if matches!(origin.cause, Cause::Sent(_)) && send(pid, origin.signal) {
                    list.lock().expect("nothing panics while it holds the list").push(origin.signal);
                }
            }
        });
        Forwarded { handle, thread: thread.ok(), passed_on }
    }
}

impl Forwarded {
    /// Stop passing on; the signals that were.
    pub(crate) fn end(self) -> Vec<i32> {
        self.handle.close();
        // A panic in the thread would lose the list and nothing else.
        let _ = self.thread.map(JoinHandle::join);
        std::mem::take(&mut *self.passed_on.lock().expect("nothing panics while it holds the list"))
    }
}

/// True if the signal could be sent: the program may have ended meanwhile.
fn send(pid: u32, signal: i32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    match (pid, Signal::from_named_raw(signal)) {
        (Some(pid), Some(signal)) => kill_process(pid, signal).is_ok(),
        _ => false,
    }
}
