//! Python for workers: which interpreter, and the package they run, carried in the binary so that it is one file.
//!
//! Nothing is installed: the files go to a folder that lives as long as the work, first on the worker's path.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file of the package: its name and its text.
pub(crate) type PackageFile = (&'static str, &'static str);

/// The named files of `python/ridgeline`.
macro_rules! package_files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../python/ridgeline/", $name)))),*]
    };
}
pub(crate) use package_files;

/// What the workers of benchmarks and calibrations import, directly or through `capture`.
pub(crate) const WORKER_FILES: &[PackageFile] = package_files![
    "__init__.py",
    "bench_measure.py",
    "bench_memory.py",
    "bench_worker.py",
    "calibrate_measure.py",
    "calibrate_time.py",
    "calibrate_worker.py",
    "capture.py",
    "elsewhere.py",
    "environment.py",
    "layout.py",
    "module_files.py",
    "modules.py",
    "own_files.py",
    "profiler.py",
    "regions.py",
    "safely.py",
    "suite.py",
    "tracer.py",
    "worker.py",
    "xplane.py",
];

/// What compiles modules for GPUs that are not there.
pub(crate) const COMPILER_FILES: &[PackageFile] = package_files![
    "__init__.py",
    "compile_assembler.py",
    "compile_device.py",
    "compile_source.py",
    "compile_worker.py",
    "regions.py",
    "worker.py"
];

/// What lowers one function for them.
pub(crate) const FUNCTION_FILES: &[PackageFile] =
    package_files!["__init__.py", "compile_function.py", "elsewhere.py", "regions.py"];

/// What asks an interpreter what it has.
pub(crate) const DOCTOR_FILES: &[PackageFile] = package_files!["__init__.py", "doctor_probe.py", "regions.py"];

/// Turns JAX's persistent compilation cache off: a compile time read from a cache is none.
pub(crate) const NO_COMPILATION_CACHE: (&str, &str) = ("JAX_ENABLE_COMPILATION_CACHE", "false");

/// The interpreter to use: the one asked for, else that of `$VIRTUAL_ENV`, else of `.venv`, else `python3` from the path.
pub(crate) fn interpreter(asked: Option<&Path>) -> PathBuf {
    if let Some(python) = asked {
        return python.to_path_buf();
    }
    let active = env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let candidates = active.into_iter().chain([PathBuf::from(".venv")]).map(|venv| venv.join("bin/python"));
    candidates.into_iter().find(|python| python.is_file()).unwrap_or_else(|| PathBuf::from("python3"))
}

/// Write `files` as the package `ridgeline` under `folder`, which is then what [`python_path`] takes.
///
/// # Errors
/// The path that could not be written, and what the system said.
pub(crate) fn write_package(folder: &Path, files: &[PackageFile]) -> Result<(), (PathBuf, io::Error)> {
    let package = folder.join("ridgeline");
    fs::create_dir_all(&package).map_err(|error| (package.clone(), error))?;
    for (name, text) in files {
        let path = package.join(name);
        fs::write(&path, text).map_err(|error| (path, error))?;
    }
    Ok(())
}

/// `PYTHONPATH` with `package_root` first.
pub(crate) fn python_path(package_root: &Path) -> OsString {
    let mut path = package_root.as_os_str().to_owned();
    if let Some(own) = env::var_os("PYTHONPATH").filter(|own| !own.is_empty()) {
        path.push(":");
        path.push(own);
    }
    path
}

/// Imports of `files` from the package that are not among them; for tests.
#[cfg(test)]
fn not_carried(files: &[PackageFile]) -> Vec<String> {
    let imports = |text: &'static str| {
        let mut is_for_types = false;
        let runs = text.lines().filter(move |line| {
            is_for_types = *line == "if TYPE_CHECKING:" || is_for_types && line.starts_with(' ');
            !is_for_types
        });
        let lines = runs.filter_map(|line| line.trim_start().strip_prefix("from ."));
        lines.filter_map(|rest| rest.split(' ').next()).filter(|module| !module.is_empty())
    };
    let imported =
        files.iter().flat_map(|(name, text)| imports(text).map(move |module| (name, format!("{module}.py"))));
    let missing = imported.filter(|(_, file)| !files.iter().any(|(carried, _)| carried == file));
    missing.map(|(name, file)| format!("{name} imports {file}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_that_a_carried_file_imports_is_carried() {
        for files in [WORKER_FILES, COMPILER_FILES, FUNCTION_FILES, DOCTOR_FILES] {
            assert_eq!(not_carried(files), Vec::<String>::new());
        }
    }

    #[test]
    fn the_package_is_written_as_it_is() {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        write_package(dir.path(), &[("suite.py", "import os\n")]).expect("it can be written");
        let written = fs::read_to_string(dir.path().join("ridgeline/suite.py")).expect("it was written");
        assert_eq!(written, "import os\n");
    }

    #[test]
    fn an_import_that_is_not_carried_is_found() {
        let files = [("a.py", "from .b import x\n    from .c import y\n"), ("c.py", "from . import a\nimport json\n")];
        assert_eq!(not_carried(&files), ["a.py imports b.py"]);
    }
}
