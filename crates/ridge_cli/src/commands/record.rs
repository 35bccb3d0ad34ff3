//! `ridgeline record`: run a program under the recorder.

mod with;

use crate::Ending;
use crate::arguments::Globals;
use crate::failure::Failure;
use crate::output::layout_of_notes;
use crate::quantities::{size, time};
use anstyle::{AnsiColor, Style};
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, ValueHint};
use ridge_record::{
    HloFormat, Limits, ProgramStatus, RecordError, RecordEvent, RecordOptions, RecordOutcome, StepRange, TorchOptions,
    WarmUp, Window, XlaDump, record,
};
use ridge_report::check::text;
use ridge_report::escape_controls;
use ridgeline::units::{Bytes, Nanos, Share};
use ridgeline::{OpenOptions, Session};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;
use with::With;

/// Run a program and record what it does on its devices
///
/// The program runs unchanged: it keeps its own output, terminal, signals and exit status.
/// Recording starts when the program, or a process that it starts, first imports jax or torch.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct RecordArguments {
    /// Capture folder [default: a new one named after the program]
    #[arg(short = 'o', long = "out", value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,

    /// Run this profiler of NVIDIA around the program: `nsys` for the timeline, `ncu` for hardware counters, both joined by a
    /// comma for both
    ///
    /// nsys takes the place of the profilers of JAX and PyTorch; modules and sources are kept as ever.
    /// ncu runs the program once more and counts the first launches of the 5 kernels that take most time, or of as many as
    /// `ncu:top=N` says; which those are it takes from the recording of the same command in the folder, or makes one first.
    #[arg(long, value_name = "PROFILER", value_delimiter = ',')]
    with: Vec<With>,

    #[command(flatten)]
    window: WindowArguments,

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
    #[arg(required = true, last = true, value_name = "COMMAND", value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline record -- python solver.py --n 384
  ridgeline record -o run/ --hlo text,proto,dot --steps 3..8 -- python train.py
  ridgeline record --warm-up quiet:2s -- uv run train.py            start once nothing has compiled for 2 s
  ridgeline record --annotation recon -- python -m package          each range of that TraceAnnotation
  ridgeline record --steps 10..13 --shapes -- python train.py       three steps of a PyTorch program
  ridgeline record --rotate 30s --max-time 1h -- python train.py    a crash loses at most the last half minute
  ridgeline record --golden filter_one_block -- python recon.py     real inputs and outputs of a region
  ridgeline record --profile-option host_tracer_level=3 -- python solver.py
  ridgeline record --keep-command-buffers -- python solver.py       CUDA graphs as without a profiler
  ridgeline record --expand-command-buffers -- python solver.py     operations of CUDA graphs keep their names
  ridgeline record --with nsys -o run/ -- python solver.py          the timeline by Nsight Systems
  ridgeline record --with ncu:top=3 -o run/ -- python solver.py     then counters of three kernels, into the same folder

Exit status:
  The program's own; if a signal ended the program, the same signal ends ridgeline.
  126 or 127 if the program could not be started, 2 if nothing was run.";

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
    /// takes longer than all the others together
    #[arg(long, value_name = "FORMS", value_delimiter = ',', default_value = "text,proto,jaxpr,stablehlo",
          value_parser = PossibleValuesParser::new(["text", "proto", "dot", "jaxpr", "stablehlo", "before", "none"]))]
    hlo: Vec<String>,

    /// Have XLA itself dump modules in these forms; slow, and large on disk
    #[arg(long, value_name = "FORMS", value_delimiter = ',',
          value_parser = PossibleValuesParser::new(["text", "proto", "dot", "html", "snapshots"]))]
    xla_dump: Vec<String>,

    /// Also dump after each pass whose name matches
    #[arg(long, value_name = "REGEX", requires = "xla_dump")]
    xla_dump_passes: Option<String>,

    /// Do not keep copies of the program's own source files
    #[arg(long)]
    no_sources: bool,

    /// Keep real inputs and outputs of this region as vectors for `ridgeline handoff`: a compiled module by its name or by a
    /// function that it came from, or what the program calls `ridgeline.region`; may be repeated
    #[arg(long, value_name = "REGION", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    golden: Vec<String>,

    /// Maximum size of these values per process; the first calls are kept, then every call whose number is a power of two
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = USUAL[4].as_str(), requires = "golden")]
    max_golden_size: u64,

    /// Do not save device memory profiles
    #[arg(long)]
    no_memory_profiles: bool,

    /// Keep the host name, user name, home folder and secrets in the manifest
    #[arg(long)]
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
    /// Record the shapes of each operator's inputs
    #[arg(long)]
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

    /// Maximum number of modules kept per process
    #[arg(long, value_name = "N", default_value = USUAL[2].as_str())]
    max_modules: u32,

    /// Maximum size of modules kept per process
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = USUAL[3].as_str())]
    max_module_size: u64,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &RecordArguments, globals: &Globals) -> Result<Ending, Failure> {
    let mut said = BTreeMap::new();
    if !arguments.with.is_empty() {
        let status = with::run(arguments, globals, &mut |event| tell(&event, globals, &mut said))?;
        return Ok(Ending::Like(status));
    }
    let outcome = record(&arguments.options(), &mut |event| tell(&event, globals, &mut said))?;
    print_stderr(&summary(&outcome));
    print_stderr(&causes(&outcome, globals));
    Ok(Ending::Like(outcome.status))
}

