//! The course of a compilation: one worker, and another one for what is left where a module ends it.

use super::event::{WorkerEvent, parse};
use super::sources::SourceModule;
use crate::interrupts::Interrupts;
use crate::python::{COMPILER_FILES, python_path, write_package};
use crate::worker::{Next, Worker, death};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How often signals are looked at while the worker is silent.
const LOOK: Duration = Duration::from_millis(100);

/// What is to be compiled.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The interpreter that has the plugin.
    pub python: &'a Path,
    /// What XLA is told of each GPU (`GpuTargetConfigProto` as text), by its name here.
    pub targets: Vec<(String, String)>,
    /// The modules, each compiled for every GPU.
    pub modules: &'a [SourceModule],
    /// The version of jaxlib that made them, where it is known.
    pub jaxlib: Option<&'a str>,
    /// Where each GPU gets a folder of its name, with a folder `hlo` in it.
    pub out: &'a Path,
}

/// One module, compiled for one GPU.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompiledModule {
    /// Its folder's name.
    pub folder: String,
    /// Its name as XLA says it.
    pub name: String,
    /// XLA's number of it, which its proto and the timeline have, too; `None` where that is not known.
    pub number: Option<u64>,
    /// The files in its folder.
    pub files: Vec<String>,
    /// What a reader must know of it.
    pub notes: Vec<String>,
    /// What XLA says of its memory, bytes by XLA's own names.
    pub memory: BTreeMap<String, u64>,
    /// XLA's time, seconds; `None` where it was compiled elsewhere.
    pub compile_s: Option<f64>,
    /// All else, seconds: reading and writing.
    pub beyond_s: Option<f64>,
    /// Whether it had been lowered for what ran, and not for GPUs.
    pub is_lowered_elsewhere: bool,
}

/// What was made for one GPU.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compiled {
    /// The modules, in their order.
    pub modules: Vec<CompiledModule>,
    /// Those that could not be compiled: their folder's name, and why.
    pub failed: Vec<(String, String)>,
    /// The version of jaxlib that compiled.
    pub jaxlib: String,
}

/// What happens, as it happens.
#[derive(Debug, Clone, PartialEq)]
pub enum CompileEvent {
    /// A module is being compiled for a GPU.
    Started {
        /// The GPU.
        target: String,
        /// The module's folder.
        module: String,
    },
}

/// Why nothing could be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A file could not be written, or signals not be watched.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The interpreter does not run, or has no plugin.
    #[error("the compiler for GPUs does not work: {why}")]
    Unusable {
        /// What it said last.
        why: String,
    },
    /// The modules were lowered by another version of JAX than the compiler's.
    #[error("the program was lowered by jaxlib {lowered}, and the compiler has {compiler}")]
    Versions {
        /// The program's.
        lowered: String,
        /// The compiler's.
        compiler: String,
    },
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// Compiles `job`; `on_event` is told what happens on the calling thread. By GPU, in the order of the job.
///
/// # Errors
/// [`CompileError`] where the worker cannot be used at all; a module that cannot be compiled is one of [`Compiled::failed`].
pub fn compile(job: &Job<'_>, on_event: &mut dyn FnMut(CompileEvent)) -> Result<Vec<Compiled>, CompileError> {
    let io = |path: &Path| {
        let path = path.to_path_buf();
        |source| CompileError::Io { path, source }
    };
    let signals = Interrupts::watch().map_err(io(Path::new("signals")))?;
    let scratch = tempfile::tempdir().map_err(io(&std::env::temp_dir()))?;
    write_package(scratch.path(), COMPILER_FILES).map_err(|(path, source)| CompileError::Io { path, source })?;
    let mut course =
        Course { job, done: BTreeSet::new(), found: vec![Compiled::default(); job.targets.len()], on_event };
    loop {
        let left = course.done.len();
        let log = scratch.path().join("worker.log");
        let description = scratch.path().join("job.json");
        fs::write(&description, course.description().to_string()).map_err(io(&description))?;
        let file = File::create(&log).map_err(io(&log))?;
        let mut command = Command::new(job.python);
        command.args(["-m", "ridgeline.compile_worker"]).arg(&description);
        command.env("PYTHONPATH", python_path(scratch.path()));
        let worker = Worker::start(command, file, parse)
            .map_err(|error| CompileError::Unusable { why: format!("{}: {error}", job.python.display()) })?;
        match course.follow(worker, &signals, &log)? {
            None => return Ok(course.found),
            // Without a module that it died of, the next one would die alike.
            Some(why) if course.done.len() == left => return Err(CompileError::Unusable { why }),
            Some(_) => {}
        }
    }
}

struct Course<'a, 'b> {
    job: &'a Job<'a>,
    /// Folders that are compiled, or cannot be.
    done: BTreeSet<PathBuf>,
    found: Vec<Compiled>,
    on_event: &'b mut dyn FnMut(CompileEvent),
}

