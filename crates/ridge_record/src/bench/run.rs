//! The course of a benchmark: read the plan, then for each size start workers until every operation has its row.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use ridge_documents::{Measurement, RowStatus};
use ridge_files::NewFolder;

use super::error::BenchError;
use super::event::{Plan, WorkerEvent};
use super::folder::{prepare, settle};
use super::launch::Launch;
use super::locate::SuiteSource;
use super::options::BenchOptions;
use super::outcome::{BenchEvent, BenchOutcome, BenchStatus};
use super::results::{Results, row_without_worker};
use super::size::size_dir;
use crate::interrupts::Interrupts;
use crate::python::{WORKER_FILES, interpreter, write_package};
use crate::worker::{Next, Worker, death};

/// How often signals are looked at while a worker is silent.
const LOOK: Duration = Duration::from_millis(100);

/// How long an interrupted worker may take to end by itself.
const GRACE: Duration = Duration::from_secs(10);

/// Measure a suite; `on_event` is told what happens as it happens, on the calling thread.
///
/// SIGINT and SIGTERM end it early with what was measured; a second one kills the worker at once.
///
/// # Errors
/// [`BenchError`] if nothing could be measured at all, or the results could not be written.
/// An operation that fails is no error: it is a row.
pub fn bench(options: &BenchOptions, on_event: &mut dyn FnMut(BenchEvent)) -> Result<BenchOutcome, BenchError> {
    check(options)?;
    let started = Instant::now();
    let signals = Interrupts::watch().map_err(|source| BenchError::Signals { source })?;
    let suite = SuiteSource::find(&options.suite)?;
    let scratch = tempfile::tempdir().map_err(|source| BenchError::Write { path: std::env::temp_dir(), source })?;
    let package_root = scratch.path().join("python");
    write_package(&package_root, WORKER_FILES).map_err(|(path, source)| BenchError::Write { path, source })?;
    let mut launch = Launch {
        python: interpreter(options.python.as_deref()),
        package_root,
        suite: suite.file_in(&scratch.path().join("suite"))?,
        variant: Vec::new(),
    };
    let plan = read_plan(&launch, options, scratch.path().join("plan.log"))?;
    launch.variant = variant(&plan, options)?;
    let beside = prepare(&options.out)?;
    let place = beside.as_ref().map_or(options.out.as_path(), NewFolder::path).to_path_buf();
    launch.suite = suite.file_in(&place.join("suite"))?;

    let sizes = if options.sizes.is_empty() { plan.sizes.clone() } else { options.sizes.clone() };
    let operations = plan.operations.clone();
    on_event(BenchEvent::Planned { suite: plan.suite.clone(), sizes: sizes.clone(), operations });
    let results = Results::new(options, &place, plan, sizes.clone(), launch.added_environment());
    let mut course = Course { options, place: &place, launch, signals, started, results, on_event };
    for size in sizes {
        course.measure(size)?;
    }
    course.results.finish(options.layout)?;
    let outcome = course.results.outcome(&options.out);
    if let Some(beside) = beside {
        settle(beside, &options.out)?;
    }
    Ok(outcome)
}

fn check(options: &BenchOptions) -> Result<(), BenchError> {
    if options.runs == 0 {
        return Err(BenchError::Option { option: "runs", expected: "at least 1", found: "0".into() });
    }
    if options.sizes.contains(&0) {
        return Err(BenchError::Option { option: "sizes", expected: "numbers from 1", found: "0".into() });
    }
    Ok(())
}

/// Ask the suite what it would run.
fn read_plan(launch: &Launch, options: &BenchOptions, log: PathBuf) -> Result<Plan, BenchError> {
    let mut arguments = vec![OsString::from("--list")];
    arguments.extend(flags("--ops", &options.operations));
    let worker = launch.start(&arguments, &[], &log)?;
    let (mut plan, mut broken, mut no_match) = (None, None, None);
    loop {
        match worker.next(LOOK) {
            Next::Event(event) => match *event {
                WorkerEvent::Plan(found) => plan = Some(found),
                WorkerEvent::NoMatch { pattern, operations } => no_match = Some((pattern, operations)),
                WorkerEvent::Broken { reason } => broken = Some(reason),
                _ => {}
            },
            Next::Quiet => {}
            Next::Ended => break,
        }
    }
    let status = worker.wait().map_err(|source| BenchError::Spawn { python: launch.python.clone(), source })?;
    if let Some((pattern, operations)) = no_match {
        return Err(BenchError::NoOperation { pattern, operations });
    }
    plan.ok_or_else(|| BenchError::Suite { reason: broken.unwrap_or_else(|| death(status, None, &log)) })
}

