//! Work that is done side by side, on as many threads as there are processors, with word of how far it is.

use crate::stop;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

/// How long nothing may be told while jobs run.
pub const BREATH: Duration = Duration::from_secs(5);

/// How far the jobs are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Jobs that are over.
    pub done: usize,
    /// All of them.
    pub of: usize,
    /// Those that run now, in the order in which they began.
    pub running: Vec<String>,
}

/// Something to do that was not begun.
pub struct Job<'a, T> {
    /// What it is, in words.
    pub name: String,
    /// How long it takes beside the others: those that take longest begin first.
    pub takes: u8,
    /// The work.
    pub run: Box<dyn FnOnce() -> T + Send + 'a>,
}

impl<'a, T> Job<'a, T> {
    /// A job of this name.
    pub fn new(name: impl Into<String>, takes: u8, run: impl FnOnce() -> T + Send + 'a) -> Job<'a, T> {
        Job { name: name.into(), takes, run: Box::new(run) }
    }
}

/// Does the jobs, at most so many at once, and gives what they give, in their order; `tell` hears of each that begins or ends,
/// and every [`BREATH`] meanwhile.
pub fn side_by_side<T: Send>(jobs: Vec<Job<'_, T>>, at_once: usize, tell: &mut dyn FnMut(&Progress)) -> Vec<T> {
    let of = jobs.len();
    let mut queue: Vec<(usize, Job<'_, T>)> = jobs.into_iter().enumerate().collect();
    // The last of the queue is taken first.
    queue.reverse();
    queue.sort_by_key(|(_, job)| job.takes);
    let queue = Mutex::new(queue);
    // Once a signal came nothing is begun any more.
    let next = || queue.lock().ok().filter(|_| stop::signal().is_none()).and_then(|mut queue| queue.pop());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(at_once).min(of).max(1);
    let mut found: Vec<Option<T>> = Vec::new();
    found.resize_with(of, || None);
    let mut progress = Progress { done: 0, of, running: Vec::new() };
    std::thread::scope(|scope| {
        let (say, heard) = channel();
        let mut has_thread = false;
        for _ in 0..threads {
            let say = say.clone();
            let work = move || {
                while let Some((at, job)) = next() {
                    // Nobody listens any more only where this function was left.
                    let _ = say.send((at, job.name.clone(), None));
                    let _ = say.send((at, job.name, Some((job.run)())));
                }
            };
            has_thread |= Builder::new().spawn_scoped(scope, work).is_ok();
        }
        if !has_thread {
            // Where no thread can be had, all is done here, one after the other.
            while let Some((at, job)) = next() {
                let _ = say.send((at, job.name.clone(), None));
                let _ = say.send((at, job.name, Some((job.run)())));
            }
        }
        drop(say);
        loop {
            match heard.recv_timeout(BREATH) {
                Ok((_, name, None)) => progress.running.push(name),
                Ok((at, name, Some(one))) => {
                    progress.running.retain(|running| *running != name);
                    progress.done += 1;
                    found[at] = Some(one);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            tell(&progress);
        }
    });
    found.into_iter().flatten().collect()
}
