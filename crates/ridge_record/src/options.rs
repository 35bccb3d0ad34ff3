//! What a user can ask of the recorder.
//!
//! Plain structs: the command line fills them, nothing here checks that a device or a library exists.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::profiler::Profiler;

/// Everything `ridgeline record` can be told.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// The program and its arguments, run as given, found on `PATH`.
    pub command: Vec<OsString>,
    /// The folder that the program runs in; `None` for that of this process.
    pub folder: Option<PathBuf>,
    /// Environment variables of the program beside those of this process.
    pub environment: Vec<(OsString, OsString)>,
    /// A file that gets what the program writes to its standard output and error; `None` leaves them as they are.
    pub log: Option<PathBuf>,
    /// The executable of Nsight Systems, which runs the program and traces it in place of the profilers of JAX and PyTorch: only one of
    /// them can have the device's events. The harness still keeps modules, sources and versions.
    pub nsys: Option<PathBuf>,
    /// Whether Nsight Systems samples hardware counters of GPUs.
    pub gpu_metrics: bool,
    /// AMD's `rocprofv3`, which runs the program and traces it likewise; never beside Nsight Systems.
    pub rocprof: Option<RocprofOptions>,
    /// The capture folder; `None` takes [`default_out_dir`](crate::default_out_dir).
    pub out: Option<PathBuf>,
    /// The part of the program to capture.
    pub window: Window,
    /// What to let pass before a capture of the whole program begins.
    pub warm_up: WarmUp,
    /// Name of a jitted function, or of a `torch.nn.Module` class, whose calls count as steps.
    ///
    /// Without it steps are `StepTraceAnnotation` ranges in JAX, and end with an optimizer's `step()` in PyTorch.
    pub step_function: Option<String>,
    /// Most captures per process when following an annotation; each is a file of its own.
    pub max_windows: u32,
    /// What to keep of each compiled module.
    pub hlo: BTreeSet<HloFormat>,
    /// XLA's own dump of every module, in `hlo_dump/`; slow and large.
    pub xla_dump: Option<XlaDump>,
    /// Profiler settings as `(key, value)` text: fields of `jax.profiler.ProfileOptions`, or keys of its `advanced_configuration`
    /// such as `gpu_max_activity_api_events`; `torch.<name>` is an argument of PyTorch's profiler, and `advanced.<name>` is passed on
    /// without a check. Any other is an error before the program starts.
    pub profile_options: Vec<(String, String)>,
    /// Record every Python call too: slows the program and fills the trace.
    pub python_tracer: bool,
    /// Turn command buffers (CUDA graphs) off, so that each kernel keeps the name of its operation.
    pub expand_command_buffers: bool,
    /// Have XLA run command buffers while its profiler is on, as it does without; with the former, they are off.
    pub keep_command_buffers: bool,
    /// Sample where the program's Python stands, so that idle time and waits have their lines.
    pub samples: bool,
    /// Keep the text of the program's own source files, so that lines shown later are those that ran.
    pub sources: bool,
    /// Save device memory profiles before and after each capture.
    pub memory_profiles: bool,
    /// Steps before which one is saved too, counted from 0.
    pub memory_at: Vec<u64>,
    /// What PyTorch's profiler records beside operators and device work.
    pub torch: TorchOptions,
    /// Regions whose inputs and outputs are kept while the program runs: names of modules, words of the source that they came from,
    /// or names by which the program calls functions a region.
    pub golden: Vec<String>,
    /// Most bytes that are kept of them, per process.
    pub max_golden_bytes: u64,
    /// When to stop by itself.
    pub limits: Limits,
    /// Keep host name, user name, home folder and secrets in the manifest.
    pub keep_private: bool,
    /// Run the program a second time without the recorder, to compare wall times.
    pub measure_overhead: bool,
}

/// What to ask of `rocprofv3`.
#[derive(Clone, Debug)]
pub struct RocprofOptions {
    /// Its executable.
    pub tool: PathBuf,
    /// Hardware counters to collect.
    pub counters: Vec<String>,
    /// A regular expression of the kernels whose counters are collected; all where this is `None`.
    pub kernels: Option<String>,
}

impl RecordOptions {
    /// The profiler that runs around the program, if one does.
    pub(crate) fn around(&self) -> Option<Profiler> {
        let nsys = self.nsys.as_ref().map(|_| Profiler::Nsys);
        nsys.or_else(|| self.rocprof.as_ref().map(|_| Profiler::Rocprof))
    }

    /// Whether a profiler around the program captures only a range, which the harness begins and ends.
    pub(crate) fn has_range(&self) -> bool {
        let is_whole = self.window == Window::WholeProgram && self.warm_up == WarmUp::None;
        self.nsys.is_some() && !is_whole
    }

    /// 256 MiB.
    pub const USUAL_GOLDEN_BYTES: u64 = 256 << 20;

