//! Run a program as it is and with small changes made from outside, in turns.
//!
//! The changes are the harness's (`python/ridgeline/experiment*.py`), made in memory in the program's own process: nothing of the
//! user's tree is written or copied. No profiler runs; the harness takes the time of the program's loops on both sides alike.
//! Which change needs another run is for the caller to say, who is asked after every round.

mod report;
mod results;

pub use report::{Applied, LoopTime, RunReport, Site};
pub use results::{Results, compare_results};

use crate::error::RecordError;
use crate::harness::write_harness;
use crate::interrupts::Interrupts;
use crate::launch::run_under;
use crate::no_harness::why_no_harness;
use crate::options::RecordOptions;
use crate::outcome::ProgramStatus;
use crate::pieces::read_pieces;
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rounds after the first without which nothing is known.
const NEEDED_ROUNDS: u32 = 2;

/// Tells the harness where its configuration is.
const CONFIG_VARIABLE: &str = "RIDGELINE_EXPERIMENT";

/// What is run.
#[derive(Debug, Clone)]
pub struct ExperimentOptions {
    /// The program as it is.
    pub command: Vec<OsString>,
    /// Where logs and reports go.
    pub out: PathBuf,
    /// The changes.
    pub changes: Vec<Change>,
    /// No run is begun that would probably end later, after the rounds that any answer needs.
    pub budget: Duration,
    /// Most rounds after the first.
    pub most_rounds: u32,
}

/// A change, as the harness knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Files and lines of the program that it is about; where there are none, every place that fits.
    pub places: Vec<(String, u32)>,
}

/// One run.
#[derive(Debug, Clone)]
pub struct ExperimentRun {
    /// The position of its change; `None` for the program as it is.
    pub change: Option<usize>,
    /// From 0, the round that looks at every change once.
    pub round: u32,
    /// How it ended.
    pub status: ProgramStatus,
    /// From the program's start to its end.
    pub wall: Duration,
    /// What the harness said; `None` where no process with JAX or PyTorch said anything.
    pub report: Option<RunReport>,
    /// What the program printed.
    pub log: PathBuf,
    /// Where its arrays are.
    pub folder: PathBuf,
}

/// Why no further run was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExperimentEnd {
    /// The caller had enough.
    Enough,
    /// The time was spent.
    Budget,
    /// All rounds were made.
    Rounds,
    /// Ctrl-C or SIGTERM.
    Interrupted,
}

impl ExperimentEnd {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            ExperimentEnd::Enough => "narrow",
            ExperimentEnd::Budget => "budget",
            ExperimentEnd::Rounds => "runs",
            ExperimentEnd::Interrupted => "interrupted",
        }
    }
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The program could not be started.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The program fails without any change.
    #[error("the unchanged program ended with {}", status.shell_code())]
    Failed {
        /// How it ended.
        status: ProgramStatus,
        /// What it printed.
        log: PathBuf,
    },
    /// No process of the program loaded the harness.
    #[error("nothing can be changed from outside: {0}")]
    NoHarness(String),
    /// The system does not let something be done.
    #[error("cannot {doing}: {source}")]
    System {
        /// What.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// What happens.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExperimentEvent<'e> {
    /// A run begins; `None` for the program as it is.
    Begins {
        /// The change.
        change: Option<&'e Change>,
        /// The round.
        round: u32,
    },
    /// A run ended.
    Ended {
        /// The run.
        run: &'e ExperimentRun,
    },
}

