//! What `ridgeline record` is asked, and the recorder's options that it comes to.

use super::profilers::With;
use crate::commands::collect::name;
use crate::quantities::{size, time};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueHint};
use ridge_record::{HloFormat, Limits, RecordOptions, StepRange, TorchOptions, WarmUp, Window, XlaDump};
use ridge_remote::Target;
use ridgeline::units::Bytes;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

/// What is taken where a limit is not named, as the help prints it.
static USUAL: LazyLock<[String; 5]> = LazyLock::new(|| {
    let usual = Limits::USUAL;
    let size = |bytes: u64| Bytes(bytes).to_string().replace(' ', "");
    [
        format!("{}s", usual.max_trace_time.as_secs()),
        size(usual.max_trace_bytes),
        usual.max_modules.to_string(),
        size(usual.max_module_bytes),
        size(RecordOptions::USUAL_GOLDEN_BYTES),
    ]
});

static USUAL_OVERHEAD: LazyLock<String> = LazyLock::new(|| Limits::USUAL.max_overhead_pct.to_string());

/// Run a program and record its device work, compiled modules and sources
///
/// The program runs unchanged: it keeps its own output, terminal, signals and exit status.
/// Recording starts when the program, or a process that it starts, first imports jax or torch.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RecordArguments {
    /// Recording [default: a new one named after the program]
    #[arg(short = 'o', long = "output", alias = "out", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(super) out: Option<PathBuf>,

    /// Run the program under this profiler: `nsys` for the timeline, `ncu` for hardware counters, `nsys,ncu` for both;
    /// `rocprofv3` on AMD GPUs
    ///
    /// nsys replaces the JAX and PyTorch profilers; modules and sources are kept as usual. With --steps,
    /// --annotation or --warm-up, it captures only that range. `nsys:gpu-metrics` also samples counters of all GPUs.
    /// ncu runs the program once more and collects counters for the first launches of the 5 most expensive kernels, or of
    /// N with `ncu:top=N`, or for launches matched by `ncu:kernel=REGEX,skip=N,count=N`. It finds the kernels in a recording of the same command in the directory, or makes one first.
    /// rocprofv3 also replaces the JAX and PyTorch profilers. `rocprofv3,pmc=COUNTER,kernel=REGEX` also collects hardware
    /// counters, for all kernels or for those that match the expression; `pmc=` may be repeated.
    #[arg(long, value_name = "PROFILER", value_delimiter = ',')]
    pub(super) with: Vec<With>,

    /// Record the program this many times in a row, each run into a separate directory: DIR/1, DIR/2, …
    ///
    /// `ridgeline diff` takes DIR as one side, and measures its run-to-run variation.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "with",
          value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) runs: u16,

    /// Capture running programs, through the server that `jax.profiler.start_server` opened in each
    ///
    /// All are captured at the same time. The server uses plain TCP without a password.
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',', conflicts_with_all = NOT_ATTACHED)]
    pub(super) attach: Vec<Target>,

    /// Length of the capture with --attach; Ctrl-C ends it early and keeps the events so far
    #[arg(long, value_name = "TIME", default_value = "2s", requires = "attach", value_parser = time)]
    pub(super) duration: Duration,

    #[command(flatten)]
    pub(super) dataset: DatasetArguments,

    #[command(flatten)]
    pub(super) window: WindowArguments,

    #[command(flatten)]
    kept: KeptArguments,

    #[command(flatten)]
    profiler: ProfilerArguments,

    #[command(flatten)]
    torch: TorchArguments,

    #[command(flatten)]
    limits: LimitArguments,

    /// Run the program again without recording, and compare wall times
    #[arg(long)]
    measure_overhead: bool,

    /// The program and its arguments
    #[arg(required_unless_present = "attach", last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    pub(super) command: Vec<OsString>,
}

/// What only a program that is started can be given.
const NOT_ATTACHED: [&str; 28] = [
    "with",
    "to",
    "runs",
    "steps",
    "step_function",
    "annotation",
    "max_windows",
    "warm_up",
    "hlo",
    "xla_dump",
    "no_samples",
    "no_sources",
    "golden",
    "no_memory_profiles",
    "memory_at",
    "keep_private",
    "profile_option",
    "python_tracer",
    "expand_command_buffers",
    "keep_command_buffers",
    "shapes",
    "no_shapes",
    "allocations",
    "allocator_history",
    "host_only",
    "rotate",
    "measure_overhead",
    "command",
];

