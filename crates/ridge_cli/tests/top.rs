//! `ridgeline top` with a stand-in of `nvidia-smi` and the file of one program.

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

#[test]
fn without_a_monitor_programs_are_shown_and_no_log_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = finish(top(folder.path(), &["--once"], false)).stdout;
    assert!(text.contains("no numbers of GPUs") && text.contains("train.py"), "{text}");
    let log = folder.path().join("gpu.csv");
    let ran = finish(top(folder.path(), &["--once", "--log", &log.display().to_string()], false));
    assert!(ran.stderr.contains("no numbers of GPUs") && !log.exists(), "{}", ran.stderr);
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
