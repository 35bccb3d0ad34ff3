//! Run one recording from options given as JSON, for tests of the harness that need no command line.
//!
//! `record_once '{"out": "run", "steps": "3..5"}' -- python script.py` ends as the program ends.

use std::collections::BTreeSet;
use std::time::Duration;

use ridge_record::{HloFormat, RecordOptions, Window, XlaDump, record};
use serde_json::Value;

fn main() {
    let mut arguments = std::env::args_os().skip(1);
    let json = arguments.next().expect("options as JSON").into_string().expect("UTF-8");
    let asked: Value = serde_json::from_str(&json).expect("options are JSON");
    let command: Vec<_> = arguments.skip_while(|word| word == "--").collect();
    match record(&options(&asked, command), &mut |_| {}) {
        Ok(outcome) => outcome.status.end_like(),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(error.shell_code());
        }
    }
}

fn options(asked: &Value, command: Vec<std::ffi::OsString>) -> RecordOptions {
    let mut options = RecordOptions::new(command);
    let text = |key: &str| asked[key].as_str().map(str::to_owned);
    let on = |key: &str, usual: bool| asked[key].as_bool().unwrap_or(usual);
    options.out = text("out").map(Into::into);
    if let Some(steps) = text("steps") {
        options.window = Window::Steps(steps.parse().expect("steps"));
    } else if let Some(name) = text("annotation") {
        options.window = Window::Annotation(name);
    }
    if let Some(warm_up) = text("warm_up") {
        options.warm_up = warm_up.parse().expect("warm-up");
    }
    options.step_function = text("step_function");
    if let Some(formats) = text("hlo") {
        options.hlo = formats
            .split(',')
            .filter(|word| !word.is_empty())
            .map(|word| word.parse::<HloFormat>().expect("format"))
            .collect();
    }
    options.xla_dump = text("xla_dump").map(|formats| XlaDump {
        formats: formats.split(',').map(str::to_owned).collect::<BTreeSet<_>>(),
        passes: text("xla_dump_passes"),
    });
    for (key, value) in asked["profile_options"].as_object().into_iter().flatten() {
        options.profile_options.push((key.clone(), value.as_str().expect("text").to_owned()));
    }
    if let Some(most) = asked["max_trace_s"].as_f64() {
        options.limits.max_trace_time = Duration::from_secs_f64(most);
    }
    if let Some(most) = asked["max_trace_bytes"].as_u64() {
        options.limits.max_trace_bytes = most;
    }
    if let Some(most) = asked["max_overhead_pct"].as_u64() {
        options.limits.max_overhead_pct = u32::try_from(most).expect("percent");
    }
    options.limits.rotate = asked["rotate_s"].as_f64().map(Duration::from_secs_f64);
    options.golden = text("golden").iter().flat_map(|words| words.split(',')).map(str::to_owned).collect();
    options.samples = on("samples", true);
    options.sources = on("sources", true);
    options.python_tracer = on("python_tracer", false);
    options.expand_command_buffers = on("expand_command_buffers", false);
    options.keep_command_buffers = on("keep_command_buffers", false);
    options.memory_profiles = on("memory_profiles", true);
    options.memory_at = asked["memory_at"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    options.torch.shapes = on("shapes", true);
    options.torch.allocations = on("allocations", false);
    options.torch.allocator_history = on("allocator_history", false);
    options.torch.host_only = on("host_only", false);
    options.keep_private = on("keep_private", false);
    options.measure_overhead = on("measure_overhead", false);
    options
}