impl Course<'_, '_> {
    fn folder(&self, target: &str, module: &SourceModule) -> PathBuf {
        self.job.out.join(target).join("hlo").join(&module.name)
    }

    /// What is left to do, as the worker reads it.
    fn description(&self) -> Value {
        let targets: Map<String, Value> =
            self.job.targets.iter().map(|(name, text)| (name.clone(), Value::from(text.clone()))).collect();
        let modules = self.job.modules.iter().map(|module| {
            let left = self.job.targets.iter().map(|(name, _)| (name, self.folder(name, module)));
            let left: Map<String, Value> = left
                .filter(|(_, folder)| !self.done.contains(folder))
                .map(|(name, folder)| (name.clone(), json!(folder)))
                .collect();
            json!({"source": module.source, "folders": left})
        });
        json!({"targets": targets, "modules": modules.collect::<Vec<_>>()})
    }

    /// Takes what the worker says until it ends; why it ended early, if it did so by itself.
    fn follow(
        &mut self,
        mut worker: Worker<WorkerEvent>,
        signals: &Interrupts,
        log: &Path,
    ) -> Result<Option<String>, CompileError> {
        let (mut under_way, mut broken) = (None, None);
        loop {
            if signals.arrived() {
                worker.kill();
                // How it ended is known.
                let _ = worker.wait();
                return Err(CompileError::Interrupted);
            }
            match worker.next(LOOK) {
                Next::Event(event) => match *event {
                    WorkerEvent::Environment { jaxlib, .. } => self.begin(jaxlib)?,
                    WorkerEvent::Start { target, folder } => {
                        let module = name_of(&folder);
                        (self.on_event)(CompileEvent::Started { target: target.clone(), module });
                        under_way = Some((target, folder));
                    }
                    WorkerEvent::Interrupted => return Err(CompileError::Interrupted),
                    WorkerEvent::Broken { reason } => broken = Some(reason),
                    event => {
                        under_way = None;
                        self.take(event);
                    }
                },
                Next::Quiet => {}
                Next::Ended => break,
            }
        }
        let status = worker.wait();
        if broken.is_none() && status.as_ref().is_ok_and(std::process::ExitStatus::success) {
            return Ok(None);
        }
        let why = broken.unwrap_or_else(|| match status {
            Ok(status) => death(status, None, log),
            Err(error) => error.to_string(),
        });
        if let Some((target, folder)) = under_way {
            self.take(WorkerEvent::Failed { target, folder, why: why.clone() });
        }
        Ok(Some(why))
    }

    fn begin(&mut self, jaxlib: String) -> Result<(), CompileError> {
        let is_bytecode = self.job.modules.iter().any(|module| !module.is_lowered_elsewhere);
        if let Some(lowered) = self.job.jaxlib.filter(|lowered| is_bytecode && *lowered != jaxlib) {
            return Err(CompileError::Versions { lowered: lowered.to_owned(), compiler: jaxlib });
        }
        self.found.iter_mut().for_each(|found| found.jaxlib.clone_from(&jaxlib));
        Ok(())
    }

    fn take(&mut self, event: WorkerEvent) {
        let (target, folder, made) = match event {
            WorkerEvent::Compiled { target, folder, name, number, files, notes, memory, compile_s, beyond_s } => {
                (target, folder, Ok((name, number, files, notes, memory, compile_s, beyond_s)))
            }
            WorkerEvent::Failed { target, folder, why } => (target, folder, Err(why)),
            _ => return,
        };
        let Some(at) = self.job.targets.iter().position(|(name, _)| *name == target) else { return };
        let short = name_of(&folder);
        let Some(module) = self.job.modules.iter().find(|module| module.name == short) else { return };
        self.done.insert(folder.clone());
        match made {
            Err(why) => self.found[at].failed.push((short, why)),
            Ok((name, number, mut files, notes, memory, compile_s, beyond_s)) => {
                files.extend(along(module, &folder));
                let is_lowered_elsewhere = module.is_lowered_elsewhere;
                self.found[at].modules.push(CompiledModule {
                    folder: short,
                    name,
                    number,
                    files,
                    notes,
                    memory,
                    compile_s: Some(compile_s),
                    beyond_s: Some(beyond_s),
                    is_lowered_elsewhere,
                });
            }
        }
    }
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Copies what goes along with a module; the names of what arrived.
fn along(module: &SourceModule, folder: &Path) -> Vec<String> {
    let copied = module.along.iter().filter_map(|path| {
        let name = path.file_name()?;
        fs::copy(path, folder.join(name)).ok()?;
        Some(name.to_string_lossy().into_owned())
    });
    copied.collect()
}