/// Runs rounds of the program as it is and with each change that `wanted` names, until it names none.
///
/// The first round has every change once, between two runs of the program as it is; those that half the budget leaves no time for
/// are not run. `wanted` is asked after every round which changes need more; the rounds go forth and back, so that what drifts on the
/// machine meets all alike.
///
/// # Errors
/// [`ExperimentError`] if the program fails as it is, cannot be run, or loads no harness.
pub fn experiment(
    options: &ExperimentOptions,
    wanted: &mut dyn FnMut(&[ExperimentRun]) -> Vec<usize>,
    tell: &mut dyn FnMut(ExperimentEvent<'_>),
) -> Result<(Vec<ExperimentRun>, ExperimentEnd), ExperimentError> {
    let began = Instant::now();
    let system = |doing| move |source| ExperimentError::System { doing, source };
    let interrupts = Interrupts::watch().map_err(system("watch signals"))?;
    let mut runs: Vec<ExperimentRun> = Vec::new();
    let first = (0..options.changes.len()).map(Some);
    let mut plan: Vec<Option<usize>> = std::iter::once(None).chain(first).chain([None]).collect();
    let mut has_skipped = false;
    for round in 0..=options.most_rounds {
        let round_began = Instant::now();
        for change in plan {
            // Two rounds after the first are needed for any answer; beyond them the budget is kept run by run.
            let longest = runs.iter().map(|run| run.wall).max().unwrap_or_default();
            if round > NEEDED_ROUNDS && began.elapsed() + longest > options.budget {
                return Ok((runs, ExperimentEnd::Budget));
            }
            if round == 0 && change.is_some() && began.elapsed() + longest > time_to_look(&runs, options.budget) {
                has_skipped = true;
                continue;
            }
            tell(ExperimentEvent::Begins { change: change.map(|at| &options.changes[at]), round });
            let run = run_once(options, change, round, runs.len())?;
            if interrupts.arrived() {
                return Ok((runs, ExperimentEnd::Interrupted));
            }
            if change.is_none() {
                must_work(&run, options)?;
            }
            tell(ExperimentEvent::Ended { run: &run });
            runs.push(run);
        }
        let more = wanted(&runs);
        if more.is_empty() {
            let is_all = !has_skipped || round > 0;
            return Ok((runs, if is_all { ExperimentEnd::Enough } else { ExperimentEnd::Budget }));
        }
        if round >= NEEDED_ROUNDS && began.elapsed() + round_began.elapsed().min(options.budget) > options.budget {
            return Ok((runs, ExperimentEnd::Budget));
        }
        plan = std::iter::once(None).chain(more.into_iter().map(Some)).collect();
        if round % 2 == 0 {
            plan.reverse();
        }
    }
    Ok((runs, ExperimentEnd::Rounds))
}

/// How long the first round may look at further changes: half the budget, or all of it while none has applied, and one in any case.
fn time_to_look(runs: &[ExperimentRun], budget: Duration) -> Duration {
    let mut changed = runs.iter().filter(|run| run.change.is_some()).peekable();
    if changed.peek().is_none() {
        return Duration::MAX;
    }
    let applies = |run: &ExperimentRun| run.report.as_ref().is_some_and(|report| !report.applied.is_empty());
    let is_of_use = changed.any(|run| run.status == ProgramStatus::Exited(0) && applies(run));
    if is_of_use { budget / 2 } else { budget }
}

/// The program as it is has to end well, and under the harness.
fn must_work(run: &ExperimentRun, options: &ExperimentOptions) -> Result<(), ExperimentError> {
    if run.status != ProgramStatus::Exited(0) {
        return Err(ExperimentError::Failed { status: run.status, log: run.log.clone() });
    }
    if run.report.is_none() {
        let refused = read_pieces(&run.folder.join("pieces")).refused;
        return Err(ExperimentError::NoHarness(why_no_harness(&options.command, &refused)));
    }
    Ok(())
}

fn run_once(
    options: &ExperimentOptions,
    change: Option<usize>,
    round: u32,
    number: usize,
) -> Result<ExperimentRun, ExperimentError> {
    let system = |doing| move |source| ExperimentError::System { doing, source };
    let what = change.map(|at| &options.changes[at]);
    let name = what.map_or("as-it-is", |change| &change.name);
    let folder = options.out.join("runs").join(format!("{number:03}-{name}"));
    let harness = folder.join("harness");
    let log = folder.join("log.txt");
    let made = fs::create_dir_all(folder.join("pieces")).and_then(|()| write_harness(&harness));
    made.map_err(system("create a directory for a run"))?;
    let config = folder.join("config.json");
    fs::write(&config, configuration(what, &folder).to_string()).map_err(system("write a configuration"))?;
    let recorded = RecordOptions { log: Some(log.clone()), ..RecordOptions::new(options.command.iter().cloned()) };
    let run =
        run_under(&recorded, &recorded.command, &harness, (CONFIG_VARIABLE, &config), &mut |_| {}, &mut |_, _| {})?;
    // What is left is the log, the report and arrays.
    let _ = fs::remove_dir_all(&harness);
    Ok(ExperimentRun { change, round, status: run.status, wall: run.wall, report: report::read(&folder), log, folder })
}

fn configuration(change: Option<&Change>, folder: &Path) -> serde_json::Value {
    let places = change.iter().flat_map(|change| &change.places);
    json!({
        "schema": "ridgeline.experiment_config.v1",
        "out": folder,
        "change": change.map(|change| &change.name),
        "places": places.map(|(file, line)| json!({ "file": file, "line": line })).collect::<Vec<_>>(),
    })
}