    /// Capture the whole of `command` with the settings that suit a first look.
    ///
    /// Modules are kept as text, proto, jaxpr and StableHLO; memory profiles are saved; limits are [`Limits::USUAL`].
    pub fn new<A: Into<OsString>>(command: impl IntoIterator<Item = A>) -> RecordOptions {
        RecordOptions {
            command: command.into_iter().map(Into::into).collect(),
            folder: None,
            environment: Vec::new(),
            log: None,
            nsys: None,
            gpu_metrics: false,
            rocprof: None,
            out: None,
            window: Window::WholeProgram,
            warm_up: WarmUp::None,
            step_function: None,
            max_windows: 4,
            hlo: [HloFormat::Text, HloFormat::Proto, HloFormat::Jaxpr, HloFormat::Stablehlo].into(),
            xla_dump: None,
            profile_options: Vec::new(),
            python_tracer: false,
            expand_command_buffers: false,
            keep_command_buffers: false,
            samples: true,
            sources: true,
            memory_profiles: true,
            memory_at: Vec::new(),
            torch: TorchOptions::usual(),
            golden: Vec::new(),
            max_golden_bytes: RecordOptions::USUAL_GOLDEN_BYTES,
            limits: Limits::USUAL,
            keep_private: false,
            measure_overhead: false,
        }
    }
}

/// What PyTorch's profiler records beside operators and device work; each costs time and memory in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TorchOptions {
    /// The sizes and types of each operator's inputs.
    pub shapes: bool,
    /// Every allocation and release of tensors, on every device.
    pub allocations: bool,
    /// The CUDA allocator's history with stacks, as a snapshot at the end of each capture.
    pub allocator_history: bool,
    /// Leave GPUs alone, and begin when the program imports PyTorch.
    pub host_only: bool,
}

impl TorchOptions {
    /// The shapes alone.
    pub fn usual() -> TorchOptions {
        TorchOptions { shapes: true, allocations: false, allocator_history: false, host_only: false }
    }
}

/// The part of the program to capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Window {
    /// From the first use of a device to the end.
    WholeProgram,
    /// Some of its steps.
    Steps(StepRange),
    /// Each range of the `TraceAnnotation` (JAX) or `record_function` (PyTorch) with this name, up to [`RecordOptions::max_windows`].
    Annotation(String),
}

/// Steps `first..end` in the order in which they begin: the first step of a process is 0, `end` is not captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRange {
    /// First step to capture, from 0.
    pub first: u64,
    /// First step not to capture; greater than `first`.
    pub end: u64,
}

/// What to let pass before a capture of the whole program begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WarmUp {
    /// Nothing: capture from the first use of a device.
    None,
    /// This long after the first use of a device.
    Time(Duration),
    /// Until nothing has been compiled for this long.
    Quiet(Duration),
}

/// A representation of a compiled module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HloFormat {
    /// HLO text after optimization (`after.txt`).
    Text,
    /// `HloProto` after optimization, with buffer assignment (`after.hlo.pb`).
    Proto,
    /// Graphviz graph after optimization (`after.dot`).
    Dot,
    /// The jaxpr that was lowered (`jaxpr.txt`).
    Jaxpr,
    /// What JAX handed to XLA (`stablehlo.mlir`).
    Stablehlo,
    /// The same as bytecode that other versions and tools read (`portable.mlirbc`).
    Portable,
    /// HLO text before optimization (`before.txt`): slow to make, and it says what StableHLO says.
    Before,
    /// What JAX hands to XLA for a GPU, as bytecode with every constant (`lowered.mlirbc`), for a compiler of one that is not there.
    Lowered,
}

/// What XLA itself should dump while it compiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XlaDump {
    /// Any of `text`, `proto`, `dot`, `html`, `snapshots`: XLA's `--xla_dump_hlo_as_…`.
    pub formats: BTreeSet<String>,
    /// Dump also after each pass whose name matches this regular expression.
    pub passes: Option<String>,
}

/// When a capture stops by itself, so that neither memory nor disk fills up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest capture, per window.
    pub max_trace_time: Duration,
    /// Write what was captured this often and go on, so that a crash loses no more; `None` writes at the end of each window.
    ///
    /// What runs while a part is written is not captured.
    pub rotate: Option<Duration>,
    /// Most that recording the whole of a JAX program may slow it down, in percent of its time: one that makes more events than that
    /// allows is recorded in windows. [`u32::MAX`] records everything.
    pub max_overhead_pct: u32,
    /// Largest trace as it is on disk, in bytes per window.
    ///
    /// A window that may have grown towards it is written and measured, and goes on in a further part if it is smaller.
    pub max_trace_bytes: u64,
    /// Most modules kept per process.
    pub max_modules: u32,
    /// Most bytes of modules kept per process.
    pub max_module_bytes: u64,
}

impl Limits {
    /// Two minutes and 512 MiB of trace per window, a fifth of the program's time, 2000 modules and 1 GiB of module files per process.
    pub const USUAL: Limits = Limits {
        max_trace_time: Duration::from_secs(120),
        rotate: None,
        max_overhead_pct: 20,
        max_trace_bytes: 512 << 20,
        max_modules: 2000,
        max_module_bytes: 1 << 30,
    };
}
