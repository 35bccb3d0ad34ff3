//! Functions of the program in the names that profilers give calls of Python.

/// Packages that call the program, or that it calls.
const LIBRARIES: [&str; 12] = [
    "torch/",
    "triton/",
    "jax/",
    "jaxlib/",
    "numpy/",
    "flax/",
    "optax/",
    "haiku/",
    "asyncio/",
    "importlib/",
    "concurrent/",
    "multiprocessing/",
];
const OF_PYTHON: [&str; 6] = ["contextlib.py", "functools.py", "threading.py", "runpy.py", "queue.py", "selectors.py"];
/// XLA's tracer gives no folders, so JAX's own files are known by their names.
const OF_JAX: [&str; 17] = [
    "api.py",
    "api_util.py",
    "array.py",
    "batching.py",
    "compiler.py",
    "core.py",
    "dispatch.py",
    "lax.py",
    "linear_util.py",
    "mlir.py",
    "monitoring.py",
    "pjit.py",
    "pxla.py",
    "profiler.py",
    "tree_util.py",
    "traceback_util.py",
    "xla_bridge.py",
];

/// File, line and function of a call of Python as profilers name it, where it is the program's own: PyTorch writes
/// `train.py(12): step`, XLA's tracer `$train.py:12 step`.
pub fn python_place(name: &str) -> Option<(&str, u32, &str)> {
    let ((file, line), function) = match name.strip_prefix('$') {
        Some(rest) => rest.split_once(' ').and_then(|(place, function)| Some((place.rsplit_once(':')?, function)))?,
        None => name.split_once("): ").and_then(|(place, function)| Some((place.rsplit_once('(')?, function)))?,
    };
    let is_library = file.starts_with('<')
        || name.starts_with('$') && OF_JAX.contains(&file)
        || LIBRARIES.iter().any(|package| file.starts_with(package))
        || OF_PYTHON.contains(&file)
        || file.contains("-packages/")
        || file.contains("/lib/python");
    let line = line.parse().ok()?;
    (!is_library && !file.is_empty()).then_some((file, line, function))
}