const EXAMPLES: &str = "\
Examples:
  ridgeline record -- python solver.py --n 384
  ridgeline record -o run/ --hlo text,proto,dot --steps 3..8 -- python train.py
  ridgeline record --warm-up quiet:2s -- uv run train.py            start once nothing has compiled for 2 s
  ridgeline record --annotation recon -- python -m package          each range of that TraceAnnotation
  ridgeline record --steps 10..13 -- python train.py                three steps of a PyTorch program
  ridgeline record --memory-at 50,100 -- python train.py            device memory before these steps
  ridgeline record --rotate 30s --max-time 1h -- python train.py    a crash loses at most the last half minute
  ridgeline record --golden filter_one_block -- python recon.py     real inputs and outputs of a region
  ridgeline record --profile-option host_tracer_level=3 -- python solver.py
  ridgeline record --runs 3 -o before/ -- python solver.py          one side of `ridgeline diff`
  ridgeline record --keep-command-buffers -- python solver.py       CUDA graphs as without a profiler
  ridgeline record --expand-command-buffers -- python solver.py     operations of CUDA graphs keep their names
  ridgeline record --with nsys -o run/ -- python solver.py          the timeline by Nsight Systems
  ridgeline record --with ncu:top=3 -o run/ -- python solver.py     then counters of three kernels, into the same directory
  ridgeline record --with nsys --steps 10..13 -- python train.py    three steps in the steady state
  ridgeline record --with rocprofv3 -o run/ -- python solver.py     the timeline on an AMD GPU
  ridgeline record --with ncu:kernel=gemm,skip=10,count=2 -o run/ -- python solver.py
  ridgeline record --to s3://traces/fleet -- python train.py        then into a dataset of many hosts
  ridgeline record --attach node1:9012,node2:9012 --duration 3s     running programs

Exit status:
  The program's own; if a signal ended the program, the same signal ends ridgeline.
  126 or 127 if the program could not be started, 2 if nothing was run.";

/// The dataset of many hosts that the recording becomes a part of.
#[derive(Debug, Args)]
#[command(next_help_heading = "Dataset")]
pub(crate) struct DatasetArguments {
    /// Add the tables of the recording to this dataset, as `ridgeline collect` does: a directory, or s3://BUCKET/PREFIX
    #[arg(long, value_name = "DATASET", value_hint = ValueHint::DirPath, conflicts_with = "runs")]
    pub(super) to: Option<PathBuf>,

    /// Name of the job in the dataset [default: $SLURM_JOB_ID, else `job`]
    #[arg(long, value_name = "NAME", requires = "to", value_parser = name)]
    pub(super) job: Option<String>,

    /// Name of this host in the dataset [default: $SLURMD_NODENAME, else the name of the host]
    #[arg(long, value_name = "NAME", requires = "to", value_parser = name)]
    pub(super) host: Option<String>,
}

/// Which part of the program to capture.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to capture")]
pub(crate) struct WindowArguments {
    /// Capture steps A to B, excluding B (`A..=B` includes it), counted from 0 by StepTraceAnnotation or, in PyTorch,
    /// by calls to an optimizer's step()
    #[arg(long, value_name = "A..B", conflicts_with = "annotation")]
    steps: Option<StepRange>,

    /// Count calls to this jitted function, or to this torch.nn.Module class, as steps instead
    #[arg(long, value_name = "NAME", requires = "steps")]
    step_function: Option<String>,

    /// Capture each range of the TraceAnnotation or record_function with this name
    #[arg(long, value_name = "NAME")]
    annotation: Option<String>,

    /// Maximum number of captures per process with --annotation
    #[arg(long, value_name = "N", default_value_t = 4)]
    max_windows: u32,

    /// Wait before capturing: a fixed time (`5s`), or `quiet:2s` until nothing has been compiled for 2 s
    #[arg(long, value_name = "WAIT", default_value = "none", conflicts_with_all = ["steps", "annotation"])]
    warm_up: WarmUp,
}

