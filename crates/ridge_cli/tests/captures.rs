//! The program on real captures of `fixtures/real/xplane`.
//!
//! What the numbers should be is tested where they are made; here it is the forms, the files and the refusals.

mod run;
#[path = "../../ridge_report/tests/schema/mod.rs"]
mod schema;

use run::{ridgeline, run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A capture of eight GPUs.
fn capture() -> String {
    fixture("mi300_conv_08")
}

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/real/xplane");
    folder.join(format!("{name}.xplane.pb")).display().to_string()
}

fn schema_page(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).expect("the schema page")).expect("a page of JSON")
}

fn path_in(folder: &tempfile::TempDir, name: &str) -> (PathBuf, String) {
    let path = folder.path().join(name);
    let text = path.to_str().expect("a path in UTF-8").to_owned();
    (path, text)
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn stats_fit_the_width_and_say_what_there_is() {
    let capture = capture();
    for width in [60, 100, 160] {
        let ran = run(&["stats", &capture, "--width", &width.to_string()]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
        for title in ["Overview", "Operations", "Kernels", "Source lines"] {
            assert!(ran.stdout.lines().any(|line| line == title), "{title} at {width}: {}", ran.stdout);
        }
        let widest = ran.stdout.lines().map(unicode_columns).max();
        assert!(widest <= Some(width), "{widest:?} at {width}");
    }
}

/// All marks that the program writes are one column wide, and this capture's names are ASCII.
fn unicode_columns(line: &str) -> usize {
    line.chars().count()
}

#[test]
fn a_pipe_gets_no_colors_unless_asked() {
    let capture = capture();
    let plain = run(&["stats", &capture, "--by", "op"]);
    let colored = run(&["stats", &capture, "--by", "op", "--color", "always"]);
    assert!(!plain.stdout.contains('\x1b') && colored.stdout.contains('\x1b'));
    let ascii = run(&["stats", &capture, "--by", "op", "--ascii"]);
    assert!(ascii.stdout.is_ascii(), "{}", ascii.stdout);
}

#[test]
fn json_keeps_to_its_schema_and_holds_every_table() {
    let capture = capture();
    let stats: Value = serde_json::from_str(&run(&["stats", &capture, "-f", "json"]).stdout).expect("JSON");
    assert_eq!(schema::problems(&schema_page("stats.v1.schema.json"), &stats), Vec::<String>::new());
    let tables = stats["tables"].as_array().expect("tables");
    let mut names: Vec<&str> = tables.iter().filter_map(|table| table["name"].as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["category", "kernel", "module", "op", "operation", "scope", "source", "step", "track"]);
    for table in tables {
        let rows = table["rows"].as_array().expect("rows").len();
        assert_eq!(table["rows_total"], rows, "JSON holds all rows");
    }
    let info: Value = serde_json::from_str(&run(&["info", &capture, "-f", "json"]).stdout).expect("JSON");
    assert_eq!(schema::problems(&schema_page("info.v1.schema.json"), &info), Vec::<String>::new());
    let hlo: Value = serde_json::from_str(&run(&["hlo", &capture, "-f", "json"]).stdout).expect("JSON");
    assert_eq!(schema::problems(&schema_page("stats.v1.schema.json"), &hlo), Vec::<String>::new());
}

#[test]
fn csv_and_json_say_the_same() {
    let capture = capture();
    let csv = run(&["stats", &capture, "--by", "kernel", "-f", "csv"]).stdout;
    let json: Value =
        serde_json::from_str(&run(&["stats", &capture, "--by", "kernel", "-f", "json"]).stdout).expect("JSON");
    let table = &json["tables"][0];
    let keys: Vec<&str> =
        table["columns"].as_array().expect("columns").iter().filter_map(|column| column["key"].as_str()).collect();
    assert_eq!(csv.lines().next(), Some(keys.join(",").as_str()));
    assert_eq!(csv.lines().count(), 1 + table["rows"].as_array().expect("rows").len());
}

#[test]
fn top_cuts_and_says_so() {
    let capture = capture();
    let cut = run(&["stats", &capture, "--by", "track", "--top", "3"]).stdout;
    assert!(cut.contains("3 of ") && cut.contains(" rows shown"), "{cut}");
    let all = run(&["stats", &capture, "--by", "track", "--top", "0"]).stdout;
    assert!(all.lines().count() > 30 && !all.contains("rows shown"), "{all}");
}

#[test]
fn files_are_written_whole() {
    let capture = capture();
    let folder = folder();
    let (path, name) = path_in(&folder, "op.arrow");
    std::fs::write(&path, "old").expect("a temporary file");
    let ran = run(&["stats", &capture, "--by", "op", "-f", "arrow", "-o", &name]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert!(std::fs::read(&path).expect("the file").starts_with(b"ARROW1"));
    assert_eq!(std::fs::read_dir(folder.path()).expect("the folder").count(), 1, "nothing else is left");
    let (text, name) = path_in(&folder, "report.txt");
    assert_eq!(run(&["stats", &capture, "-o", &name]).code, Some(0));
    assert!(!std::fs::read_to_string(text).expect("the file").contains('\x1b'), "no colors in files");
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let capture = capture();
    let folder = folder();
    let (_, name) = path_in(&folder, "no/such/folder/op.csv");
    let ran = run(&["stats", &capture, "--by", "op", "-f", "csv", "-o", &name]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.starts_with("error: cannot write the output: ") && ran.stderr.contains(&name), "{}", ran.stderr);
}

#[test]
fn a_cut_capture_says_first_what_was_lost() {
    let capture = capture();
    let folder = folder();
    let (path, name) = path_in(&folder, "cut.xplane.pb");
    let bytes = std::fs::read(capture).expect("the capture");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("a temporary file");
    let ran = run(&["stats", &name]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.starts_with("lost: "), "{}", ran.stdout);
    let csv = run(&["stats", &name, "--by", "op", "-f", "csv"]);
    assert!(csv.stderr.starts_with("lost: "), "forms without room for it say it on standard error: {}", csv.stderr);
}

#[test]
fn what_is_no_capture_is_refused() {
    let folder = folder();
    let (path, name) = path_in(&folder, "notes.txt");
    std::fs::write(path, "not a capture").expect("a temporary file");
    for (given, code) in [("no-such-file", 1), (name.as_str(), 1), (folder.path().to_str().expect("UTF-8"), 1)] {
        for command in ["stats", "info", "hlo"] {
            let ran = run(&[command, given]);
            assert_eq!(ran.code, Some(code), "{command} {given}");
            assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains("\n  --> "), "{}", ran.stderr);
            assert_eq!(ran.stdout, "");
        }
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let capture = capture();
    let mut child = ridgeline(&["stats", &capture]).spawn().expect("the program starts");
    drop(child.stdout.take());
    let ended = child.wait_with_output().expect("the program ends");
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn timings_go_to_standard_error() {
    let capture = capture();
    let ran = run(&["stats", &capture, "--timings"]);
    let named: Vec<&str> = ran.stderr.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert!(named.starts_with(&["open", "tables", "check", "output", "total"]), "{}", ran.stderr);
}

#[test]
fn modules_are_listed_and_printed() {
    let capture = capture();
    let listed: Value = serde_json::from_str(&run(&["hlo", &capture, "-f", "json"]).stdout).expect("JSON");
    let row = &listed["tables"][0]["rows"][0];
    let module = format!("{}({})", row["module"].as_str().expect("a name"), row["program_id"].as_str().expect("an id"));
    assert!(run(&["hlo", &capture, "--module", &module]).stdout.contains("Opcode"));
    let text = run(&["hlo", &capture, "--module", &module, "--text"]);
    assert!(text.stdout.starts_with("HloModule ") && text.stdout.ends_with('\n'), "{}", text.stdout);
    let dot = run(&["hlo", &capture, "--module", &module, "--dot"]);
    assert!(dot.stdout.contains("digraph"), "{}", dot.stdout);
    let unknown = run(&["hlo", &capture, "--module", "no-such-module"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("hint: "), "{}", unknown.stderr);
}

#[test]
fn a_roofline_is_drawn_and_written() {
    let capture = capture();
    let folder = folder();
    let files = ["roof.svg", "roof.png", "roof.csv"].map(|name| path_in(&folder, name));
    let [svg, png, csv] = &files;
    let ran = run(&[
        "roofline",
        &capture,
        "--width",
        "100",
        "--ceilings",
        "none",
        "--svg",
        &svg.1,
        "--png",
        &png.1,
        "--csv",
        &csv.1,
    ]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    for text in ["Roofline of AMD Instinct MI300X", "104 TFLOP/s", "│", "cudnn-conv.1", "the capture reports 2.66 TB/s"]
    {
        assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
    }
    let widest = ran.stdout.lines().map(unicode_columns).max();
    assert!(widest <= Some(100), "{widest:?}: {}", ran.stdout);
    let read = |path: &Path| std::fs::read(path).expect("the file");
    assert!(read(&svg.0).starts_with(b"<svg") && read(&png.0).starts_with(b"\x89PNG"));
    let rows = String::from_utf8(read(&csv.0)).expect("text");
    assert!(rows.starts_with("op,module,self_ns,") && rows.contains("cudnn-conv.1"), "{rows}");
    let ascii = run(&["roofline", &capture, "--by", "module", "--ascii", "--ceilings", "none"]).stdout;
    assert!(ascii.contains("jit_forward_3d_conv") && ascii.is_ascii(), "{ascii}");
}

#[test]
fn stats_say_rates_and_headroom() {
    let capture = capture();
    let json = run(&["stats", &capture, "--by", "op", "--ceilings", "none", "-f", "json"]).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let rows = json["tables"][0]["rows"].as_array().expect("rows");
    let conv = rows.iter().find(|row| row["op"] == "cudnn-conv.1").expect("the convolution");
    assert_eq!((conv["flops_per_sec"].as_f64().expect("a rate") / 1e9).round(), 104_426.0);
    assert!(conv["headroom"].as_f64().expect("a number") > 1.0);
    let columns = json["tables"][0]["columns"].as_array().expect("columns");
    let basis = |key: &str| columns.iter().find(|column| column["key"] == key).map(|column| column["basis"].clone());
    assert_eq!(basis("headroom"), Some(Value::from("modelled")));
    let table = run(&["stats", &capture, "--by", "op", "--width", "180", "--ceilings", "none"]).stdout;
    assert!(table.contains("FLOP/s"), "{table}");
}

#[test]
fn a_capture_without_modules_has_no_drawing() {
    let other = fixture("nvidia_tf_5ms");
    let folder = folder();
    let (path, name) = path_in(&folder, "roof.svg");
    let ran = run(&["roofline", &other, "--svg", &name]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("hint: ") && !path.exists(), "{}", ran.stderr);
    assert_eq!(run(&["roofline", &other]).code, Some(0));
}