fn variant(plan: &Plan, options: &BenchOptions) -> Result<Vec<(String, String)>, BenchError> {
    let Some(name) = &options.variant else { return Ok(Vec::new()) };
    let known = || plan.variants.keys().cloned().collect();
    let found = plan.variants.get(name).cloned();
    found.ok_or_else(|| BenchError::UnknownVariant { name: name.clone(), known: known() })
}

/// A benchmark under way.
struct Course<'a> {
    options: &'a BenchOptions,
    /// Where it is written until it has ended.
    place: &'a Path,
    launch: Launch,
    signals: Interrupts,
    started: Instant,
    results: Results,
    on_event: &'a mut dyn FnMut(BenchEvent),
}

/// How a worker ended.
struct Ending {
    status: io::Result<ExitStatus>,
    /// The operation it had begun and not finished, and in which phase it was.
    unfinished: Option<(String, Option<String>)>,
    broken: Option<String>,
}

impl Course<'_> {
    /// Give every operation its row at `size`.
    fn measure(&mut self, size: u32) -> Result<(), BenchError> {
        let dir = self.place.join(size_dir(size));
        std::fs::create_dir_all(&dir).map_err(|source| BenchError::Write { path: dir.clone(), source })?;
        let log = dir.join("worker.log");
        let mut after = None;
        while !self.results.missing(size).is_empty() {
            if self.results.interrupted {
                return self.finish_all(size, RowStatus::NotRun, "not run: interrupted");
            }
            (self.on_event)(BenchEvent::SizeStarted { size });
            let worker =
                self.launch.start(&self.arguments(size, &dir, after.as_deref()), &self.xla_flags(&dir), &log)?;
            let ending = self.follow(size, worker)?;
            let phase = ending.unfinished.as_ref().and_then(|(_, phase)| phase.as_deref());
            let reason = match (&ending.broken, &ending.status) {
                (Some(reason), _) => reason.clone(),
                (None, Ok(status)) => death(*status, phase, &log),
                (None, Err(error)) => format!("the worker could not be waited for: {error}"),
            };
            match ending.unfinished {
                Some((operation, phase)) if self.results.interrupted => {
                    let reason = format!("interrupted during {}", phase.as_deref().unwrap_or("start"));
                    self.finish(size, &operation, RowStatus::NotRun, phase.as_deref(), &reason)?;
                }
                Some((operation, phase)) => {
                    self.finish(size, &operation, RowStatus::Failed, phase.as_deref(), &reason)?;
                    after = Some(operation);
                }
                // A worker that ends between operations would end there again.
                None if !self.results.interrupted => return self.finish_all(size, RowStatus::Failed, &reason),
                None => {}
            }
        }
        Ok(())
    }

    /// Pass on what a worker says until it ends, and make it end after a signal.
    fn follow(&mut self, size: u32, mut worker: Worker<WorkerEvent>) -> Result<Ending, BenchError> {
        let mut unfinished = None;
        let mut broken = None;
        let mut asked_to_end: Option<Instant> = None;
        loop {
            if self.signals.arrived() {
                self.results.interrupted = true;
                (self.on_event)(BenchEvent::Interrupted);
                if asked_to_end.is_some() {
                    worker.kill();
                }
                worker.ask_to_end();
                asked_to_end = asked_to_end.or(Some(Instant::now()));
            }
            if asked_to_end.is_some_and(|asked| asked.elapsed() > GRACE) {
                worker.kill();
            }
            match worker.next(LOOK) {
                Next::Event(event) => self.take(size, *event, &mut unfinished, &mut broken)?,
                Next::Quiet => {}
                Next::Ended => break,
            }
        }
        Ok(Ending { status: worker.wait(), unfinished, broken })
    }

    fn take(
        &mut self,
        size: u32,
        event: WorkerEvent,
        unfinished: &mut Option<(String, Option<String>)>,
        broken: &mut Option<String>,
    ) -> Result<(), BenchError> {
        match event {
            WorkerEvent::Start { operation } => {
                *unfinished = Some((operation.clone(), None));
                (self.on_event)(BenchEvent::OperationStarted { size, operation });
            }
            WorkerEvent::Phase { operation, phase } => {
                *unfinished = Some((operation.clone(), Some(phase.clone())));
                (self.on_event)(BenchEvent::Phase { size, operation, phase });
            }
            WorkerEvent::Measurement(measurement) => {
                let Measurement { operation, run, time, traced, .. } = measurement.clone();
                self.results.measurement(measurement);
                (self.on_event)(BenchEvent::Measured { size, operation, run, seconds: time, traced });
            }
            WorkerEvent::Modules { operation, modules, costs } => {
                self.results.modules(size, &operation, modules, costs)
            }
            WorkerEvent::Row { operation, row } => {
                *unfinished = None;
                let status = self.results.row(size, &operation, row)?;
                self.done(size, operation, status);
            }
            WorkerEvent::Environment(environment) => self.results.environment(*environment),
            WorkerEvent::Interrupted => self.results.interrupted = true,
            WorkerEvent::Broken { reason } => *broken = Some(reason),
            WorkerEvent::Plan(_) | WorkerEvent::NoMatch { .. } => {}
        }
        Ok(())
    }

    fn arguments(&self, size: u32, dir: &std::path::Path, after: Option<&str>) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["--size".into(), size.to_string().into()];
        arguments.extend(["--runs".into(), self.options.runs.to_string().into()]);
        if self.options.warm_up > 0 {
            arguments.extend(["--warm-up".into(), self.options.warm_up.to_string().into()]);
        }
        if !self.options.xla_dump.is_empty() {
            arguments.extend(["--dump".into(), dump_folder(dir).into()]);
        }
        arguments.extend(["--out".into(), dir.into()]);
        arguments.extend(flags("--ops", &self.options.operations));
        arguments.extend(self.options.hlo.iter().flat_map(|format| ["--hlo".into(), format.name().into()]));
        if let Some(budget) = self.options.budget {
            let left = budget.saturating_sub(self.started.elapsed());
            arguments.extend(["--budget-s".into(), left.as_secs_f64().to_string().into()]);
        }
        if let Some(operation) = after {
            arguments.extend(["--after".into(), operation.into()]);
        }
        arguments
    }

    /// What makes XLA dump its modules, beside the flags that the user has.
    fn xla_flags(&self, dir: &Path) -> Vec<(String, OsString)> {
        if self.options.xla_dump.is_empty() {
            return Vec::new();
        }
        let mut flags = std::env::var_os("XLA_FLAGS").unwrap_or_default();
        flags.push(" --xla_dump_to=");
        flags.push(dump_folder(dir));
        flags.extend(self.options.xla_dump.iter().map(|form| OsString::from(format!(" --xla_dump_hlo_as_{form}"))));
        vec![("XLA_FLAGS".to_owned(), flags)]
    }

    fn finish_all(&mut self, size: u32, status: RowStatus, reason: &str) -> Result<(), BenchError> {
        let operations = self.results.missing(size);
        operations.iter().try_for_each(|operation| self.finish(size, operation, status, None, reason))
    }

    fn finish(
        &mut self,
        size: u32,
        operation: &str,
        status: RowStatus,
        phase: Option<&str>,
        reason: &str,
    ) -> Result<(), BenchError> {
        let row = row_without_worker(size, operation, status, phase, reason);
        let status = self.results.row(size, operation, row)?;
        self.done(size, operation.to_owned(), status);
        Ok(())
    }

    fn done(&mut self, size: u32, operation: String, status: BenchStatus) {
        (self.on_event)(BenchEvent::OperationDone { size, operation, status });
    }
}

/// Where XLA dumps the modules of one size.
fn dump_folder(dir: &Path) -> PathBuf {
    dir.join("hlo_dump")
}

fn flags(name: &str, values: &[String]) -> Vec<OsString> {
    // One word, because a value may begin with a dash.
    values.iter().map(|value| format!("{name}={value}").into()).collect()
}