/// What to keep beside the trace.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to keep")]
struct KeptArguments {
    /// Forms of each compiled module to keep, comma-separated; `none` keeps nothing; `before`, HLO before optimization,
    /// takes longer than all the others together; `portable` is StableHLO as bytecode for other tools; `lowered`, for
    /// `compile`, is the module as lowered for GPUs, with every constant
    #[arg(long, value_name = "FORMS", value_delimiter = ',', default_value = "text,proto,jaxpr,stablehlo",
          value_parser = PossibleValuesParser::new(["text", "proto", "dot", "jaxpr", "stablehlo", "portable", "before", "lowered", "none"]))]
    hlo: Vec<String>,

    /// Have XLA itself dump modules in these forms; slow, and large on disk
    #[arg(long, value_name = "FORMS", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(["text", "proto", "dot", "html", "snapshots"]))]
    xla_dump: Vec<String>,

    /// Also dump after each pass with a matching name
    #[arg(long, value_name = "REGEX", requires = "xla_dump")]
    xla_dump_passes: Option<String>,

    /// Do not sample Python stacks (sampling costs less than 2% of the run time)
    #[arg(long)]
    no_samples: bool,

    /// Do not keep copies of the program's own source files
    #[arg(long)]
    no_sources: bool,

    /// Save real inputs and outputs of this region as test vectors for `ridgeline handoff`: a compiled module, by its own
    /// name or its function's, or a function marked with `ridgeline.region`; may be repeated
    #[arg(long, value_name = "REGION", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    golden: Vec<String>,

    /// Maximum size of these values per process; the first calls are kept, then calls number 2, 4, 8, …
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = USUAL[4].as_str(), requires = "golden")]
    max_golden_size: u64,

    /// Do not save device memory profiles
    #[arg(long)]
    no_memory_profiles: bool,

    /// Save a device memory profile before these comma-separated steps too, captured or not; steps are counted as for
    /// `--steps`
    #[arg(long, value_name = "STEP", value_delimiter = ',', conflicts_with = "no_memory_profiles")]
    memory_at: Vec<u64>,

    /// Keep the host name, user name, home directory and secrets in the manifest
    #[arg(long = "no-redact", alias = "keep-private")]
    keep_private: bool,
}

/// How the profiler works.
#[derive(Debug, Args)]
#[command(next_help_heading = "Profiler")]
struct ProfilerArguments {
    /// A field of jax.profiler.ProfileOptions or of its advanced_configuration, or torch.NAME for PyTorch's
    /// profiler (torch.with_flops=true), or advanced.NAME for options of a newer JAX; may be repeated
    #[arg(long, value_name = "KEY=VALUE",
          value_parser = clap::builder::NonEmptyStringValueParser::new().try_map(|text| key_value(&text)))]
    profile_option: Vec<(String, String)>,

    /// Record every Python call (in PyTorch, with stacks): slows the program and makes the trace large
    #[arg(long)]
    python_tracer: bool,

    /// Turn off command buffers (CUDA graphs), so that each kernel keeps its operation's name
    #[arg(long)]
    expand_command_buffers: bool,

    /// Run command buffers as the program does without a profiler; while its profiler is on, XLA replaces them with
    /// single launches, which take longer on the host
    #[arg(long, conflicts_with = "expand_command_buffers")]
    keep_command_buffers: bool,
}

/// What PyTorch's profiler records beside operators and device work.
#[derive(Debug, Args)]
#[command(next_help_heading = "PyTorch")]
struct TorchArguments {
    /// Leave out the sizes and types of each operator's inputs: halves the overhead, but `check` loses most of its advice
    #[arg(long)]
    no_shapes: bool,

    /// The default
    #[arg(long, hide = true, conflicts_with = "no_shapes")]
    shapes: bool,

    /// Record every allocation and release of tensors
    #[arg(long)]
    allocations: bool,

    /// Keep the CUDA allocator's history with stacks, as a snapshot at the end of each capture
    #[arg(long)]
    allocator_history: bool,

    /// Record only the host, starting when the program imports torch
    #[arg(long)]
    host_only: bool,
}

/// When to stop.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
struct LimitArguments {
    /// Maximum length of a capture, per window
    #[arg(long, value_name = "TIME", value_parser = time, default_value = USUAL[0].as_str())]
    max_time: Duration,

