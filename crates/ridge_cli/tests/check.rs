//! `ridgeline check`, `explain` and `rules`: what they end with, and what a project may ask of them.

mod run;

use run::run;
use serde_json::Value;
use std::path::Path;

/// A stream that waits 463 ms for work from before the capture.
fn capture() -> String {
    fixture("fixtures/real/kineto/mi300_sglang_decode_hipgraph.json.gz")
}

fn fixture(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).display().to_string()
}

#[test]
fn the_status_says_whether_something_was_found() {
    let capture = capture();
    let healthy = fixture("fixtures/real/kineto/mi300_torch_compile_triton.json.gz");
    // No device worked in it, so nothing of one can be judged.
    let unjudged = fixture("fixtures/chrome/ranges.json");
    for (arguments, expected) in [
        (vec!["check", &capture], 1),
        (vec!["check", &capture, "--fail-on", "error"], 0),
        (vec!["check", &capture, "--fail-on", "never"], 0),
        (vec!["check", &capture, "--ignore", "unexplained-wait"], 0),
        (vec!["check", &capture, "--select", "copies"], 0),
        (vec!["check", &healthy], 0),
        (vec!["check", &unjudged], 0),
        (vec!["check", &unjudged, "--fail-on", "warning"], 1),
        (vec!["check", "no-such-capture"], 2),
        (vec!["check", &capture, "--select", "no-such-rule"], 2),
    ] {
        let ran = run(&arguments);
        assert_eq!(ran.code, Some(expected), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn a_baseline_accepts_what_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("accepted.json").display().to_string();
    let capture = capture();
    assert_eq!(run(&["check", &capture, "--write-baseline", &file]).code, Some(1));
    let after = run(&["check", &capture, "--baseline", &file]);
    assert_eq!(after.code, Some(0), "{}", after.stdout);
    assert!(after.stdout.contains("1 accepted by the baseline"), "{}", after.stdout);
    let config = folder.path().join("ridgeline.toml");
    std::fs::write(&config, format!("[check]\nbaseline = {file:?}\nfail-on = \"info\"\n")).expect("a file");
    let config = config.display().to_string();
    assert_eq!(run(&["check", &capture, "--config", &config, "--select", "host"]).code, Some(0));
    std::fs::write(&config, "[check]\nfail = 3\n").expect("a file");
    assert_eq!(run(&["check", &capture, "--config", &config]).code, Some(2));
}

#[test]
fn every_form_is_written() {
    let capture = capture();
    for form in ["full", "concise", "markdown", "github", "junit"] {
        assert!(run(&["check", &capture, "-f", form]).stdout.contains("463 ms"), "{form}");
    }
    for form in ["json", "sarif"] {
        serde_json::from_str::<Value>(&run(&["check", &capture, "-f", form]).stdout).expect(form);
    }
    for line in run(&["check", &capture, "-f", "json-lines"]).stdout.lines() {
        serde_json::from_str::<Value>(line).expect("a finding a line");
    }
}

#[test]
fn rules_are_listed_and_explained() {
    let rules: Value = serde_json::from_str(&run(&["rules", "-f", "json"]).stdout).expect("JSON");
    let rows = rules["tables"][0]["rows"].as_array().expect("rows");
    assert!(rows.len() >= 60, "{}", rows.len());
    for row in rows {
        let id = row["rule"].as_str().expect("a name");
        let ran = run(&["explain", id]);
        assert!(ran.stdout.starts_with(&format!("# {id}\n")) && !ran.stdout.contains("```says"), "{id}");
    }
    let unknown = run(&["explain", "copies"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("defensive-copies"), "{}", unknown.stderr);
}
