//! The course of a calibration: the host's loops in this process, then the devices' in a worker.

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ridge_documents::{Figure, MeasuredDevice, MissingFigure};
use ridge_host::{Effort, Machine, Others, Probe, machine};
use serde_json::{Map, Value};

use super::error::CalibrateError;
use super::event::{WorkerEvent, parse};
use super::host;
use super::options::CalibrateOptions;
use super::outcome::{CalibrateEvent, Calibration, name_of, named};
use crate::interrupts::Interrupts;
use crate::python::{NO_COMPILATION_CACHE, WORKER_FILES, interpreter, python_path, write_package};
use crate::worker::{Next, Worker, death};

/// How often signals are looked at while the worker is silent.
const LOOK: Duration = Duration::from_millis(100);
/// How long an interrupted worker may take to end by itself.
const GRACE: Duration = Duration::from_secs(10);

/// Measures what `options` asks for; `on_event` is told what happens as it happens, on the calling thread.
///
/// SIGINT and SIGTERM end it early with what was measured.
/// Where both host and devices were asked for and there is no device, [`Calibration::no_device`] says why.
///
/// # Errors
/// [`CalibrateError`] if signals cannot be watched, scratch files cannot be written, or devices alone were asked for and there
/// is none.
pub fn calibrate(
    options: &CalibrateOptions,
    on_event: &mut dyn FnMut(CalibrateEvent),
) -> Result<Calibration, CalibrateError> {
    let signals = Interrupts::watch().map_err(|source| CalibrateError::Signals { source })?;
    let machine = machine();
    let mut course = Course {
        options,
        signals,
        outcome: Calibration { devices: Vec::new(), interrupted: false, no_device: None },
        others: Others::from_now(&[]),
        versions: None,
        on_event,
        planned: 0,
    };
    if options.scope.has_host() {
        course.measure_host(&machine);
    }
    if options.scope.has_device() && !course.outcome.interrupted {
        course.measure_devices(&machine)?;
    }
    // They are known only when the devices are measured, and say what measured all of it.
    course.outcome.devices.iter_mut().for_each(|device| device.versions.clone_from(&course.versions));
    Ok(course.outcome)
}

/// A calibration under way.
struct Course<'a> {
    options: &'a CalibrateOptions,
    signals: Interrupts,
    outcome: Calibration,
    /// Counts what others do while the worker measures one figure.
    others: Others,
    versions: Option<Map<String, Value>>,
    on_event: &'a mut dyn FnMut(CalibrateEvent),
    planned: usize,
}

