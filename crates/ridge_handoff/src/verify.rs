//! Runs everything that can be run on a bundle again, offline.
//!
//! Nothing of a bundle is executed before every hash in it fits, and no path in it is followed out of it.

mod checks;
mod opened;
pub(crate) mod tools;

pub use opened::{BrokenBundle, Opened, open};

use crate::bundle::{Check, CheckState};
use crate::vectors;
use serde_json::Value;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// What to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    /// Everything that the tools on this machine allow.
    Everything,
    /// Nothing of the bundle: hashes and our own interpreter alone.
    NothingOfIt,
}

/// How far the checks are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Checks that are over.
    pub done: usize,
    /// All of them.
    pub of: usize,
    /// Those that run now, in the order in which they began.
    pub running: Vec<String>,
}

/// A check that was not begun.
type Job<'a> = Box<dyn FnOnce() -> Check + Send + 'a>;

/// All checks of an opened bundle, in order; `tell` hears of each that begins or ends, and every [`BREATH`] meanwhile.
///
/// They run side by side, as many as there are processors, those that take longest first; each has its own clock.
pub fn verify(bundle: &Opened, running: Running, mut tell: impl FnMut(&Progress)) -> Vec<Check> {
    let mut ledger = vec![Check {
        name: "hashes".to_owned(),
        state: CheckState::Passed,
        found: format!("{} files are what MANIFEST.json says", bundle.files.len()),
        command: "sha256".to_owned(),
        version: String::new(),
        wall_s: bundle.wall_s,
    }];
    if !bundle.has_program() {
        return ledger;
    }
    let folder = tempfile::tempdir();
    let copy = match (&folder, running) {
        (_, Running::NothingOfIt) => Err("nothing of the bundle is to be run"),
        (Err(_), _) => Err("no temporary folder can be made"),
        (Ok(folder), Running::Everything) if copied(bundle, folder.path()) => Ok(folder.path()),
        (Ok(_), Running::Everything) => Err("no copy can be made"),
    };
    ledger.extend(side_by_side(jobs(bundle, copy), &mut tell));
    ledger
}

/// The checks after the hashes, in the order of the ledger, each with how long it takes beside the others.
fn jobs<'a>(bundle: &'a Opened, copy: Result<&'a Path, &'static str>) -> Vec<(String, u8, Job<'a>)> {
    let mut jobs: Vec<(String, u8, Job<'a>)> = vec![
        ("the interpreter".to_owned(), 4, Box::new(|| checks::interpreter(bundle))),
        ("XLA's values".to_owned(), 1, Box::new(|| checks::agreement(bundle, "xla", "XLA's processor backend"))),
        (
            "StableHLO's values".to_owned(),
            1,
            Box::new(|| checks::agreement(bundle, "stablehlo", "the StableHLO reference interpreter")),
        ),
    ];
    if !bundle.manifest["engines"]["program"].is_null() {
        let check = || checks::agreement(bundle, "program", "the program while it ran");
        jobs.push(("the program's values".to_owned(), 1, Box::new(check)));
    }
    let folder = match copy {
        Ok(folder) => folder,
        Err(why) => {
            jobs.push(("C++".to_owned(), 0, Box::new(move || checks::not_run("c++", why))));
            return jobs;
        }
    };
    let formats =
        bundle.json("spec/numerics.json").map(|document| crate::bundle::usable(&document)).unwrap_or_default();
    jobs.push(("C++".to_owned(), 2, Box::new(|| checks::cpp(bundle, folder, None))));
    for slug in formats {
        jobs.push((format!("C++ {slug}"), 2, Box::new(move || checks::cpp(bundle, folder, Some(&slug)))));
    }
    if bundle.files.contains_key("rtl/kernel.v") {
        for (name, takes, run) in checks::RTL {
            jobs.push((name.to_owned(), takes, Box::new(move || run(bundle, folder))));
        }
    }
    if bundle.files.contains_key("xls/kernel.x") {
        jobs.push(("XLS".to_owned(), 2, Box::new(|| checks::xls(bundle, folder))));
    }
    if bundle.files.contains_key("rtl_f32/kernel.v") {
        let (name, takes, run) = checks::RTL_F32;
        jobs.push((name.to_owned(), takes, Box::new(move || run(bundle, folder))));
    }
    jobs
}

/// How long nothing may be told while checks run.
pub const BREATH: Duration = Duration::from_secs(5);

/// Runs the jobs on as many threads as there are processors; gives what they found in the order of the jobs.
fn side_by_side(jobs: Vec<(String, u8, Job<'_>)>, tell: &mut impl FnMut(&Progress)) -> Vec<Check> {
    let of = jobs.len();
    let mut queue: Vec<(usize, String, u8, Job<'_>)> =
        jobs.into_iter().enumerate().map(|(at, (name, takes, job))| (at, name, takes, job)).collect();
    // The last of the queue is taken first.
    queue.reverse();
    queue.sort_by_key(|(_, _, takes, _)| *takes);
    let queue = Mutex::new(queue);
    let next = || queue.lock().ok().and_then(|mut queue| queue.pop());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(of);
    let mut found: Vec<Option<Check>> = vec![None; of];
    let mut progress = Progress { done: 0, of, running: Vec::new() };
    std::thread::scope(|scope| {
        let (say, heard) = channel();
        for _ in 0..threads {
            let say = say.clone();
            scope.spawn(move || {
                while let Some((at, name, _, job)) = next() {
                    // Nobody listens any more only where this function was left.
                    let _ = say.send((at, name.clone(), None));
                    let _ = say.send((at, name, Some(job())));
                }
            });
        }
        drop(say);
        loop {
            match heard.recv_timeout(BREATH) {
                Ok((_, name, None)) => progress.running.push(name),
                Ok((at, name, Some(check))) => {
                    progress.running.retain(|one| *one != name);
                    progress.done += 1;
                    found[at] = Some(check);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            tell(&progress);
        }
    });
    found.into_iter().flatten().collect()
}

/// The bundle's files in a folder of our own, where nobody changes them after they were hashed.
fn copied(bundle: &Opened, to: &Path) -> bool {
    bundle.files.iter().all(|(path, bytes)| {
        let target = to.join(path);
        let parent = target.parent().map_or(Ok(()), std::fs::create_dir_all);
        parent.and_then(|()| std::fs::write(target, bytes)).is_ok()
    })
}

/// The names of the sets of vectors.
pub(crate) fn sets(bundle: &Opened) -> Vec<String> {
    let document = bundle.json("golden/vectors.json").unwrap_or(Value::Null);
    let sets = document["sets"].as_array().cloned().unwrap_or_default();
    sets.iter()
        .filter_map(|set| set["name"].as_str())
        .filter(|name| opened::is_plain(name))
        .map(str::to_owned)
        .collect()
}

/// The inputs of a set.
pub(crate) fn inputs(
    bundle: &Opened,
    program: &crate::Program,
    set: &str,
) -> Result<Vec<Vec<crate::Cell<f64>>>, String> {
    let files: Option<Vec<Vec<u8>>> =
        (0..program.inputs.len()).map(|at| bundle.files.get(&format!("golden/{set}/in{at}.bin")).cloned()).collect();
    let files = files.ok_or_else(|| format!("set `{set}` lacks an input"))?;
    vectors::inputs_of(program, &files).map_err(|error| error.to_string())
}
