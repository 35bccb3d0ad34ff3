//! `ridgeline top` with stand-ins of `nvidia-smi` and AMD's tools, and the file of one program.

mod run;

use run::{finish, ridgeline};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const SAID: &str = "\
timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], clocks.current.sm [MHz], \
clocks.max.sm [MHz], temperature.gpu, power.draw [W]
2026/11/15 00:13:20.000, 0, NVIDIA H100, 97 %, 2048 MiB, 81559 MiB, 1755 MHz, 1980 MHz, 44, 650.25 W
";

/// `ridgeline top` with `words`, in a folder that has a file of this process and, where it is told, a stand-in.
fn top(folder: &Path, words: &[&str], has_monitor: bool) -> Command {
    let (bin, state) = (folder.join("bin"), folder.join("ridgeline"));
    fs::create_dir_all(&bin).expect("a folder");
    fs::create_dir_all(&state).expect("a folder");
    if has_monitor {
        let tool = bin.join("nvidia-smi");
        fs::write(folder.join("said"), SAID).expect("a file");
        fs::write(&tool, format!("#!/bin/sh\nexec /bin/cat '{}'\n", folder.join("said").display())).expect("a file");
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).expect("an executable");
    }
    let pid = std::process::id();
    let program = format!(
        r#"{{"pid":{pid},"written_unix_s":0,"program":"train.py","steps":12,"devices":[{{"id":0,"kind":"cpu"}}]}}"#
    );
    fs::write(state.join(format!("{pid}.json")), program).expect("a file");
    // Nobody runs under the first number.
    fs::write(state.join("0.json"), "{}").expect("a file");
    let mut command = ridgeline(&[&["top"], words].concat());
    command.env("PATH", bin).env("XDG_RUNTIME_DIR", folder);
    command
}

#[test]
fn one_look_is_text_or_a_document() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = finish(top(folder.path(), &["--once"], true)).stdout;
    assert!(text.contains("NVIDIA H100") && text.contains("97%") && text.contains("train.py"), "{text}");
    let document: Value =
        serde_json::from_str(&finish(top(folder.path(), &["-f", "json"], true)).stdout).expect("JSON");
    assert_eq!(document["gpus"][0]["watts"], 650.25);
    assert_eq!(document["programs"][0]["steps"], 12);
    assert_eq!(document["programs"][0]["devices"][0]["bytes_in_use"], Value::Null);
    assert_eq!((document["programs"].as_array().map(Vec::len), &document["damaged_files"]), (Some(1), &Value::from(0)));
    assert_keeps_to_its_schema(&document);
}

#[test]
fn the_log_is_what_monitors_write() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("gpu.csv").display().to_string();
    finish(top(folder.path(), &["--once", "--log", &log], true));
    let stats = finish(ridgeline(&["stats", &log, "--by", "counter", "-f", "csv"])).stdout;
    assert!(stats.contains("utilization.gpu [%]") && stats.contains("650.25"), "{stats}");
}

/// Stand-ins that answer as `amd-smi` and `rocm-smi` do, one of them on the path of `folder`.
fn amd(folder: &Path, tool: &str) {
    let script = match tool {
        "amd-smi" => {
            r#"case "$*" in
"static --asic --json") echo '{"gpu_data": [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X"}}]}';;
"metric --usage --mem-usage --power --clock --temperature --json") echo '{"gpu_data": [{"gpu": 0,
"usage": {"gfx_activity": {"value": 97, "unit": "%"}}, "power": {"socket_power": {"value": 612, "unit": "W"}},
"clock": {"gfx_0": {"clk": {"value": 1900, "unit": "MHz"}, "max_clk": {"value": 2100, "unit": "MHz"}}},
"temperature": {"hotspot": {"value": 71, "unit": "C"}},
"mem_usage": {"total_vram": {"value": 196592, "unit": "MB"}, "used_vram": {"value": 98296, "unit": "MB"}}}]}';;
*) echo "amd-smi: unrecognized arguments: $*" >&2; exit 1;;
esac"#
        }
        _ => {
            r#"test "$*" = "--showproductname --showuse --showmeminfo vram --showpower --showtemp --showclocks --json" || exit 1
echo '{"card0": {"GPU use (%)": "97", "VRAM Total Memory (B)": "206141652992", "VRAM Total Used Memory (B)": "103070826496",
"Current Socket Graphics Package Power (W)": "612.0", "Temperature (Sensor junction) (C)": "71.0",
"sclk clock speed:": "(1900Mhz)", "Card Series": "AMD Instinct MI300X"}}'"#
        }
    };
    let path = folder.join("bin").join(tool);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an executable");
}

#[test]
fn gpus_of_amd_are_shown_and_logged_in_the_same_columns() {
    for (tool, most) in [("amd-smi", Value::from(2100.0)), ("rocm-smi", Value::Null)] {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("gpu.csv").display().to_string();
        let command = top(folder.path(), &["-f", "json", "--log", &log], false);
        amd(folder.path(), tool);
        let document: Value = serde_json::from_str(&finish(command).stdout).expect("JSON");
        let gpu = &document["gpus"][0];
        assert_eq!((&gpu["name"], &gpu["watts"]), (&Value::from("AMD Instinct MI300X"), &Value::from(612.0)), "{gpu}");
        assert_eq!((&gpu["total_mib"], &gpu["used_mib"]), (&Value::from(196_592.0), &Value::from(98_296.0)), "{gpu}");
        assert_eq!((&gpu["clock_mhz"], &gpu["max_clock_mhz"]), (&Value::from(1900.0), &most), "{gpu}");
        let check = finish(ridgeline(&["check", &log])).stdout;
        let expected =
            "a monitor's log of 1 device, 1 sample · in use for 97.0% of the time · at most 50.0% of memory taken";
        assert!(check.replace('\n', " ").contains(expected), "{check}");
    }
}

#[test]
fn without_a_monitor_programs_are_shown_and_no_log_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = finish(top(folder.path(), &["--once"], false)).stdout;
    assert!(text.contains("no GPU metrics") && text.contains("train.py"), "{text}");
    let log = folder.path().join("gpu.csv");
    let ran = finish(top(folder.path(), &["--once", "--log", &log.display().to_string()], false));
    assert!(ran.stderr.contains("no GPU metrics") && !log.exists(), "{}", ran.stderr);
}

/// Every key of the document is in its schema, and every required one in the document.
fn assert_keeps_to_its_schema(document: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json/top.v1.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).expect("the schema")).expect("JSON");
    let keys = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let same = |value: &Value, schema: &Value| {
        let mut required: Vec<String> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|key| key.as_str().map(str::to_owned))
            .collect();
        let (mut known, mut there) = (keys(&schema["properties"]), keys(value));
        required.sort();
        known.sort();
        there.sort();
        assert_eq!((&there, &there), (&known, &required));
    };
    same(document, &schema);
    same(&document["gpus"][0], &schema["properties"]["gpus"]["items"]);
    same(&document["programs"][0], &schema["properties"]["programs"]["items"]);
    same(
        &document["programs"][0]["devices"][0],
        &schema["properties"]["programs"]["items"]["properties"]["devices"]["items"],
    );
}
