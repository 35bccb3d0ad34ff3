//! Runs everything that can be run on a bundle again, offline.
//!
//! Nothing of a bundle is executed before every hash in it fits, and no path in it is followed out of it.

mod cells;
mod checks;
mod cores;
mod opened;
mod proofs;
pub(crate) mod tools;

pub use opened::{BrokenBundle, Opened, open};

use crate::bundle::{Check, CheckState, write};
use crate::jobs::{Job, Progress, side_by_side};
use std::path::Path;
use tempfile::TempDir;

/// What to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    /// Everything that the tools on this machine allow.
    Everything,
    /// Nothing of the bundle: hashes and our own interpreter alone.
    NothingOfIt,
}

/// All checks of an opened bundle, in order; `tell` hears of each that begins or ends, and now and then meanwhile.
///
/// They run side by side, as many as there are processors, those that take longest first; each has its own clock.
pub fn verify(bundle: &Opened, running: Running, mut tell: impl FnMut(&Progress)) -> Vec<Check> {
    let mut ledger = vec![hashes(bundle)];
    let place = Place::new(bundle, running);
    let mut jobs = of_code(bundle, &place);
    jobs.extend(of_engines(bundle, &place));
    ledger.extend(side_by_side(jobs, usize::MAX, &mut tell).into_iter().flatten());
    ledger
}

/// That every file is what was handed over: what [`open`] found.
pub fn hashes(bundle: &Opened) -> Check {
    Check {
        name: "hashes".to_owned(),
        state: CheckState::Passed,
        found: format!("{} files match MANIFEST.json", bundle.files.len()),
        command: "sha256".to_owned(),
        version: String::new(),
        wall_s: bundle.wall_s,
        figures: Vec::new(),
    }
}

/// Where the code of a bundle is run: a folder of our own, where nobody changes the files after they were hashed.
#[derive(Debug)]
pub struct Place(Result<TempDir, &'static str>);

impl Place {
    /// A folder with all files of the bundle, where its code is to be run.
    pub fn new(bundle: &Opened, running: Running) -> Place {
        if running == Running::NothingOfIt {
            return Place(Err("the bundle's code is not run (`--no-run`)"));
        }
        let folder = tempfile::tempdir().map_err(|_| "no temporary directory could be created");
        Place(folder.and_then(|folder| match write(&bundle.files, folder.path()) {
            Ok(()) => Ok(folder),
            Err(_) => Err("no copy could be written"),
        }))
    }

    fn folder(&self) -> Result<&Path, &'static str> {
        self.0.as_ref().map(TempDir::path).map_err(|why| *why)
    }
}

/// The checks of what the bundle's own code does.
pub fn of_code<'a>(bundle: &'a Opened, place: &'a Place) -> Vec<Job<'a, Vec<Check>>> {
    if !bundle.has_program() {
        return Vec::new();
    }
    let mut jobs = vec![Job::new("the interpreter", 4, || vec![checks::interpreter(bundle)])];
    let folder = match place.folder() {
        Ok(folder) => folder,
        Err(why) => {
            jobs.push(Job::new("C++", 0, move || vec![tools::not_run("c++", why)]));
            return jobs;
        }
    };
    let formats =
        bundle.json("spec/numerics.json").map(|document| crate::bundle::usable(&document)).unwrap_or_default();
    jobs.push(Job::new("C++", 2, || vec![checks::cpp(bundle, folder, None)]));
    for slug in formats {
        jobs.push(Job::new(format!("C++ {slug}"), 2, move || vec![checks::cpp(bundle, folder, Some(&slug))]));
    }
    let designs = [
        ("rtl/kernel.v", checks::RTL.as_slice()),
        ("rtl/core.v", &cores::CORE),
        ("host/Makefile", &cores::CARD),
        ("cocotb/Makefile", &cores::COCOTB),
        ("rtl_f32/kernel.v", &checks::RTL_F32),
    ];
    for (name, takes, run) in designs.iter().filter(|(file, _)| bundle.files.contains_key(*file)).flat_map(|one| one.1)
    {
        jobs.push(Job::new(*name, *takes, move || run(folder)));
    }
    jobs
}

/// The checks of what other engines gave when the bundle was made.
pub fn of_engines<'a>(bundle: &'a Opened, place: &'a Place) -> Vec<Job<'a, Vec<Check>>> {
    if !bundle.has_program() {
        return Vec::new();
    }
    let mut jobs = Vec::new();
    for (engine, words) in [
        ("xla", "XLA's CPU backend"),
        ("stablehlo", "the StableHLO reference interpreter"),
        ("program", "the program while it ran"),
    ] {
        if engine != "program" || !bundle.manifest["engines"][engine].is_null() {
            jobs.push(Job::new(format!("values of {words}"), 1, move || {
                vec![checks::agreement(bundle, engine, words)]
            }));
        }
    }
    if let Ok(folder) = place.folder()
        && bundle.files.contains_key("xls/kernel.x")
    {
        jobs.push(Job::new("XLS", 2, || checks::xls(bundle, folder)));
    }
    jobs
}
