//! The Python side of a calibration, carried in the binary so that it is one file.

use crate::python::{PackageFile, package_files};

/// The modules that the worker imports.
pub(super) const FILES: &[PackageFile] = package_files![
    "__init__.py",
    "bench_measure.py",
    "bench_memory.py",
    "calibrate_measure.py",
    "calibrate_time.py",
    "calibrate_worker.py",
    "capture.py",
    "environment.py",
    "module_files.py",
    "modules.py",
    "profiler.py",
    "safely.py",
    "suite.py",
    "tracer.py",
    "worker.py",
    "xplane.py",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::not_carried;

    #[test]
    fn every_module_that_a_carried_file_imports_is_carried() {
        assert_eq!(not_carried(FILES), Vec::<String>::new());
    }
}
