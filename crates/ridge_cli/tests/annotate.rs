//! `ridgeline annotate`: its sums are those of `stats --by source`, and what it cannot know it says.

mod run;

use run::run;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

fn fixture(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/real").join(path).display().to_string()
}

fn document(arguments: &[&str]) -> Value {
    let ran = run(arguments);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
}

#[test]
fn its_sums_are_those_of_lines() {
    const SUMS: [&str; 4] = ["self_ns", "inferred_ns", "inclusive_ns", "events"];
    for capture in [
        "kineto/h100_qwen15_0.5b_infer.json.gz",
        "kineto/mi300_sglang_decode_hipgraph.json.gz",
        "kineto/cpu_mlp_3steps.json.gz",
        "xplane/mi300_conv_08.xplane.pb",
        "xplane/nvidia_like.xplane.pb",
    ] {
        let capture = fixture(capture);
        let stats = document(&["stats", &capture, "--by", "source", "-f", "json"]);
        let rows = stats["tables"][0]["rows"].as_array().expect("rows");
        let mut expected: BTreeMap<&str, [i64; 4]> = BTreeMap::new();
        for row in rows {
            expected.insert(row["source"].as_str().expect("a place"), SUMS.map(|key| row[key].as_i64().expect(key)));
        }
        let unknown = expected.remove("(no source line known)").unwrap_or_default();
        let shown = document(&["annotate", &capture, "--top", "1000", "-f", "json"]);
        assert_eq!(shown["totals"]["unknown_ns"], unknown[0], "{capture}");
        let mut held = 0;
        for file in shown["files"].as_array().expect("files") {
            for line in file["lines"].as_array().expect("lines") {
                let place = format!("{}:{}", file["name"].as_str().expect("a name"), line["line"]);
                let found = SUMS.map(|key| line[key].as_i64().expect(key));
                held += found[0] + found[1];
                assert_eq!(found, expected.remove(place.as_str()).unwrap_or_default(), "{capture}: {place}");
            }
        }
        let others = shown["others"].as_array().expect("other files");
        let of_others: i64 = others.iter().map(|file| file["self_ns"].as_i64().expect("a time")).sum();
        let left: i64 = expected.values().map(|sums| sums[0] + sums[1]).sum();
        assert_eq!(of_others, left, "{capture}: what is not shown is said");
        assert_eq!(shown["totals"]["all_ns"], held + left + unknown[0], "{capture}");
    }
}

#[test]
fn files_are_found_by_the_end_of_their_name() {
    let capture = fixture("xplane/nvidia_like.xplane.pb");
    let shown = document(&["annotate", "cpp_extensions/attention.py", "12_te_fused_attn.py", &capture, "-f", "json"]);
    let names: Vec<&str> =
        shown["files"].as_array().expect("files").iter().filter_map(|file| file["name"].as_str()).collect();
    let library = "/opt/venv/lib/python3.12/site-packages/transformer_engine/jax/cpp_extensions/attention.py";
    assert_eq!(names, [library, "/workspace/12_te_fused_attn.py"]);
}

#[test]
fn today_s_text_is_shown_and_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("generate_conv_trace.py");
    let text: String = (1..=120).map(|line| format!("line_{line} = {line}\n")).collect();
    std::fs::write(&file, text).expect("a file");
    let (file, capture) = (file.display().to_string(), fixture("xplane/mi300_conv_08.xplane.pb"));
    let ran = run(&["annotate", &file, &capture, "--width", "100"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    for said in ["26.9 ms", "23 │ line_23 = 23", "today's text, which may not be what ran", "… 21 lines"] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    std::fs::write(folder.path().join("generate_conv_trace.py"), "one = 1\n").expect("a file");
    let short = run(&["annotate", &file, &capture]).stdout;
    assert!(short.contains("is shorter than the file that ran"), "{short}");
}

#[test]
fn what_cannot_be_known_is_said_with_what_would_tell() {
    let conv = fixture("xplane/mi300_conv_08.xplane.pb");
    let torch = fixture("kineto/mi300_torch_compile_triton.json.gz");
    for (arguments, code, said) in [
        (vec!["annotate", "solver.py"], 2, "expected a capture"),
        (
            vec!["annotate", "no_such_file.py", &conv],
            1,
            "files with most time: `/workspace/traces/generate_conv_trace.py`",
        ),
        (vec!["annotate", &torch], 1, "ridgeline record --python-tracer"),
        (vec!["annotate", "no-such-capture"], 1, "no-such-capture"),
    ] {
        let ran = run(&arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn colors_are_for_terminals_and_pages_hold_all_they_need() {
    let capture = fixture("xplane/mi300_conv_08.xplane.pb");
    assert!(!run(&["annotate", &capture]).stdout.contains('\u{1b}'));
    assert!(run(&["annotate", &capture, "--color", "always"]).stdout.contains('\u{1b}'));
    let page = run(&["annotate", &capture, "-f", "html"]).stdout;
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("forward_3d_conv") || page.contains("26.9 ms"));
}
