//! What `offload` says of real captures, in every form.

mod schema;

use expect_test::{Expect, expect};
use ridge_report::offload::{Options, json, markdown, text};
use ridge_report::terminal::{Glyphs, Layout};
use ridgeline::offloading::WhatIf;
use ridgeline::{OffloadAnswer, OffloadOptions, OpenOptions, Session};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn asked(capture: &str, options: &OffloadOptions) -> OffloadAnswer {
    let session = Session::open(&[root().join(capture)], &OpenOptions::default()).expect("a fixture");
    OffloadAnswer { path: "run/".to_owned(), ..session.offload(options).expect("an answer") }
}

/// A loop of train steps that was recorded on a processor, beside an H100 and one board.
fn steps() -> OffloadAnswer {
    let options =
        OffloadOptions { boards: vec!["u55c".to_owned()], meant: Some("h100".to_owned()), ..OffloadOptions::default() };
    asked("fixtures/xplane/train_steps.xplane.pb", &options)
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(text);
}

#[test]
fn text_for_a_terminal() {
    check(&text::full(&steps(), Options::default(), &Layout::plain(80)), expect![[""]]);
}

#[test]
fn markdown_for_a_report() {
    check(&markdown::render(&steps(), Options::default()), expect![[""]]);
}

#[test]
fn nothing_is_wider_than_its_terminal() {
    let answer = asked("fixtures/real/xplane/nvidia_like.xplane.pb", &OffloadOptions::default());
    for width in [60, 80, 120, 200] {
        for glyphs in [Glyphs::Unicode, Glyphs::Ascii] {
            let layout = Layout { glyphs, ..Layout::plain(width) };
            for answer in [&answer, &steps()] {
                let text = text::full(answer, Options { all: true }, &layout);
                let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
                assert!(widest.chars().count() <= width, "{width}: {widest}");
                assert!(glyphs == Glyphs::Unicode || text.is_ascii() || answer.path.is_empty(), "{text}");
            }
        }
    }
}

#[test]
fn documents_keep_to_their_schema_and_shares_to_the_whole() {
    let page = std::fs::read_to_string(root().join("docs/json/offload.v1.schema.json")).expect("the page");
    let page: Value = serde_json::from_str(&page).expect("JSON");
    let changed = OffloadOptions {
        what_if: WhatIf::parse("clock=250MHz,resident=100,dtype=int16").expect("changes"),
        gpus: vec!["h200".to_owned()],
        boards: vec!["v80".to_owned()],
        ..OffloadOptions::default()
    };
    for capture in [
        "fixtures/xplane/train_steps.xplane.pb",
        "fixtures/xplane/tpu_host_offload.xplane.pb",
        "fixtures/real/xplane/mi300_gemm.xplane.pb",
        "fixtures/real/xplane/nvidia_like.xplane.pb",
        "fixtures/real/xplane/nvidia_tf_5ms.xplane.pb",
        "fixtures/real/nsys/h100_2gpu.sqlite",
        "fixtures/real/kineto/h100_qwen15_0.5b_infer.json.gz",
    ] {
        for options in [&OffloadOptions::default(), &changed] {
            let text = json::document(&asked(capture, options));
            let document: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(schema::problems(&page, &document), [""; 0], "{capture}");
            let regions = document["regions"].as_array().expect("a list");
            let shares: f64 = regions.iter().filter_map(|region| region["share"].as_f64()).sum();
            let others = document["others"]["share"].as_f64().expect("a number");
            assert!(shares + others <= 1.0 + 1e-6, "{capture}: {shares} and {others}");
            for region in regions {
                let said = region["verdict"].as_str().expect("a verdict");
                let without = region["boards"].as_array().expect("a list").is_empty();
                assert_eq!(said == "no specification", region["class"].is_null(), "{capture}: {region}");
                assert!(!region["why"].as_str().expect("a reason").is_empty(), "{capture}");
                for board in region["boards"].as_array().expect("a list") {
                    let at = |key: &str| board[key].as_i64().expect("nanoseconds");
                    assert!(at("p10_ns") <= at("p50_ns") && at("p50_ns") <= at("p90_ns"), "{capture}: {board}");
                }
                assert!(without || said != "no specification", "{capture}");
            }
        }
    }
}

#[test]
fn a_capture_without_hlo_has_no_specification_and_says_why() {
    let answer = asked("fixtures/real/nsys/h100_2gpu.sqlite", &OffloadOptions::default());
    for one in &answer.found.regions {
        assert!(one.why.starts_with("no specification, because "), "{}", one.why);
    }
    assert!(!answer.found.regions.is_empty());
}
