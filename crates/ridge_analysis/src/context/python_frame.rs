//! Functions of Python as profilers name them, and whose they are.

/// A function of Python in a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PythonFrame<'t> {
    /// By PyTorch, relative to where Python looks for modules, or to the working folder; by XLA's tracer, without its folder.
    pub file: &'t str,
    /// Where the function begins; of one that ran when the profiler started, the line it was at.
    pub line: u32,
    /// Its name.
    pub function: &'t str,
    /// Whether XLA's tracer named it.
    is_by_xla: bool,
}

/// The folder of the recorder's files in a program's process: some wrap calls of the program, which PyTorch's profiler sees.
const OURS: &str = "_ridgeline_harness/";

/// Packages that call, and are called by, a program of PyTorch.
const FRAMEWORK: [&str; 2] = ["torch", "triton"];

/// Those of Python's library that call other functions; PyTorch's profiler takes the library's folder off their paths.
const LIBRARY: [&str; 14] = [
    "asyncio",
    "bdb.py",
    "concurrent",
    "contextlib.py",
    "copy.py",
    "functools.py",
    "importlib",
    "multiprocessing",
    "queue.py",
    "runpy.py",
    "selectors.py",
    "socketserver.py",
    "threading.py",
    "weakref.py",
];

/// Other packages that are never the program.
const PACKAGES: [&str; 6] = ["jax", "jaxlib", "numpy", "flax", "optax", "haiku"];

/// JAX's own files, which XLA's tracer names without their folder.
const OF_JAX: [&str; 19] = [
    "api.py",
    "api_util.py",
    "array.py",
    "batching.py",
    "cache_key.py",
    "compilation_cache.py",
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

/// Whether a frame of XLA's Python tracer is of what JAX does to make a program that it has not yet: trace it, lower it, look for it in
/// its cache, compile it.
pub(crate) fn makes_programs(name: &str) -> bool {
    const FUNCTIONS: [&str; 5] = [
        "compile_or_get_cached",
        "trace_to_jaxpr",
        "lower_sharding_computation",
        "lower_jaxpr_to_module",
        "backend_compile",
    ];
    const FILES: [&str; 2] = ["$cache_key.py:", "$compilation_cache.py:"];
    let is_of = |file: &&str| name.starts_with(*file);
    let function = name.strip_prefix('$').and_then(|frame| frame.split_once(' ')).map_or("", |(_, function)| function);
    FILES.iter().any(is_of) || FUNCTIONS.iter().any(|word| function.contains(word))
}

impl<'t> PythonFrame<'t> {
    /// The frame that `name` spells: PyTorch writes `train.py(12): step`, XLA's tracer `$train.py:12 step`.
    pub fn parse(name: &'t str) -> Option<PythonFrame<'t>> {
        let Some(rest) = name.strip_prefix('$') else { return PythonFrame::of_torch(name) };
        let (place, function) = rest.split_once(' ')?;
        let (file, line) = place.rsplit_once(':')?;
        PythonFrame::new(file, line, function, true)
    }

    /// The frame that PyTorch's profiler spelled so.
    pub(crate) fn of_torch(name: &'t str) -> Option<PythonFrame<'t>> {
        let (place, function) = name.split_once("): ")?;
        let (file, line) = place.rsplit_once('(')?;
        PythonFrame::new(file, line, function, false)
    }

    fn new(file: &'t str, line: &str, function: &'t str, is_by_xla: bool) -> Option<PythonFrame<'t>> {
        // A file's own code begins with its first line; one that ran when the profiler started has the line it was at then.
        let line = if function == "<module>" && !is_by_xla { 1 } else { line.parse().ok()? };
        (!file.is_empty()).then_some(PythonFrame { file, line, function, is_by_xla })
    }

    /// Whether it is of PyTorch, Triton, Python's own library, or of no file: those call, and are called by, the program.
    pub fn is_of_library(&self) -> bool {
        let first = self.first_folder();
        let is_of = |package: &&str| self.file.contains(&format!("-packages/{package}/"));
        self.file.starts_with('<')
            || self.file.contains(OURS)
            || FRAMEWORK.contains(&first)
            || LIBRARY.contains(&first)
            || FRAMEWORK.iter().any(is_of)
            || self.file.contains("/lib/python") && !self.file.contains("-packages/")
    }

    /// Whether it is of the library, or of any package that was installed: everything but the program itself.
    pub fn is_installed(&self) -> bool {
        self.is_of_library()
            || PACKAGES.contains(&self.first_folder())
            || self.is_by_xla && OF_JAX.contains(&self.file)
            || self.file.contains("-packages/")
            || self.file.contains("/lib/python")
    }

    /// The outermost folder of its file; the file itself where that has none.
    fn first_folder(&self) -> &'t str {
        self.file.split(['/', '\\']).next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_the_program_have_places() {
        let own = |name| {
            let frame = PythonFrame::parse(name).filter(|frame| !frame.is_installed())?;
            Some((frame.file, frame.line, frame.function))
        };
        assert_eq!(own("train.py(12): step"), Some(("train.py", 12, "step")));
        assert_eq!(own("$solver.py:5 step"), Some(("solver.py", 5, "step")));
        assert_eq!(own("core.py(5): step"), Some(("core.py", 5, "step")));
        assert_eq!(own("$core.py:5 bind"), None);
        assert_eq!(own("torch/nn/modules/module.py(1527): _call_impl"), None);
        assert_eq!(own("<built-in function sleep>"), None);
        assert_eq!(own("/run/.ridgeline/harness/_ridgeline_harness/torch_steps.py(46): step"), None);
        assert_eq!(own("mine/torch_steps.py(46): step"), Some(("mine/torch_steps.py", 46, "step")));
        assert_eq!(own("train.py(7): <module>"), Some(("train.py", 1, "<module>")));
    }
}