    /// Maximum size of the trace on disk, per window
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = USUAL[1].as_str())]
    max_size: u64,

    /// Write out the capture this often and continue: a crash loses at most this much; work that runs while a part is
    /// being written is not captured
    #[arg(long, value_name = "TIME", value_parser = time)]
    rotate: Option<Duration>,

    /// Maximum slowdown caused by recording, in percent: a program with more events is recorded in windows; `none`
    /// records all of it
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = USUAL_OVERHEAD.as_str())]
    max_overhead: u32,

    /// Maximum number of modules kept per process
    #[arg(long, value_name = "N", default_value = USUAL[2].as_str())]
    max_modules: u32,

    /// Maximum size of modules kept per process
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = USUAL[3].as_str())]
    max_module_size: u64,
}

fn percent(text: &str) -> Result<u32, String> {
    match text.trim_end_matches('%') {
        "none" => Ok(u32::MAX),
        number => number.parse().map_err(|_| "expected a whole number of percent, or none".to_owned()),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

impl RecordArguments {
    /// An option that is about the profilers of JAX and PyTorch alone, where one is given.
    pub(crate) fn of_the_profiler(&self) -> Option<&'static str> {
        let given = [
            ("--rotate", self.limits.rotate.is_some()),
            ("--profile-option", !self.profiler.profile_option.is_empty()),
            ("--python-tracer", self.profiler.python_tracer),
            ("--shapes", self.torch.shapes),
            ("--no-shapes", self.torch.no_shapes),
            ("--allocations", self.torch.allocations),
            ("--allocator-history", self.torch.allocator_history),
            ("--host-only", self.torch.host_only),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }

    pub(crate) fn options(&self) -> RecordOptions {
        RecordOptions {
            command: self.command.clone(),
            out: self.out.clone(),
            hlo: self.kept.hlo.iter().filter_map(|name| name.parse::<HloFormat>().ok()).collect(),
            xla_dump: self.kept.xla_dump(),
            profile_options: self.profiler.profile_option.clone(),
            python_tracer: self.profiler.python_tracer,
            expand_command_buffers: self.profiler.expand_command_buffers,
            keep_command_buffers: self.profiler.keep_command_buffers,
            samples: !self.kept.no_samples,
            sources: !self.kept.no_sources,
            memory_profiles: !self.kept.no_memory_profiles,
            memory_at: self.kept.memory_at.clone(),
            torch: self.torch.options(),
            golden: self.kept.golden.clone(),
            max_golden_bytes: self.kept.max_golden_size,
            limits: self.limits.limits(),
            keep_private: self.kept.keep_private,
            measure_overhead: self.measure_overhead,
            ..self.window.options()
        }
    }
}

impl WindowArguments {
    /// The options of a recording with this window.
    pub(crate) fn options(&self) -> RecordOptions {
        RecordOptions {
            window: self.window(),
            warm_up: self.warm_up,
            step_function: self.step_function.clone(),
            max_windows: self.max_windows,
            ..RecordOptions::new(Vec::<OsString>::new())
        }
    }

    fn window(&self) -> Window {
        match (self.steps, &self.annotation) {
            (Some(steps), _) => Window::Steps(steps),
            (None, Some(name)) => Window::Annotation(name.clone()),
            (None, None) => Window::WholeProgram,
        }
    }
}

impl KeptArguments {
    fn xla_dump(&self) -> Option<XlaDump> {
        let formats = self.xla_dump.iter().cloned().collect();
        (!self.xla_dump.is_empty()).then(|| XlaDump { formats, passes: self.xla_dump_passes.clone() })
    }
}

impl TorchArguments {
    pub(crate) fn options(&self) -> TorchOptions {
        TorchOptions {
            shapes: !self.no_shapes,
            allocations: self.allocations,
            allocator_history: self.allocator_history,
            host_only: self.host_only,
        }
    }
}

impl LimitArguments {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            max_trace_time: self.max_time,
            rotate: self.rotate,
            max_overhead_pct: self.max_overhead,
            max_trace_bytes: self.max_size,
            max_modules: self.max_modules,
            max_module_bytes: self.max_module_size,
        }
    }
}
