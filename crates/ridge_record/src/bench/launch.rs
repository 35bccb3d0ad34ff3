//! How a benchmark starts its workers.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::BenchError;
use super::event::{WorkerEvent, parse};
use crate::python::{NO_COMPILATION_CACHE, python_path};
use crate::worker::Worker;

/// How to start workers: the interpreter and what they need to find.
pub(super) struct Launch {
    pub(super) python: PathBuf,
    /// Folder that holds the `ridgeline` package.
    pub(super) package_root: PathBuf,
    pub(super) suite: PathBuf,
    /// Variables of the variant.
    pub(super) variant: Vec<(String, String)>,
}

impl Launch {
    /// Variables that are set for the worker, beside `PYTHONPATH`; the user's own choice of compilation cache is kept.
    pub(super) fn added_environment(&self) -> Vec<(String, String)> {
        let (key, value) = NO_COMPILATION_CACHE;
        let cache = env::var_os(key).is_none().then(|| (key.to_owned(), value.to_owned()));
        cache.into_iter().chain(self.variant.iter().cloned()).collect()
    }

    /// Start a worker with `arguments` after `--suite` and the variables of `environment`; what it prints is appended to `log`.
    pub(super) fn start(
        &self,
        arguments: &[OsString],
        environment: &[(String, OsString)],
        log: &Path,
    ) -> Result<Worker<WorkerEvent>, BenchError> {
        let writing = |source| BenchError::Write { path: log.to_path_buf(), source };
        let log_file = File::options().create(true).append(true).open(log).map_err(writing)?;
        let mut command = Command::new(&self.python);
        command.args(["-m", "ridgeline.bench_worker", "--suite"]).arg(&self.suite).args(arguments);
        command.env("PYTHONPATH", python_path(&self.package_root)).envs(self.added_environment());
        command.envs(environment.iter().map(|(key, value)| (key, value)));
        let worker = Worker::start(command, log_file, parse);
        worker.map_err(|source| BenchError::Spawn { python: self.python.clone(), source })
    }
}
