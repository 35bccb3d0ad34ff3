//! The harness's Python files, carried inside this library so that the command is one file.
//!
//! What they do is said in the files themselves.

use crate::python::{PackageFile, package_files};
use std::fs;
use std::io;
use std::path::Path;

/// Name under which the harness is imported; not `ridgeline`, which the program may import for itself.
const PACKAGE: &str = "_ridgeline_harness";

/// Files of the package that the harness needs.
const FILES: &[PackageFile] = package_files![
    "__init__.py",
    "annotations.py",
    "array_memory.py",
    "attach.py",
    "backends.py",
    "budget.py",
    "elsewhere.py",
    "emulate.py",
    "endings.py",
    "environment.py",
    "experiment.py",
    "experiment_algebra.py",
    "experiment_attention.py",
    "experiment_calls.py",
    "experiment_clock.py",
    "experiment_donate.py",
    "experiment_hooks.py",
    "experiment_jax.py",
    "experiment_kept.py",
    "experiment_late.py",
    "experiment_loops.py",
    "experiment_rewrite.py",
    "experiment_source.py",
    "experiment_torch.py",
    "experiment_traced.py",
    "flags.py",
    "golden.py",
    "imports.py",
    "jax_tracer.py",
    "layout.py",
    "limits.py",
    "live.py",
    "loops.py",
    "main_thread.py",
    "manifest.py",
    "memory.py",
    "module_calls.py",
    "module_code.py",
    "module_files.py",
    "modules.py",
    "own_files.py",
    "own_traces.py",
    "padding.py",
    "processors.py",
    "profiler.py",
    "program_text.py",
    "provided.py",
    "range_tracer.py",
    "recomputed.py",
    "regions.py",
    "safely.py",
    "samples.py",
    "schedule.py",
    "session.py",
    "sizes.py",
    "sources.py",
    "steady.py",
    "step_function.py",
    "torch_attach.py",
    "torch_conversions.py",
    "torch_dynamo.py",
    "torch_functions.py",
    "torch_memory.py",
    "torch_own_traces.py",
    "torch_steps.py",
    "torch_tracer.py",
    "torch_watch.py",
    "tracer.py",
    "xplane.py",
    "zeros.py",
];

const SITE_CUSTOMIZE: &str = include_str!("../../../python/ridgeline/site/sitecustomize.py");

/// Write the harness into `dir`, ready to be put first on `PYTHONPATH`.
///
/// # Errors
/// Whatever the system says if a file cannot be written.
pub fn write_harness(dir: &Path) -> io::Result<()> {
    let package = dir.join(PACKAGE);
    fs::create_dir_all(&package)?;
    fs::write(dir.join("sitecustomize.py"), SITE_CUSTOMIZE)?;
    FILES.iter().try_for_each(|(name, text)| fs::write(package.join(name), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of the package that only workers and programs which record themselves load.
    const NOT_CARRIED: [&str; 7] = ["bench", "calibrate", "capture", "compile", "doctor", "suite", "worker"];

    #[test]
    fn every_file_of_the_package_is_carried() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/ridgeline");
        let mut names: Vec<_> = fs::read_dir(package)
            .expect("the package is beside the crates")
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".py") && !NOT_CARRIED.iter().any(|start| name.starts_with(start)))
            .collect();
        names.sort();
        assert_eq!(names, FILES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