impl Course<'_> {
    fn measure_host(&mut self, machine: &Machine) {
        self.plan(Probe::ALL.len());
        let mut host = host::described(machine);
        host::measure(machine, self.options.effort, self.signals.flag(), &mut host, self.on_event);
        self.outcome.devices.push(host);
        if self.signals.arrived() {
            self.interrupted();
        }
    }

    fn measure_devices(&mut self, machine: &Machine) -> Result<(), CalibrateError> {
        let scratch = tempfile::tempdir();
        let scratch = scratch.map_err(|source| CalibrateError::Write { path: std::env::temp_dir(), source })?;
        let log = scratch.path().join("worker.log");
        let reason = match self.start(machine, scratch.path(), &log)? {
            Ok(worker) => self.follow(machine, worker, &log),
            Err(reason) => Some(reason),
        };
        match reason {
            Some(reason) if !self.options.scope.has_host() && self.outcome.devices.is_empty() => {
                Err(CalibrateError::NoDevice { reason })
            }
            Some(reason) => {
                (self.on_event)(CalibrateEvent::NoDevice { reason: reason.clone() });
                self.outcome.no_device = Some(reason);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Starts the worker; the inner error is why Python does not run.
    fn start(
        &self,
        machine: &Machine,
        scratch: &Path,
        log: &Path,
    ) -> Result<Result<Worker<WorkerEvent>, String>, CalibrateError> {
        write_package(scratch, WORKER_FILES).map_err(|(path, source)| CalibrateError::Write { path, source })?;
        let log_file = File::create(log).map_err(|source| CalibrateError::Write { path: log.to_path_buf(), source })?;
        let python = interpreter(self.options.python.as_deref());
        let mut command = Command::new(&python);
        command.args(["-m", "ridgeline.calibrate_worker"]);
        if self.options.effort == Effort::Quick {
            command.arg("--quick");
        }
        command.arg(format!("--array-bytes={}", self.options.effort.array_bytes(machine)));
        let (key, value) = NO_COMPILATION_CACHE;
        command.env("PYTHONPATH", python_path(scratch)).env(key, value);
        let started = Worker::start(command, log_file, parse);
        Ok(started.map_err(|error| format!("cannot start {}: {error}", python.display())))
    }

    /// Takes what the worker says until it ends; why it ended early, if it did so by itself.
    fn follow(&mut self, machine: &Machine, mut worker: Worker<WorkerEvent>, log: &Path) -> Option<String> {
        let mut broken = None;
        let mut under_way = None;
        let mut asked_to_end: Option<Instant> = None;
        loop {
            if self.signals.arrived() {
                if asked_to_end.is_some() {
                    worker.kill();
                }
                self.interrupted();
                worker.ask_to_end();
                asked_to_end = asked_to_end.or(Some(Instant::now()));
            }
            if asked_to_end.is_some_and(|asked| asked.elapsed() > GRACE) {
                worker.kill();
            }
            match worker.next(LOOK) {
                Next::Event(event) => self.take(machine, worker.id(), *event, &mut under_way, &mut broken),
                Next::Quiet => {}
                Next::Ended => break,
            }
        }
        let status = worker.wait();
        if self.outcome.interrupted || (broken.is_none() && status.as_ref().is_ok_and(|status| status.success())) {
            return None;
        }
        let reason = broken.unwrap_or_else(|| match status {
            Ok(status) => death(status, under_way.as_ref().map(name_of).as_deref(), log),
            Err(error) => format!("the worker could not be waited for: {error}"),
        });
        self.lose(under_way, &reason);
        Some(reason)
    }

    fn take(
        &mut self,
        machine: &Machine,
        worker: u32,
        event: WorkerEvent,
        under_way: &mut Option<MissingFigure>,
        broken: &mut Option<String>,
    ) {
        match event {
            WorkerEvent::Plan { figures } => self.plan(figures),
            WorkerEvent::Environment(environment) => self.versions = environment.versions,
            WorkerEvent::Device(device) => self.begin_device(machine, device),
            WorkerEvent::Start { what, number_type } => {
                (self.on_event)(CalibrateEvent::Started { what: named(&what, number_type.as_deref()) });
                self.others = Others::from_now(&[std::process::id(), worker]);
                *under_way = Some(MissingFigure { what, number_type, why: String::new() });
            }
            WorkerEvent::Measured(figure) => {
                *under_way = None;
                let what = named(&figure.what, figure.number_type.as_deref());
                if let Some(device) = self.outcome.devices.last_mut() {
                    device.figures.push(Figure { busy_share: self.others.share(), ..figure });
                }
                (self.on_event)(CalibrateEvent::Done { what, missing: None });
            }
            WorkerEvent::Missing(missing) => {
                let why = missing.why.clone();
                *under_way = None;
                self.lose(Some(missing), &why);
            }
            WorkerEvent::Interrupted => self.outcome.interrupted = true,
            WorkerEvent::Broken { reason } => *broken = Some(reason),
        }
    }

    /// The figures that follow are of this device; JAX's processor is the host.
    fn begin_device(&mut self, machine: &Machine, mut device: Map<String, Value>) {
        let mut text = |key: &str| device.shift_remove(key).and_then(|value| value.as_str().map(str::to_owned));
        let (kind, platform) = (text("kind"), text("platform").unwrap_or_else(|| "unknown".to_owned()));
        let is_host = platform == "cpu";
        if is_host && self.outcome.devices.last().is_some_and(|last| last.platform == "cpu") {
            return;
        }
        ["id", "process_index", "platform_version"].iter().for_each(|key| drop(device.shift_remove(*key)));
        self.outcome.devices.push(if is_host {
            host::described(machine)
        } else {
            let name = kind.unwrap_or_else(|| platform.clone());
            MeasuredDevice { name, platform, more: device, ..MeasuredDevice::default() }
        });
    }

    fn lose(&mut self, missing: Option<MissingFigure>, why: &str) {
        let Some(missing) = missing else { return };
        (self.on_event)(CalibrateEvent::Done { what: name_of(&missing), missing: Some(why.to_owned()) });
        if let Some(device) = self.outcome.devices.last_mut() {
            device.missing.push(MissingFigure { why: why.to_owned(), ..missing });
        }
    }

    fn plan(&mut self, more: usize) {
        self.planned = self.planned.saturating_add(more);
        (self.on_event)(CalibrateEvent::Planned { figures: self.planned });
    }

    fn interrupted(&mut self) {
        self.outcome.interrupted = true;
        (self.on_event)(CalibrateEvent::Interrupted);
    }
}