impl RecordArguments {
    /// An option that is about the profilers of JAX and PyTorch alone, where one is given.
    fn of_the_profiler(&self) -> Option<&'static str> {
        let given = [
            ("--steps", self.window.steps.is_some()),
            ("--annotation", self.window.annotation.is_some()),
            ("--warm-up", self.window.warm_up != WarmUp::None),
            ("--rotate", self.limits.rotate.is_some()),
            ("--profile-option", !self.profiler.profile_option.is_empty()),
            ("--python-tracer", self.profiler.python_tracer),
            ("--shapes", self.torch.shapes),
            ("--allocations", self.torch.allocations),
            ("--allocator-history", self.torch.allocator_history),
            ("--host-only", self.torch.host_only),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }

    fn options(&self) -> RecordOptions {
        RecordOptions {
            command: self.command.clone(),
            out: self.out.clone(),
            hlo: self.kept.hlo.iter().filter_map(|name| name.parse::<HloFormat>().ok()).collect(),
            xla_dump: self.kept.xla_dump(),
            profile_options: self.profiler.profile_option.clone(),
            python_tracer: self.profiler.python_tracer,
            expand_command_buffers: self.profiler.expand_command_buffers,
            keep_command_buffers: self.profiler.keep_command_buffers,
            sources: !self.kept.no_sources,
            memory_profiles: !self.kept.no_memory_profiles,
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
    fn options(&self) -> TorchOptions {
        TorchOptions {
            shapes: self.shapes,
            allocations: self.allocations,
            allocator_history: self.allocator_history,
            host_only: self.host_only,
        }
    }
}

impl LimitArguments {
    fn limits(&self) -> Limits {
        Limits {
            max_trace_time: self.max_time,
            rotate: self.rotate,
            max_trace_bytes: self.max_size,
            max_modules: self.max_modules,
            max_module_bytes: self.max_module_size,
        }
    }
}

/// When writing a trace is worth a word, in seconds; after the last, each minute.
const WORTH_A_WORD: [u64; 4] = [3, 10, 30, 60];

/// A trace as text that takes a while to pack, in bytes.
const SLOW_TO_PACK: u64 = 32 << 20;

/// The program's terminal is its own, so little is said while it runs unless asked: that it is kept waiting.
fn tell(event: &RecordEvent, globals: &Globals, said: &mut BTreeMap<u64, u64>) {
    let text = match event {
        RecordEvent::RunningWithoutRecorder => "running the program again without recording".to_owned(),
        RecordEvent::Writing { pid, took } if is_worth_a_word(*pid, took.as_secs(), said) => {
            format!("process {pid} is writing its trace, since {} s", took.as_secs())
        }
        RecordEvent::Exporting { profiler } => format!("{} exports its report", profiler.name()),
        RecordEvent::Counting { kernels } => {
            format!("running the program again under ncu, for {}", kernels.join(", "))
        }
        RecordEvent::Packing { bytes } if *bytes >= SLOW_TO_PACK => format!("packing a trace of {}", Bytes(*bytes)),
        _ if !globals.verbose => return,
        RecordEvent::Prepared { out } => format!("capture folder {}", out.display()),
        RecordEvent::Started { pid } => format!("process {pid} started"),
        RecordEvent::Forwarded { signal } => format!("signal {signal} passed on"),
        RecordEvent::Ended { wall, .. } => format!("ended after {}, gathering", nanos(*wall)),
        _ => return,
    };
    print_stderr(&format!("ridgeline: {text}\n"));
}

/// Whether it is time to say that process `pid` is writing a trace; `said` is when that was said of each for the last
/// time.
fn is_worth_a_word(pid: u64, secs: u64, said: &mut BTreeMap<u64, u64>) -> bool {
    let said = said.entry(pid).or_default();
    if secs < *said {
        *said = 0; // another trace
    }
    let next = WORTH_A_WORD.into_iter().find(|at| *at > *said).unwrap_or(*said + 60);
    let is_due = secs >= next;
    if is_due {
        *said = secs;
    }
    is_due
}

/// Share of the program's time from which a way to save it is named.
const WORTH_SAVING: f64 = 0.02;

/// Traces that take longer to judge than anybody waits for.
const MOST_JUDGED_BYTES: u64 = 64 << 20;

/// What holds the program back, where its trace is read in no time; nothing where it cannot be opened, which `stats`
/// says.
fn causes(outcome: &RecordOutcome, globals: &Globals) -> String {
    let bytes: u64 = outcome.traces.iter().map(|(_, bytes)| bytes).sum();
    if outcome.traces.is_empty() || bytes > MOST_JUDGED_BYTES {
        return String::new();
    }
    ridgeline::start_threads();
    let Ok(session) = Session::open(&[from_here(&outcome.out).to_path_buf()], &OpenOptions::default()) else {
        return String::new();
    };
    super::judged_unasked(&session).map_or(String::new(), |check| text::brief(&check, &layout_of_notes(globals)))
}

/// What was captured, what it cost, what is missing, what to do next.
fn summary(outcome: &RecordOutcome) -> String {
    let bold = Style::new().bold();
    let missing = AnsiColor::Yellow.on_default().bold();
    let folder = from_here(&outcome.out).display().to_string();
    let mut text = format!("\n{bold}ridgeline:{bold:#} {} in {}\n", captured(outcome), escape_controls(&folder));
    text.push_str(&format!("  program   {}, {}\n", ended(outcome.status), nanos(outcome.wall)));
    if !outcome.overhead.harness.is_zero() {
        text.push_str(&format!("  overhead  {}\n", overhead(outcome)));
    }
    if let Some(saving) = saving(outcome) {
        text.push_str(&format!("            {saving}\n"));
    }
    if let Some(plain) = outcome.overhead.unrecorded_wall {
        text.push_str(&format!("  compared  {}\n", compared(outcome.wall, plain)));
    }
    for absent in &outcome.missing {
        let line = format!("{}: {}", absent.what, absent.why);
        text.push_str(&format!("  {missing}missing{missing:#}   {}\n", escape_controls(&line)));
    }
    if !outcome.traces.is_empty() {
        text.push_str(&format!("  next      ridgeline stats {}\n", quoted(&folder)));
    }
    text
}

fn captured(outcome: &RecordOutcome) -> String {
    let bytes: u64 = outcome.traces.iter().map(|(_, bytes)| bytes).sum();
    let traces = match outcome.traces.len() {
        0 => "no trace".to_owned(),
        1 => format!("1 trace ({})", Bytes(bytes)),
        many => format!("{many} traces ({})", Bytes(bytes)),
    };
    let modules = match outcome.modules {
        1 => "1 module".to_owned(),
        many => format!("{many} modules"),
    };
    format!("{traces}, {modules}")
}

fn ended(status: ProgramStatus) -> String {
    match status {
        ProgramStatus::Exited(code) => format!("exit status {code}"),
        ProgramStatus::Signaled(signal) => format!("ended by signal {signal}"),
    }
}

fn overhead(outcome: &RecordOutcome) -> String {
    let cost = &outcome.overhead;
    let share = Share::of(cost.harness.as_secs_f64(), outcome.wall.as_secs_f64());
    let parts = [
        ("attaching", cost.attach),
        ("starting", cost.start_trace),
        ("draining", cost.drain),
        ("writing the trace", cost.stop_trace),
        ("modules", cost.modules),
        ("memory profiles", cost.memory),
    ];
    let longest = parts.iter().max_by_key(|(_, took)| *took).filter(|(_, took)| !took.is_zero());
    let mostly = longest.map(|(name, took)| format!(", most of it {name}: {}", nanos(*took))).unwrap_or_default();
    format!("{} of {} ({share}, measured){mostly}", nanos(cost.harness), nanos(outcome.wall))
}

/// What `--hlo none` would have saved, where that is worth a line.
fn saving(outcome: &RecordOutcome) -> Option<String> {
    let share = Share::of(outcome.overhead.module_forms.as_secs_f64(), outcome.wall.as_secs_f64());
    let forms = nanos(outcome.overhead.module_forms);
    (share.0 >= WORTH_SAVING)
        .then(|| format!("{forms} of it went into the forms of modules: `--hlo none` would save them"))
}

/// Wall times with and without the recorder, and what lies between.
fn compared(wall: Duration, plain: Duration) -> String {
    let (more, word) = if wall >= plain { (wall - plain, "more") } else { (plain - wall, "less") };
    let share = Share::of(more.as_secs_f64(), plain.as_secs_f64());
    format!("{} recorded, {} not recorded: {} {word} ({share}), one run each", nanos(wall), nanos(plain), nanos(more))
}

fn nanos(time: Duration) -> Nanos {
    Nanos(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

/// `path` as seen from the working folder, which is how the user would type it.
fn from_here(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).filter(|path| !path.as_os_str().is_empty()).unwrap_or(path)
}

/// A path as a shell reads it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

fn print_stderr(text: &str) {
    // The program's status counts, not whether somebody reads this.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Failure {
        let path = match &error {
            RecordError::FolderInUse { found: path } | RecordError::FolderBusy { path } => Some(path.clone()),
            RecordError::Folder { path, .. } => Some(path.clone()),
            _ => None,
        };
        Failure::about(&error.to_string(), path.as_deref()).hints(error.hints()).code(error.shell_code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use ridge_record::{Missing, Overhead};

    #[test]
    fn a_long_write_is_told_now_and_then() {
        let mut said = BTreeMap::new();
        let told: Vec<u64> = (0..200).chain(0..5).filter(|secs| is_worth_a_word(1, *secs, &mut said)).collect();
        assert_eq!(told, [3, 10, 30, 60, 120, 180, 3]);
    }

    #[test]
    fn processes_that_write_at_once_are_told_apart() {
        let mut said = BTreeMap::new();
        // The second began two seconds later.
        let both = (2..12_u64).flat_map(|secs| [(1, secs), (2, secs - 2)]);
        let told: Vec<(u64, u64)> = both.filter(|(pid, secs)| is_worth_a_word(*pid, *secs, &mut said)).collect();
        assert_eq!(told, [(1, 3), (2, 3), (1, 10)]);
    }

    #[test]
    fn the_summary_says_what_where_and_next() {
        let outcome = RecordOutcome {
            out: PathBuf::from("my run"),
            status: ProgramStatus::Exited(3),
            wall: Duration::from_millis(12_400),
            overhead: Overhead {
                harness: Duration::from_millis(812),
                stop_trace: Duration::from_millis(600),
                module_forms: Duration::from_millis(250),
                unrecorded_wall: Some(Duration::from_secs(11)),
                ..Overhead::default()
            },
            traces: vec![(PathBuf::from("my run/trace/host.xplane.pb"), 35_700_000)],
            modules: 12,
            missing: vec![Missing { what: "memory profiles".to_owned(), why: "the device\x1b has none".to_owned() }],
        };
        let text = anstream::adapter::strip_str(&summary(&outcome)).to_string();
        expect![[r#"

            ridgeline: 1 trace (34 MiB), 12 modules in my run
              program   exit status 3, 12.4 s
              overhead  812 ms of 12.4 s (6.55 %, measured), most of it writing the trace: 600 ms
                        250 ms of it went into the forms of modules: `--hlo none` would save them
              compared  12.4 s recorded, 11 s not recorded: 1.4 s more (12.7 %), one run each
              missing   memory profiles: the device\x1b has none
              next      ridgeline stats 'my run'
        "#]]
        .assert_eq(&text);
    }
}
