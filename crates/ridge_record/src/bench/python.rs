//! The Python side of a benchmark, carried in the binary so that it is one file.
//!
//! Nothing is installed: the files go to a folder that lives as long as the benchmark, first on the worker's path.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::BenchError;

macro_rules! package_files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../python/ridgeline/", $name)))),*]
    };
}

/// The modules that a worker imports, directly or through `capture`.
const FILES: &[(&str, &str)] = package_files![
    "__init__.py",
    "bench_measure.py",
    "bench_memory.py",
    "bench_worker.py",
    "capture.py",
    "environment.py",
    "module_files.py",
    "modules.py",
    "profiler.py",
    "safely.py",
    "suite.py",
    "xplane.py",
];

/// Write the package under `folder` and return what to put on `PYTHONPATH`.
pub(super) fn write_package(folder: &Path) -> Result<PathBuf, BenchError> {
    let package = folder.join("ridgeline");
    fs::create_dir_all(&package).map_err(|source| BenchError::Write { path: package.clone(), source })?;
    for (name, text) in FILES {
        let path = package.join(name);
        fs::write(&path, text).map_err(|source| BenchError::Write { path, source })?;
    }
    Ok(folder.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_that_a_carried_file_imports_is_carried() {
        for (name, text) in FILES {
            let imported = text.lines().filter_map(|line| line.trim_start().strip_prefix("from ."));
            for module in imported.filter_map(|rest| rest.split(' ').next()).filter(|module| !module.is_empty()) {
                let file = format!("{module}.py");
                assert!(FILES.iter().any(|(carried, _)| *carried == file), "{name} imports {file}");
            }
        }
    }

    #[test]
    fn the_package_is_written_as_it_is() {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let root = write_package(dir.path()).expect("it can be written");
        let written = fs::read_to_string(root.join("ridgeline/suite.py")).expect("it was written");
        assert_eq!(written, include_str!("../../../../python/ridgeline/suite.py"));
    }
}
