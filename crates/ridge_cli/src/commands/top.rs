//! `ridgeline top`: programs that run now.

use crate::ending::Ending;
use crate::failure::Failure;
use crate::quantities::time;
use clap::{Args, ValueEnum, ValueHint};
use ridge_live::{Gpu, Monitor, Program, Tool, View, folder, programs, text, watch};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Watch running programs: device memory, live arrays, steps, and the GPU driver's figures
///
/// Programs under `ridgeline record` appear automatically, others after `ridgeline.live.start()`. GPU figures come from
/// `nvidia-smi`, else from `amd-smi` or `rocm-smi`. Press Ctrl-C to leave.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct TopArguments {
    /// Print once and exit; the default if the output is not a terminal
    #[arg(long)]
    once: bool,

    /// Output format; `json` prints once
    #[arg(long, short = 'f', value_name = "FORMAT", default_value = "text")]
    format: TopFormat,

    /// Also write the GPU figures to this file, which `ridgeline stats` and `check` read
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    log: Option<PathBuf>,

    /// Time between updates
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    interval: Duration,
}

const EXAMPLES: &str = "\
Examples:
  ridgeline top                             updated every second
  ridgeline top --once                      once, as text
  ridgeline top -f json | jq .programs      for programs; docs/json has the schema
  ridgeline top --log gpu.csv               log the GPU figures; later: ridgeline stats run/ gpu.csv";

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TopFormat {
    /// For a terminal
    #[value(name = "text", alias = "table")]
    Table,
    /// A versioned document; see docs/json
    Json,
}

/// Runs the command.
pub(crate) fn run(arguments: &TopArguments) -> Result<Ending, Failure> {
    let mut log = arguments.log.as_deref().map(created).transpose()?;
    let is_once = arguments.once || arguments.format == TopFormat::Json || !std::io::stdout().is_terminal();
    let tool = Tool::find(&std::env::var_os("PATH").unwrap_or_default())
        .ok_or_else(|| format!("no GPU metrics: none of {} is on PATH", Tool::names()));
    if is_once {
        let read = |tool: &Tool| tool.read_once(log.as_mut().map(|log| log as &mut dyn Write)).map_err(no_gpus);
        let view = view(tool.as_ref().map_err(Clone::clone).and_then(read));
        no_log(arguments, &view)?;
        print(&match arguments.format {
            TopFormat::Table => text(&view),
            TopFormat::Json => format!("{:#}\n", document(&view)),
        })?;
        return Ok(Ending::Code(0));
    }
    let boxed = log.map(|log| Box::new(log) as Box<dyn Write + Send>);
    let start = |tool: Tool| Monitor::start(&tool, arguments.interval, boxed).map_err(no_gpus);
    let monitor = tool.and_then(start);
    let look = || view(monitor.as_ref().map(Monitor::gpus).map_err(Clone::clone));
    no_log(arguments, &look())?;
    watch(&mut std::io::stdout(), arguments.interval, look, || true)
        .map_err(|error| Failure::io("draw on the terminal", &error))?;
    Ok(Ending::Code(0))
}

fn created(path: &Path) -> Result<File, Failure> {
    File::create_new(path).map_err(|error| Failure::io("write the log", &error).at(path))
}

fn no_gpus(error: std::io::Error) -> String {
    format!("no GPU metrics: {error}")
}

/// A log of nothing would be taken for one.
fn no_log(arguments: &TopArguments, view: &View) -> Result<(), Failure> {
    match (&arguments.log, &view.no_gpus) {
        (Some(path), Some(why)) => {
            let _ = std::fs::remove_file(path);
            Err(Failure::failed(why.clone()).hint("without --log, only programs are shown"))
        }
        _ => Ok(()),
    }
}

fn view(gpus: Result<Vec<Gpu>, String>) -> View {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder(runtime.as_deref(), &std::env::temp_dir());
    let now_unix_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let (gpus, no_gpus) = match gpus {
        Ok(gpus) => (gpus, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    View { gpus, no_gpus, programs: programs(&folder, is_running), now_unix_s }
}

fn is_running(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

fn print(text: &str) -> Result<(), Failure> {
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| Failure::io("write the answer", &error))
}

/// The look as a document, `docs/json/top.v1.schema.json`.
fn document(view: &View) -> Value {
    let gpu = |gpu: &Gpu| {
        json!({
            "index": gpu.index, "name": gpu.name, "utilization_pct": gpu.utilization_pct, "used_mib": gpu.used_mib,
            "total_mib": gpu.total_mib, "clock_mhz": gpu.clock_mhz, "max_clock_mhz": gpu.most_clock_mhz,
            "celsius": gpu.celsius, "watts": gpu.watts,
        })
    };
    let program = |program: &Program| {
        let devices = program.devices.iter().map(|device| {
            json!({
                "id": device.id, "kind": device.kind, "bytes_in_use": device.bytes_in_use,
                "peak_bytes": device.peak_bytes, "limit_bytes": device.limit_bytes,
            })
        });
        json!({
            "pid": program.pid, "program": program.program, "written_unix_s": program.written_unix_s,
            "steps": program.steps, "steps_per_s": program.steps_per_s, "live_arrays": program.live_arrays,
            "live_bytes": program.live_bytes, "devices": devices.collect::<Vec<_>>(),
        })
    };
    json!({
        "schema": "ridgeline.top.v1",
        "unix_s": view.now_unix_s,
        "gpus": view.gpus.iter().map(gpu).collect::<Vec<_>>(),
        "no_gpus": view.no_gpus,
        "programs": view.programs.running.iter().map(program).collect::<Vec<_>>(),
        "damaged_files": view.programs.damaged,
    })
}
