//! Lower one function of a file for GPUs, in the Python environment that the file needs.

use super::sources::{SourceModule, Sources, source_in};
use crate::python::{FUNCTION_FILES, interpreter, python_path, write_package};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The status of `compile_function.py` where it cannot import the file.
const NOT_IMPORTED: i32 = 3;

/// Why a function could not be lowered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// Python could not be started, or its files not written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The interpreter or the file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file, or what it imports, is not in this environment.
    #[error("{} could not be imported by {}: {why}", file.display(), python.display())]
    NotImported {
        /// The file.
        file: PathBuf,
        /// The interpreter.
        python: PathBuf,
        /// The last line of what Python said.
        why: String,
    },
    /// The function could not be lowered.
    #[error("{}:{function} could not be lowered: {why}", file.display())]
    Refused {
        /// The file.
        file: PathBuf,
        /// The function.
        function: String,
        /// The last line of what Python said.
        why: String,
    },
}

/// Lowers `function` of `file` for arguments of these shapes into `folder`, by the interpreter asked for, else that of the active
/// environment. Nothing of the function runs; the file is imported.
///
/// # Errors
/// [`LowerError`] where Python does not run, or the function cannot be traced or lowered.
pub fn lower(
    python: Option<&Path>,
    (file, function): (&Path, &str),
    arguments: &[String],
    folder: &Path,
) -> Result<Sources, LowerError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        |source| LowerError::Io { path, source }
    };
    let scratch = tempfile::tempdir().map_err(failed(&std::env::temp_dir()))?;
    write_package(scratch.path(), FUNCTION_FILES).map_err(|(path, source)| LowerError::Io { path, source })?;
    let python = interpreter(python);
    let mut command = Command::new(&python);
    command.args(["-m", "ridgeline.compile_function"]).arg(file).arg(function).arg(folder).args(arguments);
    command.env("PYTHONPATH", python_path(scratch.path())).stdin(Stdio::null()).stdout(io::stderr());
    let done = command.stderr(Stdio::piped()).output().map_err(failed(&python))?;
    let refused = |why: String| LowerError::Refused { file: file.to_path_buf(), function: function.to_owned(), why };
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        let why = last.unwrap_or("Python ended without a word").trim().to_owned();
        let is_missing = done.status.code() == Some(NOT_IMPORTED) || why.starts_with("ModuleNotFoundError");
        let file = file.to_path_buf();
        return Err(if is_missing { LowerError::NotImported { file, python, why } } else { refused(why) });
    }
    let Some(module) = source_in(folder) else { return Err(refused("it left no StableHLO".to_owned())) };
    let versions = fs::read_to_string(folder.join("versions.json")).unwrap_or_default();
    let versions: serde_json::Value = serde_json::from_str(&versions).unwrap_or_default();
    let modules = vec![SourceModule { name: format!("{function}.1"), ..module }];
    let jaxlib = versions["jaxlib"].as_str().map(str::to_owned);
    Ok(Sources { modules, jaxlib, ..Sources::default() })
}
